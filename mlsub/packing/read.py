"""Read a manifest: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec

from mlsub.io import MlsubError
from mlsub.io.documents import DocumentType, read_document
from mlsub.io.problems import did_you_mean
from mlsub.io.read import YamlTree
from mlsub.packing.manifest import (
    Content,
    ExtraFile,
    Manifest,
    ManifestCode,
    ManifestEntry,
    ManifestItem,
    System,
    Waiver,
)
from mlsub.rounds import Round, get_round, known_rounds, normalise_round
from mlsub.rules.explain import suggestion

_VARIABLE = re.compile(
    # A brace that never closes takes the rest, which is then not searched for others that do not close either.
    r"\$(?:\$|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*+)(?P<default>:-[^}]*+)?\}|\{(?:[A-Za-z_][A-Za-z0-9_]*+:-[^}]*+)?)"
)
FORM = DocumentType(
    type=Content,
    kind="manifests",
    title="submission.yaml: what an MLPerf-style submission consists of, for mlsub pack",
)


def read_manifest(file: Path, environment: Mapping[str, str] | None = None) -> Manifest:
    """Read a manifest; what its paths lead to is not looked at.

    Args:
        file: a YAML file, see :data:`FORM`.
        environment: where variables are looked up, None for that of the process.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    written, tree = read_document(file, FORM)
    # YAML reads 5.10 as 5.1; the round is what the file has.
    name = str(tree.text("round"))[:40]
    known = known_rounds(written.usage)
    if normalise_round(name) not in known:
        tree.report(f"there are no rules for {written.usage} round {name!r}{did_you_mean(name, known)}", "round")
    tree.raise_problems()
    round_ = get_round(written.usage, normalise_round(name) or "")
    manifest = _Reader(written, tree, round_, os.environ if environment is None else environment).manifest(file)
    tree.raise_problems()
    return manifest


def read_waivers(file: Path) -> tuple[Waiver, ...]:
    """Return the waivers of a manifest, whatever its paths and variables lead to.

    Raises:
        FileProblemsError: it cannot be read, or is not a manifest.
    """
    written, tree = read_document(file, FORM)
    tree.raise_problems()
    return tuple(
        msgspec.structs.replace(waiver, line=tree.line("waivers", at)) for at, waiver in enumerate(written.waivers)
    )


_Item = TypeVar("_Item", bound=ManifestItem)


class _Reader:
    """Resolves the paths of a manifest, takes its lines, and notes what is wrong with it."""

    def __init__(self, content: Content, tree: YamlTree, round_: Round, environment: Mapping[str, str]) -> None:
        self._content, self._tree, self._round, self._environment = content, tree, round_, environment

    def manifest(self, file: Path) -> Manifest:
        content = self._content
        self._folder = Path(os.path.abspath(file)).parent  # noqa: PTH100  (links keep the names people gave them)
        systems = tuple(
            System(name=name, file=Path(self._path(written, "systems", name)), line=self._tree.line("systems", name))
            for name, written in content.systems.items()
        )
        entries, code, files = tuple(self._entries()), tuple(self._code()), tuple(self._files())
        names = [*(entry.name for entry in entries), *dict.fromkeys(entry.system for entry in entries)]
        return Manifest(
            file=file,
            organisation=content.organisation,
            round=self._round,
            systems=systems,
            entries=entries,
            code=code,
            files=files,
            prepare=content.prepare,
            waivers=tuple(self._waivers(names)),
            deadline=self._day(content.deadline or "never", "deadline"),
        )

    def _entries(self) -> Iterator[ManifestEntry]:
        content, title = self._content, self._round.title
        seen: dict[str, int] = {}
        for number, written in enumerate(content.entries):
            here = ("entries", number)
            resolved = self._resolve(written, *here, paths=("runs", "setup", "power"))
            entry = msgspec.structs.replace(resolved, division=written.division or content.division)
            if entry.system not in content.systems:
                hint = did_you_mean(entry.system, content.systems)
                self._tree.report(f"no system {entry.system!r} among the systems{hint}", *here, "system")
            self._check_benchmark(entry.benchmark, *here)
            if self._round.scaling_folders and entry.scaling is None:
                self._tree.report(f"{title} has two kinds; add scaling: strong, or weak", *here, "benchmark")
            elif entry.scaling is not None and not self._round.scaling_folders:
                self._tree.report(f"{title} has no scaling; leave the line out", *here, "scaling")
            self._check_once(entry.name, seen, *here, "benchmark")
            yield entry

    def _resolve(self, item: _Item, *here: str | int, paths: Sequence[str] = ()) -> _Item:
        """Return an item of the manifest with its line, and with these paths, or lists of paths, absolute."""
        resolved: dict[str, str | tuple[str, ...]] = {}
        for name in paths:
            written = getattr(item, name)
            if isinstance(written, str):
                resolved[name] = self._path(written, *here, name)
            elif written is not None:
                resolved[name] = tuple(self._path(one, *here, name, at) for at, one in enumerate(written))
        return msgspec.structs.replace(item, line=self._tree.line(*here), **resolved)

    def _code(self) -> Iterator[ManifestCode]:
        seen: dict[str, int] = {}
        for number, written in enumerate(self._content.code):
            here = ("code", number)
            self._check_benchmark(written.benchmark, *here)
            self._check_once(f"{written.benchmark}/{written.implementation}", seen, *here, "implementation")
            yield self._resolve(written, *here, paths=("folder",))

    def _files(self) -> Iterator[ExtraFile]:
        for number, written in enumerate(self._content.files):
            here, to = ("files", number), written.to
            parts = PurePosixPath(to).parts
            if to.startswith("/") or ".." in parts or not parts or "\\" in to or not to.isprintable():
                message = f"{to!r} is not a place in the submission; name one relative to its folder"
                self._tree.report(message, *here, "to")
            source = self._path(written.source, *here, "from")
            place = "/".join(part for part in parts if part != ".")
            yield ExtraFile(source=source, to=place, line=self._tree.line(*here))

    def _waivers(self, names: list[str]) -> Iterator[Waiver]:
        # A misspelled entry is one defect, not one more for each waiver that names it rightly.
        sure = not self._tree.problems
        for number, waiver in enumerate(self._content.waivers):
            here = ("waivers", number)
            if hint := suggestion(waiver.rule, whole=True):
                self._tree.report(f"there is {hint}", *here, "rule")
            entry = waiver.entry
            if sure and entry is not None and entry not in names:
                self._tree.report(f"there is no entry or system {entry!r}{did_you_mean(entry, names)}", *here, "entry")
            self._day(waiver.expires, *here, "expires")
            yield self._resolve(waiver, *here)

    def _day(self, text: str, *here: str | int) -> date | None:
        try:
            return None if text == "never" else date.fromisoformat(text)
        except ValueError:
            self._tree.report(f"{text} is not a day of the calendar", *here)
            return None

    def _check_benchmark(self, name: str, *here: str | int) -> None:
        known = self._round.benchmarks
        if name not in known:
            message = f"{name!r} is not a benchmark of {self._round.title}{did_you_mean(name, known)}"
            self._tree.report(message, *here, "benchmark")

    def _check_once(self, name: str, seen: dict[str, int], *here: str | int) -> None:
        """Note a name that an item before this one has; the line of an item is where it begins."""
        if name in seen:
            self._tree.report(f"{name} is given twice, first on line {seen[name]}", *here)
        seen.setdefault(name, self._tree.line(*here[:-1]))

    def _path(self, written: str, *here: str | int) -> str:
        """Return a path of the manifest, absolute; the file need not exist."""
        try:
            text = expand(written, self._environment)
        except MlsubError as error:
            self._tree.report(str(error), *here)
            text = "."
        if "\0" in text:
            self._tree.report("a path contains a NUL character", *here)
            text = "."
        return os.path.normpath(self._folder / text)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Return the text with its variables replaced; ``$$`` is a plain ``$``, and so is one before anything but a brace.

    A default, and the value of a variable, are taken as they are: nothing in them is expanded again. An empty variable
    counts as one that is not set, as ``:-`` does in a shell.

    Raises:
        MlsubError: a variable without a default is not set, or a brace does not close.
    """

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            if match[0] == "$$":
                return "$"
            raise MlsubError("'${' begins no variable; write ${NAME} or ${NAME:-default}, and $$ for a plain $")
        found = environment.get(name)
        if found:
            return found
        if match["default"] is not None:
            return match["default"][2:]
        state = "is empty" if found == "" else "is not set"
        raise MlsubError(f"the environment variable {name} {state}; set it, or write ${{{name}:-default}}")

    return _VARIABLE.sub(value, text)
