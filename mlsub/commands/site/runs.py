"""The runs of a result side by side in time, and beside the reference points of the convergence test."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from msgspec.structs import replace

from mlsub.commands.site.curves import MINUTES, minutes_since_start, run_name
from mlsub.commands.site.page import (
    ColumnOf,
    build_table,
    clean,
    count_text,
    minutes_cell,
    number_text,
    plain_table,
)
from mlsub.commands.site.results import SiteResult
from mlsub.convergence.curves import RcpReference, reference_of
from mlsub.convergence.margin import why_untested
from mlsub.convergence.reference import parse_cutoff
from mlsub.io import MlsubError
from mlsub.log.reading import usable_number
from mlsub.present.document import Chart, Section, Series, Span, Table, Text
from mlsub.present.reference import OWN, reference_chart
from mlsub.submission.model import LogReport
from mlsub.submission.report import RcpResult
from mlsub.submission.result import Result

#: Runs in one chart; the largest entries have forty.
MAX_RUNS = 100
#: The colour of evaluations.
_EVALUATION = 4


def runs_section(result: Result, evaluations: Table | None = None) -> Section:
    """Return the runs of a result, each from its own run_start, and their times as a table.

    Args:
        result: whose runs.
        evaluations: the table of their evaluations on the same page, if there is one.
    """
    logs = result.logs
    success = all(log.compliant and log.run.status == "success" for log in logs)
    more = (f"The first {MAX_RUNS} of {len(logs)} runs are drawn.",) if len(logs) > MAX_RUNS else ()
    if success and logs:
        which = "All" if len(logs) > 1 else "The"
        more = (f"{which} {count_text(len(logs), 'run')} ended with success and are compliant.", *more)
    columns = _RUNS[:1] + _RUNS[3:] if success else _RUNS
    table = build_table("Runs and their times", logs, columns, "runs")
    data = {
        "x": {"title": "Minutes since run_start"},
        "y": {"title": "Run"},
        # The columns of the table that have minutes before and after run_start.
        "spans": {
            "id": f"table-{table.anchor}",
            "most": MAX_RUNS,
            "before": len(columns) - 3,
            "after": len(columns) - 2,
        },
    }
    if evaluations is not None:
        of = {"name": "evaluation", "style": "marks", "colour": _EVALUATION}
        data["table"] = {"id": f"table-{evaluations.anchor}", "x": MINUTES} | of
    spans = any(before or stop is not None for before, stop in map(_span, logs[:MAX_RUNS]))
    charts = (Chart(kind="series", title="Runs, each from its own run_start", data=data),) if spans else ()
    return Section("Run timeline", (*map(Text, more), *charts, table), anchor="runs")


def _span(log: LogReport) -> tuple[float | None, float | None]:
    """Return minutes from run_start to init_start (negative) and to run_stop."""
    timeline = log.run.timeline
    before, stop = minutes_since_start(log, timeline.init_start), minutes_since_start(log, timeline.run_stop)
    return before if before is not None and before <= 0 else None, stop


def _time_cell(time_ms: float | None) -> Span | None:
    """Return a time of a log for people; a number that no calendar has a time for is shown as it is."""
    time = usable_number(time_ms)
    if time is None:
        return None
    try:
        return Span(datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"))
    except (OverflowError, ValueError, OSError):
        return Span(f"{time:g} ms", value=time)


def _init_cell(log: LogReport) -> Span:
    before, _ = _span(log)
    return minutes_cell(None if before is None else -before)


def _compliant_cell(log: LogReport) -> Span:
    return Span("compliant", "good") if log.compliant else Span("not compliant", "bad")


_RUNS: tuple[ColumnOf[LogReport], ...] = (
    ("run", run_name),
    ("status", lambda log: clean(log.status, 40) if isinstance(log.status, str) else None),
    ("checked", _compliant_cell),
    ("run_start (UTC)", lambda log: _time_cell(log.run.timeline.run_start)),
    ("initialisation, minutes", _init_cell),
    ("time to train, minutes", lambda log: minutes_cell(log.minutes)),
    ("evaluations", lambda log: len(log.run.evaluations)),
)


# ---- The convergence test

_VERDICTS = {
    "pass": "The runs pass the convergence test.",
    "fail": "The runs fail the convergence test: they converge faster than the reference allows.",
    "missing": "There is no verdict: no reference point covers this batch size, or the runs give no mean.",
    "bypassed": "The runs did not pass the convergence test; a file in the package asked to let that pass.",
}


def convergence_section(one: SiteResult, own: str | None = None) -> Section:
    """Return the convergence test of a result: in words, as a picture, and in figures.

    Args:
        one: what was tested.
        own: a file of reference points that counted in place of the installed ones, if it is for this benchmark.
    """
    title, rcp = "Convergence against the reference (RCP)", one.result.rcp
    if rcp.verdict == "not-required":
        return Section(title, (Text(_sentence(why_untested(one.result, one.result.rules))),), anchor="rcp")
    words = tuple(map(Text, _words(rcp)))
    try:
        reference = reference_of(one.result.rules, one.tested_as, own, parse_cutoff(rcp.reference_points))
    except MlsubError as error:
        return Section(title, (*words, Text(_sentence(clean(str(error))))), anchor="rcp")
    if reference.allowance:
        grace = f"{number_text(reference.allowance)} {reference.unit}"
        words += (Text(f"The round gives one evaluation of grace: limits are {grace} below those of the reference."),)
    size = usable_number(rcp.batch_size)
    charts = (_chart(reference, rcp, float(size)),) if size is not None and size > 0 and reference.kept else ()
    return Section(title, (*words, *charts, _convergence_table(reference, rcp)), anchor="rcp")


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


def _chart(reference: RcpReference, rcp: RcpResult, size: float) -> Chart:
    runs, mean = (
        tuple((size, float(point)) for point in some if point is not None and usable_number(point) is not None)
        for some in (rcp.points if rcp.logs_unit is None else (), (rcp.mean,))
    )
    own = (Series("runs", "marks", OWN, runs), Series("olympic mean", "large", OWN, mean))
    chart = reference_chart(reference, size, own)
    beside = " The runs and their mean stand a little to the right of their batch size." if mean else ""
    return replace(chart, about=f"{chart.about}{beside}")


def _convergence_table(reference: RcpReference, rcp: RcpResult) -> Table:
    """Return the reference points, the result, and its runs, the fastest first."""
    rows: list[tuple[str | float | None, ...]] = []
    for point in reference.points:
        limit = reference.with_allowance(point).minimum if point in reference.kept else None
        name = "reference" if limit is not None else "reference, pruned by the checker"
        rows.append((name, point.batch_size, point.runs, point.mean, point.stdev, limit))
    size, converged = rcp.batch_size, sorted(point for point in rcp.points if point is not None)
    rows.append(("this result", size, len(converged), rcp.mean, None, rcp.minimum))
    run = "run" if rcp.logs_unit is None else f"in {rcp.logs_unit}: run"
    rows += [
        (f"{run}{'s' if many > 1 else ''}", size, many, point, None, None) for point, many in Counter(converged).items()
    ]
    if others := len(rcp.points) - len(converged):
        rows.append((f"{count_text(others, 'run')} that did not converge", size, others, None, None, None))
    caption = f"The reference points, this result and its runs, in {rcp.unit or reference.unit}"
    return plain_table(caption, ("point", "batch size", "runs", "mean", "stdev", "accepted from"), rows)
