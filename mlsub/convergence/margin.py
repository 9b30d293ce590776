"""How near the limit the runs at hand are, what their scaling costs, and the chance that further runs pass."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.convergence import algorithm_of, cut_of, mean_of
from mlsub.convergence.chance import LEAST_RUNS, USUAL, Bootstrap, Chance, chance_of, completion_of
from mlsub.convergence.curves import reference_of
from mlsub.convergence.reference import parse_cutoff
from mlsub.convergence.words import format_number, load_wording
from mlsub.io import MlsubError
from mlsub.io.show import show
from mlsub.log.reading import LARGEST_COUNT
from mlsub.rounds import Round, get_round
from mlsub.rules.load import entry_requirements
from mlsub.submission.report import EntryName, EntryResult, RcpResult, Report

_UNTESTED = "not-required"
#: Answers that leave the points of the runs unknown.
_UNKNOWN = ("no-point", "crash")
#: So few distinct convergence points say little about how runs spread.
_FEW = 2


class Margin(EntryName, frozen=True, kw_only=True):
    """How an entry stands against its reference. Means, limit and distance are in ``unit``, times in minutes.

    ``verdict`` is that of the test, or ``open`` where fewer runs are at hand than an entry has (``needed``) and those
    to come can still turn it. ``mean`` is the olympic mean or, where the runs of an open entry are too few for one, the
    plain mean of those that converged (``olympic`` is False). ``distance`` is mean minus limit, ``percent`` that
    in per cent of the limit. ``completion`` is, of an open entry, the chance that it passes with the runs it lacks.
    """

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


class Untested(EntryName, frozen=True, kw_only=True):
    """An entry that is not compared with a reference, and why."""

    why: str


class PackageMargins(msgspec.Struct, frozen=True, kw_only=True):
    """How the entries of one path stand; ``untested`` are those that no reference applies to.

    ``rcp_file`` and ``rules_file`` are as in a report.
    """

    usage: str
    round: str
    round_from: str | None
    root: str
    entries: tuple[Margin, ...]
    untested: tuple[Untested, ...]
    rcp_file: str | None = None
    rules_file: str | None = None

    def name_of(self, entry: Margin | Untested) -> str:
        """An entry by its path; by its folder where that is what was asked for."""
        return self.root.rpartition("/")[2] if entry.path == "." else entry.path


def margins_of(
    report: Report,
    overlay: str | None = None,
    bootstrap: Bootstrap = USUAL,
    rcp_file: str | None = None,
) -> PackageMargins:
    """How the entries of a report stand.

    Args:
        report: with a usage and a round.
        overlay: the user's own rule file.
        bootstrap: how chances are computed.
        rcp_file: a file of reference points in place of the installed ones.
    """
    of = get_round(str(report.usage), str(report.round), overlay)
    tested = [entry for entry in report.entries if entry.rcp.verdict != _UNTESTED]
    return PackageMargins(
        usage=of.usage,
        round=str(report.round),
        round_from=report.round_from,
        root=report.root,
        entries=tuple(
            margin_of(entry, benchmark_tested(report, entry, of), of, bootstrap, rcp_file=rcp_file) for entry in tested
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
        rcp_file=report.rcp_file,
        rules_file=report.rules_file,
    )


def why_untested(entry: EntryResult, round_: Round) -> str:
    """Why an entry is not tested, in words."""
    how = entry.rcp.how or ""
    if how == "unknown-division" and entry.division is not None:
        how = "other-division"
    names = {"round": round_.title, "benchmark": entry.benchmark, "division": show(entry.division)}
    return load_wording("untested").get(how, how or "no reason is known").format(shown=show(entry.benchmark), **names)


def benchmark_tested(report: Report, entry: EntryResult, round_: Round) -> str:
    """The benchmark an entry is tested as: to v2.1 the folder's, from v3.0 the one its logs name."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None or algorithm.named_by == "folder":
        return entry.benchmark
    named = (log.benchmark for log in report.logs if (log.path.rpartition("/")[0] or ".") == entry.path)
    logged = next((name for name in named if name), None)
    return logged if logged in round_.benchmarks else entry.benchmark


def margin_of(
    entry: EntryResult,
    name: str,
    round_: Round,
    bootstrap: Bootstrap = USUAL,
    *,
    rcp_file: str | None = None,
) -> Margin:
    """How an entry that is tested stands.

    Args:
        entry: its ``rcp`` is not ``not-required``.
        name: the benchmark it is tested as, see :func:`benchmark_tested`.
        round_: whose reference applies.
        bootstrap: how the chance is computed.
        rcp_file: a file of reference points in place of the installed ones.
    """
    needed = entry_requirements(round_.usage, round_.name, name, round_.overlay).runs
    rcp = _with_reference(entry.rcp, name, round_, rcp_file)
    converged = [point for point in rcp.points if point is not None]
    usable = rcp.logs_unit is None and all(abs(point) < LARGEST_COUNT for point in converged)
    verdict = _verdict(entry, name, needed)
    mean = rcp.mean
    if mean is None and verdict == "open" and converged and usable:
        mean = mean_of(converged)
    distance = None if mean is None or rcp.minimum is None else mean - rcp.minimum
    chance = None
    if usable and rcp.minimum is not None and rcp.how not in _UNKNOWN:
        chance = chance_of(rcp.points, rcp.minimum, needed, name, bootstrap)
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
        notes=tuple(_notes(entry, rcp, name, needed, verdict, chance)),
    )


def _with_reference(rcp: RcpResult, name: str, round_: Round, rcp_file: str | None) -> RcpResult:
    """The result with the reference of its batch size, also where the test ended before it came to that."""
    if rcp.minimum is not None or rcp.batch_size is None or rcp.how not in ("insufficient-convergence", *_UNKNOWN):
        return rcp
    try:
        reference = reference_of(round_, name, rcp_file, parse_cutoff(rcp.reference_points))
        point, _ = reference.point_for(rcp.batch_size)
    except MlsubError:
        return rcp
    if point is None:
        return rcp
    return msgspec.structs.replace(
        rcp, reference_mean=point.mean, reference_stdev=point.stdev, minimum=point.minimum, reference_runs=point.runs
    )


def _verdict(entry: EntryResult, name: str, needed: int) -> str:
    """The verdict of the test, or ``open`` where runs of the ``needed`` ones are still to come that can turn it."""
    rcp = entry.rcp
    judged = rcp.minimum is not None or rcp.how == "insufficient-convergence"
    turnable = judged and rcp.how not in _UNKNOWN and rcp.points.count(None) <= cut_of(name)
    return "open" if entry.runs < needed and turnable and rcp.verdict != "bypassed" else rcp.verdict


def _notes(
    entry: EntryResult, rcp: RcpResult, name: str, needed: int, verdict: str, chance: Chance | None
) -> Iterator[str]:
    if verdict == "open":
        yield f"{entry.runs} of {needed} runs are present, so there is no verdict yet; the limit is for all {needed}"
    ended = load_wording("ended").get(rcp.how or "")
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
        mean = rcp.also.incomparable or f"the mean is {format_number(rcp.also.mean)}"
        yield f"counted by {rcp.also.counted}: {rcp.also.verdict} ({mean})"
    yield from _chance_notes(rcp, chance)


def _chance_notes(rcp: RcpResult, chance: Chance | None) -> Iterator[str]:
    if rcp.minimum is None or rcp.how in _UNKNOWN or rcp.logs_unit is not None:
        return
    converged = [point for point in rcp.points if point is not None]
    distinct = len(set(rcp.points))
    if any(abs(point) >= LARGEST_COUNT for point in converged):
        yield "a convergence point is beyond any real one, so no chance can be computed"
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
