"""The median window as a document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from mlsub.commands.score.select import Selection
from mlsub.commands.score.select_runs import Selected
from mlsub.present.document import Column, Document, Facts, Span, Table, Text, document

#: The rules' source, for whoever is asked why it is these runs.
_WHY = "training rules, Scoring: of more runs than needed, the consecutive ones nearest the median are the result"
_RUNS = (
    Column("run", number=True),
    Column("run_start (UTC)", when_narrow="keep", leave_out=1),
    Column("minutes", when_narrow="keep"),
    Column("file"),
    Column("submit", when_narrow="keep"),
)
_WINDOWS = (Column("window", number=True), Column("runs"), Column("score", number=True), Column(""))


def selection_document(selected: Selected) -> Document:
    """The runs, the windows, and what is to be submitted."""
    selection = selected.selection
    return document(
        f"Median window of {selected.benchmark}, {selected.usage} v{selected.round}",
        Text(f"{len(selection.runs)} runs in order of start, {len(selection.windows)} windows of {selection.size}"),
        Table(_RUNS, tuple(_runs(selection)), key=3),
        Table(_WINDOWS, tuple(_windows(selection))),
        Facts((*_outcome(selection), *(("note", note) for note in selected.notes))),
    )


def _runs(selection: Selection) -> Iterator[tuple[str | Span, ...]]:
    submitted = set(selection.submitted)
    for number, run in enumerate(selection.runs, 1):
        minutes = f"{run.minutes:.6f}" if run.minutes is not None else f"infinite: {run.why}"
        yield str(number), _time(run.started), minutes, Span(run.path, "path"), "yes" if run in submitted else ""


def _time(started: float) -> str:
    try:
        return datetime.fromtimestamp(started / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return f"{started:.0f} ms"


def _windows(selection: Selection) -> Iterator[tuple[str | Span, ...]]:
    for number, window in enumerate(selection.windows):
        score = "invalid" if window.minutes is None else f"{window.minutes:.6f}"
        chosen = Span("selected", "good") if number == selection.chosen else ""
        yield str(number + 1), f"{window.first + 1} to {window.last + 1}", score, chosen


def _outcome(selection: Selection) -> Iterator[tuple[str, str]]:
    if selection.chosen is None or selection.median is None:
        bad = sum(window.minutes is None for window in selection.windows)
        yield "no result", f"{bad} of {len(selection.windows)} windows are invalid, so that the median is infinite"
    else:
        window = selection.windows[selection.chosen]
        yield "median", f"{selection.median:.6f} minutes"
        yield "submit", f"runs {window.first + 1} to {window.last + 1}, score {window.minutes:.6f} minutes"
    yield "why", _WHY
