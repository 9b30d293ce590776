"""Read the settings of a call from their file, and check them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from mlsub.config import PYPROJECT
from mlsub.config.model import FILES, NOT_IN_FILES, TABLE, WrittenSettings, WrittenWaiver
from mlsub.io.documents import read_as
from mlsub.io.problems import FileProblemsError, Flaw, Problem
from mlsub.io.read import read_toml, with_place
from mlsub.io.show import display_path, plural
from mlsub.rules.explain import suggestion

#: Findings of these are never waived: why nothing was checked, and what is wrong with waivers.
UNWAIVABLE = ("check.", "waiver.")


class Loaded(msgspec.Struct, frozen=True):
    """The settings of a file.

    ``shown`` is how people know the file: relative to the current folder if it lies there. ``passed_over`` is what it
    sets and may not.
    """

    file: Path
    shown: str
    written: WrittenSettings
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
        ignores = ["per-path-ignores"] * bool(self.written.per_path_ignores)
        return (*ignores, *[plural(waivers, "waiver")] * bool(waivers))

    def waiver(self, number: int) -> str:
        """Return the place of a waiver, such as ``mlsub.toml: waivers.0``."""
        return f"{self.shown}: waivers.{number}"


def load(file: Path) -> Loaded:
    """The settings in a file.

    Raises:
        FileProblemsError: it cannot be read, or is not what it should be; says where and what was meant.
    """
    absolute = Path(os.path.abspath(file))  # noqa: PTH100  (links keep the names people gave them)
    shown = display_path(absolute)
    content: Any = read_toml(absolute, shown)
    for key in TABLE if absolute.name == PYPROJECT else ():
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
    if written is None or any(True for _ in _flaws(written)):
        written, refused = read_as(content, WrittenSettings)
        flaws = _flaws(written) if written is not None else refused
        raise FileProblemsError(tuple(Problem(shown, None, with_place(*flaw)) for flaw in flaws))
    return Loaded(absolute, shown, written, passed_over)


def _flaws(written: WrittenSettings) -> Iterator[Flaw]:
    """Say what no schema does: names of rules that do not exist, and patterns that lead elsewhere."""
    for name in ("select", "ignore"):
        for at, rule in enumerate(getattr(written, name)):
            if hint := suggestion(rule):
                yield (name, at), hint
    for pattern, rules in written.per_path_ignores.items():
        if not _below(pattern):
            yield ("per-path-ignores", pattern), _NOT_BELOW
        for at, rule in enumerate(rules):
            if hint := suggestion(rule):
                yield ("per-path-ignores", pattern, at), hint
    for at, waiver in enumerate(written.waivers):
        for word, message in _waiver_flaws(waiver):
            yield ("waivers", at, word), message


def _waiver_flaws(waiver: WrittenWaiver) -> Iterator[tuple[str, str]]:
    if waiver.rule.startswith(UNWAIVABLE):
        yield "rule", "cannot be waived"
    elif not waiver.rule.startswith("house.") and (hint := suggestion(waiver.rule, whole=True)):
        yield "rule", hint
    if not _below(waiver.path):
        yield "path", _NOT_BELOW


_NOT_BELOW = "expected a path below the folder of this file, with / between folders"


def _below(pattern: str) -> bool:
    path = PurePosixPath(pattern)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in pattern
