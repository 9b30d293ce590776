"""``mlsub watch``: follow the logs of running jobs."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.ending import INTERRUPTED
from mlsub.commands.options import asks, ready

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("watch", cls=Command, example="mlsub watch runs/ --round 5.1")
@asks(jobs=False, rules=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "text", "jsonl"]),
    default="auto",
    show_default=True,
    help="Set the output format; auto is a live view on a terminal and otherwise text, one line per change.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05, max=3600),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Read the logs every S seconds.",
)
@click.option("--idle", type=click.FloatRange(min=0), metavar="S", help="Also end after S seconds without a new line.")
@click.option("--logs", type=click.IntRange(1, 256), default=1, metavar="N", help="Wait until N logs have ended.")
def command(
    asked: Request,
    format_: str,
    interval: float,
    idle: float | None,
    logs: int,
) -> None:
    """Follow growing logs: phase, evaluations against the target, and findings as soon as they are certain.

    PATH is a log, which need not exist yet; a folder, for all result_*.txt in it, later ones included; or - for a
    pipe:

    \b
      ssh host tail -n +1 -f result_0.txt | mlsub watch - --round 5.1

    The watch ends when all runs have stopped, at Ctrl-C, or as --idle says, with the verdict of mlsub check on each
    log. To act on what happens, pipe --format jsonl into a program.

    Exit status: 0 all logs are compliant, 1 some are not, 2 a log could not be checked; 130 after Ctrl-C.
    """
    from mlsub.commands.watch import run

    clock = run.Clock()
    context = ready(asked)
    outlet = run.find_outlet(format_)
    watch = run.Watch(asked.paths, context, clock, outlet, interval_s=interval, idle_s=idle, logs=logs)
    status = watch.run()
    sys.exit(INTERRUPTED if clock.signal is signal.SIGINT else status)
