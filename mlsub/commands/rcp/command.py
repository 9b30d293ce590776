"""``mlsub rcp``: the reference convergence points, and what they mean for runs to come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.lazy import LazyGroup
from mlsub.commands.options import rcp_points

if TYPE_CHECKING:
    from mlsub.convergence.deadline import Which
    from mlsub.convergence.table import Plan, ReferenceTable, Row

F = TypeVar("F", bound=Callable[..., Any])

_HOW = {
    "exact": "a reference point of this batch size",
    "interpolated": "between two reference points",
    "smaller-batch": "smaller than any reference point: accepted if no faster than the smallest",
    "missing": "larger than any reference point: a new one has to be submitted",
}


def _common(function: F) -> F:
    """BENCHMARK with --round, --usage and --format."""
    decorators = (
        click.argument("benchmark"),
        click.option("--round", "round_", metavar="ROUND", help="The newest round with this benchmark, as a rule."),
        click.option("--usage", metavar="USAGE", help="training or hpc."),
        rcp_points,
        click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text"),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


_MODULES = {name: f"mlsub.commands.rcp.command_{name}" for name in ("build", "margin", "plot")}


@click.group("rcp", cls=LazyGroup, modules=_MODULES)
def command() -> None:
    """The reference convergence points (RCP) that mlsub check holds Closed results against."""


@command.command("show", short_help="The reference points of a benchmark.")
@_common
def show(benchmark: str, round_: str | None, usage: str | None, rcp_points: Which, format_: str) -> None:
    """Show the reference points of BENCHMARK: by batch size the mean of the reference and the least that is accepted.

    Exit status: 0, or 2 where there are none.
    """
    from mlsub.convergence.table import reference_table

    table: ReferenceTable = _answer(
        "rcp show", benchmark, round_, usage, lambda of, name: reference_table(of, name, rcp_points)
    )
    if format_ == "json":
        _json(table)
        return
    from mlsub.present.columns import columns

    title = f"{table.benchmark}, {table.usage} {table.round}{_at(table.reference_points)}"
    sys.stdout.write(f"{title}: {table.unit} to converge, {table.runs} runs an entry\n\n")
    heads = ("batch size", "runs", "mean", "stdev", "accepted from", "pruned")
    rows = [
        (
            _size(row.batch_size),
            str(row.runs),
            _number(row.mean),
            _number(row.stdev),
            _number(row.minimum),
            _pruned(row),
        )
        for row in table.rows
    ]
    sys.stdout.write("\n".join(line.rstrip() for line in columns(rows, heads)) + "\n")
    if any("hull" in row[-1] for row in rows):
        sys.stdout.write("hull: the lower convex hull of the written rules, which the official pruning is not\n")


@command.command("plan", short_help="What a batch size needs, before any run.")
@_common
@click.option("--batch-size", type=click.FloatRange(min=1), required=True, help="The global batch size of the runs.")
def plan(
    benchmark: str, round_: str | None, usage: str | None, rcp_points: Which, format_: str, batch_size: float
) -> None:
    """Say what runs of BENCHMARK at a batch size are held against, before any of them has run.

    Exit status: 0, 1 where no reference covers the batch size, 2 where there is no reference at all.
    """
    from mlsub.convergence.table import plan_of

    found: Plan = _answer(
        "rcp plan", benchmark, round_, usage, lambda of, name: plan_of(of, name, batch_size, rcp_points)
    )
    if format_ == "json":
        _json(found)
    else:
        sys.stdout.write("\n".join(_plan_lines(found)) + "\n")
    sys.exit(1 if found.minimum is None else 0)


def _plan_lines(found: Plan) -> list[str]:
    unit = found.unit
    lines = [
        f"{found.benchmark}, {found.usage} {found.round}{_at(found.reference_points)}, batch size {found.batch_size:g}",
        f"reference:  {_HOW[found.how]}",
    ]
    if found.mean is None or found.stdev is None or found.minimum is None:
        return lines
    lines.append(f"mean:       {_number(found.mean)} {unit}, stdev {_number(found.stdev)}")
    lines.append(f"accepted:   an olympic mean of {_number(found.minimum)} {unit} or more")
    if found.normalised:
        factor = found.mean / found.minimum if found.minimum > 0 else 1.0
        lines.append(
            f"faster:     below {_number(found.mean)} {unit} the time is scaled up, by {factor:.4f} at the limit"
        )
    return lines


def _answer(name: str, benchmark: str, round_: str | None, usage: str | None, of: Callable[[Any, str], Any]) -> Any:
    """The answer, or the end of the command with one line that says why there is none."""
    from mlsub.rounds.names import find_benchmark

    found, known = find_benchmark(benchmark, round_, usage)
    return of(found, known)


def _at(which: Which) -> str:
    """What a title says of the reference points."""
    return ", points as far as known at the deadline" if which == "deadline" else ""


def _json(answer: Any) -> None:
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(answer), indent=2) + b"\n")


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value < 1e4 else f"{value:.0f}"


def _pruned(row: Row) -> str:
    if row.kept:
        return "" if row.on_hull else "no, though above the hull"
    others = [_size(size) for size in row.pruned_by]
    why = f"between {others[0]} and {others[1]}" if len(others) == 2 else f"below the fastest, {others[0]}"
    return why if not row.on_hull else f"{why}, though on the hull"


def _size(batch_size: float) -> str:
    return f"{batch_size:g}" if batch_size < 1e6 else f"{batch_size:.0f}"
