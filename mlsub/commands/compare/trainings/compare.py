"""Compare two trainings, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mlsub.commands.compare.packages.model import Side
from mlsub.commands.compare.packages.reading import Reading, read_side
from mlsub.commands.compare.trainings.decompose import decompose
from mlsub.commands.compare.trainings.match import Pair, entry_name, match
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
        MlsubError: a side holds nothing to compare, nothing belongs together, or a forced pair is none.
    """
    return compare_sides(read_timed(old, settings), read_timed(new, settings), forced)


def read_timed(path: str, settings: Settings) -> Reading:
    """Check one side as ``read_side`` does, and collect the intervals of its logs."""
    return read_side(path, msgspec.structs.replace(settings, folds=(IntervalFold,)))


def compare_sides(before: Reading, after: Reading, forced: Sequence[str] = ()) -> Comparison:
    """The same of two sides that have been read."""
    matched = match(before, after, forced)
    return Comparison(
        purpose="compare",
        old=side_of(before),
        new=side_of(after),
        pairs=tuple(compare_entries(before, after, pair) for pair in matched.pairs),
        only_old=tuple(map(entry_name, matched.only_old)),
        only_new=tuple(map(entry_name, matched.only_new)),
    )


def compare_entries(before: Reading, after: Reading, pair: Pair) -> PairComparison:
    """Two entries side by side."""
    old, new = know(before, pair[0]), know(after, pair[1])
    times = old.side.minutes, new.side.minutes
    undivided = old.why or new.why or ("one of them has no time" if None in times else None)
    if pair[0].benchmark != pair[1].benchmark:
        undivided = "they train different benchmarks"
    parts = decompose(old.measured, new.measured) if old.measured and new.measured and not undivided else ()
    changes = hyperparameters(old.runs, new.runs)
    ratio = times[0] / times[1] if times[0] and times[1] and min(times[0], times[1]) > 0 else None
    return PairComparison(
        old=old.side,
        new=new.side,
        ratio=ratio,
        reduction=None if ratio is None else 1 - 1 / ratio,
        parts=parts,
        undivided=undivided,
        same=agreed(old.runs, new.runs),
        hyperparameters=changes,
        fields=fields(old.content, new.content),
        answer=answer(old.side, new.side, parts, undivided, changes),
    )


def side_of(read: Reading) -> Side:
    """One of the two, with the verdict on it."""
    report = read.checked.report
    return Side(path=read.path, usage=report.usage, round=report.round, official=report.official.value)
