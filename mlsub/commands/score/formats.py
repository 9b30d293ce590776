"""The formats of the results table: their names, endings, libraries and renderers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.score.table import Row


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format: the ending of its files, whether it is text, and the library it needs."""

    name: str
    ending: str
    text: bool = True
    library: str | None = None


FORMATS = {
    known.name: known
    for known in (
        Format(name="text", ending=".txt"),
        Format(name="json", ending=".json"),
        Format(name="markdown", ending=".md"),
        Format(name="html", ending=".html"),
        Format(name="csv", ending=".csv"),
        Format(name="parquet", ending=".parquet", text=False, library="pyarrow"),
        Format(name="xlsx", ending=".xlsx", text=False, library="openpyxl"),
    )
}


def format_of_file(file: PurePath) -> str | None:
    """The format that a file's ending asks for, None where it asks for none."""
    ending = file.suffix.lower()
    return next((known.name for known in FORMATS.values() if known.ending == ending), None)


def check_library(name: str) -> None:
    """Find out whether a format can be written, without importing anything heavy.

    Raises:
        MlsubError: it cannot.
    """
    library = FORMATS[name].library
    if library is not None and find_spec(library) is None:
        raise _missing(name, library)


def render_rows(name: str, rows: Sequence[Row]) -> bytes:
    """The rows as a file of one of the formats ``csv``, ``parquet`` and ``xlsx``.

    Raises:
        MlsubError: the library is not installed, or its installation is broken.
    """
    if name == "csv":
        from mlsub.commands.score.render_csv import render_csv

        return render_csv(rows)
    try:
        if name == "parquet":
            from mlsub.commands.score.render_parquet import render_parquet

            return render_parquet(rows)
        from mlsub.commands.score.render_xlsx import render_xlsx

        return render_xlsx(rows)
    except ImportError as error:
        raise _missing(name, FORMATS[name].library or "a library") from error


def _missing(name: str, library: str) -> MlsubError:
    return MlsubError(f"--format {name} needs {library}. Install it with: pip install 'mlsub[tables]'")
