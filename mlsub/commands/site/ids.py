"""The identifiers that results have in the official tables. Logs do not contain them, so a file has to."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mlsub.io.errors import MlsubError
from mlsub.rounds import normalise_round
from mlsub.score.table import Row

MAX_BYTES = 4 << 20
_NEEDED = ("id", "round", "organisation", "system")
_FORM = re.compile(r"[0-9]+\.[0-9]+-[0-9]+(-[A-Za-z0-9]+)?")


def read_ids(file: Path) -> Callable[[Row], str | None]:
    """Which result has which identifier: by its own benchmark, or by its whole system.

    Args:
        file: CSV with the columns id, round, organisation and system (the names of their folders), and benchmark where
            an ID is of one alone.

    Raises:
        MlsubError: it cannot be read, or does not hold together.
    """
    found: dict[tuple[str, str, str, str], str] = {}
    for line, fields in _rows(file):
        place = _place(fields, file, line)
        if found.setdefault(place, fields["id"]) != fields["id"]:
            raise MlsubError(f"{file}:{line}: {'/'.join(filter(None, place))} has the ID {found[place]} already")

    def naming(row: Row) -> str | None:
        of = (row.round, row.organisation, row.system_folder)
        return found.get((*of, row.benchmark)) or found.get((*of, ""))

    return naming


def _place(fields: dict[str, str], file: Path, line: int) -> tuple[str, str, str, str]:
    if not _FORM.fullmatch(fields["id"]):
        raise MlsubError(f"{file}:{line}: {fields['id'][:40]!r} is not an ID like 1.1-2040")
    round_ = normalise_round(fields["round"])
    if round_ is None:
        raise MlsubError(f"{file}:{line}: {fields['round'][:40]!r} is not a round like 1.1")
    return round_, fields["organisation"], fields["system"], fields.get("benchmark", "")


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    lines = csv.reader(_text(file).splitlines(), strict=True)
    try:
        heads = [head.strip().lower() for head in next(lines, [])]
        missing = [name for name in _NEEDED if name not in heads]
        if missing or len(set(heads)) < len(heads):
            wanted = f"with the columns {', '.join(_NEEDED)} and perhaps benchmark"
            raise MlsubError(f"{file}:1: a table {wanted} is needed, each once")
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(heads):
                raise MlsubError(f"{file}:{lines.line_num}: {len(cells)} cells for {len(heads)} columns")
            yield lines.line_num, dict(zip(heads, (cell.strip() for cell in cells), strict=True))
    except csv.Error as error:
        raise MlsubError(f"{file}:{lines.line_num}: {error}") from error


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            raise MlsubError(f"{file}: {'not a regular file' if file.exists() else 'there is no such file'}")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise MlsubError(f"{file}: larger than {MAX_BYTES >> 20} MiB")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MlsubError(f"{file}: not UTF-8 text") from error
    except OSError as error:
        raise MlsubError(f"{file}: {error.strerror or error}") from error
