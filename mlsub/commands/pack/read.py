"""Read a manifest: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from mlsub.commands.pack.manifest import (
    Code,
    Entry,
    ExtraFile,
    KnownSystem,
    MadeDescription,
    Manifest,
    System,
    Waiver,
    WrittenEntry,
    WrittenManifest,
)
from mlsub.io.documents import Form, Tree, read_document
from mlsub.io.errors import MlsubError
from mlsub.io.problems import meant
from mlsub.rounds import Round, get_round, known_rounds, normalise_round
from mlsub.rules.explain import suggestion
from mlsub.systems.catalogue import find_system
from mlsub.systems.draft import Asked, check_field, new_from

_VARIABLE = re.compile(
    # A brace that never closes takes the rest, which is then not searched for others that do not close either.
    r"\$(?:\$|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*+)(?P<default>:-[^}]*+)?\}|\{(?:[A-Za-z_][A-Za-z0-9_]*+:-[^}]*+)?)"
)
FORM = Form(
    type=WrittenManifest,
    kind="manifests",
    title="submission.yaml: what an MLPerf-style submission consists of, for mlsub pack",
)


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of manifests, for editors as well."""
    return FORM.schema()


def read_manifest(file: Path, environment: Mapping[str, str] | None = None) -> Manifest:
    """Read a manifest; what its paths lead to is not looked at.

    Args:
        file: a YAML file, see :func:`manifest_schema`.
        environment: where variables are looked up, None for that of the process.

    Raises:
        FileProblemsError: it cannot be read, or does not hold together.
    """
    written, tree = read_document(file, FORM)
    # YAML reads 5.10 as 5.1; the round is what the file has.
    name = str(tree.text("round"))[:40]
    known = known_rounds(written.usage)
    if normalise_round(name) not in known:
        tree.flaw(f"there are no rules for {written.usage} round {name!r}{meant(name, known)}", "round")
    tree.settle()
    round_ = get_round(written.usage, normalise_round(name) or "")
    manifest = _Reader(file, written, tree, round_, os.environ if environment is None else environment).manifest()
    tree.settle()
    return manifest


class _Reader:
    """Turns a manifest as it is written into one with its paths resolved, and notes what is wrong with it."""

    def __init__(
        self, file: Path, written: WrittenManifest, tree: Tree, round_: Round, environment: Mapping[str, str]
    ) -> None:
        self._file, self._written, self._tree, self._round = file, written, tree, round_
        self._environment = environment
        self._folder = Path(os.path.abspath(file)).parent  # noqa: PTH100  (links keep the names people gave them)

    def manifest(self) -> Manifest:
        systems, entries = tuple(self._systems()), tuple(self._entries())
        return Manifest(
            file=self._file,
            organisation=self._written.organisation,
            round=self._round,
            systems=systems,
            entries=entries,
            code=tuple(self._code()),
            files=tuple(self._files()),
            waivers=tuple(self._waivers(entries)),
            deadline=self._day(self._written.deadline or "never", "deadline"),
        )

    def _systems(self) -> Iterator[System]:
        for name, system in self._written.systems.items():
            here = ("systems", name)
            line = self._tree.line(*here)
            if not isinstance(system, KnownSystem):
                yield System(name, Path(self._path(system, *here)), line)
                continue
            try:
                made = make_description(system, self._written.organisation, self._written.division)
            except MlsubError as error:
                self._tree.flaw(str(error), *here)
            else:
                yield System(name, None, line, made)

    def _entries(self) -> Iterator[Entry]:
        seen: dict[str, int] = {}
        for number, written in enumerate(self._written.entries):
            here = ("entries", number)
            entry = self._entry(written, *here)
            if entry.system not in self._written.systems:
                hint = meant(entry.system, self._written.systems)
                self._tree.flaw(f"no system {entry.system!r} among the systems{hint}", *here, "system")
            self._benchmark(entry.benchmark, *here)
            if self._round.scaling_folders and entry.scaling is None:
                self._tree.flaw(f"{self._round.title} has two kinds; add scaling: strong, or weak", *here, "benchmark")
            elif entry.scaling is not None and not self._round.scaling_folders:
                self._tree.flaw(f"{self._round.title} has no scaling; leave the line out", *here, "scaling")
            self._once(entry.name, seen, *here, "benchmark")
            yield entry

    def _entry(self, written: WrittenEntry, *here: str | int) -> Entry:
        single = isinstance(written.runs, str)
        runs = (written.runs,) if isinstance(written.runs, str) else written.runs
        places = [(*here, "runs") if single else (*here, "runs", number) for number in range(len(runs))]
        changes: dict[str, object] = {
            "runs": tuple(self._path(run, *place) for run, place in zip(runs, places, strict=True)),
            "division": written.division or self._written.division,
            "line": self._tree.line(*here),
        }
        folders = {"setup": written.setup, "power": written.power}
        changes |= {word: self._path(path, *here, word) for word, path in folders.items() if path is not None}
        return Entry(**{**msgspec.structs.asdict(written), **changes})

    def _code(self) -> Iterator[Code]:
        seen: dict[str, int] = {}
        for number, code in enumerate(self._written.code):
            here = ("code", number)
            self._benchmark(code.benchmark, *here)
            self._once(f"{code.benchmark}/{code.implementation}", seen, *here, "implementation")
            folder = self._path(code.folder, *here, "folder")
            line = self._tree.line(*here)
            yield Code(benchmark=code.benchmark, implementation=code.implementation, folder=folder, line=line)

    def _files(self) -> Iterator[ExtraFile]:
        for number, extra in enumerate(self._written.files):
            here, to = ("files", number), extra.to
            parts = PurePosixPath(to).parts
            if to.startswith("/") or ".." in parts or not parts or "\\" in to or not to.isprintable():
                self._tree.flaw(
                    f"{to!r} is not a place in the submission; name one relative to its folder", *here, "to"
                )
            source = self._path(extra.source, *here, "from")
            place = "/".join(part for part in parts if part != ".")
            yield ExtraFile(source=source, to=place, line=self._tree.line(*here))

    def _waivers(self, entries: Sequence[Entry]) -> Iterator[Waiver]:
        names = [*(entry.name for entry in entries), *dict.fromkeys(entry.system for entry in entries)]
        # A misspelled entry is one defect, not one more for each waiver that names it rightly.
        sure = not self._tree.found
        for number, waiver in enumerate(self._written.waivers):
            here = ("waivers", number)
            if hint := suggestion(waiver.rule, whole=True):
                self._tree.flaw(f"there is {hint}", *here, "rule")
            entry = waiver.entry
            if sure and entry is not None and entry not in names:
                self._tree.flaw(f"there is no entry or system {entry!r}{meant(entry, names)}", *here, "entry")
            expires = self._day(waiver.expires, *here, "expires")
            yield Waiver(waiver.rule, entry, waiver.reason, expires, self._tree.line(*here))

    def _day(self, text: str, *here: str | int) -> date | None:
        try:
            return None if text == "never" else date.fromisoformat(text)
        except ValueError:
            self._tree.flaw(f"{text} is not a day of the calendar", *here)
            return None

    def _benchmark(self, name: str, *here: str | int) -> None:
        known = self._round.benchmarks
        if name not in known:
            message = f"{name!r} is not a benchmark of {self._round.title}{meant(name, known)}"
            self._tree.flaw(message, *here, "benchmark")

    def _once(self, name: str, seen: dict[str, int], *here: str | int) -> None:
        """Note a name that an item before this one has; the line of an item is where it begins."""
        if name in seen:
            self._tree.flaw(f"{name} is given twice, first on line {seen[name]}", *here)
        seen.setdefault(name, self._tree.line(*here[:-1]))

    def _path(self, written: str, *here: str | int) -> str:
        """A path of the manifest, absolute; the file need not exist."""
        try:
            text = expand(written, self._environment)
        except MlsubError as error:
            self._tree.flaw(str(error), *here)
            text = "."
        if "\0" in text:
            self._tree.flaw("a path contains a NUL character", *here)
            text = "."
        return os.path.normpath(self._folder / text)


def make_description(wanted: KnownSystem, organisation: str, division: str | None) -> MadeDescription:
    """The description.

    Args:
        wanted: the known system and what the manifest says of it.
        organisation: the submitter.
        division: that of the manifest, where the system names none.

    Raises:
        MlsubError: there is no such system.
        MlsubError: it cannot be as it is asked for.
    """
    for name in wanted.changes:
        check_field(name)
    system = find_system(wanted.of)
    asked = Asked(
        submitter=organisation,
        division=wanted.division or division,
        status=wanted.status,
        framework=wanted.framework,
        hosts=wanted.hosts,
        changes=tuple(wanted.changes.items()),
    )
    content = new_from(system, asked).description()
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return MadeDescription(system.name, text.encode("utf-8", "surrogatepass"), asked.division)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """The text with its variables replaced; ``$$`` is a plain ``$``, and so is one before anything but a brace.

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
