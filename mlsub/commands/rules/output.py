"""Print an answer about rules in the form that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlsub.commands.output import terminal_width, write_text

if TYPE_CHECKING:
    from mlsub.commands.rules.document import Answer


def write(answer: Answer, format_: str) -> None:
    """Print the answer on standard output."""
    write_text(rendered(answer, format_))


def rendered(answer: Answer, format_: str) -> str:
    """The answer as a document."""
    if format_ == "json":
        from mlsub.commands.rules.document import render_json

        return render_json(answer)
    if format_ == "markdown":
        from mlsub.commands.rules.render_markdown import render as markdown

        return markdown(answer)
    from mlsub.commands.rules.render_text import render as text

    return text(answer, terminal_width())
