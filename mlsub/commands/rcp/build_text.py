"""What a built reference file comes to, for people."""

from __future__ import annotations

from pathlib import Path

from mlsub.commands.rcp.build import Built, algorithm_for
from mlsub.convergence.algorithm import unit_words
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.convergence.verdict import pruned
from mlsub.convergence.words import number
from mlsub.io.errors import MlsubError
from mlsub.io.plain import plain
from mlsub.present.document import Column, Table
from mlsub.present.text import lines as text_lines
from mlsub.rounds import Round
from mlsub.rules.load import benchmark


def summary(file: Path, built: Built, name: str, round_: Round) -> str:
    """The new points, and where they lie beside those that are installed; ends in a line feed."""
    algorithm = algorithm_for(round_)
    runs = benchmark(round_.usage, round_.name, name, round_.overlay).runs
    points = points_of(file, name, runs, algorithm)
    earlier = dict(algorithm.earlier).get(name, 0)
    new = {record["BS"] for record in built.records.values()}
    installed = _installed(name, round_, runs)
    beside = [point for point in installed if point.batch_size not in new]
    merged = sorted([*beside, *(point for point in points if point.batch_size in new)], key=lambda p: p.batch_size)
    kept = pruned(merged, algorithm, runs)
    rows = [
        (
            number(point.batch_size),
            str(point.runs),
            number(point.mean),
            number(point.stdev),
            number(point.accepted_from(earlier)),
            _place(point, kept, installed),
        )
        for point in points
        if point.batch_size in new
    ]
    heads = ("batch size", "runs", "mean", "stdev", "accepted from", f"beside {len(installed)} installed points")
    lines = [
        f"{plain(str(file))}: {name}, {unit_words(name, round_)} to converge",
        "",
        *text_lines(Table(tuple(map(Column, heads)), tuple(rows))),
        *(f"note: {plain(note)}" for note in built.notes),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _installed(name: str, round_: Round, runs: int) -> tuple[Point, ...]:
    file = reference_file(round_.usage, round_.ruleset, name)
    try:
        return points_of(file, name, runs, algorithm_for(round_)) if file else ()
    except MlsubError:
        return ()


def _place(point: Point, kept: tuple[Point, ...], installed: tuple[Point, ...]) -> str:
    same = next((other for other in installed if other.batch_size == point.batch_size), None)
    fate = "kept" if point in kept else "pruned"
    return fate if same is None else f"{fate}; in place of one with a mean of {number(same.mean)}"
