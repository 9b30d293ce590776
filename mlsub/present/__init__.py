"""Documents and findings, and what they become: terminal text, Markdown, HTML, JSON, and what CI reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

#: ``json`` is the model of an answer in its envelope; each of the others is a module of this package.
FORMATS = ("text", "json", "markdown", "html")
#: Those of answers with a chart: ``svg`` is the picture alone.
CHART_FORMATS = (*FORMATS, "svg")
#: The endings of files, by the format that they ask for where no option names one; ``.json`` may be several.
FILE_ENDINGS = {
    "text": (".txt",),
    "json": (".json",),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm"),
    "svg": (".svg",),
    "yaml": (),
    "csv": (".csv",),
    "wide": (),
    "arrow": (".arrow", ".arrows"),
    "parquet": (".parquet",),
    "xlsx": (".xlsx",),
    "sarif": (".sarif", ".json"),
    "junit": (".xml",),
    "github": (),
    "gitlab": (".json",),
}
#: What CI reads of a command that checks: each is a module of this package that renders :mod:`mlsub.present.ci`.
CI_FORMATS = ("sarif", "junit", "github", "gitlab")


def format_of_file(file: PurePath, formats: Iterable[str]) -> str | None:
    """The format that a file's ending asks for, None where it asks for none of these."""
    return next((name for name in formats if file.suffix.lower() in FILE_ENDINGS[name]), None)
