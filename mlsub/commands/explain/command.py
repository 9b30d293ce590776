"""``mlsub explain``: everything about one rule."""

from __future__ import annotations

import click

from mlsub.commands.lazy import Command


@click.command("explain", cls=Command, example="mlsub explain entry.run-count")
@click.argument("rule")
def command(rule: str) -> None:
    """Explain RULE: what it says, why, where it comes from, an example and the remedy.

    Exit status: 0, or 2 for an id that does not exist.
    """
    from mlsub.present.report import console
    from mlsub.rules.explain import explain, suggestion

    hint = suggestion(rule, whole=True)
    if hint is not None:
        raise click.UsageError(hint)
    console().print(explain(rule), end="")
