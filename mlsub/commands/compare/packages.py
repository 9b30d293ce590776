"""What differs between two packages: files, systems, entries, hyperparameters, findings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.compare.model import EntryChange, FileChanges, FindingChange, PackageDiff, SystemChange
from mlsub.commands.compare.reading import ComparedSide, compatibility, read_side
from mlsub.findings import Finding, Kind
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.look import content_digest
from mlsub.log.changes import Change, changed_fields, changed_hyperparameters
from mlsub.score.difference.measure import runs_of
from mlsub.submission.file_tree import Item, ItemKind, read_file_tree
from mlsub.submission.find import PathKind
from mlsub.submission.pairing import pairs, side_by_side, without
from mlsub.submission.result import Result
from mlsub.workspace import Context

#: The kinds of path in words.
_KINDS = {
    PathKind.ORGANISATIONS: "a folder of organisations",
    PathKind.ORGANISATION: "an organisation",
    PathKind.SYSTEM: "a system's results",
    PathKind.SCALING: "a system's results",
    PathKind.BENCHMARK: "a benchmark's folder",
}


def compare(old: str, new: str, context: Context) -> PackageDiff:
    """Return what differs between two packages, or two benchmark folders.

    Args:
        old: an organisation's tree, a part of one, or a folder of organisations.
        new: another one.
        context: with the round to judge both by, None for each side's own.

    Raises:
        MlsubError: a side holds nothing to compare, or is not a folder.
    """
    for path in (old, new):
        if Path(path).is_file():
            raise MlsubError(f"{path} is a file. Name a folder: an organisation's tree or a part of one.")
    before, after = read_side(old, context), read_side(new, context)
    kinds = before.place.kind, after.place.kind
    for kind in (PathKind.ORGANISATIONS, PathKind.BENCHMARK):
        if (kinds[0] is kind) != (kinds[1] is kind):
            raise MlsubError(f"{old} is {_KINDS[kinds[0]]}, {new} is {_KINDS[kinds[1]]}. Name two of a kind.")
    names = _same_organisations(before, after)
    entries = sorted(
        _compare_entries(before, after, names),
        key=lambda one: (one.organisation, one.system, one.benchmark, one.scaling_type or ""),
    )
    return PackageDiff(
        old=before.side,
        new=after.side,
        files=compare_files(before.place.path, after.place.path),
        systems=tuple(_compare_systems(before, after, names, entries)),
        entries=tuple(entries),
        findings=tuple(_compare_findings(before.findings, after.findings)),
    )


def _same_organisations(before: ComparedSide, after: ComparedSide) -> dict[str, str]:
    """What each organisation of the old side is called on the new one: krai is Krai."""
    folders = {one.organisation_name: one.organisation for one in after.results}
    ours = {one.organisation: one.organisation_name for one in before.results}
    if len(set(ours.values())) == len(folders) == 1:
        # An organisation whose folder was renamed is still itself.
        return dict.fromkeys(ours, *folders.values())
    return {folder: folders.get(name, folder) for folder, name in ours.items()}


# Entries


def _compare_entries(before: ComparedSide, after: ComparedSide, names: Mapping[str, str]) -> Iterator[EntryChange]:
    """Yield each entry of either side once, beside the one that it belongs with; ``names`` are of organisations."""
    # Two benchmark folders are compared whatever their systems are called.
    whole = before.place.kind is PathKind.BENCHMARK

    def group(one: Result) -> tuple[str | None, ...]:
        return () if whole else (names.get(one.organisation, one.organisation), one.benchmark_name, one.scaling_type)

    benchmarks = _benchmark_words(before, after)
    for ours, theirs in side_by_side(before.results, after.results, group).values():
        both = [(ours[0], theirs[0])] if whole else pairs(ours, theirs)
        alone = [*((one, None) for one in without(ours, both, 0)), *((None, one) for one in without(theirs, both, 1))]
        for one, other in (*both, *alone):
            yield _compare_entry(one, other, names, benchmarks)


def _benchmark_words(before: ComparedSide, after: ComparedSide) -> dict[tuple[str, str], str]:
    """What each benchmark is called, by its folder and its name: as on the new side, if it is there."""
    known = {(one.benchmark, one.benchmark_name): one for side in (before, after) for one in side.results}
    folders = {name: folder for folder, name in known}
    # A folder that holds one benchmark on this side and another one on that.
    held = Counter(folder for folder, _ in known)
    return {
        key: f"{key[0]} ({one.benchmark_title})" if held[key[0]] > 1 else folders[key[1]] for key, one in known.items()
    }


def _compare_entry(
    one: Result | None, other: Result | None, names: Mapping[str, str], benchmarks: Mapping[tuple[str, str], str]
) -> EntryChange:
    known = [entry for entry in (one, other) if entry is not None]
    newest, was, now = known[-1], _entry_values(one), _entry_values(other)
    change, renamed, warning = "added" if one is None else "removed", None, None
    differing: tuple[Change, ...] = ()
    if one is not None and other is not None:
        renamed = one.system if one.system != other.system else None
        differing = changed_hyperparameters(runs_of(one), runs_of(other))
        change = "changed" if differing or was != now or renamed else "same"
        _, warning = compatibility(one, other)
    old, new = was.get("published"), now.get("published")
    percent = (new - old) / old * 100 if old and new is not None else math.nan
    return EntryChange(
        organisation=names.get(newest.organisation, newest.organisation),
        system=newest.system,
        was=renamed,
        benchmark=" -> ".join(dict.fromkeys(benchmarks[entry.benchmark, entry.benchmark_name] for entry in known)),
        scaling_type=newest.scaling_type,
        change=change,
        values=tuple(Change(name=name, old=was.get(name), new=now.get(name)) for name in (was or now)),
        hyperparameters=differing,
        percent=percent if math.isfinite(percent) else None,
        warning=warning,
    )


def _entry_values(result: Result | None) -> dict[str, Any]:
    """What came of an entry, in the order of the JSON document; nothing where there is none."""
    if result is None:
        return {}
    return {
        "verdict": result.verdict,
        **{name: getattr(result, name) for name in ("division", "runs", "compliant")},
        **{name: getattr(result.score, name) for name in ("unscaled", "scaling", "published", "expected")},
        "energy": result.energy.scaled if result.energy else None,
        "rcp": result.rcp.verdict,
    }


# Systems


def _compare_systems(
    before: ComparedSide, after: ComparedSide, names: Mapping[str, str], entries: Sequence[EntryChange]
) -> Iterator[SystemChange]:
    ours, theirs = _descriptions(before, names), _descriptions(after, {})
    # The earlier name of each system whose entries went on under another one, each name once.
    renamed: dict[str, str] = {}
    many = after.place.kind is PathKind.ORGANISATIONS
    for entry in entries:
        if entry.was is not None:
            old, new = ((f"{entry.organisation}/" if many else "") + name for name in (entry.was, entry.system))
            if new not in renamed and old not in renamed.values():
                renamed[new] = old
    for name in sorted(ours.keys() | theirs.keys()):
        was = renamed.get(name, name)
        if was not in ours or name not in theirs:
            if name not in renamed.values() or name in theirs:
                yield SystemChange(system=name, change="added" if name in theirs else "removed")
            continue
        changes = changed_fields(before.description(ours[was]), after.description(theirs[name]))
        if changes or was != name:
            yield SystemChange(system=name, was=was if was != name else None, change="changed", fields=changes)


def _descriptions(side: ComparedSide, names: Mapping[str, str]) -> dict[str, str]:
    """The paths of descriptions by their systems; among several organisations these have their names before them."""
    many = side.place.kind is PathKind.ORGANISATIONS
    return {
        (f"{names.get(system.organisation, system.organisation)}/" if many else "")
        + Path(system.path).stem: system.path
        for system in side.report.systems
    }


# Findings


def _compare_findings(old: Sequence[Finding], new: Sequence[Finding]) -> Iterator[FindingChange]:
    """Defects with another number of places, those that reject first."""
    # The same defect for a reader: what was expected in its place may differ from system to system.
    defects = side_by_side(old, new, lambda finding: (finding.rule, finding.message))
    last = {defect: [*was, *now][-1] for defect, (was, now) in defects.items()}
    for defect in sorted(last, key=lambda key: (not last[key].rejects, list(Kind).index(last[key].kind), key)):
        was, now = ([finding.path for finding in side] for side in defects[defect])
        own = [place for place in now if place not in was] or [place for place in was if place not in now]
        if own:
            finding = last[defect]
            yield FindingChange(
                rule=finding.rule,
                kind=finding.kind.value,
                severity=finding.severity.value,
                message=finding.message,
                old=len(was),
                new=len(now),
                place=own[0],
            )


# Files


def compare_files(old: Path, new: Path) -> FileChanges:
    """Return what differs between the files below two folders; no link is followed, and nothing is raised."""
    before, after = read_file_tree(old), read_file_tree(new)
    # An empty folder does not count.
    ours, theirs = (
        {item.path: item for item in side.items if item.kind is not ItemKind.FOLDER} for side in (before, after)
    )
    equal = {path: _is_same_file(old, ours[path], new, theirs[path]) for path in ours if path in theirs}
    unknown = {*before.closed, *before.unread, *after.closed, *after.unread}
    added, removed = sorted(theirs.keys() - ours.keys()), sorted(ours.keys() - theirs.keys())
    moved = _find_moved(old, [ours[path] for path in removed], new, [theirs[path] for path in added])
    was, now = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    return FileChanges(
        same=sum(value is True for value in equal.values()),
        added=tuple(path for path in added if path not in now),
        removed=tuple(path for path in removed if path not in was),
        changed=tuple(path for path, value in equal.items() if value is False),
        moved=tuple(moved),
        unknown=tuple(sorted(unknown | {path for path, value in equal.items() if value is None})),
        cut=before.cut or after.cut,
    )


def _is_same_file(old: Path, ours: Item, new: Path, theirs: Item) -> bool | None:
    """Whether two are the same; None where that cannot be found out."""
    if (ours.kind, ours.executable) != (theirs.kind, theirs.executable):
        return False
    if ours.kind is ItemKind.LINK:
        return ours.target == theirs.target
    if ours.kind is not ItemKind.FILE:
        return None
    if ours.size is not None and theirs.size is not None and ours.size != theirs.size:
        return False
    one, other = content_digest(old / ours.path), content_digest(new / theirs.path)
    return None if one is None or other is None else one == other


def _find_moved(old: Path, removed: list[Item], new: Path, added: list[Item]) -> list[tuple[str, str]]:
    """Pairs of the same content, each file in one pair at most. Empty files are no evidence of a move."""
    sizes = {item.size for item in removed if item.size} & {item.size for item in added}

    def contents(folder: Path, items: Iterable[Item]) -> Iterator[tuple[bytes | None, str]]:
        files = (item.path for item in items if item.size in sizes and item.kind is ItemKind.FILE)
        return ((content_digest(folder / path), path) for path in files)

    origin = group_by_key(contents(old, reversed(removed)))
    return [(origin[one].pop(), path) for one, path in contents(new, added) if one is not None and origin.get(one)]
