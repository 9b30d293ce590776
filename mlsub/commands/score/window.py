"""``mlsub score --window N``: which of more runs than needed to submit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn

from mlsub.commands.options import ready
from mlsub.commands.output import Target
from mlsub.io.show import utc
from mlsub.judge.window import Selection, notes_on, select_window, timed_run, why_no_experiment, why_no_window
from mlsub.present.document import Column, Document, Facts, Items, Span, Table, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import progress_bar
from mlsub.rules.load import entry_requirements
from mlsub.workspace.runs import find_runs, one_benchmark, read_runs, round_of

if TYPE_CHECKING:
    from mlsub.rounds import Round
    from mlsub.submission.model import LogReport
    from mlsub.workspace.places import Request

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


class Selected(Answer, frozen=True, kw_only=True):
    """Which of more runs than needed to submit: the selection, those runs, and what a reader should know of them.

    Where ``problems`` say why nothing can be selected, there is no selection; ``benchmark`` is None where the runs are
    of several.
    """

    SCHEMA: ClassVar[int] = 2

    usage: str
    round: str
    benchmark: str | None
    selection: Selection | None
    submit: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def run_selection(asked: Request, size: int, target: Target) -> NoReturn:
    """Select the runs, print the answer and end: 0 selected, 1 no result possible, 2 could not be read."""
    with progress_bar() as progress:
        context = ready(asked, progress)
        files = find_runs(asked.paths)
        found = round_of(files, context.request)
        logs = read_runs(files, found, context)
    answer = _selected(logs, found, size)
    target.write(answer, lambda: selection_document(answer), "selection")
    sys.exit(1 if answer.selection is None or answer.selection.chosen is None else 0)


def _selected(logs: Sequence[LogReport], round_: Round, size: int) -> Selected:
    named, selection, notes = sorted({str(log.benchmark) for log in logs if log.benchmark}), None, []
    problems = [f"the runs are of more than one benchmark ({', '.join(named[:5])}); name those of one"]
    name = one_benchmark(logs, round_) if len(named) < 2 else None
    if name is not None:
        needs = entry_requirements(round_.usage, round_.name, name, round_.overlay)
        problems = [*why_no_experiment(logs), *why_no_window(len(logs), size, needs.forgiven)]
        if not problems:
            selection = select_window([run for log in logs if (run := timed_run(log))], size, needs.forgiven)
            notes = [*notes_on(selection, needs)]
    return Selected(
        usage=round_.usage,
        round=round_.name,
        benchmark=name,
        selection=selection,
        submit=tuple(run.path for run in selection.submitted) if selection else (),
        notes=tuple(notes),
        problems=tuple(problems),
    )


def selection_document(selected: Selected) -> Document:
    """The runs, the windows, and what is to be submitted."""
    selection = selected.selection
    title = f"Median window of {selected.benchmark or 'runs'}, {selected.usage} v{selected.round}"
    if selection is None:
        return document(title, Text("Nothing is selected:"), Items(selected.problems))
    return document(
        title,
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
    time = utc(started)
    return f"{started:.0f} ms" if time is None else time.strftime("%Y-%m-%d %H:%M:%S")


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
