"""A document in a format, for the terminal that it goes to."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import IO, Any

from mlsub.io.show import tolerate
from mlsub.present.document import Block, Document


def render(document: Document, format_: str, terminal: IO[str] | None = None) -> str:
    """A document in a format; text is made for the terminal, or for a file where there is none."""
    look = _look(terminal) if format_ == "text" else {}
    rendered: str = import_module(f"mlsub.present.{format_}").render(document, **look)
    return rendered


def put(stream: IO[str], *blocks: Block) -> None:
    """Print blocks as text, where they stand beside the answer or the answer is not a document."""
    from mlsub.present.text import lines

    tolerate(stream)
    look = _look(stream)
    stream.writelines(f"{line}\n" for block in blocks for line in lines(block, **look))


def _look(terminal: IO[str] | None) -> dict[str, Any]:
    """The width and the colours of a terminal; the usual ones where it is not one."""
    if terminal is None or not terminal.isatty():
        return {}
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return {"width": shutil.get_terminal_size().columns, "colour": colour}
