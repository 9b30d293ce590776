"""The identifiers that results have in the official tables. No log holds them, so somebody has to say."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from mlsub.io.errors import MlsubError
from mlsub.rounds import normalise_round
from mlsub.score.table import Row

MAX_BYTES = 4 << 20
_NEEDED = ("id", "round", "organisation", "system")
_COLUMNS = (*_NEEDED, "benchmark")
_FORM = re.compile(r"[0-9]+\.[0-9]+-[0-9]+(-[A-Za-z0-9]+)?")


class Ids:
    """Which result has which identifier; a row of the table may hold several benchmarks of one system."""

    def __init__(self, by_place: dict[tuple[str, str, str, str], str]) -> None:
        self._by_place = by_place

    def __call__(self, row: Row) -> str | None:
        """The identifier of a result, by its own benchmark or by its whole system."""
        place = (row.round, row.organisation, row.system_folder)
        return self._by_place.get((*place, row.benchmark)) or self._by_place.get((*place, ""))


def read_ids(file: Path) -> Ids:
    """Read a CSV file with the columns id, round, organisation, system and, where an ID is of one alone, benchmark.

    Args:
        file: organisation and system are the names of their folders.

    Raises:
        MlsubError: it cannot be read, or does not hold together.
    """
    found: dict[tuple[str, str, str, str], str] = {}
    for line, fields in _rows(file):
        place = _place(fields, file, line)
        if found.setdefault(place, fields["id"]) != fields["id"]:
            raise MlsubError(f"{file}:{line}: {'/'.join(filter(None, place))} has the ID {found[place]} already")
    return Ids(found)


def _place(fields: dict[str, str], file: Path, line: int) -> tuple[str, str, str, str]:
    if not _FORM.fullmatch(fields["id"]):
        raise MlsubError(f"{file}:{line}: {fields['id'][:40]!r} is no ID like 1.1-2040")
    round_ = normalise_round(fields["round"])
    if round_ is None:
        raise MlsubError(f"{file}:{line}: {fields['round'][:40]!r} is no round like 1.1")
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
            named = dict(zip(heads, (cell.strip() for cell in cells), strict=True))
            yield lines.line_num, {name: named[name] for name in _COLUMNS if name in named}
    except csv.Error as error:
        raise MlsubError(f"{file}:{lines.line_num}: {error}") from error


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            raise MlsubError(f"{file}: {'no regular file' if file.exists() else 'there is no such file'}")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise MlsubError(f"{file}: larger than {MAX_BYTES >> 20} MiB")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MlsubError(f"{file}: not UTF-8 text") from error
    except OSError as error:
        raise MlsubError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:
        raise error if isinstance(error, MlsubError) else MlsubError(f"{str(file)!r}: {error}") from error
