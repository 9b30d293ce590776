"""What the commands of ``mlsub system`` share: writing a description, and reading --set."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mlsub.systems.draft import Draft


def changes_of(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """``FIELD=VALUE`` of --set.

    Raises:
        MlsubError: there is no such field, or no equals sign.
    """
    from mlsub.io.errors import MlsubError
    from mlsub.systems.draft import check_field

    made = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise MlsubError(f"--set {text[:60]!r} has no equals sign; write --set FIELD=VALUE.")
        check_field(name)
        made.append((name, value))
    return tuple(made)


def put(draft: Draft, output: str | None, *, force: bool) -> None:
    """Write a description to a file, or to standard output, and say what it leaves open: where the description is not.

    Raises:
        MlsubError: the file cannot be written.
    """
    from mlsub.commands.system.text import open_text, width_of_terminal

    content = to_json(draft.description())
    if output is None:
        write(content)
    else:
        from mlsub.commands.options import write_output

        write_output(Path(output), content.encode(), force=force)
    for line in open_text(draft, width_of_terminal()):
        click.echo(line, err=output is None)


def division_of(text: str | None) -> str | None:
    """A division as it was typed, however it is capitalised.

    Raises:
        MlsubError: there is no such division.
    """
    from mlsub.io.errors import MlsubError
    from mlsub.rounds.names import find_division

    try:
        return None if text is None else find_division(text)
    except MlsubError as error:
        raise MlsubError(str(error)) from error


def to_json(document: dict[str, Any]) -> str:
    """A document as JSON, plain ASCII."""
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def write(text: str) -> None:
    """Print on standard output."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An output that knows few characters costs those characters, never the answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
