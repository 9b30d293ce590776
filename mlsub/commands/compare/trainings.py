"""Compare two trainings: which entries belong together, and what makes one of them faster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

from msgspec.structs import asdict

from mlsub.commands.compare.model import Comparison, PairComparison
from mlsub.commands.compare.reading import ComparedSide, compatibility, entry_name, read_side
from mlsub.io import MlsubError
from mlsub.log.changes import changed_fields, count_agreed
from mlsub.score.difference.measure import measure, runs_of, shown_division
from mlsub.score.difference.words import explain
from mlsub.submission.find import PathKind
from mlsub.submission.pairing import Pair, pairs, side_by_side, without
from mlsub.submission.result import Result
from mlsub.workspace import Context


def compare(old: str, new: str, context: Context, forced: Sequence[str] = ()) -> Comparison:
    """Return what is different about two trainings, and what makes one of them faster.

    Args:
        old: a benchmark's folder, a system's, an organisation's tree, or a folder of organisations.
        new: another one; the two need not be of a kind.
        context: with the round to judge both by, None for each side's own.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, nothing belongs together, or a forced pair cannot be made.
    """
    before, after = (read_side(path, context, intervals=True) for path in (old, new))
    return compare_sides(before, after, match(before, after, forced))


def compare_sides(before: ComparedSide, after: ComparedSide, found: Sequence[Pair]) -> Comparison:
    """Return the same of two sides that have been read, and their entries paired."""
    return Comparison(
        purpose="compare",
        old=before.side,
        new=after.side,
        pairs=tuple(_compare_entries(before, after, pair) for pair in found),
        only_old=tuple(map(entry_name, without(before.results, found, 0))),
        only_new=tuple(map(entry_name, without(after.results, found, 1))),
    )


def _compare_entries(before: ComparedSide, after: ComparedSide, pair: Pair) -> PairComparison:
    """Two entries side by side."""
    one, other = pair
    compatible, warning = compatibility(one, other)
    return PairComparison(
        **asdict(explain(measure(one), measure(other))),
        same=count_agreed(runs_of(one), runs_of(other)),
        fields=changed_fields(before.description(one.description_path), after.description(other.description_path)),
        compatible=compatible,
        warning=warning,
    )


def match(old: ComparedSide, new: ComparedSide, forced: Sequence[str] = ()) -> list[Pair]:
    """Pair the entries: those that are forced, then by benchmark, division and organisation, then by system.

    Where each side has one organisation, or one entry, these belong together whatever they are; the entries of two
    organisations by the number of accelerators, first those of the same accelerator, the fastest ones first.

    Args:
        old: one side.
        new: the other.
        forced: ``A_ENTRY=B_ENTRY``, each by its system, or by system/benchmark, or with the organisation before.

    Raises:
        MlsubError: a forced pair names no entry, or several; or there is no pair at all.
    """
    ours, theirs = old.results, new.results
    found = _forced_pairs(forced, ours, theirs)
    names = [{one.organisation_name for one in side} for side in (ours, theirs)]
    many = any(len(some) > 1 for some in names)

    def group(one: Result) -> tuple[str, ...]:
        kind = one.benchmark_name, shown_division(one) or "", one.scaling_type or ""
        return (*kind, one.organisation_name) if many else kind

    rivals = not many and names[0] != names[1] and old.place.kind is new.place.kind is PathKind.ORGANISATION

    def size(one: Result) -> tuple[object, ...]:
        return (*group(one), one.accelerators_count or 0)

    def speed(one: Result) -> float:
        return math.inf if one.published_minutes is None else one.published_minutes

    def machine(one: Result) -> tuple[object, ...]:
        return (*size(one), one.accelerator or "")

    for key in (machine, size) if rivals else (group,):
        left = side_by_side(without(ours, found, 0), without(theirs, found, 1), key)
        for _, (old_ones, new_ones) in sorted(left.items()):
            alone = len(old_ones) == len(new_ones) == 1
            both = [(old_ones[0], new_ones[0])] if alone else pairs(old_ones, new_ones)
            if rivals:
                rest = (sorted(without(some, both, at), key=speed) for at, some in enumerate((old_ones, new_ones)))
                both += zip(*rest, strict=False)
            found += both
    if len(ours) == len(theirs) == 1:
        found = [(ours[0], theirs[0])]
    if not found:
        first, second = (", ".join(map(entry_name, side[:3])) for side in (ours, theirs))
        raise MlsubError(
            f"No entry of {old.path} has a counterpart in {new.path}. --pair pairs what belongs together: "
            f"the first has {first}, the second {second}."
        )
    return found


def _forced_pairs(forced: Sequence[str], ours: Sequence[Result], theirs: Sequence[Result]) -> list[Pair]:
    found: list[Pair] = []
    for text in forced:
        one, equals, other = text.partition("=")
        if not equals:
            raise MlsubError(f"--pair {text}: write A_ENTRY=B_ENTRY, such as rack1/resnet=rack2/resnet.")
        pair = _find_entry(one, ours, "A"), _find_entry(other, theirs, "B")
        if any(pair[0] is known[0] or pair[1] is known[1] for known in found):
            raise MlsubError(f"--pair {text}: an entry belongs to one pair only.")
        found.append(pair)
    return found


def _find_entry(text: str, results: Sequence[Result], side: str) -> Result:
    """The one entry of a side that a part of --pair names."""
    wanted = [part for part in text.strip().split("/") if part]

    def is_meant(result: Result) -> bool:
        full = [result.organisation, *filter(None, (result.system, result.scaling_type, result.benchmark))]
        return wanted in (full[-len(wanted) :], full[: len(wanted)], full[1 : 1 + len(wanted)])

    found = [one for one in results if wanted and is_meant(one)]
    if len(found) == 1:
        return found[0]
    names = [f"{one.system}/{one.benchmark}" for one in (found or results)]
    if found:
        raise MlsubError(f"--pair: {text} names {len(found)} entries of {side}: {', '.join(names[:5])}.")
    close = get_close_matches(text, names, 1, 0.4)
    hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(names[:5])}."
    raise MlsubError(f"--pair: {side} has no entry {text}. {hint}")
