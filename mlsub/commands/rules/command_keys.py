"""``mlsub rules keys``: what a training code must log."""

from __future__ import annotations

import click


@click.command("keys")
@click.argument("benchmark")
@click.option("--round", "round_", metavar="ROUND", help="The newest round with this benchmark, as a rule.")
@click.option("--division", metavar="DIVISION", default="closed", show_default=True, help="closed or open.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal.")
@click.option("--rules", metavar="FILE", help="Rules of your own as well; see docs/overlay.md.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text")
def command(
    benchmark: str, round_: str | None, division: str, usage: str | None, rules: str | None, format_: str
) -> None:
    """Show what a training code of BENCHMARK must log and may log, in the order of a run.

    Exit status: 0, or 2 for a name that there is not.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.commands.rules.keys import key_list
    from mlsub.commands.rules.output import write
    from mlsub.rounds.names import find_benchmark, find_division

    overlay = overlay_of(rules)
    found, name = find_benchmark(benchmark, round_, usage, overlay)
    division = find_division(division)
    write(key_list(found, division, name), format_)
