"""What differs between two packages: files, systems, entries, hyperparameters, findings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from mlsub.commands.compare.model import EntryChange, FileChanges, FindingChange, PackageDiff, SystemChange
from mlsub.commands.compare.reading import Reading, comparable, read_side, runs_of
from mlsub.findings import Finding, Kind
from mlsub.io.errors import MlsubError
from mlsub.io.look import content_digest
from mlsub.log.changes import Change, fields, hyperparameters
from mlsub.submission.find import Target, organisation
from mlsub.submission.listing import Item, ItemKind, list_tree
from mlsub.submission.report import SystemResult
from mlsub.submission.result import Result
from mlsub.systems.fields import SystemFacts
from mlsub.workspace import Settings

#: Organisation, system, benchmark and kind of scaling, in the words of the new side.
Key = tuple[str, str, str, str | None]
#: The kinds of path in words.
_KINDS = {
    Target.ORGANISATIONS: "a folder of organisations",
    Target.ORGANISATION: "an organisation",
    Target.SYSTEM: "a system's results",
    Target.SCALING: "a system's results",
    Target.BENCHMARK: "a benchmark's folder",
}
#: So many names of a side are compared with the other's.
_COMPARED = 200
#: Names that begin with less in common (as a part of the shorter one) have another origin.
_LEAST_PART = 0.5


def compare(old: str, new: str, settings: Settings) -> PackageDiff:
    """Return what differs between two packages, or two benchmark folders.

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
            raise MlsubError(f"{old} is {_KINDS[kinds[0]]}, {new} is {_KINDS[kinds[1]]}. Name two of a kind.")
    return PackageDiff(
        old=before.side,
        new=after.side,
        files=compare_files(before.place.path, after.place.path),
        systems=tuple(_systems(before, after)),
        entries=tuple(_entries(before, after)),
        findings=tuple(_findings(before.findings, after.findings)),
    )


# Entries


def _entries(before: Reading, after: Reading) -> Iterable[EntryChange]:
    ours, theirs = _by_key(before, after)
    if before.place.target is Target.BENCHMARK:
        # Two benchmark folders are compared whatever their systems are called.
        (key, one), (new, other) = *ours.items(), *theirs.items()
        yield _entry((key[0], _both(key[1], new[1]), _both(key[2], new[2]), key[3]), one, other)
        return
    was, now = {key[0] for key in ours}, {key[0] for key in theirs}
    if was.isdisjoint(now) and len(was) == len(now) == 1:
        # An organisation whose folder was renamed is still itself.
        (name,) = now
        ours = {(name, *key[1:]): entry for key, entry in ours.items()}
    alike = _alike_entries(ours.keys() - theirs.keys(), theirs.keys() - ours.keys(), before, after)
    for key in sorted(ours.keys() | theirs.keys(), key=lambda key: tuple(part or "" for part in key)):
        yield _entry(key, ours.get(key), theirs.get(key), alike.get(key))


def _by_key(before: Reading, after: Reading) -> tuple[dict[Key, Result], dict[Key, Result]]:
    """The entries of both by key: what is the same is called as on the new side, and what is not, otherwise."""
    old, new = ({one.benchmark: one for one in side.results} for side in (before, after))
    same = _counterparts(*({folder: one.benchmark_name for folder, one in side.items()} for side in (old, new)))
    # A folder that holds one benchmark on this side and another one on that.
    two = {folder for folder in old.keys() & new.keys() if old[folder].benchmark_name != new[folder].benchmark_name}
    ours, theirs = (
        {folder: f"{folder} ({one.benchmark_title})" if folder in two else folder for folder, one in side.items()}
        for side in (old, new)
    )
    ours |= {folder: theirs[there] for folder, there in same.items()}
    organisations = _same_organisations(before, after)

    def key(one: Result, names: Mapping[str, str]) -> Key:
        name = organisations.get(one.organisation, one.organisation)
        return name, one.system, names[one.benchmark], one.scaling_type

    return {key(one, ours): one for one in before.results}, {key(one, theirs): one for one in after.results}


def _same_organisations(before: Reading, after: Reading) -> dict[str, str]:
    """The folder on the new side of each organisation whose folder has another name there, such as krai of Krai."""
    return _counterparts(*({one.organisation: one.organisation_name for one in s.results} for s in (before, after)))


def _counterparts(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """The folder on the other side that has the same name in every round, where exactly one has, and one here."""
    here, there = Counter(ours.values()), Counter(theirs.values())
    by_name = {name: folder for folder, name in theirs.items()}
    return {folder: by_name[name] for folder, name in ours.items() if here[name] == there[name] == 1}


def _entry(key: Key, one: Result | None, other: Result | None, alike: str | None = None) -> EntryChange:
    was, now = _values(one), _values(other)
    values = tuple(Change(name=name, old=was.get(name), new=now.get(name)) for name in (was or now))
    differing = hyperparameters(runs_of(one), runs_of(other)) if one and other else ()
    change = "added" if one is None else "removed" if other is None else "changed"
    if one and other and not differing and was == now:
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
        warning=comparable(one, other)[1] if one and other else None,
    )


def _values(result: Result | None) -> dict[str, Any]:
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


def _percent(old: float | None, new: float | None) -> float | None:
    """By how many per cent the new one is longer; negative where it is shorter."""
    if not old or new is None:
        return None
    percent = (new - old) / old * 100
    return percent if math.isfinite(percent) else None


def _both(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


# Systems


def _systems(before: Reading, after: Reading) -> Iterable[SystemChange]:
    ours, theirs = _descriptions(before, _same_organisations(before, after)), _descriptions(after, {})
    if before.place.target is Target.BENCHMARK and len(ours) == len(theirs) == 1 and ours.keys() != theirs.keys():
        ((old, one),), ((new, other),) = ours.items(), theirs.items()
        ours, theirs = {_both(old, new): one}, {_both(old, new): other}
    alike = renamed(
        {name: system.facts for name, system in ours.items() if name not in theirs},
        {name: system.facts for name, system in theirs.items() if name not in ours},
    )
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in theirs or name not in ours:
            yield SystemChange(system=name, change="added" if name in theirs else "removed", alike=alike.get(name))
            continue
        changes = fields(before.description(ours[name]), after.description(theirs[name]))
        if changes:
            yield SystemChange(system=name, change="changed", fields=changes)


def _descriptions(read: Reading, organisations: Mapping[str, str]) -> dict[str, SystemResult]:
    """Descriptions by their system; among several organisations the name has both, with names to use for some."""
    many = read.place.target is Target.ORGANISATIONS
    return {
        (f"{organisations.get(system.organisation, system.organisation)}/" if many else "") + _stem(system): system
        for system in read.report.systems
    }


def _stem(system: SystemResult) -> str:
    return Path(system.path).name.removesuffix(".json")


# Systems that were probably renamed


def _alike_entries(gone: Iterable[Key], new: Iterable[Key], before: Reading, after: Reading) -> dict[Key, str]:
    """The other side's likely system of each entry that one side alone has, benchmark by benchmark."""
    found: dict[Key, str] = {}
    for what in {(key[0], *key[2:]) for key in (*gone, *new)}:
        names = ([key[1] for key in keys if (key[0], *key[2:]) == what] for keys in (gone, new))
        hardware = (_hardware_of(read, what[0]) for read in (before, after))
        sides = ({name: known.get(name) for name in some} for some, known in zip(names, hardware, strict=True))
        found |= {(what[0], name, *what[1:]): other for name, other in renamed(*sides).items()}
    return found


def _hardware_of(read: Reading, name: str) -> dict[str, SystemFacts | None]:
    """The facts on an organisation's systems, by name; those of all where its folder was renamed."""
    systems = read.report.systems
    own = [one for one in systems if organisation(one.organisation) == organisation(name)] or systems
    return {_stem(system): system.facts for system in own}


def renamed(gone: Mapping[str, SystemFacts | None], new: Mapping[str, SystemFacts | None]) -> dict[str, str]:
    """Return the likely other name of each system that was probably renamed, of old and of new ones.

    Names go together that have the same accelerator and begin alike; the longest common beginning comes first, and of
    several as long the one with as many accelerators. Each name is in one pair at most.

    Args:
        gone: what the descriptions of systems say that the old side alone has, by name, ``organisation/system`` among
            several organisations.
        new: the same of the new side.
    """
    found = []
    for old in sorted(gone)[:_COMPARED]:
        for name in sorted(new)[:_COMPARED]:
            one, other = _hardware(gone[old]), _hardware(new[name])
            alike = _alike(old, name)
            if alike and (one is None or other is None or one[0] == other[0]):
                found.append((-alike, one != other, old, name))
    pairs: dict[str, str] = {}
    for *_, old, name in sorted(found):
        if old not in pairs and name not in pairs:
            pairs |= {old: name, name: old}
    return pairs


def _hardware(facts: SystemFacts | None) -> tuple[str, int | None, int | None] | None:
    """The accelerator's name, how many a node has, and the number of nodes; None without a description."""
    if facts is None:
        return None
    return (facts.accelerator_model_name or "").strip().lower(), facts.accelerators_per_node, facts.number_of_nodes


def _alike(old: str, new: str) -> int:
    """The length of the common beginning of two names of one organisation; 0 where it is too short to tell."""
    (owner, _, one), (other_owner, _, other) = (name.rpartition("/") for name in (old, new))
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False)))
    enough = owner == other_owner and common >= _LEAST_PART * min(len(one), len(other))
    return common if enough else 0


# Findings


def _findings(old: Sequence[Finding], new: Sequence[Finding]) -> Iterable[FindingChange]:
    """Defects with another number of places, those that reject first."""
    before, after = _places(old), _places(new)
    # The same defect for a reader: what was expected in its place may differ from system to system.
    kinds = {(finding.rule, finding.message): finding for finding in (*old, *new)}
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


def _places(findings: Sequence[Finding]) -> dict[tuple[str, str], list[str]]:
    places: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.rule, finding.message), []).append(finding.path)
    return places


# Files


def compare_files(old: Path, new: Path) -> FileChanges:
    """Return what differs between the files below two folders; no link is followed, and nothing is raised."""
    before, after = list_tree(old), list_tree(new)
    ours, theirs = _contents(before.items), _contents(after.items)
    changed, unknown, same = [], [*before.closed, *before.unread, *after.closed, *after.unread], 0
    for path in sorted(ours.keys() & theirs.keys()):
        equal = _equal(old, ours[path], new, theirs[path])
        if equal is None:
            unknown.append(path)
        elif equal:
            same += 1
        else:
            changed.append(path)
    added, removed = sorted(theirs.keys() - ours.keys()), sorted(ours.keys() - theirs.keys())
    moved = _moved(old, [ours[path] for path in removed], new, [theirs[path] for path in added])
    was, now = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    return FileChanges(
        same=same,
        added=tuple(path for path in added if path not in now),
        removed=tuple(path for path in removed if path not in was),
        changed=tuple(changed),
        moved=tuple(moved),
        unknown=tuple(sorted(set(unknown))),
        cut=before.cut or after.cut,
    )


def _contents(items: tuple[Item, ...]) -> dict[str, Item]:
    """Everything but folders, by path; an empty folder does not count."""
    return {item.path: item for item in items if item.kind is not ItemKind.FOLDER}


def _equal(old: Path, ours: Item, new: Path, theirs: Item) -> bool | None:
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


def _moved(old: Path, removed: list[Item], new: Path, added: list[Item]) -> list[tuple[str, str]]:
    """Pairs of the same content, each file in one pair at most. Empty files are no evidence of a move."""
    sizes = {item.size for item in removed if item.size} & {item.size for item in added}
    origin: dict[bytes, list[str]] = {}
    for item in reversed(removed):
        if item.size in sizes and item.kind is ItemKind.FILE and (content := content_digest(old / item.path)):
            origin.setdefault(content, []).append(item.path)
    moved = []
    for item in added:
        content = content_digest(new / item.path) if item.size in sizes and item.kind is ItemKind.FILE else None
        if content and origin.get(content):
            moved.append((origin[content].pop(), item.path))
    return moved
