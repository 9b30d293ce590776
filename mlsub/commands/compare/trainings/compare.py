"""Compare two trainings, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mlsub.commands.compare.packages.reading import Reading, read_side
from mlsub.commands.compare.trainings.decompose import decompose
from mlsub.commands.compare.trainings.match import Matched, Pair, match
from mlsub.commands.compare.trainings.model import Comparison, PairComparison
from mlsub.commands.compare.trainings.sides import know
from mlsub.commands.compare.trainings.words import answer
from mlsub.log.changes import agreed, fields, hyperparameters
from mlsub.log.intervals import IntervalFold
from mlsub.workspace import Settings


def compare(old: str, new: str, settings: Settings, forced: Sequence[str] = ()) -> Comparison:
    """What is different about two trainings, and what makes one of them faster.

    Args:
        old: a benchmark's folder, a system's, an organisation's tree, or a folder of organisations.
        new: another one; the two need not be of a kind.
        settings: with the round to judge both by, None for each side's own.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, nothing belongs together, or a forced pair cannot be made.
    """
    before, after = read_timed(old, settings), read_timed(new, settings)
    return compare_sides(before, after, match(before, after, forced))


def read_timed(path: str, settings: Settings) -> Reading:
    """Check one side as ``read_side`` does, and collect the intervals of its logs."""
    return read_side(path, msgspec.structs.replace(settings, folds=(IntervalFold,)))


def compare_sides(before: Reading, after: Reading, matched: Matched) -> Comparison:
    """The same of two sides that have been read, and their entries paired."""
    return Comparison(
        purpose="compare",
        old=before.side,
        new=after.side,
        pairs=tuple(map(compare_entries, matched.pairs)),
        only_old=tuple(entry.name for entry in matched.only_old),
        only_new=tuple(entry.name for entry in matched.only_new),
    )


def compare_entries(pair: Pair) -> PairComparison:
    """Two entries side by side."""
    old, new = map(know, pair)
    times = old.side.minutes, new.side.minutes
    undivided = old.why or new.why or ("one of them has no time" if None in times else None)
    compatible, warning = pair[0].held.is_beside(pair[1].held)
    if (old.side.usage, old.side.benchmark_name) != (new.side.usage, new.side.benchmark_name):
        undivided = "they train different benchmarks"
    parts = decompose(old.measured, new.measured) if old.measured and new.measured and not undivided else ()
    runs = [entry.runs for entry in pair]
    changes = hyperparameters(*runs)
    ratio = times[0] / times[1] if times[0] and times[1] and min(times[0], times[1]) > 0 else None
    return PairComparison(
        old=old.side,
        new=new.side,
        ratio=ratio,
        reduction=None if ratio is None else 1 - 1 / ratio,
        parts=parts,
        undivided=undivided,
        same=agreed(*runs),
        hyperparameters=changes,
        fields=fields(pair[0].description, pair[1].description),
        compatible=compatible,
        warning=warning,
        answer=answer(old.side, new.side, parts, undivided, changes),
    )
