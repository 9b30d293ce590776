"""The median window for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from mlsub.commands.score.select import Selection
from mlsub.commands.score.select_runs import Selected
from mlsub.io.plain import plain
from mlsub.present.columns import columns

#: The rules' source, for whoever is asked why it is these runs.
_WHY = "training rules, Scoring: of more runs than needed, the consecutive ones nearest the median are the result"


def render_text(selected: Selected) -> str:
    """The answer as text, ending in a line feed."""
    selection = selected.selection
    lines = [
        f"{selected.benchmark}, {selected.usage} {selected.round}: "
        f"{len(selection.runs)} runs in the order of their start, {len(selection.windows)} windows of {selection.size}",
        "",
        *columns(list(_runs(selection)), ("run", "run_start (UTC)", "minutes", "file", "submit")),
        "",
        *columns(list(_windows(selection)), ("window", "runs", "score", "")),
        "",
        *_outcome(selection),
        *(f"note: {plain(note)}" for note in selected.notes),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _runs(selection: Selection) -> Iterator[tuple[str, ...]]:
    submitted = set(selection.submitted)
    for number, run in enumerate(selection.runs, 1):
        minutes = f"{run.minutes:.6f}" if run.minutes is not None else f"infinite: {run.why}"
        yield str(number), _time(run.started), minutes, plain(run.path), "yes" if run in submitted else ""


def _time(started: float) -> str:
    try:
        return datetime.fromtimestamp(started / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return f"{started:.0f} ms"


def _windows(selection: Selection) -> Iterator[tuple[str, ...]]:
    for number, window in enumerate(selection.windows, 1):
        score = "invalid" if window.minutes is None else f"{window.minutes:.6f}"
        chosen = "selected" if number - 1 == selection.chosen else ""
        yield str(number), f"{window.first + 1} to {window.last + 1}", score, chosen


def _outcome(selection: Selection) -> Iterator[str]:
    if selection.chosen is None or selection.median is None:
        bad = sum(window.minutes is None for window in selection.windows)
        yield f"no result: {bad} of {len(selection.windows)} windows are invalid, so that the median is infinite"
        yield f"why:    {_WHY}"
        return
    window = selection.windows[selection.chosen]
    yield f"median: {selection.median:.6f} minutes"
    yield f"submit: runs {window.first + 1} to {window.last + 1}, score {window.minutes:.6f} minutes"
    yield f"why:    {_WHY}"


def render_json(selected: Selected) -> str:
    """The answer as JSON, plain ASCII."""
    document = msgspec.to_builtins(selected)
    selection = document.pop("selection")
    document |= {
        **selection,
        "windows": [{**window, "selected": n == selection["chosen"]} for n, window in enumerate(selection["windows"])],
        "submit": [run.path for run in selected.selection.submitted],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
