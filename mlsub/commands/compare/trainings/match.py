"""Which entry of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

import msgspec

from mlsub.commands.compare.packages.reading import Reading
from mlsub.commands.compare.trainings.sides import accelerators_of, facts_of_entry
from mlsub.io.errors import MlsubError
from mlsub.submission.report import EntryResult

#: Names less alike than this are two systems.
_ALIKE = 0.7
#: Entries of one benchmark compared each with each by their names.
_MANY = 200

Pair = tuple[EntryResult, EntryResult]


class Matched(msgspec.Struct, frozen=True):
    """The pairs, and what is left of either side."""

    pairs: tuple[Pair, ...]
    only_old: tuple[EntryResult, ...]
    only_new: tuple[EntryResult, ...]


def match(old: Reading, new: Reading, forced: Sequence[str] = ()) -> Matched:
    """Pair the entries: those that are forced, then by benchmark and division, name and number of accelerators.

    Where each side has one entry alone, the two are a pair whatever they are.

    Args:
        old: one side.
        new: the other.
        forced: ``A_ENTRY=B_ENTRY``, each by its system, or by system/benchmark, or with the organisation before.

    Raises:
        MlsubError: a forced pair names no entry, or several; or there is no pair at all.
    """
    matched = _match(old, new, forced)
    if not matched.pairs:
        one, other = (", ".join(map(entry_name, left[:3])) for left in (matched.only_old, matched.only_new))
        raise MlsubError(
            f"No entry of {old.path} has a counterpart in {new.path}. --pair pairs what belongs together: "
            f"the first has {one}, the second {other}."
        )
    return matched


def entry_name(entry: EntryResult) -> str:
    """Organisation, system and benchmark as a path, such as ``--pair`` takes it."""
    return "/".join(filter(None, (entry.organisation, entry.system, entry.scaling_type, entry.benchmark)))


def _match(old: Reading, new: Reading, forced: Sequence[str]) -> Matched:
    ours, theirs = list(old.checked.report.entries), list(new.checked.report.entries)
    pairs = _forced(forced, ours, theirs)
    ours = [entry for entry in ours if all(entry is not pair[0] for pair in pairs)]
    theirs = [entry for entry in theirs if all(entry is not pair[1] for pair in pairs)]
    if len(ours) == len(theirs) == 1 and not pairs:
        return Matched(((ours[0], theirs[0]),), (), ())
    for group in sorted({_group(entry) for entry in ours}):
        pairs += _paired(
            [entry for entry in ours if _group(entry) == group],
            [entry for entry in theirs if _group(entry) == group],
            old,
            new,
        )
    return Matched(
        tuple(pairs),
        tuple(entry for entry in ours if all(entry is not pair[0] for pair in pairs)),
        tuple(entry for entry in theirs if all(entry is not pair[1] for pair in pairs)),
    )


def _group(entry: EntryResult) -> tuple[str, str, str]:
    return entry.benchmark, entry.division or "", entry.scaling_type or ""


def _paired(ours: list[EntryResult], theirs: list[EntryResult], old: Reading, new: Reading) -> Iterable[Pair]:
    """Pairs within a benchmark and division: the same name first, then the most alike."""
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    pairs: list[Pair] = []
    for one in ours:
        same = [other for other in theirs if (other.organisation, other.system) == (one.organisation, one.system)]
        same = same or [other for other in theirs if other.system == one.system]
        if len(same) == 1 and all(same[0] is not pair[1] for pair in pairs):
            pairs.append((one, same[0]))
    candidates = [
        (_likeness(one, other, old, new), one, other)
        for one in ours[:_MANY]
        for other in theirs[:_MANY]
        if _as_many(one, other, old, new) and _named_alike(one, other) >= _ALIKE
    ]
    for _, one, other in sorted(candidates, key=lambda c: (c[0], c[1].path, c[2].path), reverse=True):
        if all(one is not pair[0] and other is not pair[1] for pair in pairs):
            pairs.append((one, other))
    return sorted(pairs, key=lambda pair: pair[0].path)


def _likeness(one: EntryResult, other: EntryResult, old: Reading, new: Reading) -> tuple[bool, bool, float]:
    """The same organisation counts most, then the same accelerator, then the name."""
    ours, theirs = facts_of_entry(old, one), facts_of_entry(new, other)
    same = bool(ours and theirs and ours.accelerator_model_name == theirs.accelerator_model_name)
    return one.organisation == other.organisation, same, _named_alike(one, other)


def _named_alike(one: EntryResult, other: EntryResult) -> float:
    return SequenceMatcher(None, one.system[:200], other.system[:200], autojunk=False).ratio()


def _as_many(one: EntryResult, other: EntryResult, old: Reading, new: Reading) -> bool:
    """Whether both have as many accelerators, as far as that is known: names of large and small systems are alike."""
    counts = accelerators_of(facts_of_entry(old, one)), accelerators_of(facts_of_entry(new, other))
    return None in counts or counts[0] == counts[1]


def _forced(forced: Sequence[str], ours: Sequence[EntryResult], theirs: Sequence[EntryResult]) -> list[Pair]:
    pairs: list[Pair] = []
    for text in forced:
        one, equals, other = text.partition("=")
        if not equals:
            raise MlsubError(f"--pair {text}: write A_ENTRY=B_ENTRY, such as rack1/resnet=rack2/resnet.")
        pair = _named(one, ours, "A"), _named(other, theirs, "B")
        if any(pair[0] is known[0] or pair[1] is known[1] for known in pairs):
            raise MlsubError(f"--pair {text}: an entry belongs to one pair only.")
        pairs.append(pair)
    return pairs


def _named(text: str, entries: Sequence[EntryResult], side: str) -> EntryResult:
    wanted = [part for part in text.strip().split("/") if part]
    found = [entry for entry in entries if wanted and _ends(entry, wanted)]
    if len(found) == 1:
        return found[0]
    names = [f"{entry.system}/{entry.benchmark}" for entry in (found or entries)]
    if found:
        raise MlsubError(f"--pair: {text} names {len(found)} entries of {side}: {', '.join(names[:5])}.")
    close = get_close_matches(text, names, 1, 0.4)
    hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(names[:5])}."
    raise MlsubError(f"--pair: {side} has no entry {text}. {hint}")


def _ends(entry: EntryResult, wanted: list[str]) -> bool:
    full = [entry.organisation, entry.system, *([entry.scaling_type] if entry.scaling_type else []), entry.benchmark]
    return full[-len(wanted) :] == wanted or full[: len(wanted)] == wanted or full[1 : 1 + len(wanted)] == wanted
