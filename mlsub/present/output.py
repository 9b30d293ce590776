"""A document in a format, for the terminal that it goes to."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import IO

from mlsub.present.document import Document


def render(document: Document, format_: str, terminal: IO[str] | None = None) -> str:
    """A document in a format; text is made for the terminal, or for a file where there is none."""
    if format_ == "text" and terminal is not None and terminal.isatty():
        from mlsub.present import text

        colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return text.render(document, shutil.get_terminal_size().columns, colour=colour)
    rendered: str = import_module(f"mlsub.present.{format_}").render(document)
    return rendered
