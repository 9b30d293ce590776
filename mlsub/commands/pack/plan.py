"""The plan: which file of the submission comes from where. Made without writing anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from mlsub.commands.pack.choose import LeftOut, choose_runs
from mlsub.commands.pack.folder import Gathered, PlanItem, Source, file_item, gather
from mlsub.commands.pack.model import Manifest, ManifestEntry
from mlsub.commands.pack.scaffold import scaffold
from mlsub.findings import Finding, Severity
from mlsub.rules.catalogue import finding
from mlsub.systems.description import read_description


class PlannedRuns(msgspec.Struct, frozen=True):
    """The results of one entry: how their order came about, and the logs behind ``result_0.txt`` and on."""

    entry: ManifestEntry
    how: str
    runs: tuple[Path, ...]


class Plan(msgspec.Struct, frozen=True):
    """What the submission will consist of; ``items`` are sorted by their place, each place once."""

    manifest: Manifest
    items: tuple[PlanItem, ...]
    runs: tuple[PlannedRuns, ...]
    left_out: tuple[LeftOut, ...]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing keeps the tree from being assembled."""
        return not any(found.severity is Severity.ERROR for found in self.findings)


def make_plan(manifest: Manifest, *, templates: bool = False, jobs: int | None = None) -> Plan:
    """Plan a submission.

    Args:
        manifest: what it says; the files it names are looked at here.
        templates: whether files that the submission rules want and nobody has are to be made from templates.
        jobs: processes that read logs, where a median window asks for all of them.
    """
    where = str(manifest.file)
    runs, parts = [], []
    for entry in manifest.entries:
        chosen = choose_runs(manifest, entry, where, jobs)
        runs.append(PlannedRuns(entry, chosen.how, chosen.runs))
        parts += [Gathered(left_out=chosen.left_out, findings=chosen.findings), *_results(entry, chosen.runs, where)]
    parts += [*_descriptions(manifest, where), *_folders(manifest, where)]
    items = [item for part in parts for item in part.items]
    if templates:
        items += scaffold(manifest, {item.to for item in items})
    kept, conflicts = _each_place_once(items, where)
    findings = [found for part in parts for found in part.findings]
    findings += [*conflicts, *_divisions(manifest, where), *_used_twice(runs, where)]
    left_out = [left for part in parts for left in part.left_out]
    return Plan(manifest, kept, tuple(runs), tuple(dict.fromkeys(left_out)), tuple(dict.fromkeys(findings)))


def _results(entry: ManifestEntry, runs: Iterable[Path], where: str) -> Iterator[Gathered]:
    """The logs of an entry under their new names, and the power measurements that go with them."""
    for number, run in enumerate(runs):
        to = f"results/{entry.name}/result_{number}.txt"
        yield file_item(Source(run, where, entry.line), to, executable=False)
        if entry.power is not None:
            folder = entry.power / run.name.removesuffix(".txt")
            yield gather(Source(folder, where, entry.line), f"results/{entry.name}/power/result_{number}")


def _descriptions(manifest: Manifest, where: str) -> Iterator[Gathered]:
    for system in manifest.systems:
        to = f"systems/{system.name}.json"
        if system.made is not None:
            made = f"a description of the known system {system.made.of}"
            yield Gathered((PlanItem(to=to, content=system.made.content, made=made),))
        elif system.description is not None:
            yield file_item(Source(system.description, where, system.line), to, executable=False)


def _folders(manifest: Manifest, where: str) -> Iterator[Gathered]:
    """Code, setups and whatever else the manifest names."""
    for code in manifest.code:
        source = Source(code.folder, where, code.line, lacking="package.code-missing")
        yield gather(source, f"benchmarks/{code.benchmark}/implementations/{code.implementation}")
    for entry in manifest.entries:
        if entry.setup is not None:
            source = Source(entry.setup, where, entry.line, lacking="package.code-missing")
            yield gather(source, f"benchmarks/{entry.benchmark}/{entry.system}")
    for extra in manifest.files:
        source = Source(extra.source, where, extra.line)
        yield gather(source, extra.to) if extra.source.is_dir() else file_item(source, extra.to)


def _each_place_once(items: Iterable[PlanItem], where: str) -> tuple[tuple[PlanItem, ...], list[Finding]]:
    """Items sorted by place; two sources of one place, and a file where others need a folder, are findings."""
    places: dict[str, PlanItem] = {}
    findings = []
    for item in items:
        other = places.setdefault(item.to, item)
        if other.source != item.source:
            message = f"Two files would become {item.to}"
            findings.append(finding("package.two-sources", where, message, actual=f"{other.source} and {item.source}"))
    for to in places:
        parts = to.split("/")
        above = next((parent for n in range(1, len(parts)) if (parent := "/".join(parts[:n])) in places), None)
        if above is not None:
            findings.append(finding("package.two-sources", where, f"{above} would be a file, but {to} lies in it"))
    return tuple(places[to] for to in sorted(places)), findings


def _divisions(manifest: Manifest, where: str) -> Iterator[Finding]:
    """Entries whose manifest and system description name different divisions."""
    stated = {system.name: system.made.division for system in manifest.systems if system.made is not None}
    for system in manifest.systems:
        if system.description is not None and system.description.is_file():
            stated[system.name] = read_description(system.description, system.name, manifest.round).division
    for entry in manifest.entries:
        said = stated.get(entry.system)
        if entry.division is not None and said is not None and said.lower() != entry.division:
            yield finding(
                "package.division-differs",
                where,
                f"The description of {entry.system} states another division than the manifest",
                line=entry.line,
                expected=entry.division,
                actual=said,
            )


def _used_twice(runs: Iterable[PlannedRuns], where: str) -> Iterator[Finding]:
    """Logs that two entries submit."""
    owner: dict[str, ManifestEntry] = {}
    for planned in runs:
        for run in planned.runs:
            first = owner.setdefault(os.path.realpath(run), planned.entry)
            if first is not planned.entry:
                yield finding(
                    "package.run-twice",
                    where,
                    f"{planned.entry.name} and {first.name} submit the same log",
                    line=planned.entry.line,
                    actual=str(run),
                )
