"""The reference points of the release in force at a round's deadline, as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.io.data import shipped
from mlsub.rounds import Round, get_round

#: The round's points as they are now, or those of the release that submitters had.
Which = Literal["final", "deadline"]


class Later(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the final points of a round differ from those at its deadline; later_points.yaml describes the fields."""

    source: str
    added: dict[str, tuple[float, ...]] = {}
    replaced: dict[str, dict[float, str]] = {}
    unknown: str | None = None


def later_in(usage: str, round_name: str) -> Later | None:
    """What came after the deadline of a round; None where that is not known at all."""
    table = shipped(__file__, "later_points.yaml", dict[str, dict[str, Later | None] | None])
    return (table.get(usage) or {}).get(round_name)


def points_at_deadline(
    points: Sequence[Point], name: str, round_: Round, runs: int, algorithm: Algorithm
) -> tuple[Point, ...]:
    """The points that submitters had; the same where no difference is known.

    Args:
        points: the final ones.
        name: the benchmark.
        round_: whose points they are.
        runs: result files of a submission's entry.
        algorithm: that of the round.

    Raises:
        MlsubError: the installed data of an earlier round are broken.
    """
    later = later_in(round_.usage, round_.name)
    if later is None:
        return tuple(points)
    replaced = later.replaced.get(name, {})
    kept = [p for p in points if p.batch_size not in later.added.get(name, ()) and p.batch_size not in replaced]
    for size, earlier in replaced.items():
        file = reference_file(round_.usage, get_round(round_.usage, earlier).ruleset, name)
        old = points_of(file, name, runs, algorithm) if file else ()
        kept.extend(point for point in old if point.batch_size == size)
    return tuple(sorted(kept, key=lambda point: point.batch_size))


def sizes_that_differ(name: str, round_: Round) -> tuple[float, ...]:
    """The batch sizes whose points came, changed or went after the deadline."""
    later = later_in(round_.usage, round_.name)
    if later is None:
        return ()
    return tuple(sorted({*later.added.get(name, ()), *later.replaced.get(name, {})}))
