"""Which entry of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

import msgspec

from mlsub.commands.compare.packages.reading import Entry, Reading
from mlsub.io.errors import MlsubError

#: Names less alike than this are two systems.
_ALIKE = 0.7
#: Entries of one benchmark compared each with each by their names.
_MANY = 200

Pair = tuple[Entry, Entry]


class Matched(msgspec.Struct, frozen=True):
    """The pairs, and what is left of either side."""

    pairs: tuple[Pair, ...]
    only_old: tuple[Entry, ...]
    only_new: tuple[Entry, ...]


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
    ours, theirs = old.entries, new.entries
    pairs = _forced(forced, ours, theirs)
    ours, theirs = _left(ours, pairs, 0), _left(theirs, pairs, 1)
    if len(ours) == len(theirs) == 1 and not pairs:
        return Matched(((ours[0], theirs[0]),), (), ())
    for group in sorted({_group(entry) for entry in ours}):
        pairs += _paired(*([entry for entry in side if _group(entry) == group] for side in (ours, theirs)))
    matched = Matched(tuple(pairs), _left(ours, pairs, 0), _left(theirs, pairs, 1))
    if not pairs:
        one, other = (", ".join(entry.name for entry in left[:3]) for left in (matched.only_old, matched.only_new))
        raise MlsubError(
            f"No entry of {old.path} has a counterpart in {new.path}. --pair pairs what belongs together: "
            f"the first has {one}, the second {other}."
        )
    return matched


def _left(entries: Sequence[Entry], pairs: Sequence[Pair], side: int) -> tuple[Entry, ...]:
    """The entries of a side that no pair has."""
    return tuple(entry for entry in entries if all(entry is not pair[side] for pair in pairs))


def _group(entry: Entry) -> tuple[str, str, str]:
    return entry.held.benchmark, entry.division or "", entry.result.scaling_type or ""


def _paired(ours: Sequence[Entry], theirs: Sequence[Entry]) -> list[Pair]:
    """Pairs within a benchmark and division: the same name first, then the most alike."""
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    pairs: list[Pair] = []
    for one in ours:
        same = [other for other in theirs if other.meant[:2] == one.meant[:2]]
        same = same or [other for other in theirs if other.result.system == one.result.system]
        if len(same) == 1 and all(same[0] is not pair[1] for pair in pairs):
            pairs.append((one, same[0]))
    candidates = [
        (_likeness(one, other), one, other)
        for one in ours[:_MANY]
        for other in theirs[:_MANY]
        if _as_many(one, other) and _named_alike(one, other) >= _ALIKE
    ]
    for _, one, other in sorted(candidates, key=lambda c: (c[0], c[1].result.path, c[2].result.path), reverse=True):
        if all(one is not pair[0] and other is not pair[1] for pair in pairs):
            pairs.append((one, other))
    return sorted(pairs, key=lambda pair: pair[0].result.path)


def _likeness(one: Entry, other: Entry) -> tuple[bool, bool, float]:
    """The same organisation counts most, then the same accelerator, then the name."""
    ours, theirs = one.facts, other.facts
    same = bool(ours and theirs and ours.accelerator_model_name == theirs.accelerator_model_name)
    return one.meant[0] == other.meant[0], same, _named_alike(one, other)


def _named_alike(one: Entry, other: Entry) -> float:
    return SequenceMatcher(None, one.result.system[:200], other.result.system[:200], autojunk=False).ratio()


def _as_many(one: Entry, other: Entry) -> bool:
    """Whether both have as many accelerators, as far as that is known: names of large and small systems are alike."""
    counts = one.accelerators, other.accelerators
    return None in counts or counts[0] == counts[1]


def _forced(forced: Sequence[str], ours: Sequence[Entry], theirs: Sequence[Entry]) -> list[Pair]:
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


def _named(text: str, entries: Sequence[Entry], side: str) -> Entry:
    wanted = [part for part in text.strip().split("/") if part]
    found = [entry for entry in entries if wanted and _ends(entry, wanted)]
    if len(found) == 1:
        return found[0]
    names = [f"{entry.result.system}/{entry.result.benchmark}" for entry in (found or entries)]
    if found:
        raise MlsubError(f"--pair: {text} names {len(found)} entries of {side}: {', '.join(names[:5])}.")
    close = get_close_matches(text, names, 1, 0.4)
    hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(names[:5])}."
    raise MlsubError(f"--pair: {side} has no entry {text}. {hint}")


def _ends(entry: Entry, wanted: list[str]) -> bool:
    organisation, system, benchmark, scaling = entry.key
    full = [organisation, system, *([scaling] if scaling else []), benchmark]
    return full[-len(wanted) :] == wanted or full[: len(wanted)] == wanted or full[1 : 1 + len(wanted)] == wanted
