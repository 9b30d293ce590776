"""A document in a format, for the terminal that it goes to."""

from __future__ import annotations

from importlib import import_module
from typing import IO, Any

from mlsub.io.show import inert, tolerate
from mlsub.present.document import Block, Document
from mlsub.present.terminal import colours


def render(document: Document, format_: str, terminal: IO[str] | None = None) -> str:
    """A document in a format; text is made for the terminal, or for a file where there is none."""
    look = _look(terminal) if format_ == "text" else {}
    rendered: str = import_module(f"mlsub.present.{format_}").render(document, **look)
    return inert(rendered) if look else rendered


def put(stream: IO[str], *blocks: Block) -> None:
    """Print blocks as text, where they stand beside the answer or the answer is not a document."""
    from mlsub.present.text import lines

    tolerate(stream)
    look = _look(stream)
    stream.writelines(f"{inert(line)}\n" for block in blocks for line in lines(block, **look))


def _look(stream: IO[str] | None) -> dict[str, Any]:
    """The colours of a stream, and the width of a terminal; a file that is named has neither."""
    if stream is None:
        return {}
    look: dict[str, Any] = {"colour": colours(stream)}
    if stream.isatty():
        from shutil import get_terminal_size

        look["width"] = get_terminal_size().columns
    return look
