"""Compare two packages: check both, and say what differs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.compare.packages.files import compare_files
from mlsub.commands.compare.packages.model import EntryChange, FindingChange, PackageDiff, SystemChange
from mlsub.commands.compare.packages.reading import KINDS, Entry, Key, Reading, read_side
from mlsub.commands.compare.packages.renamed import renamed
from mlsub.findings import Finding, Kind
from mlsub.io.errors import MlsubError
from mlsub.log.changes import Change, fields, hyperparameters
from mlsub.submission.locate import Target
from mlsub.submission.organisations import organisation
from mlsub.submission.report import SystemResult
from mlsub.systems.facts import SystemFacts
from mlsub.workspace import Settings

#: What is compared of an entry, in the order of the JSON document.
_VALUES = (
    *("verdict", "division", "runs", "compliant"),
    *("unscaled", "scaling", "published", "expected", "energy", "rcp"),
)


def compare(old: str, new: str, settings: Settings) -> PackageDiff:
    """What differs between two packages, or two benchmark folders.

    Args:
        old: an organisation's tree, a part of one, or a folder of organisations.
        new: another one.
        settings: with the round to judge both by, None for each side's own.

    Raises:
        MlsubError: a side holds nothing to compare, or is not a folder.
    """
    before, after = read_side(old, settings), read_side(new, settings)
    kinds = before.place.target, after.place.target
    for kind in (Target.ORGANISATIONS, Target.BENCHMARK):
        if (kinds[0] is kind) != (kinds[1] is kind):
            raise MlsubError(f"{old} is {KINDS[kinds[0]]}, {new} is {KINDS[kinds[1]]}. Name two of a kind.")
    return PackageDiff(
        old=before.side,
        new=after.side,
        files=compare_files(before.place.path, after.place.path),
        systems=tuple(_systems(before, after)),
        entries=tuple(_entries(before, after)),
        findings=tuple(_findings(before.findings, after.findings)),
    )


def _entries(before: Reading, after: Reading) -> Iterable[EntryChange]:
    ours, theirs = _in_the_same_words(before, after)
    if before.place.target is Target.BENCHMARK:
        # Two benchmark folders are compared whatever their systems are called.
        ((key, one),) = ours.items()
        ((new, other),) = theirs.items()
        yield _entry((key[0], _both(key[1], new[1]), _both(key[2], new[2]), key[3]), one, other)
        return
    if {key[0] for key in ours}.isdisjoint(key[0] for key in theirs) and _one_organisation(ours, theirs):
        # An organisation whose folder was renamed is still itself.
        (name,) = {key[0] for key in theirs}
        ours = {(name, *key[1:]): entry for key, entry in ours.items()}
    alike = _alike_entries(ours.keys(), theirs.keys(), before, after)
    for key in sorted(ours.keys() | theirs.keys(), key=_order):
        yield _entry(key, ours.get(key), theirs.get(key), alike.get(key))


def _in_the_same_words(before: Reading, after: Reading) -> tuple[dict[Key, Entry], dict[Key, Entry]]:
    """The entries of both by key: what is the same is called as on the new side, and what is not, otherwise."""
    old, new = ({entry.result.benchmark: entry.held for entry in side.entries} for side in (before, after))
    same = _counterparts(*({folder: held.benchmark for folder, held in side.items()} for side in (old, new)))
    # A folder that holds one benchmark on this side and another one on that.
    two = {folder for folder in old.keys() & new.keys() if old[folder].benchmark != new[folder].benchmark}
    ours, theirs = (
        {folder: f"{folder} ({held.title})" if folder in two else folder for folder, held in side.items()}
        for side in (old, new)
    )
    ours |= {folder: theirs[there] for folder, there in same.items()}
    organisations = _same_organisations(before, after)

    def key(entry: Entry, benchmarks: Mapping[str, str]) -> Key:
        organisation, system, benchmark, scaling = entry.key
        return organisations.get(organisation, organisation), system, benchmarks[benchmark], scaling

    return {key(entry, ours): entry for entry in before.entries}, {key(entry, theirs): entry for entry in after.entries}


def _same_organisations(before: Reading, after: Reading) -> dict[str, str]:
    """The folder on the new side of each organisation whose folder has another name there, such as krai of Krai."""
    sides = ({entry.result.organisation for entry in side.entries} for side in (before, after))
    return _counterparts(*({folder: organisation(folder) for folder in side} for side in sides))


def _counterparts(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """The folder on the other side that has the same name in every round, where exactly one has, and one here."""
    here, there = Counter(ours.values()), Counter(theirs.values())
    by_name = {name: folder for folder, name in theirs.items()}
    return {folder: by_name[name] for folder, name in ours.items() if here[name] == there[name] == 1}


def _alike_entries(ours: Iterable[Key], theirs: Iterable[Key], before: Reading, after: Reading) -> dict[Key, str]:
    """The other side's likely system of each entry that one side alone has, benchmark by benchmark."""
    gone, new = set(ours) - set(theirs), set(theirs) - set(ours)
    found: dict[Key, str] = {}
    for what in {(key[0], key[2], key[3]) for key in gone | new}:
        old_names, new_names = ({k[1] for k in keys if (k[0], k[2], k[3]) == what} for keys in (gone, new))
        pairs = renamed(old_names, new_names, _machines(before, what[0]), _machines(after, what[0]))
        found |= {(what[0], old, *what[1:]): name for old, name in pairs.items()}
        found |= {(what[0], name, *what[1:]): old for old, name in pairs.items()}
    return found


def _machines(read: Reading, name: str) -> dict[str, SystemFacts | None]:
    """The hardware of an organisation's systems, by name; that of the only one where its folder was renamed."""
    systems = read.checked.report.systems
    own = [one for one in systems if organisation(one.organisation) == organisation(name)] or systems
    return {Path(system.path).name.removesuffix(".json"): system.facts for system in own}


def _both(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


def _one_organisation(ours: Iterable[Key], theirs: Iterable[Key]) -> bool:
    return len({key[0] for key in ours}) == len({key[0] for key in theirs}) == 1


def _order(key: Key) -> tuple[str, ...]:
    return tuple(part or "" for part in key)


def _entry(key: Key, one: Entry | None, other: Entry | None, alike: str | None = None) -> EntryChange:
    was, now = _values(one), _values(other)
    values = tuple(Change(name=name, old=was.get(name), new=now.get(name)) for name in _VALUES)
    differing = hyperparameters(one.runs, other.runs) if one and other else ()
    change = "added" if one is None else "removed" if other is None else "changed"
    if one and other and not differing and all(value.old == value.new for value in values):
        change = "same"
    return EntryChange(
        organisation=key[0],
        system=key[1],
        benchmark=key[2],
        scaling_type=key[3],
        change=change,
        values=values,
        hyperparameters=differing,
        percent=_percent(was.get("published"), now.get("published")),
        alike=alike,
        warning=one.held.is_beside(other.held)[1] if one and other else None,
    )


def _values(entry: Entry | None) -> dict[str, Any]:
    """What came of an entry; nothing where there is none."""
    if entry is None:
        return {}
    result = entry.result
    return {
        "verdict": result.official.value,
        **{name: getattr(result, name) for name in ("division", "runs", "compliant")},
        **{name: getattr(result.score, name) for name in ("unscaled", "scaling", "published", "expected")},
        "energy": result.energy.scaled if result.energy else None,
        "rcp": result.rcp.verdict,
    }


def _percent(old: float | None, new: float | None) -> float | None:
    """By how many per cent the new one is longer; negative where it is shorter."""
    if not old or new is None:
        return None
    percent = (new - old) / old * 100
    return percent if math.isfinite(percent) else None


def _systems(before: Reading, after: Reading) -> Iterable[SystemChange]:
    ours, theirs = _descriptions(before, _same_organisations(before, after)), _descriptions(after, {})
    if before.place.target is Target.BENCHMARK and len(ours) == len(theirs) == 1 and ours.keys() != theirs.keys():
        ((old, one),), ((new, other),) = ours.items(), theirs.items()
        ours, theirs = {_both(old, new): one}, {_both(old, new): other}
    pairs = renamed(
        ours.keys() - theirs.keys(),
        theirs.keys() - ours.keys(),
        {name: system.facts for name, system in ours.items()},
        {name: system.facts for name, system in theirs.items()},
    )
    back = {new: old for old, new in pairs.items()}
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in theirs:
            yield SystemChange(system=name, change="removed", alike=pairs.get(name))
        elif name not in ours:
            yield SystemChange(system=name, change="added", alike=back.get(name))
        else:
            changes = fields(before.description(ours[name].path), after.description(theirs[name].path))
            if changes:
                yield SystemChange(system=name, change="changed", fields=changes)


def _descriptions(read: Reading, organisations: Mapping[str, str]) -> dict[str, SystemResult]:
    """Descriptions by their system; among several organisations the name has both, with names to use for some."""
    many = read.place.target is Target.ORGANISATIONS
    return {
        (f"{organisations.get(system.organisation, system.organisation)}/" if many else "")
        + Path(system.path).name.removesuffix(".json"): system
        for system in read.checked.report.systems
    }


def _findings(old: Sequence[Finding], new: Sequence[Finding]) -> Iterable[FindingChange]:
    """Defects with another number of places, those that reject first."""
    before, after = _places(old), _places(new)
    kinds: dict[tuple[str, ...], Finding] = {_defect(finding): finding for finding in (*old, *new)}
    for defect in sorted(kinds, key=lambda key: (not kinds[key].rejects, list(Kind).index(kinds[key].kind), key)):
        was, now = before.get(defect, []), after.get(defect, [])
        own = [place for place in now if place not in was] or [place for place in was if place not in now]
        if own:
            finding = kinds[defect]
            yield FindingChange(
                rule=finding.rule,
                kind=finding.kind.value,
                severity=finding.severity.value,
                message=finding.message,
                old=len(was),
                new=len(now),
                place=own[0],
            )


def _defect(finding: Finding) -> tuple[str, ...]:
    """The same defect for a reader: what was expected in its place may differ from system to system."""
    return finding.rule, finding.message


def _places(findings: Sequence[Finding]) -> dict[tuple[str, ...], list[str]]:
    places: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        places.setdefault(_defect(finding), []).append(finding.path)
    return places
