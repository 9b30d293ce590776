"""Read the settings of a call: the file, checked, with the line of everything in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import msgspec

from mlsub.config.find import PYPROJECT
from mlsub.config.model import FILES, FORM, NOT_IN_FILES, RENAMED, TABLE, WrittenSettings, WrittenWaiver, renamed
from mlsub.config.paths import from_here
from mlsub.io.documents import tree_of
from mlsub.io.problems import FileProblemsError, Problem
from mlsub.io.tomlfile import Place, TomlFile, line_of, read_toml
from mlsub.rules.explain import suggestion

_NOTHING: Mapping[Place, int] = MappingProxyType({})
#: Findings of these are never waived: why nothing was checked, and what is wrong with waivers.
UNWAIVABLE = ("check.", "waiver.")


class Loaded(msgspec.Struct, frozen=True):
    """The settings of a file, and where each stands.

    ``shown`` is how people know the file: relative to the current folder if it lies there. ``passed_over`` is what it
    sets and may not.
    """

    file: Path
    shown: str
    written: WrittenSettings
    lines: Mapping[Place, int] = _NOTHING
    passed_over: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """What paths in the file are relative to."""
        return self.file.parent

    def value(self, name: str) -> Any:
        """The value of a setting, a path as it is seen from the current folder; None where the file has none."""
        value = getattr(self.written, name.replace("-", "_"), None)
        if value is not None and name in FILES:
            return os.path.join(os.path.dirname(self.shown), value)  # noqa: PTH118, PTH120
        return None if value in ((), {}) else value

    @property
    def without_options(self) -> tuple[str, ...]:
        """What the file has that no option sets, in short."""
        waivers = len(self.written.waivers)
        said = ["per-path-ignores"] * bool(self.written.per_path_ignores)
        return (*said, *[f"{waivers} waiver{'s' * (waivers > 1)}"] * bool(waivers))

    def where(self, *place: str | int) -> str:
        """A place of the file, such as ``mlsub.toml:12``."""
        return f"{self.shown}:{line_of(self.lines, *place)}"


def load(file: Path) -> Loaded:
    """The settings in a file.

    Raises:
        FileProblemsError: it cannot be read, or is not what it should be; says where and what was meant.
    """
    absolute = Path(os.path.abspath(file))  # noqa: PTH100  (links keep the names people gave them)
    shown = from_here(absolute)
    toml = read_toml(absolute, shown)
    table = TABLE if absolute.name == PYPROJECT else ()
    content: Any = toml.content
    for key in table:
        content = content.get(key) if isinstance(content, dict) else None
    if content is None:
        raise FileProblemsError((Problem(shown, 1, "has no table [tool.mlsub]"),))
    passed_over: tuple[str, ...] = ()
    if isinstance(content, dict):
        passed_over = tuple(name for name in NOT_IN_FILES if name in content)
        content = {name: value for name, value in content.items() if name not in passed_over}
    try:
        written = msgspec.convert(content, WrittenSettings)
    except msgspec.ValidationError:
        written = None
    lines = {place[len(table) :]: line for place, line in toml.lines().items() if place[: len(table)] == table}
    if written is None or not _sound(written):
        _refuse(toml, content, lines)
    return Loaded(absolute, shown, written or WrittenSettings(), lines, passed_over)


def _sound(written: WrittenSettings) -> bool:
    """Whether there is nothing that :func:`_refuse` would find in settings of the right types."""
    return not any(True for _ in _flaws(written))


def _refuse(toml: TomlFile, content: Any, lines: Mapping[Place, int]) -> None:
    """Say what is wrong.

    Raises:
        FileProblemsError: always.
    """
    for name in RENAMED.keys() & (content if isinstance(content, dict) else {}):
        if (message := renamed(name, content[name])) is not None:
            raise FileProblemsError((Problem(toml.shown, line_of(lines, name), f"{name}: {message}"),))
    tree = tree_of(toml.shown, content, lines)
    written = tree.read(FORM.type)
    if written is not None:
        for message, place in _flaws(written):
            tree.flaw(message, *place)
    tree.settle()


def _flaws(written: WrittenSettings) -> Iterator[tuple[str, Place]]:
    """What no schema says: names of rules that do not exist, and patterns that lead elsewhere."""
    for name in ("select", "ignore"):
        for at, rule in enumerate(getattr(written, name)):
            if hint := suggestion(rule):
                yield hint, (name, at)
    for pattern, rules in written.per_path_ignores.items():
        if not _below(pattern):
            yield _ELSEWHERE, ("per-path-ignores", pattern)
        for at, rule in enumerate(rules):
            if hint := suggestion(rule):
                yield hint, ("per-path-ignores", pattern, at)
    for at, waiver in enumerate(written.waivers):
        for word, message in _flaws_of(waiver):
            yield message, ("waivers", at, word)


def _flaws_of(waiver: WrittenWaiver) -> Iterator[tuple[str, str]]:
    if waiver.rule.startswith(UNWAIVABLE):
        yield "rule", "cannot be waived"
    elif not waiver.rule.startswith("house.") and (hint := suggestion(waiver.rule, whole=True)):
        yield "rule", hint
    if not _below(waiver.path):
        yield "path", _ELSEWHERE


_ELSEWHERE = "expected a path below the folder of this file, with / between folders"


def _below(pattern: str) -> bool:
    path = PurePosixPath(pattern)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in pattern
