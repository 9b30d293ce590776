"""The convergence of an entry beside the reference: the points of its runs, their mean, and what is accepted."""

from __future__ import annotations

from functools import lru_cache

from mlsub.commands.rcp.picture.chart import VERDICTS, reference_series
from mlsub.commands.site.model import Cell, Drawn, Row, Section, Table, cell_of, heads, number_of, text_of
from mlsub.convergence.curves import Reference, limit_lines, reference_of, spans_a_decade
from mlsub.convergence.in_force import Which, which_of
from mlsub.convergence.margin import benchmark_held, untested
from mlsub.io.errors import MlsubError
from mlsub.log.reading import usable_number as number
from mlsub.present.chart import Axis, Series
from mlsub.rounds import Round
from mlsub.submission.report import EntryResult, RcpResult, Report

_VERDICTS = {
    "pass": "The runs pass the convergence test.",
    "fail": "The runs fail the convergence test: they converge faster than the reference allows.",
    "missing": "There is no verdict: no reference point covers this batch size, or the runs give no mean.",
    "bypassed": "The runs did not pass the convergence test; a file in the package asked to let that pass.",
}
_HEADS = heads("point", "batch size", "runs", "mean", "stdev", "accepted from", numbers=5)


def section_of_convergence(report: Report, entry: EntryResult, round_: Round, own: str | None = None) -> Section:
    """The convergence test of one entry: in words, as a picture, and in figures.

    Args:
        report: the report the entry is of.
        entry: what was tested.
        round_: the round of the report.
        own: a file of reference points that counted in place of the installed ones, if it is for this benchmark.
    """
    title = "Convergence against the reference (RCP)"
    rcp = entry.rcp
    if rcp.verdict == "not-required":
        return Section(key="rcp", title=title, words=(_sentence(untested(entry, round_).why),))
    words = _words(rcp)
    try:
        which = which_of(rcp.reference_points)
        reference = _reference(round_, benchmark_held(report, entry, round_), own, which)
    except MlsubError as error:
        return Section(key="rcp", title=title, words=(*words, _sentence(text_of(str(error)))))
    size = number(rcp.batch_size)
    drawable = size is not None and size > 0 and bool(reference.kept)
    charts = (_chart(reference, rcp, float(size)),) if drawable and size is not None else ()
    return Section(key="rcp", title=title, words=words, charts=charts, tables=(_table(reference, rcp),))


@lru_cache(maxsize=64)
def _reference(round_: Round, name: str, own: str | None, which: Which) -> Reference:
    """The results of a round share their references, and each takes a while to compute."""
    return reference_of(round_, name, own, which)


@lru_cache(maxsize=64)
def _series(reference: Reference, smallest: float, log: bool) -> tuple[Series, ...]:
    found = reference_series(reference, limit_lines(reference, smallest, log=log), log=log)
    return tuple(one for one in found if one.points)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _words(rcp: RcpResult) -> tuple[str, ...]:
    words = [_VERDICTS.get(rcp.verdict, rcp.verdict)]
    if rcp.incomparable is not None:
        words = [f"The official convergence test says {rcp.verdict}. {_sentence(rcp.incomparable)}"]
    if rcp.counted == "train_samples":
        words.append("BERT is counted by train_samples here.")
    if rcp.mean is not None and rcp.unit:
        line = f"Olympic mean {number_of(rcp.mean)} {rcp.unit} at batch size {number_of(rcp.batch_size)}"
        if rcp.minimum is not None:
            line += f"; accepted from {number_of(rcp.minimum)}"
        if rcp.reference_mean is not None:
            line += f"; mean of the reference {number_of(rcp.reference_mean)}"
        words.append(f"{line}.")
    if rcp.scaling != 1:
        words.append(f"The convergence test gives a factor of {rcp.scaling:.6f} for the expected score.")
    if rcp.also is not None:
        mean = rcp.also.incomparable or f"olympic mean {number_of(rcp.also.mean)} {rcp.also.unit}"
        other = f"{rcp.also.verdict}, {mean}"
        words.append(f"BERT counted by {rcp.also.counted} in place of {rcp.counted}: {other}.")
    return tuple(words)


def _chart(reference: Reference, rcp: RcpResult, size: float) -> Drawn:
    sizes = [size, *(point.batch_size for point in reference.kept)]
    log = spans_a_decade(sizes)
    points = rcp.points if rcp.logs_unit is None else ()
    runs = tuple((size, float(point)) for point in points if number(point) is not None and point is not None)
    colour = VERDICTS[rcp.verdict][0] if rcp.verdict in VERDICTS else 0
    references = _series(reference, min(sizes), log)
    series = [
        *references,
        Series(name="runs", style="marks", points=runs, colour=colour),
    ]
    if rcp.mean is not None and number(rcp.mean) is not None:
        series.append(Series(name="olympic mean", style="large", points=((size, rcp.mean),), colour=colour))
    unit = rcp.unit or reference.unit
    return Drawn(
        key="rcp",
        title=f"Points of convergence, {unit}",
        about=_words(rcp)[0],
        x=Axis("Global batch size", log=log),
        y=Axis(f"{unit[:1].upper()}{unit[1:]} to converge"),
        series=tuple(one for one in series if one.points),
        shared=len(references),
    )


def _table(reference: Reference, rcp: RcpResult) -> Table:
    """The reference points, the result, and its runs, the fastest first."""
    rows = [
        _row(
            "reference" if point in reference.kept else "reference, pruned",
            *(point.batch_size, point.runs, point.mean, point.stdev, reference.allowed(point).minimum),
        )
        for point in reference.points
    ]
    converged = sorted(point for point in rcp.points if point is not None)
    rows.append(_row("this result", rcp.batch_size, len(converged), rcp.mean, None, rcp.minimum))
    run = "run" if rcp.logs_unit is None else f"run, in {rcp.logs_unit}"
    rows += [_row(run, rcp.batch_size, 1, point) for point in converged]
    rows += [_row("run that did not converge", rcp.batch_size, 1)] * (len(rcp.points) - len(converged))
    caption = f"Reference points, this result and its runs, in {rcp.unit or reference.unit}"
    return Table(caption=caption, heads=_HEADS, rows=tuple(rows))


def _row(
    name: str,
    size: float | None,
    runs: int,
    mean: float | None = None,
    stdev: float | None = None,
    minimum: float | None = None,
) -> Row:
    return Row((Cell(name), *map(cell_of, (size, runs, mean, stdev, minimum))))
