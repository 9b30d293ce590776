"""How the RCP test in force for a round computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

import msgspec

from mlsub.io.data import shipped
from mlsub.log.reading import LARGEST_COUNT, RcpDialect
from mlsub.log.run import Run
from mlsub.rounds import Round, known_rounds

T = TypeVar("T")


class Algorithm(msgspec.Struct, frozen=True):
    """The variant of the test; algorithms.yaml describes the fields."""

    stdev: Literal["trimmed", "full"]
    pruning: Literal["none", "minimum", "mean"]
    normalise: bool
    named_by: Literal["folder", "logs"]
    earlier: tuple[tuple[str, float], ...] = ()
    evaluations: Literal["accuracy", "error_first", "either"] = "either"
    stop: Literal["text", "key"] = "key"
    samples: tuple[str, ...] = ()
    step: str = "samples_count"


@lru_cache(maxsize=32)
def algorithm_of(usage: str, round_name: str, overlay: str | None = None) -> Algorithm | None:
    """The variant of a round, which may be one that an overlay file adds; None where the round had no such test."""
    return _in_force(_load_algorithms().get(usage) or {}, usage, round_name, overlay)


@lru_cache(maxsize=32)
def dialect_of(usage: str, round_name: str, overlay: str | None = None) -> RcpDialect:
    """How the checker of a round reads a log; as that of the newest round does where the round had no such test."""
    found = algorithm_of(usage, round_name, overlay) or newest_algorithm()
    return RcpDialect(found.evaluations, found.stop, found.named_by == "logs", frozenset(found.samples), found.step)


def newest_algorithm() -> Algorithm:
    """The variant of the newest round."""
    return list((_load_algorithms()["training"] or {}).values())[-1]


def _load_algorithms() -> dict[str, dict[str, Algorithm] | None]:
    return shipped(__file__, "algorithms.yaml", dict[str, dict[str, Algorithm] | None])


class Traits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the test has to know of a benchmark; benchmarks.yaml says what each field means."""

    unit: dict[str, str] = {}
    epoch: int | None = None
    counted: str = "epoch_num"
    points: str = "Epochs to converge"
    trimmed: int = 1
    tested: bool = True


def traits_of(benchmark: str) -> Traits:
    """The traits of a benchmark; the usual ones for an unknown one."""
    return shipped(__file__, "benchmarks.yaml", dict[str, Traits]).get(benchmark) or Traits()


def unit_of(benchmark: str) -> str:
    """The metadata of an evaluation that says how far the training has come."""
    return traits_of(benchmark).counted


def unit_words(benchmark: str, round_: Round) -> str:
    """What the reference points of a benchmark count in a round, in words: epochs, samples, steps or tokens."""
    return _in_force(traits_of(benchmark).unit, round_.usage, round_.name, round_.overlay) or "epochs"


def is_tested(benchmark: str) -> bool:
    """Whether Closed entries of the benchmark are compared with a reference."""
    return traits_of(benchmark).tested


def _in_force(since: Mapping[str, T], usage: str, round_name: str, overlay: str | None) -> T | None:
    """Of values that each apply from a round on, the one that applies in this round; None before the first."""
    rounds = known_rounds(usage, overlay)
    earlier = [name for name in rounds[: rounds.index(round_name) + 1] if name in since]
    return since[earlier[-1]] if earlier else None


#: The two units that logs and references take for each other.
_CONFUSED: dict[str, Literal["epochs", "samples"]] = {"epochs": "samples", "samples": "epochs"}


def other_unit(
    points: Sequence[float | None],
    unit: str,
    batch_size: float | None = None,
    reference: float | None = None,
    epoch: float | None = None,
) -> Literal["epochs", "samples"] | None:
    """Return what convergence points in ``epoch_num`` count where that is not the unit of the reference, else None.

    Args:
        points: of the runs, as the logs have them; None for a run that did not converge. The middle one decides.
        unit: what the reference counts.
        batch_size: of the entry, None where it is not known, as the next two.
        reference: the mean of the reference.
        epoch: samples of an epoch.
    """
    converged = [point for point in points if point is not None]
    if not converged:
        return None
    count = _upper_median(converged)
    if unit in _CONFUSED and epoch is not None and reference is not None and count > 0 and reference > 0:
        # Logarithms, as the counts themselves may leave the range of a double.
        off = math.log(count) - math.log(reference)
        converted = off + math.log(epoch) if unit == "samples" else off - math.log(epoch)
        if abs(converted) < abs(off):
            return _CONFUSED[unit]
    below = batch_size is not None and 0 < count < batch_size
    return "epochs" if below and unit in ("samples", "tokens") else None


def unit_of_counts(
    points: Sequence[float | None], benchmark: str, round_: Round, batch_size: float | None = None
) -> str:
    """Return what the progress of runs that are not compared with a reference counts, in words."""
    unit = unit_words(benchmark, round_)
    if unit_of(benchmark) != "epoch_num":
        return unit
    return other_unit(points, unit, batch_size) or unit


def _upper_median(values: Sequence[float]) -> float:
    """The value that as many lie below as above; of an even number the higher one."""
    return sorted(values)[len(values) // 2]


def samples_of_epoch(benchmark: str, runs: Sequence[Run]) -> float | None:
    """How many samples an epoch has; None where neither the benchmark nor a log says that it has more than one."""
    known = traits_of(benchmark).epoch
    stated: list[Any] = [run.hyperparameters.get("train_samples") for run in runs] if known is None else [known]
    sizes = [float(size) for size in stated if isinstance(size, (int, float)) and 1 < size < LARGEST_COUNT]
    return _upper_median(sizes) if sizes else None
