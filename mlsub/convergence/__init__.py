"""When a run converged, and the reference that it is compared with; here, how the RCP test of a round computes.

The statistics are olympic means, and the least mean that is not significantly faster. Student's t distribution is
computed here, because the import of scipy costs more than a whole check: its distribution function through the
regularised incomplete beta function, by its continued fraction (modified Lentz). Numerical Recipes, section 6.4, has
the method; the tests compare it with scipy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from operator import add
from typing import Any, Literal, TypeVar, get_args

import msgspec

from mlsub.io.data import shipped
from mlsub.log.reading import LARGEST_COUNT, RcpDialect
from mlsub.log.run import Run
from mlsub.rounds import Round, known_rounds

T = TypeVar("T")


#: The points merged by the day on which the round's results were published, by its deadline, or all that are installed.
Cutoff = Literal["published", "deadline", "newest"]
CUTOFFS: tuple[Cutoff, ...] = get_args(Cutoff)


class Options(msgspec.Struct, frozen=True):
    """What the caller asks of the test: a reference file of his own, how BERT is counted, and which points.

    ``train_samples``: BERT by these, or by ``epoch_num``; None for the latter, unless only the former accept it.
    """

    reference: str | None = None
    train_samples: bool | None = None
    points: Cutoff = "published"


USUAL = Options()


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
    count = sorted(converged)[len(converged) // 2]
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


def samples_of_epoch(benchmark: str, runs: Sequence[Run]) -> float | None:
    """How many samples an epoch has; None where neither the benchmark nor a log says that it has more than one."""
    known = traits_of(benchmark).epoch
    stated: list[Any] = [run.hyperparameters.get("train_samples") for run in runs] if known is None else [known]
    sizes = [float(size) for size in stated if isinstance(size, (int, float)) and 1 < size < LARGEST_COUNT]
    return sorted(sizes)[len(sizes) // 2] if sizes else None


#: Of the continued fraction.
_ROUNDS = 500
_SMALL = 1e-300
_PRECISION = 1e-16
#: One-sided significance of "faster than the reference", and how near the search for the limit ends.
ALPHA = 0.05
TOLERANCE = 0.0001
#: So near the quantile, relative to it, a value is looked up in the distribution itself; and so many degrees of freedom
#: at most have a quantile that is computed far more exactly than that.
_NEAR, _MOST_DEGREES = 1e-9, 10_000
#: How numpy sums: in so many columns, and by halves above so many values.
_COLUMNS, _BLOCK = 8, 128


def t_distribution(t: float, degrees: float) -> float:
    """The probability that Student's t with so many degrees of freedom is at most ``t``.

    Raises:
        ValueError: degrees of freedom that are not above zero.
    """
    if not degrees > 0:
        raise ValueError(f"degrees of freedom must be above zero, not {degrees:g}")
    if math.isinf(t):
        return 0.0 if t < 0 else 1.0
    tail = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return tail if t < 0 else 1 - tail


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for ``a`` and ``b`` above zero and ``x`` from 0 to 1."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The fraction converges fast below the mean of the distribution; above it the other tail is computed.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    d = 1 / d
    result = d
    for m in range(1, _ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < _PRECISION:
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL


def _exceeds(t: float, degrees: int) -> bool:
    """Whether the distribution is above ALPHA at ``t``, as :func:`t_distribution` says, mostly without asking it."""
    if degrees > _MOST_DEGREES:
        return t_distribution(t, degrees) > ALPHA
    quantile = quantile_of(degrees)
    if abs(t - quantile) <= -quantile * _NEAR:
        return t_distribution(t, degrees) > ALPHA
    return t > quantile


@lru_cache(maxsize=256)
def quantile_of(degrees: int) -> float:
    """Where Student's t distribution reaches ALPHA, for 1 to 10,000 degrees of freedom."""
    # Left of zero the distribution is convex, so Newton's method comes down from above.
    half = (degrees + 1) / 2
    density = math.exp(math.lgamma(half) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    t, step = -1.5, 1.0
    while step > -t * _NEAR / 1000:
        step = (t_distribution(t, degrees) - ALPHA) / (density * (1 + t * t / degrees) ** -half)
        t -= step
    return t


def cut_of(benchmark: str) -> int:
    """How many of the fastest, and of the slowest, an olympic mean leaves out."""
    return traits_of(benchmark).trimmed


def trim(values: Sequence[float], benchmark: str) -> list[float]:
    """The values without the fastest and the slowest, in order; empty where there are not enough."""
    cut = cut_of(benchmark)
    return sorted(values)[cut : len(values) - cut]


def mean_of(values: Sequence[float]) -> float:
    """The arithmetic mean, to the last bit that of ``numpy.mean``.

    The official tool compares numpy's mean with its limit, and an exact sum would sometimes decide otherwise.
    """
    return _pairwise_sum(values) / len(values)


def stdev_of(values: Sequence[float]) -> float:
    """The standard deviation of a whole population, to the last bit that of ``numpy.std``."""
    mean = mean_of(values)
    deviations = [value - mean for value in values]
    return math.sqrt(_pairwise_sum([deviation * deviation for deviation in deviations]) / len(values))


def _pairwise_sum(values: Sequence[float]) -> float:
    """A sum in the order in which numpy adds: one by one, in eight columns, or by halves, depending on the number.

    The built-in sum will not do: from Python 3.12 on it compensates for rounding.
    """
    number = len(values)
    if number < _COLUMNS:
        return reduce(add, values, 0.0)
    if number > _BLOCK:
        half = number // 2
        half -= half % _COLUMNS
        return _pairwise_sum(values[:half]) + _pairwise_sum(values[half:])
    whole = number - number % _COLUMNS
    a, b, c, d, e, f, g, h = (reduce(add, values[column:whole:_COLUMNS], 0.0) for column in range(_COLUMNS))
    return reduce(add, values[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))


def interpolate_linear(at: float, low: tuple[float, float], high: tuple[float, float]) -> float:
    """The value at a place between two others, linear, to the last bit that of ``numpy.interp``."""
    for place, value in (high, low):
        if at == place:
            return value
    slope = (high[1] - low[1]) / (high[0] - low[0])
    return slope * (at - low[0]) + low[1]


def threshold_of(mean: float, minimum: float) -> float:
    """What the official tool compares a mean with: the least accepted mean, through the greatest speedup and back.

    Two divisions may move it by a unit in the last place.

    Args:
        mean: of the reference.
        minimum: the least accepted mean, less what the round lets a result be earlier.
    """
    if mean == 0 or minimum == 0:
        return minimum
    return mean / (mean / minimum)


@lru_cache(maxsize=1024)
def least_accepted_mean(mean: float, stdev: float, reference_runs: int, runs: int) -> float:
    """The least mean of a submission that is not significantly faster than a reference.

    A one-sided two-sample t-test with equal variances, the reference's stdev on both sides. The search is the official
    one, a bisection between 0 and the reference's mean, so that the limit is the same number. Entries of a benchmark
    share their reference points, so answers are kept.

    Args:
        mean: of the reference, trimmed, in epochs or samples.
        stdev: of the reference.
        reference_runs: runs behind the reference, after trimming.
        runs: runs of the submission that its mean is over.
    """
    degrees = reference_runs + runs - 2
    if stdev == 0 or degrees <= 0 or reference_runs <= 0 or runs <= 0:
        return mean
    spread = stdev * math.sqrt(1 / reference_runs + 1 / runs)
    low, high = 0.0, mean
    middle = (low + high) / 2
    while high - low > TOLERANCE:
        if _exceeds((middle - mean) / spread, degrees):
            high = middle
        else:
            low = middle
        previous, middle = middle, (low + high) / 2
        if middle == previous:
            break  # Numbers so large that their neighbours are further apart than the tolerance.
    return middle
