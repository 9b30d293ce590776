"""Read a manifest: everything that is wrong with it at once, each with its line and what was probably meant."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from mlsub.commands.pack.described import make_description
from mlsub.commands.pack.model import Code, ExtraFile, Manifest, ManifestEntry, ManifestSystem, Waiver
from mlsub.commands.pack.variables import expand
from mlsub.io.errors import MlsubError
from mlsub.io.yamlfile import (
    FileProblemsError,
    Flaws,
    Problem,
    child,
    content_of,
    keys,
    meant,
    read,
    schema_problems,
    twice,
    unknown,
)
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.rules.explain import suggestion


class ManifestError(FileProblemsError):
    """A manifest that cannot be used."""


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of manifests, for editors as well."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("manifest.schema.json").read_text("utf-8"))
    return content


def read_manifest(file: Path, environment: Mapping[str, str] | None = None) -> Manifest:
    """Read a manifest; what its paths lead to is not looked at.

    Args:
        file: a YAML file, see manifest.schema.json.
        environment: where variables are looked up, None for that of the process.

    Raises:
        ManifestError: it cannot be read, or does not hold together.
    """
    node, problems = read(file, kind="manifests", top="organisation, round, systems and entries")
    if not isinstance(node, yaml.MappingNode):
        raise ManifestError(problems)
    shown = str(file)
    schema = manifest_schema()
    flaws = [*twice(node), *_unknown_words(node, schema), *_round_flaws(node)]
    found = [Problem(shown, where.start_mark.line + 1, message) for where, message in flaws]
    found = found or schema_problems(node, shown, schema)
    if not found:
        reader = _Reader(file, node, os.environ if environment is None else environment)
        manifest = reader.manifest()
        found = [Problem(shown, where.start_mark.line + 1, message) for where, message in reader.flaws]
        if not found:
            return manifest
    raise ManifestError(tuple(sorted(dict.fromkeys(found), key=lambda problem: problem.line)))


def _unknown_words(node: yaml.Node, schema: Mapping[str, Any]) -> Flaws:
    """Words at any place that the schema does not have."""
    yield from unknown(node, schema["properties"], "word")
    systems = child(node, "systems")
    for _, system in systems.value if isinstance(systems, yaml.MappingNode) else ():
        yield from unknown(system, schema["$defs"]["system"]["properties"], "word")
    for section, name in (("entries", "entry"), ("code", "code"), ("files", "file"), ("waivers", "waiver")):
        items = child(node, section)
        for item in items.value if isinstance(items, yaml.SequenceNode) else ():
            yield from unknown(item, schema["$defs"][name]["properties"], "word")


def _round_flaws(node: yaml.Node) -> Flaws:
    usage, written = child(node, "usage"), child(node, "round")
    name = str(usage.value) if usage is not None else "training"
    if name not in usages():
        yield usage or node, f"unknown usage {name[:40]!r}{meant(name[:40], usages())}"
    elif written is not None:
        text = str(written.value)[:40]
        if normalise_round(text) not in known_rounds(name):
            yield written, f"there are no rules for {name} round {text!r}{meant(text, known_rounds(name))}"


class _Reader:
    """Turns the nodes of a manifest that fits the schema into a manifest, and collects what is wrong with it."""

    def __init__(self, file: Path, node: yaml.MappingNode, environment: Mapping[str, str]) -> None:
        self.flaws: list[tuple[yaml.Node, str]] = []
        self._file, self._node, self._environment = file, node, environment
        self._folder = Path(os.path.abspath(file)).parent  # noqa: PTH100  (links keep the names people gave them)

    def manifest(self) -> Manifest:
        content = content_of(self._node)
        written = child(self._node, "round")
        round_ = get_round(
            content.get("usage", "training"), normalise_round(str(written.value)) or "" if written else ""
        )
        systems = tuple(self._systems(content["organisation"], content.get("division")))
        entries = tuple(self._entries(round_, set(content["systems"]), content.get("division")))
        return Manifest(
            file=self._file,
            organisation=content["organisation"],
            round=round_,
            systems=systems,
            entries=entries,
            code=tuple(self._code(round_)),
            files=tuple(self._files()),
            waivers=tuple(self._waivers(entries)),
        )

    def _systems(self, organisation: str, division: str | None) -> Iterator[ManifestSystem]:
        section = child(self._node, "systems")
        for key, value in section.value if section is not None else ():
            name, line = str(key.value), _line(key)
            if not isinstance(value, yaml.MappingNode):
                yield ManifestSystem(name, self._path(value), line)
                continue
            try:
                made = make_description(content_of(value), organisation, division)
            except MlsubError as error:
                self.flaws.append((value, str(error)))
            else:
                yield ManifestSystem(name, None, line, made)

    def _entries(self, round_: Round, systems: set[str], division: str | None) -> Iterator[ManifestEntry]:
        seen: dict[str, int] = {}
        for node, item in self._items("entries"):
            entry = self._entry(node, item, division)
            if entry.system not in systems:
                self._flaw(
                    node, "system", f"no system {entry.system!r} among the systems{meant(entry.system, systems)}"
                )
            self._benchmark(node, entry.benchmark, round_)
            if round_.scaling_folders and entry.scaling is None:
                self._flaw(node, "benchmark", f"{round_.title} has two kinds; add scaling: strong, or weak")
            elif entry.scaling is not None and not round_.scaling_folders:
                self._flaw(node, "scaling", f"{round_.title} has no scaling; leave the line out")
            if entry.name in seen:
                self._flaw(node, "benchmark", f"{entry.name} is there twice, first on line {seen[entry.name]}")
            seen.setdefault(entry.name, _line(node))
            yield entry

    def _entry(self, node: yaml.Node, item: Mapping[str, Any], division: str | None) -> ManifestEntry:
        runs: Any = child(node, "runs")
        nodes = runs.value if isinstance(runs, yaml.SequenceNode) else [runs]
        return ManifestEntry(
            system=item["system"],
            benchmark=item["benchmark"],
            runs=tuple(str(self._path(run)) for run in nodes),
            line=_line(node),
            division=item.get("division", division),
            scaling=item.get("scaling"),
            implementation=item.get("implementation"),
            setup=self._optional(node, "setup"),
            power=self._optional(node, "power"),
            choose=item.get("choose", "all"),
            notes=item.get("notes"),
        )

    def _code(self, round_: Round) -> Iterator[Code]:
        seen: dict[tuple[str, str], int] = {}
        for node, item in self._items("code"):
            self._benchmark(node, item["benchmark"], round_)
            name = (item["benchmark"], item["implementation"])
            if name in seen:
                self._flaw(node, "implementation", f"{'/'.join(name)} is there twice, first on line {seen[name]}")
            seen.setdefault(name, _line(node))
            yield Code(*name, self._at(node, "folder"), _line(node))

    def _files(self) -> Iterator[ExtraFile]:
        for node, item in self._items("files"):
            to = item["to"]
            parts = PurePosixPath(to).parts
            if to.startswith("/") or ".." in parts or not parts or "\\" in to or not to.isprintable():
                self._flaw(node, "to", f"{to!r} is no place in the submission; name one relative to its folder")
            yield ExtraFile(self._at(node, "from"), "/".join(part for part in parts if part != "."), _line(node))

    def _waivers(self, entries: Sequence[ManifestEntry]) -> Iterator[Waiver]:
        names = [*(entry.name for entry in entries), *dict.fromkeys(entry.system for entry in entries)]
        # A misspelled entry is one defect, not one more for each waiver that names it rightly.
        sure = not self.flaws
        for node, item in self._items("waivers"):
            if hint := suggestion(item["rule"], whole=True):
                self._flaw(node, "rule", f"there is {hint}")
            entry = item.get("entry")
            if sure and entry is not None and entry not in names:
                self._flaw(node, "entry", f"there is no entry or system {entry!r}{meant(entry, names)}")
            yield Waiver(item["rule"], entry, item["reason"], self._day(node, item["expires"]), _line(node))

    def _day(self, node: yaml.Node, text: str) -> date | None:
        if text == "never":
            return None
        try:
            return date.fromisoformat(text)
        except ValueError:
            self._flaw(node, "expires", f"{text} is no day of the calendar")
            return None

    def _benchmark(self, node: yaml.Node, name: str, round_: Round) -> None:
        if name not in round_.benchmarks:
            self._flaw(node, "benchmark", f"{name!r} is no benchmark of {round_.title}{meant(name, round_.benchmarks)}")

    def _items(self, section: str) -> Iterator[tuple[yaml.Node, dict[str, Any]]]:
        node = child(self._node, section)
        for item in node.value if node is not None else ():
            yield item, content_of(item)

    def _optional(self, node: yaml.Node, key: str) -> Path | None:
        value = child(node, key)
        return self._path(value) if value is not None else None

    def _at(self, node: yaml.Node, key: str) -> Path:
        value = child(node, key)
        return self._path(value if value is not None else node)

    def _path(self, node: yaml.Node) -> Path:
        """A path of the manifest, absolute; the file need not exist."""
        try:
            text = expand(str(node.value), self._environment)
        except MlsubError as error:
            self.flaws.append((node, str(error)))
            text = "."
        if "\0" in text:
            self.flaws.append((node, "a path holds a NUL"))
            text = "."
        return Path(os.path.normpath(self._folder / text))

    def _flaw(self, node: yaml.Node, key: str, message: str) -> None:
        where = next((k for k in keys(node) if k.value == key), node)
        self.flaws.append((where, message))


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1
