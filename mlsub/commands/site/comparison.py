"""The page that compares two results as ``mlsub compare`` does, and the figures that it does so by.

Which two, the reader chooses, so the difference is shared out in the browser: ``static/decompose.js`` has the formulas
of :mod:`mlsub.commands.compare.trainings.decompose`, and its words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from mlsub.commands.compare.run import known
from mlsub.commands.compare.trainings.decompose import Measured
from mlsub.commands.compare.trainings.phases import TIMED
from mlsub.commands.compare.trainings.sides import Known
from mlsub.commands.compare.trainings.words import phase_words
from mlsub.commands.site.chartdata import safe_json
from mlsub.commands.site.dataset import DATA
from mlsub.commands.site.model import Cell, Live, Row, Section, Table, heads
from mlsub.commands.site.pages import MINUTES, Page
from mlsub.commands.site.results import Result
from mlsub.io.show import readable, show
from mlsub.log.changes import settled_values
from mlsub.rounds.benchmarks import Compatible, Held
from mlsub.score.cells import encodable
from mlsub.workspace import Checked

#: The script with the figures.
COMPARED = f"{DATA}/compare.js"
#: What each part of a difference means.
_MEANT = (
    ("fewer or more epochs, samples or steps", "How far the runs trained until they reached the target."),
    ("training faster or slower per epoch", "The time of training for as much of it, on as many accelerators."),
    ("accelerators", "The number of accelerators, at the same accelerator time for as much training."),
    ("evaluation, pauses", "Evaluations, and what lies between them and the training."),
    ("start, end of the run", "From run_start to the first training, and from the last interval to run_stop."),
    ("scaling", "The factors of scaling.json."),
)


def compared(results: Sequence[Result]) -> tuple[Page, ...]:
    """The page; none where there are no two results."""
    if len(results) < 2:
        return ()
    about = (
        "From the minutes of A to the minutes of B, each part of the difference a step: to the left what B is faster "
        "by, to the right what it is slower by. The parts add up to the difference exactly."
    )
    chart = Live(kind="compare", key="waterfall", title="What makes the difference", about=about)
    rows = tuple(Row((Cell(name), Cell(meaning))) for name, meaning in _MEANT)
    table = Table(caption="Parts of a difference in time", heads=heads("part", "meaning"), rows=rows)
    words = "Scripts make this comparison. Without them, mlsub compare A B prints the same of two folders of results."
    page = Page(
        path="compare.html",
        title="Compare",
        lead=(f"Two results, A and B, and what makes the difference in time between them. {MINUTES}",),
        sections=(
            Section(key="pair", title="A and B", words=(words,)),
            Section(key="difference", title="Difference", charts=(chart,)),
            Section(key="parts", title="What the parts mean", tables=(table,)),
        ),
        scripts=("decompose",),
        data=(COMPARED,),
        whole=True,
    )
    return (page,)


def compare_script(results: Sequence[Result]) -> bytes:
    """The script that defines the figures, ``window.mlsubCompare``: a list for each result, in the order of the site.

    The results have been read with :class:`mlsub.log.intervals.IntervalFold`; where not, times have no parts.
    """
    # In the order in which they are read, as mlsub compare has them: where values are as frequent, the first counts.
    logs = [sorted(result.logs, key=lambda log: log.path) for result in results]
    sides = [known(Checked(result.report, tuple(own)), result.entry) for result, own in zip(results, logs, strict=True)]
    held = [Held(result.round.usage, result.round.name, result.entry.benchmark) for result in results]
    different = list(dict.fromkeys(held))
    content = {
        "phases": {name: phase_words(name) for name in (*TIMED, "inside", "run")},
        "held": [list(map(encodable, (one.usage, one.round, one.benchmark, one.title))) for one in different],
        "beside": _beside(different),
        "fields": list(_FIELDS),
        "sides": [[different.index(one), *_side(side)] for one, side in zip(held, sides, strict=True)],
        "logged": _logged([settled_values([log.run for log in own]) for own in logs]),
    }
    return f'"use strict";\nwindow.mlsubCompare = {safe_json(content)};\n'.encode()


def _beside(held: Sequence[Held]) -> dict[str, list[str | None]]:
    """Of two benchmarks by their places: whether their results may be compared, and why not, where that is not yes."""
    found = {}
    for (at, one), (to, other) in product(enumerate(held), repeat=2):
        if (one.usage, one.benchmark) == (other.usage, other.benchmark):
            answer, why = one.is_beside(other)
            if answer is not Compatible.YES:
                found[f"{at} {to}"] = [answer.value, encodable(why) if why else None]
    return found


#: What each result has a figure for, in this order.
_FIELDS = (
    *("held", "minutes", "mean", "scaling", "throughput", "why", "count", "training", "evaluation", "spent", "work"),
    *("unit", "samples", "accelerators", "batch", "converged", "least", "average", "most"),
)


def _side(side: Known) -> list[Any]:
    """The figures of a result after the first; times are sums over the runs that count, in ms."""
    shown, measured = side.side, side.measured
    convergence = shown.convergence
    return [
        shown.minutes,
        shown.minutes_of == "mean",
        shown.scaling,
        shown.throughput,
        side.why,
        *(_measured(measured) if measured else (0, False, "none", [], None, convergence.unit, None)),
        shown.accelerators,
        shown.batch_size,
        convergence.runs,
        convergence.minimum,
        convergence.mean,
        convergence.maximum,
    ]


def _measured(measured: Measured) -> tuple[Any, ...]:
    runs = measured.phases
    logged = {run.evaluation is not None for run in runs}
    usable = measured.work if measured.work and len(measured.work) == len(runs) else None
    return (
        len(runs),
        all(run.training is not None for run in runs),
        "some" if len(logged) > 1 else "all" if True in logged else "none",
        [_short(sum(getattr(run, name) or 0 for run in runs)) for name in TIMED],
        # The least decides whether there was any training.
        [_short(sum(usable)), _short(min(usable))] if usable else None,
        measured.unit,
        measured.samples,
    )


def _short(value: float) -> float:
    """A whole number without its fraction, which JSON would spell out."""
    return int(value) if float(value).is_integer() and abs(value) < 1 << 53 else value


def _logged(values: Sequence[dict[str, str | None]]) -> dict[str, Any]:
    """What results logged, each key and value once: a list for each result, of its set of keys and their values.

    -1 is a key whose values no two runs share.
    """
    keys = sorted({key for one in values for key in one})
    place = {key: at for at, key in enumerate(keys)}
    known: list[dict[str, int]] = [{} for _ in keys]
    sets: dict[tuple[int, ...], int] = {}
    rows = []
    for one in values:
        own = sorted(one)
        row = [sets.setdefault(tuple(place[key] for key in own), len(sets))]
        for key in own:
            value, there = one[key], known[place[key]]
            row.append(-1 if value is None else there.setdefault(value, len(there)))
        rows.append(row)
    return {
        "keys": [encodable(readable(key)[:100]) for key in keys],
        "values": [[encodable(show(json.loads(text))) for text in there] for there in known],
        "sets": _lists(sets),
        "rows": rows,
    }


def _lists(sets: Iterable[tuple[int, ...]]) -> list[list[int]]:
    return [list(one) for one in sets]
