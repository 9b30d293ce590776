"""``mlsub score --select N``: which of more runs than needed to submit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from mlsub.cli.options import progress_bar, tell


def run_selection(
    paths: Sequence[str],
    size: int,
    round_: str | None,
    usage: str | None,
    rules: str | None,
    jobs: int | None,
    format_: str,
) -> NoReturn:
    """Select the runs, print the answer and end: 0 selected, 1 no result possible, 2 could not be read."""
    from mlsub.judge.runs import Asked, RunsError, find_runs, one_benchmark, read_runs, round_of
    from mlsub.reference.output import could_not, overlay_of
    from mlsub.rules.load import benchmark
    from mlsub.score.select import select_window
    from mlsub.score.select_runs import Selected, mixed, notes_on, timed
    from mlsub.score.select_text import render_json, render_text

    overlay = overlay_of("score", rules)
    try:
        files = find_runs(paths)
        with progress_bar() as progress:
            asked = Asked(round_, usage, overlay, jobs, progress)
            found = round_of(files, asked)
            logs = read_runs(files, found, asked)
        name = one_benchmark(logs, found)
    except RunsError as error:
        could_not("score", error)
    runs = [timed(log) for log in logs]
    problems = [f"{log.path} has no run_start" for log, run in zip(logs, runs, strict=True) if run is None][:5]
    problems += mixed(logs)
    if len(logs) < size:
        problems.append(f"there are {len(logs)} runs, and a window has {size}")
    if problems:
        for problem in problems:
            tell(f"nothing is selected: {problem}")
        sys.exit(1)
    needs = benchmark(found.usage, found.name, name, found.overlay)
    selection = select_window([run for run in runs if run is not None], size, needs.forgiven)
    answer = Selected(found.usage, found.name, name, selection, tuple(notes_on(selection, needs)))
    sys.stdout.write(render_json(answer) if format_ == "json" else render_text(answer))
    sys.exit(1 if selection.chosen is None else 0)
