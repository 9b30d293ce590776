"""``mlsub score --window N``: which of more runs than needed to submit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from mlsub.commands.asked import Asked, progress_bar
from mlsub.commands.options import Target, tell

if TYPE_CHECKING:
    from mlsub.commands.score.select import Selection

#: Pairs of runs that are named.
_MAX_NAMED = 5


def run_selection(asked: Asked, size: int, target: Target) -> NoReturn:
    """Select the runs, print the answer and end: 0 selected, 1 no result possible, 2 could not be read."""
    from mlsub.commands.score.document_selection import selection_document
    from mlsub.commands.score.select import select_window
    from mlsub.commands.score.select_runs import (
        Selected,
        no_experiment,
        no_window,
        notes_on,
        of_several_benchmarks,
        timed,
    )
    from mlsub.rules.load import benchmark
    from mlsub.workspace.runs import find_runs, one_benchmark, read_runs, round_of

    with progress_bar() as progress:
        settings = asked.settings(progress)
        files = find_runs(asked.paths)
        found = round_of(files, settings)
        logs = read_runs(files, found, settings)
    _end_with(list(of_several_benchmarks(logs)))
    name = one_benchmark(logs, found)
    needs = benchmark(found.usage, found.name, name, found.overlay)
    runs = [run for log in logs if (run := timed(log)) is not None]
    _end_with([*no_experiment(logs), *no_window(len(logs), size, needs.forgiven)])
    selection = select_window(runs, size, needs.forgiven)
    notes = (*notes_on(selection, needs), *_on_order(selection))
    answer = Selected(
        usage=found.usage,
        round=found.name,
        benchmark=name,
        selection=selection,
        submit=tuple(run.path for run in selection.submitted),
        notes=notes,
    )
    target.write(answer, lambda: selection_document(answer), "selection")
    sys.exit(1 if selection.chosen is None else 0)


def _end_with(problems: Sequence[str]) -> None:
    """End with status 1 where there are problems, and say which."""
    for problem in problems:
        tell(f"nothing is selected: {problem}")
    if problems:
        sys.exit(1)


def _on_order(selection: Selection) -> Iterator[str]:
    """Runs whose order the clock does not show."""
    from mlsub.commands.score.select import starting_together

    pairs = [f"{first + 1} and {second + 1}" for first, second in starting_together(selection.runs)]
    more = len(pairs) - _MAX_NAMED
    if pairs:
        shown = ", ".join(pairs[:_MAX_NAMED]) + (f", and {more} more" if more > 0 else "")
        yield f"runs start in the same millisecond, so that only their file names order them: {shown}"
