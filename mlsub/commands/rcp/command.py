"""``mlsub rcp``: the reference convergence points, and what they mean for runs to come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.asked import rcp_points
from mlsub.commands.lazy import LazyGroup
from mlsub.commands.options import Target, output_options

if TYPE_CHECKING:
    from mlsub.convergence.deadline import Which

F = TypeVar("F", bound=Callable[..., Any])

_MODULES = {name: f"mlsub.commands.rcp.command_{name}" for name in ("build", "margin", "plot")}


def _common(function: F) -> F:
    """BENCHMARK with --round, --usage and --rcp-points."""
    decorators = (
        click.argument("benchmark"),
        click.option(
            "--round", "round_", metavar="ROUND", help="1.0 or v1.0; else the newest round with this benchmark."
        ),
        click.option("--usage", metavar="USAGE", help="training or hpc."),
        rcp_points,
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


@click.group("rcp", cls=LazyGroup, modules=_MODULES)
def command() -> None:
    """Show, draw and build reference convergence points (RCP), which mlsub check compares Closed results with."""


@command.command(
    "show", example="mlsub rcp show bert --round 5.1", short_help="Show the reference points of a benchmark."
)
@_common
@output_options("rcp show")
def show(benchmark: str, round_: str | None, usage: str | None, points: Which, target: Target) -> None:
    """Show the reference points of BENCHMARK: by batch size the mean of the reference and the least that is accepted.

    Exit status: 0, or 2 where there are none.
    """
    from mlsub.commands.rcp.document import points_document
    from mlsub.commands.rcp.model import Points
    from mlsub.convergence.table import reference_table
    from mlsub.rounds.names import find_benchmark

    found = Points(reference=reference_table(*find_benchmark(benchmark, round_, usage), points))
    target.write(found, lambda: points_document(found.reference))


@command.command(
    "plan", example="mlsub rcp plan bert --batch-size 3072", short_help="Say what a batch size needs, before any run."
)
@_common
@click.option("--batch-size", type=click.FloatRange(min=1), required=True, help="Global batch size of the runs.")
@output_options("rcp plan")
def plan(
    benchmark: str, round_: str | None, usage: str | None, points: Which, batch_size: float, target: Target
) -> None:
    """Say what runs of BENCHMARK at a batch size need, before any of them has run.

    Exit status: 0, 1 where no reference covers the batch size, 2 where there is no reference at all.
    """
    from mlsub.commands.rcp.document import plan_document
    from mlsub.commands.rcp.model import Planned
    from mlsub.convergence.table import plan_of
    from mlsub.rounds.names import find_benchmark

    found = Planned(plan=plan_of(*find_benchmark(benchmark, round_, usage), batch_size, points))
    target.write(found, lambda: plan_document(found.plan))
    sys.exit(1 if found.plan.minimum is None else 0)
