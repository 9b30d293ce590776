"""The runs of a result side by side in time, and beside the reference points of the convergence test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import nan

from mlsub.commands.site.curves import MINUTES, minutes_since_start
from mlsub.commands.site.facts import run_name
from mlsub.commands.site.page import (
    Cell,
    Chart,
    Column,
    Section,
    Series,
    Table,
    build_table,
    clean,
    count_text,
    minutes_cell,
    number_text,
    plain_table,
)
from mlsub.commands.site.results import SiteResult
from mlsub.convergence.curves import Line, Reference, limit_lines, mean_line, reference_of, spans_a_decade
from mlsub.convergence.margin import why_untested
from mlsub.convergence.reference import Which, which_of
from mlsub.io.errors import MlsubError
from mlsub.log.reading import usable_number
from mlsub.rounds import Round
from mlsub.submission.model import LogReport
from mlsub.submission.report import RcpResult

#: Runs in one chart; the largest entries have forty.
MAX_RUNS = 100
#: The colours of initialisation, the timed part, and evaluations.
_INIT, _TIMED, _EVALUATION = 7, 0, 1


def runs_section(result: SiteResult, evaluations: Table | None = None) -> Section:
    """Return the runs of a result, each from its own run_start, and their times as a table.

    Args:
        result: whose runs.
        evaluations: the table of their evaluations on the same page, if there is one.
    """
    logs, shown = result.logs, result.logs[:MAX_RUNS]
    spans = [(float(place), *_span(log)) for place, log in enumerate(shown)]
    begun = tuple((start, 0.0, place) for place, start, _ in spans if start)
    timed = tuple((0.0, stop, place) for place, _, stop in spans if stop is not None)
    series = (
        Series("initialisation", "spans", _INIT, begun),
        Series("timed, run_start to run_stop", "spans", _TIMED, timed),
    )
    data = {
        "x": {"title": "Minutes since run_start"},
        "y": {"title": "Run"},
        "series": [one for one in series if one.points],
        "categories": [run_name(log) for log in shown],
    }
    if evaluations is not None:
        of = {"name": "evaluation", "style": "marks", "colour": _EVALUATION}
        data["table"] = {"id": f"table-{evaluations.key}", "x": MINUTES} | of
    about = f"{len(timed)} of {len(shown)} runs have a timed part; the table below has their times."
    chart = Chart(kind="series", title="Runs, each from its own run_start", about=about, data=data)
    more = (f"The first {MAX_RUNS} of {len(logs)} runs are drawn.",) if len(logs) > MAX_RUNS else ()
    success = all(log.compliant and log.run.status == "success" for log in logs)
    if success and logs:
        more = (
            f"{'All' if len(logs) > 1 else 'The'} {count_text(len(logs), 'run')} ended with success and are compliant.",
            *more,
        )
    table = build_table("Runs and their times", logs, _RUNS[:1] + _RUNS[3:] if success else _RUNS)
    charts = (chart,) if begun or timed else ()
    return Section(key="runs", title="Run timeline", words=more, charts=charts, tables=(table,))


def _span(log: LogReport) -> tuple[float | None, float | None]:
    """Return minutes from run_start to init_start (negative) and to run_stop."""
    timeline = log.run.timeline
    before, stop = minutes_since_start(log, timeline.init_start), minutes_since_start(log, timeline.run_stop)
    return before if before is not None and before <= 0 else None, stop


def _time_cell(time_ms: float | None) -> Cell | None:
    """Return a time of a log for people; a number that no calendar has a time for is shown as it is."""
    time = usable_number(time_ms)
    if time is None:
        return None
    try:
        return Cell(datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"))
    except (OverflowError, ValueError, OSError):
        return Cell(f"{time:g} ms", time)


def _init_cell(log: LogReport) -> Cell:
    before, _ = _span(log)
    return minutes_cell(None if before is None else -before)


def _compliant_cell(log: LogReport) -> Cell:
    return Cell("compliant", badge="good") if log.compliant else Cell("not compliant", badge="bad")


_RUNS: tuple[Column[LogReport], ...] = (
    Column("run", run_name),
    Column("status", lambda log: clean(log.status, 40) if isinstance(log.status, str) else None),
    Column("checked", _compliant_cell),
    Column("run_start (UTC)", lambda log: _time_cell(log.run.timeline.run_start)),
    Column("initialisation, minutes", _init_cell),
    Column("time to train, minutes", lambda log: minutes_cell(log.minutes)),
    Column("evaluations", lambda log: len(log.run.evaluations)),
)


# ---- The convergence test

_VERDICTS = {
    "pass": "The runs pass the convergence test.",
    "fail": "The runs fail the convergence test: they converge faster than the reference allows.",
    "missing": "There is no verdict: no reference point covers this batch size, or the runs give no mean.",
    "bypassed": "The runs did not pass the convergence test; a file in the package asked to let that pass.",
}
#: Colours: of each verdict, of the reference points, the official curve, and its limit.
_COLOURS = {"pass": 2, "fail": 5, "missing": 1, "bypassed": 3}
_POINTS, _CURVE, _LIMIT = 7, 0, 5


def convergence_section(result: SiteResult, own: str | None = None) -> Section:
    """Return the convergence test of a result: in words, as a picture, and in figures.

    Args:
        result: what was tested.
        own: a file of reference points that counted in place of the installed ones, if it is for this benchmark.
    """
    title, rcp = "Convergence against the reference (RCP)", result.rcp
    if rcp.verdict == "not-required":
        return Section(key="rcp", title=title, words=(_sentence(why_untested(result, result.rules)),))
    words = _words(rcp)
    try:
        reference = _reference(result.rules, result.tested_as, own, which_of(rcp.reference_points))
    except MlsubError as error:
        return Section(key="rcp", title=title, words=(*words, _sentence(clean(str(error)))))
    size = usable_number(rcp.batch_size)
    charts = (_chart(reference, rcp, float(size)),) if size is not None and size > 0 and reference.kept else ()
    return Section(key="rcp", title=title, words=words, charts=charts, tables=(_table(reference, rcp),))


@lru_cache(maxsize=64)
def _reference(round_: Round, name: str, own: str | None, which: Which) -> Reference:
    """Return the results of a round share their references, and each takes a while to compute."""
    return reference_of(round_, name, own, which)


@lru_cache(maxsize=64)
def _reference_series(reference: Reference, smallest: float, log: bool) -> tuple[Series, ...]:
    """Return the points, the official curve, the lower hull where it is another, and the limit."""
    kept, pruned = reference.kept, [point for point in reference.points if point not in reference.kept]
    hull = mean_line(reference.hull, log=log) if reference.hull != kept else ()
    points, others = (tuple((point.batch_size, point.mean) for point in some) for some in (kept, pruned))
    least = tuple((point.batch_size, reference.allowed(point).minimum) for point in kept)
    series = (
        Series("reference points", "marks", _POINTS, points),
        Series("reference points that the checker prunes", "hollow", _POINTS, others),
        Series("official curve", "line", _CURVE, mean_line(kept, log=log) if len(kept) > 1 else ()),
        Series("lower hull of the written rules", "dashed", _POINTS, hull),
        Series("acceptance limit", "rule", _LIMIT, _with_gaps(limit_lines(reference, smallest, log=log))),
        Series("acceptance limit", "ticks", _LIMIT, least),
    )
    return tuple(one for one in series if one.points)


def _with_gaps(lines: Sequence[Line]) -> Line:
    """Return lines as one, which breaks at places that are no number."""
    return tuple(place for line in lines for place in (*line, (line[-1][0], nan)))[:-1]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _words(rcp: RcpResult) -> tuple[str, ...]:
    words = [_VERDICTS.get(rcp.verdict, rcp.verdict)]
    if rcp.incomparable is not None:
        words = [f"The official convergence test says {rcp.verdict}. {_sentence(rcp.incomparable)}"]
    if rcp.counted == "train_samples":
        words.append("BERT is counted by train_samples here.")
    if rcp.mean is not None and rcp.unit:
        line = f"Olympic mean {number_text(rcp.mean)} {rcp.unit} at batch size {number_text(rcp.batch_size)}"
        if rcp.minimum is not None:
            line += f"; accepted from {number_text(rcp.minimum)}"
        if rcp.reference_mean is not None:
            line += f"; mean of the reference {number_text(rcp.reference_mean)}"
        words.append(f"{line}.")
    if rcp.scaling != 1:
        words.append(f"The convergence test gives a factor of {rcp.scaling:.6f} for the expected score.")
    if rcp.also is not None:
        mean = rcp.also.incomparable or f"olympic mean {number_text(rcp.also.mean)} {rcp.also.unit}"
        other = f"{rcp.also.verdict}, {mean}"
        words.append(f"BERT counted by {rcp.also.counted} in place of {rcp.counted}: {other}.")
    return tuple(words)


def _chart(reference: Reference, rcp: RcpResult, size: float) -> Chart:
    sizes = [size, *(point.batch_size for point in reference.kept)]
    log, colour = spans_a_decade(sizes), _COLOURS.get(rcp.verdict, 0)
    points, mean = (
        tuple((size, float(point)) for point in some if point is not None and usable_number(point) is not None)
        for some in (rcp.points if rcp.logs_unit is None else (), (rcp.mean,))
    )
    series = [Series("runs", "marks", colour, points), Series("olympic mean", "large", colour, mean)]
    unit = rcp.unit or reference.unit
    return Chart(
        kind="series",
        title=f"Points of convergence, {unit}",
        about=_words(rcp)[0],
        data={
            "x": {"title": "Global batch size", "log": log},
            "y": {"title": f"{unit[:1].upper()}{unit[1:]} to converge"},
            "series": [*_reference_series(reference, min(sizes), log), *(one for one in series if one.points)],
        },
    )


def _table(reference: Reference, rcp: RcpResult) -> Table:
    """Return the reference points, the result, and its runs, the fastest first."""
    rows: list[tuple[str | float | None, ...]] = [
        (
            "reference" if point in reference.kept else "reference, pruned",
            *(point.batch_size, point.runs, point.mean, point.stdev, reference.allowed(point).minimum),
        )
        for point in reference.points
    ]
    size, converged = rcp.batch_size, sorted(point for point in rcp.points if point is not None)
    rows.append(("this result", size, len(converged), rcp.mean, None, rcp.minimum))
    run = "run" if rcp.logs_unit is None else f"in {rcp.logs_unit}: run"
    rows += [
        (f"{run}{'s' if many > 1 else ''}", size, many, point, None, None) for point, many in Counter(converged).items()
    ]
    if others := len(rcp.points) - len(converged):
        rows.append((f"{count_text(others, 'run')} that did not converge", size, others, None, None, None))
    caption = f"Reference points, this result and its runs, in {rcp.unit or reference.unit}"
    return plain_table(caption, ("point", "batch size", "runs", "mean", "stdev", "accepted from"), rows)
