"""How near the limit the runs at hand are, what their scaling costs, and the chance that further runs pass."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from random import Random

import msgspec

from mlsub.convergence.algorithm import algorithm_of
from mlsub.convergence.curves import reference_of
from mlsub.convergence.reference import which_of
from mlsub.convergence.statistics import cut_of, mean_of
from mlsub.convergence.verdict import BEYOND
from mlsub.convergence.words import number, words_of
from mlsub.io.errors import MlsubError
from mlsub.io.show import show
from mlsub.rounds import Round, get_round
from mlsub.rules.load import benchmark
from mlsub.submission.report import EntryResult, RcpResult, Report

_UNTESTED = "not-required"
#: Fewer runs that converged say nothing about their spread.
LEAST_RUNS = 3


class Bootstrap(msgspec.Struct, frozen=True):
    """How the chance is computed: see :func:`chance_of`. ``level`` is that of the interval, 0.9 for 90 %."""

    seed: int = 0
    resamples: int = 4000
    worlds: int = 2000
    level: float = 0.9


USUAL = Bootstrap()


class Chance(msgspec.Struct, frozen=True):
    """The chance (0 to 1) that ``runs`` further runs pass; ``low`` to ``high`` is None where there is no interval.

    ``certain`` says that the runs at hand show no spread at all, so that the chance is 0 or 1 as far as they show.
    """

    runs: int
    value: float
    low: float | None = None
    high: float | None = None
    certain: bool = False


def chance_of(
    points: Sequence[float | None], limit: float, runs: int, name: str, bootstrap: Bootstrap = USUAL
) -> Chance | None:
    """The chance that an entry of further runs, distributed like those at hand, passes: a studentised bootstrap.

    What is uncertain is less the resampling than what three to ten runs say about the distribution. A plain, double or
    Bayesian bootstrap knows no value beyond those seen: three runs that happen to lie above the limit give it 100 %,
    and an interval of no width. So each of ``worlds`` draws supposes another distribution that could have given the
    runs at hand: its spread is s·√((n-1)/χ²) and its mean lies s/√n·t around theirs, as in Student's test, its shape is
    that of their residuals, and its share of failing runs is drawn from Beta(failed, converged). In each, the chance
    is read off the same resampled olympic means of residuals. The value is the mean over the worlds, the interval
    their central part.

    Measured on simulated entries of 3, 5, 10 and 40 runs (normal, skewed, on a coarse grid, some failing; true chances
    from 50 to 99 %): the interval of 90 % held the true chance in 78 to 100 % of the cases and lay wholly above it in
    at most 13 %; that of a double bootstrap in 37 to 100 %, and above in up to 55 %.

    What the runs at hand do not show has no part in it: where none failed, none of the further ones does.

    Args:
        points: convergence points of the runs at hand, None for a run that did not converge: infinitely slow.
        limit: the least mean that is accepted.
        runs: how many further runs make the entry.
        name: the benchmark; decides how many are trimmed, and how many may fail.
        bootstrap: seed and sizes; the same seed gives the same answer, whatever else was asked before.

    Returns:
        None where ``runs`` are too few for an olympic mean, or fewer than LEAST_RUNS converged.
    """
    cut = cut_of(name)
    seen = _seen(points)
    if runs <= 2 * cut or seen.converged < LEAST_RUNS:
        return None
    if seen.spread == 0 and not seen.failed:
        return Chance(runs, float(seen.mean >= limit), certain=True)
    rng = Random(bootstrap.seed)  # noqa: S311  (no secret is made of it)
    may_fail = range(cut + 1 if seen.failed else 1)
    means = [_olympic_residuals(seen.residuals, runs, cut, failed, bootstrap.resamples, rng) for failed in may_fail]
    chances = []
    for _ in range(bootstrap.worlds):
        mean, spread, failing = _world(seen, rng)
        least = (limit - mean) / spread if spread else math.copysign(math.inf, limit - mean if limit != mean else -1)
        chances.append(
            math.fsum(
                math.comb(runs, failed)
                * failing**failed
                * (1 - failing) ** (runs - failed)
                * (1 - bisect_left(means[failed], least) / bootstrap.resamples)
                for failed in may_fail
            )
        )
    chances.sort()
    tail = (1 - bootstrap.level) / 2
    low, high = (chances[min(int(part * len(chances)), len(chances) - 1)] for part in (tail, 1 - tail))
    return Chance(runs, min(mean_of(chances), 1.0), low, min(high, 1.0))


def completion_of(
    points: Sequence[float | None], limit: float, needed: int, name: str, bootstrap: Bootstrap = USUAL
) -> float | None:
    """The chance that an entry passes once it has the runs it lacks, those at hand being part of it.

    The distribution is that of :func:`chance_of`, one supposed world a resample.

    Args:
        points: of the runs at hand.
        limit: the least mean that is accepted.
        needed: how many runs the entry has in the end.
        name: the benchmark.
        bootstrap: seed and number of resamples.

    Returns:
        None where fewer than LEAST_RUNS converged.
    """
    cut, seen = cut_of(name), _seen(points)
    if seen.converged < LEAST_RUNS:
        return None
    rng = Random(bootstrap.seed)  # noqa: S311  (no secret is made of it)
    at_hand = [math.inf if point is None else point for point in points]
    passed = 0
    for _ in range(bootstrap.resamples):
        mean, spread, failing = _world(seen, rng)
        drawn = rng.choices(seen.residuals, k=needed - len(at_hand))
        more = [math.inf if failing and rng.random() < failing else mean + spread * residual for residual in drawn]
        kept = sorted(at_hand + more)[cut : needed - cut]
        passed += kept[-1] < math.inf and mean_of(kept) >= limit
    return passed / bootstrap.resamples


class _Seen(msgspec.Struct, frozen=True):
    """What the runs at hand show; ``spread`` is the stdev of a sample, the residuals have stdev 1."""

    converged: int
    failed: int
    mean: float
    spread: float
    residuals: tuple[float, ...]


def _seen(points: Sequence[float | None]) -> _Seen:
    values = sorted(point for point in points if point is not None)
    n = len(values)
    mean = mean_of(values) if values else 0.0
    squares = math.fsum((value - mean) ** 2 for value in values)
    if n < 2 or values[0] == values[-1] or squares == 0:
        return _Seen(n, len(points) - n, values[0] if values else 0.0, 0.0, (0.0,))
    residuals = tuple((value - mean) / math.sqrt(squares / n) for value in values)
    return _Seen(n, len(points) - n, mean, math.sqrt(squares / (n - 1)), residuals)


def _world(seen: _Seen, rng: Random) -> tuple[float, float, float]:
    """Mean, spread and share of failing runs of a distribution that could have given the runs at hand."""
    degrees = seen.converged - 1
    spread = seen.spread * math.sqrt(degrees / rng.gammavariate(degrees / 2, 2.0)) if seen.spread else 0.0
    mean = seen.mean + spread / math.sqrt(seen.converged) * rng.gauss()
    return mean, spread, rng.betavariate(seen.failed, seen.converged) if seen.failed else 0.0


def _olympic_residuals(
    residuals: Sequence[float], runs: int, cut: int, failed: int, resamples: int, rng: Random
) -> list[float]:
    """Olympic means of resampled runs, in order; the failed ones, at most ``cut``, are among the slowest."""
    left = runs - failed
    drawn = rng.choices(residuals, k=left * resamples)
    kept = runs - 2 * cut
    return sorted(sum(sorted(drawn[at : at + left])[cut : cut + kept]) / kept for at in range(0, len(drawn), left))


#: So few distinct convergence points say little about how runs spread.
_FEW = 2


class Margin(msgspec.Struct, frozen=True, kw_only=True):
    """How an entry stands against its reference. Means, limit and distance are in ``unit``, times in minutes.

    ``verdict`` is that of the test, or ``open`` where fewer runs are at hand than an entry has (``needed``) and those
    to come can still turn it. ``mean`` is the olympic mean or, where the runs of an open entry are too few for one, the
    plain mean of those that converged (``olympic`` is False). ``distance`` is mean minus limit, ``percent`` that
    in per cent of the limit. ``completion`` is, of an open entry, the chance that it passes with the runs it lacks.
    """

    path: str
    organisation: str
    system: str
    benchmark: str
    verdict: str
    how: str | None
    unit: str | None
    batch_size: float | None
    runs: int
    needed: int
    converged: int
    mean: float | None
    olympic: bool
    reference_mean: float | None
    reference_stdev: float | None
    limit: float | None
    distance: float | None
    percent: float | None
    unscaled: float | None
    published: float | None
    expected: float | None
    scaling: float
    expected_scaling: float
    chance: Chance | None
    completion: float | None
    notes: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether it passes; an open entry as it stands so far."""
        if self.verdict == "open":
            return self.distance is not None and self.distance >= 0
        return self.verdict in ("pass", "bypassed")


class Untested(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that is not compared with a reference, and why."""

    path: str
    organisation: str
    system: str
    benchmark: str
    why: str


class PackageMargins(msgspec.Struct, frozen=True, kw_only=True):
    """How the entries of one path stand; ``untested`` are those that no reference applies to."""

    usage: str
    round: str
    round_from: str | None
    root: str
    entries: tuple[Margin, ...]
    untested: tuple[Untested, ...]

    def name_of(self, entry: Margin | Untested) -> str:
        """An entry by its path; by its folder where that is what was asked for."""
        return self.root.rpartition("/")[2] if entry.path == "." else entry.path


def margins_of(
    report: Report,
    overlay: str | None = None,
    bootstrap: Bootstrap = USUAL,
    further: int | None = None,
    own: str | None = None,
) -> PackageMargins:
    """How the entries of a report stand.

    Args:
        report: with a usage and a round.
        overlay: the user's own rule file.
        bootstrap: how chances are computed.
        further: of how many further runs the chance is; None for as many as an entry has.
        own: a file of reference points in place of the installed ones.
    """
    of = get_round(str(report.usage), str(report.round), overlay)
    tested = [entry for entry in report.entries if entry.rcp.verdict != _UNTESTED]
    return PackageMargins(
        usage=of.usage,
        round=str(report.round),
        round_from=report.round_from,
        root=report.root,
        entries=tuple(
            margin_of(entry, benchmark_held(report, entry, of), of, bootstrap, further=further, own=own)
            for entry in tested
        ),
        untested=tuple(
            Untested(
                path=entry.path,
                organisation=entry.organisation,
                system=entry.system,
                benchmark=entry.benchmark,
                why=why_untested(entry, of),
            )
            for entry in report.entries
            if entry.rcp.verdict == _UNTESTED
        ),
    )


def why_untested(entry: EntryResult, round_: Round) -> str:
    """Why an entry is not tested, in words."""
    how = entry.rcp.how or ""
    if how == "unknown-division" and entry.division is not None:
        how = "other-division"
    names = {"round": round_.title, "benchmark": entry.benchmark, "division": show(entry.division)}
    return words_of("untested").get(how, how or "no reason is known").format(shown=show(entry.benchmark), **names)


def benchmark_held(report: Report, entry: EntryResult, round_: Round) -> str:
    """The benchmark an entry is tested as: to v2.1 the folder's, from v3.0 the one its logs name."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None or algorithm.name == "folder":
        return entry.benchmark
    own = (log.benchmark for log in report.logs if (log.path.rpartition("/")[0] or ".") == entry.path)
    logged = next((name for name in own if name), None)
    return logged if logged in round_.benchmarks else entry.benchmark


def margin_of(
    entry: EntryResult,
    name: str,
    round_: Round,
    bootstrap: Bootstrap = USUAL,
    *,
    further: int | None = None,
    own: str | None = None,
) -> Margin:
    """How an entry that is tested stands.

    Args:
        entry: its ``rcp`` is not ``not-required``.
        name: the benchmark it is tested as, see :func:`benchmark_held`.
        round_: whose reference applies.
        bootstrap: how the chance is computed.
        further: of how many further runs the chance is; None for as many as an entry has.
        own: a file of reference points in place of the installed ones.
    """
    rcp, needed = entry.rcp, benchmark(round_.usage, round_.name, name, round_.overlay).runs
    rcp = _with_reference(rcp, name, round_, own)
    converged = [point for point in rcp.points if point is not None]
    usable = rcp.logs_unit is None and all(abs(point) < BEYOND for point in converged)
    verdict = verdict_of(entry, name, needed)
    mean = rcp.mean
    if mean is None and verdict == "open" and converged and usable:
        mean = mean_of(converged)
    distance = None if mean is None or rcp.minimum is None else mean - rcp.minimum
    runs = needed if further is None else further
    testable = usable and rcp.minimum is not None and rcp.how not in _UNKNOWN
    chance = chance_of(rcp.points, rcp.minimum, runs, name, bootstrap) if testable and rcp.minimum is not None else None
    completion = None
    if verdict == "open" and chance is not None and rcp.minimum is not None:
        completion = completion_of(rcp.points, rcp.minimum, needed, name, bootstrap)
    return Margin(
        path=entry.path,
        organisation=entry.organisation,
        system=entry.system,
        benchmark=name,
        verdict=verdict,
        how=rcp.how,
        unit=rcp.unit,
        batch_size=rcp.batch_size,
        runs=entry.runs,
        needed=needed,
        converged=len(converged),
        mean=mean,
        olympic=rcp.mean is not None,
        reference_mean=rcp.reference_mean,
        reference_stdev=rcp.reference_stdev,
        limit=rcp.minimum,
        distance=distance,
        percent=100 * distance / rcp.minimum if distance is not None and rcp.minimum else None,
        unscaled=entry.score.unscaled,
        published=entry.score.published,
        expected=entry.score.expected,
        scaling=entry.score.scaling,
        expected_scaling=entry.score.expected_scaling,
        chance=chance,
        completion=completion,
        notes=tuple(_notes(entry, rcp, name, needed, runs, verdict, chance)),
    )


def _with_reference(rcp: RcpResult, name: str, round_: Round, own: str | None) -> RcpResult:
    """The result with the reference of its batch size, also where the test ended before it came to that."""
    if rcp.minimum is not None or rcp.batch_size is None or rcp.how not in ("insufficient-convergence", *_UNKNOWN):
        return rcp
    try:
        reference = reference_of(round_, name, own, which_of(rcp.reference_points))
        point, _ = reference.held_against(rcp.batch_size)
    except MlsubError:
        return rcp
    if point is None:
        return rcp
    return msgspec.structs.replace(
        rcp, reference_mean=point.mean, reference_stdev=point.stdev, minimum=point.minimum, reference_runs=point.runs
    )


def verdict_of(entry: EntryResult, name: str, needed: int) -> str:
    """The verdict of the test, or ``open`` where runs of the ``needed`` ones are still to come that can turn it."""
    rcp = entry.rcp
    judged = rcp.minimum is not None or rcp.how == "insufficient-convergence"
    turnable = judged and rcp.how not in _UNKNOWN and rcp.points.count(None) <= cut_of(name)
    return "open" if entry.runs < needed and turnable and rcp.verdict != "bypassed" else rcp.verdict


def _notes(
    entry: EntryResult, rcp: RcpResult, name: str, needed: int, runs: int, verdict: str, chance: Chance | None
) -> Iterator[str]:
    if verdict == "open":
        yield f"{entry.runs} of {needed} runs are present, so there is no verdict yet; the limit is for all {needed}"
    ended = words_of("ended").get(rcp.how or "")
    if ended is not None:
        yield ended
    elif rcp.how == "insufficient-convergence" and verdict != "open":
        yield f"{rcp.points.count(None)} runs did not converge; {cut_of(name)} may"
    elif rcp.verdict == "missing" and rcp.minimum is None:
        yield "no reference point is that large: a new one has to be submitted"
    if rcp.bypass is not None:
        yield f"{rcp.bypass} turns off the test"
    if rcp.incomparable is not None:
        yield rcp.incomparable
    if rcp.also is not None and (rcp.also.verdict, rcp.also.mean) != (rcp.verdict, rcp.mean):
        mean = rcp.also.incomparable or f"the mean is {number(rcp.also.mean)}"
        yield f"counted by {rcp.also.counted}: {rcp.also.verdict} ({mean})"
    yield from _about_chance(rcp, name, runs, chance)


#: Answers that leave the points of the runs unknown.
_UNKNOWN = ("no-point", "crash")


def _about_chance(rcp: RcpResult, name: str, runs: int, chance: Chance | None) -> Iterator[str]:
    if rcp.minimum is None or rcp.how in _UNKNOWN or rcp.logs_unit is not None:
        return
    converged = [point for point in rcp.points if point is not None]
    distinct = len(set(rcp.points))
    if any(abs(point) >= BEYOND for point in converged):
        yield "a convergence point is beyond any real one, so no chance can be computed"
    elif runs <= 2 * cut_of(name):
        yield f"no chance: an olympic mean of {name} needs {2 * cut_of(name) + 1} runs or more"
    elif chance is None:
        yield f"no chance: {LEAST_RUNS} or more runs have to converge to estimate the spread, not {len(converged)}"
    elif distinct == 1:
        yield (
            f"all {len(converged)} runs converge at the same point, so the spread is unknown: "
            f"the chance only says that the same again would {'pass' if chance.value else 'fail'}"
        )
    elif len(set(converged)) <= _FEW:
        yield (
            f"the runs converge at no more than {_FEW} distinct points, which say little about their spread: "
            "take the chance as a hint"
        )
