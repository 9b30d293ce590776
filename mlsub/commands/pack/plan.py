"""The plan: which file of the submission comes from where. Made without writing anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from mlsub.commands.pack.choose import Chosen, LeftOut, choose_runs
from mlsub.commands.pack.folder import Parts, PlanItem
from mlsub.commands.pack.manifest import Entry, Manifest
from mlsub.findings import Finding, Severity
from mlsub.rules.catalogue import finding
from mlsub.submission.layout.expected import PlannedEntry
from mlsub.submission.layout.model import parents
from mlsub.systems.description import read_description
from mlsub.systems.values import is_placeholder
from mlsub.workspace import AS_FOUND, Settings


class Plan(msgspec.Struct, frozen=True):
    """What the submission will consist of; ``items`` are sorted by their place, each place once."""

    manifest: Manifest
    items: tuple[PlanItem, ...]
    runs: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing keeps the tree from being assembled."""
        return not any(found.severity is Severity.ERROR for found in self.findings)


def make_plan(manifest: Manifest, *, more: Iterable[PlanItem] = (), settings: Settings = AS_FOUND) -> Plan:
    """Plan a submission.

    Args:
        manifest: what it says; the files it names are looked at here.
        more: what goes in besides.
        settings: how logs are read, where a median window asks for all of them.
    """
    runs = tuple(choose_runs(manifest, entry, settings) for entry in manifest.entries)
    parts = Parts(manifest)
    for chosen in runs:
        _take_results(parts, chosen)
    for system in manifest.systems:
        to = f"systems/{system.name}.json"
        if system.made is not None:
            made = f"a description of the known system {system.made.of}"
            parts.items.append(PlanItem(to=to, content=system.made.content, made=made))
        elif system.description is not None:
            parts.file(system.description, to, system.line, executable=False)
    _take_folders(parts, manifest)
    kept, conflicts = _each_place_once([*parts.items, *more], manifest)
    findings = [*parts.findings, *conflicts, *_divisions(manifest), *_used_twice(runs, manifest)]
    return Plan(manifest, kept, runs, tuple(dict.fromkeys(parts.left_out)), tuple(dict.fromkeys(findings)))


def _take_results(parts: Parts, chosen: Chosen) -> None:
    """The logs of an entry under their new names, and the power measurements that go with them."""
    entry = chosen.entry
    parts.left_out += chosen.left_out
    parts.findings += chosen.findings
    for number, run in enumerate(chosen.runs):
        parts.file(run, f"results/{entry.name}/result_{number}.txt", entry.line, executable=False)
        if entry.power is not None:
            folder = Path(entry.power, run.name.removesuffix(".txt"))
            parts.folder(folder, f"results/{entry.name}/power/result_{number}", entry.line)


def _take_folders(parts: Parts, manifest: Manifest) -> None:
    """Code, setups and whatever else the manifest names."""
    missing = "package.code-missing"
    for code in manifest.code:
        to = f"benchmarks/{code.benchmark}/implementations/{code.implementation}"
        parts.folder(Path(code.folder), to, code.line, missing=missing)
    for entry in manifest.entries:
        setup = manifest.setup_of(entry)
        if entry.setup is not None or setup.is_dir():
            to = f"benchmarks/{entry.benchmark}/{entry.system}"
            parts.folder(setup, to, entry.line, missing=missing)
    for extra in manifest.files:
        source = Path(extra.source)
        take = parts.folder if source.is_dir() else parts.file
        take(source, extra.to, extra.line)


def _each_place_once(items: Iterable[PlanItem], manifest: Manifest) -> tuple[tuple[PlanItem, ...], list[Finding]]:
    """Items sorted by place; two sources of one place, and a file where others need a folder, are findings."""
    places: dict[str, PlanItem] = {}
    findings = []
    for item in items:
        other = places.setdefault(item.to, item)
        if other.source != item.source:
            message = f"Two files would become {item.to}"
            actual = f"{other.source} and {item.source}"
            findings.append(manifest.finding("package.two-sources", message, actual=actual))
    for to in places:
        above = next((parent for parent in parents(to) if parent in places), None)
        if above is not None:
            message = f"{above} would be a file, but {to} needs a folder there"
            findings.append(manifest.finding("package.two-sources", message))
    return tuple(places[to] for to in sorted(places)), findings


def _divisions(manifest: Manifest) -> Iterator[Finding]:
    """Entries whose manifest and system description name different divisions."""
    stated = {system.name: system.made.division for system in manifest.systems if system.made is not None}
    for system in manifest.systems:
        if system.description is not None and system.description.is_file():
            stated[system.name] = read_description(system.description, system.name, manifest.round).division
    for entry in manifest.entries:
        said = stated.get(entry.system)
        if entry.division is not None and said is not None and said.lower() != entry.division:
            does = "states another division than the manifest"
            does = "does not state its division yet" if is_placeholder(said) else does
            yield finding(
                "package.division-differs",
                str(manifest.file),
                f"The description of {entry.system} {does}",
                line=entry.line,
                expected=entry.division,
                actual=said,
            )


def _used_twice(runs: Iterable[Chosen], manifest: Manifest) -> Iterator[Finding]:
    """Logs that two entries submit."""
    owner: dict[str, Entry] = {}
    for planned in runs:
        for run in planned.runs:
            first = owner.setdefault(os.path.realpath(run), planned.entry)
            if first is not planned.entry:
                message = f"{planned.entry.name} and {first.name} submit the same log"
                yield manifest.finding("package.run-twice", message, planned.entry.line, str(run))


def planned_entries(manifest: Manifest) -> list[PlannedEntry]:
    """The entries as the layout of a submission knows them; one without an implementation's name has its own."""
    named = {code.benchmark: code.implementation for code in reversed(manifest.code)}
    return [
        PlannedEntry(
            system=entry.system,
            benchmark=entry.benchmark,
            implementation=entry.implementation or named.get(entry.benchmark, "implementation"),
            scaling_type=entry.scaling,
            power=entry.power is not None,
        )
        for entry in manifest.entries
    ]
