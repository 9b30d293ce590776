"""``mlsub inspect``: run forensics."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mlsub.commands.inspect.run import Inspection


@click.command("inspect")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--against", metavar="PATH", multiple=True, help="Compare with these runs besides, and tell of PATH only."
)
@click.option("--round", "round_", metavar="ROUND", help="1.0, 1.0.0 or v1.0; else read off the folders.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal; else read off the folders.")
@click.option("--select", "selected", metavar="RULE", multiple=True, help="Show only rules that start so.")
@click.option("--ignore", "ignored", metavar="RULE", multiple=True, help="Leave out rules that start so.")
@click.option("--rates", is_flag=True, help="Print how often each detector speaks, in place of the findings.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    against: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    rates: bool,
    jobs: int | None,
    format_: str,
) -> None:
    """Ask of runs side by side what a careful reviewer would: times, copies, seeds, pauses, changes between rounds.

    PATH is an organisation's tree, a part of one, a folder of organisations, or a folder of rounds. What is found is no
    accusation and no part of any verdict; each finding has its numbers, and what would explain it.

    Exit status: 0 nothing to ask, 1 findings, 2 could not inspect. With --rates 0 or 2.
    """
    from mlsub.commands.inspect.gather import gather
    from mlsub.commands.inspect.run import inspect, select
    from mlsub.commands.options import progress_bar
    from mlsub.io.errors import MlsubError
    from mlsub.rules.explain import suggestion
    from mlsub.workspace import Settings

    for rule in (*selected, *ignored):
        hint = suggestion(rule)
        if hint is not None:
            raise click.UsageError(hint)
    with progress_bar() as progress:
        entries = gather(paths, Settings(round_, usage, jobs, progress), beside=against)
    inspection = select(inspect(*entries), selected, ignored)
    if not inspection.read:
        raise MlsubError(_nothing_read(inspection))
    _tell_unreadable(inspection)
    _print(inspection, format_, rates=rates)
    sys.exit(1 if inspection.found and not rates else 0)


def _nothing_read(inspection: Inspection) -> str:
    first = next((f"{path}: {why}" for e in inspection.entries for path, why in e.unreadable.items()), None)
    return f"No log holds a record{f' ({first})' if first else ''}. Name the result logs of a round mlsub check knows."


def _tell_unreadable(inspection: Inspection) -> None:
    from mlsub.commands.options import tell

    unreadable = [(path, why) for entry in inspection.entries for path, why in entry.unreadable.items()]
    if unreadable:
        path, why = unreadable[0]
        more = f", and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        tell(f"{path} was left out: {why}{more}; mlsub check says how to mend it")


def _print(inspection: Inspection, format_: str, *, rates: bool) -> None:
    from mlsub.commands.inspect import run as forensics

    if format_ == "json":
        import msgspec

        told = [msgspec.to_builtins(one) for one in forensics.rates(inspection)] if rates else None
        document = {"rates": told} if rates else forensics.to_document(inspection)
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
        return
    from mlsub.commands.inspect.text import render_rates, render_text
    from mlsub.commands.output import terminal_width
    from mlsub.present.report import console

    if rates:
        render_rates(forensics.rates(inspection), inspection, console())
    else:
        render_text(inspection, console(), terminal_width())
