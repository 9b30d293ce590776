"""``mlsub explain``: everything about one rule."""

from __future__ import annotations

import click

from mlsub.commands import Command
from mlsub.commands.output import Target, output_options


@click.command("explain", cls=Command, example="mlsub explain entry.run-count")
@click.argument("rule")
@output_options("explain")
def command(rule: str, target: Target) -> None:
    """Explain RULE: what it expects and why, an example of what breaks it, the fix and the source.

    Exit status: 0, or 2 for an unknown id.
    """
    from mlsub.present.explanation import explanation, explanation_document
    from mlsub.rules.explain import suggestion

    hint = suggestion(rule, whole=True)
    if hint is not None:
        raise click.UsageError(hint)
    explained = explanation(rule, clauses=True)
    target.write(explained, lambda: explanation_document(explained))
