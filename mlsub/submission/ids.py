"""The IDs that results have in the official tables. Logs do not contain them, so lists of them do.

A list is a YAML file, by round, or a table in CSV. The list that ships, ids.yaml, has the IDs that published documents
cite. Where a source gives the IDs of several results and not which is whose, the list says just that: a group.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from mlsub.divisions import DivisionName
from mlsub.io.data import shipped
from mlsub.io.documents import Form, read_as, read_document
from mlsub.io.errors import MlsubError
from mlsub.io.problems import FileProblemsError, Problem, meant
from mlsub.io.read import read_text, with_place
from mlsub.rounds import get_round, known_rounds, normalise_round, usages
from mlsub.submission.organisations import organisation

#: Rows of a table; a round has some hundred results.
MAX_ROWS = 10_000
#: So many flaws of a table are reported.
_MOST = 100
_SHIPPED = "ids.yaml"
_COLUMNS = ("id", "round", "organisation", "system")

ResultId = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,3}\.[0-9]{1,3}-[0-9]{1,9}(-[A-Za-z0-9]{1,20})?$",
        extra_json_schema={"patternErrorMessage": "is not an ID, such as 1.1-2040"},
    ),
]
RoundName = Annotated[
    str,
    Meta(
        pattern=r"^v?[0-9]{1,3}\.[0-9]{1,3}$",
        extra_json_schema={"patternErrorMessage": "is not a round, such as v1.1"},
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=400)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a list of IDs."""


class Named(_Part, frozen=True, kw_only=True):
    """Results: those of one system, as its folder is called, or of one benchmark or division alone."""

    organisation: Text
    system: Text
    benchmark: Text | None = None
    division: DivisionName | None = None


class One(Named, frozen=True, kw_only=True):
    """Results that are known to have an ID."""

    id: ResultId


class Group(_Part, frozen=True, kw_only=True):
    """IDs that a source gives to several results together: each result has one of them."""

    ids: Annotated[tuple[ResultId, ...], Meta(min_length=1, max_length=1000)]
    results: Annotated[tuple[Named, ...], Meta(min_length=1, max_length=1000)]
    why: Annotated[Text | None, Meta(description="What shows that the IDs are of these results.")] = None


class RoundIds(_Part, frozen=True, kw_only=True):
    """The IDs of a round's results."""

    round: RoundName
    usage: Annotated[str, Meta(max_length=40, description="training, which is the default, or hpc.")] = "training"
    source: Annotated[Text | None, Meta(description="Where the IDs are published.")] = None
    results: Annotated[tuple[One, ...], Meta(max_length=MAX_ROWS)] = ()
    groups: Annotated[tuple[Group, ...], Meta(max_length=1000)] = ()


class IdList(_Part, frozen=True, kw_only=True):
    """A list of the IDs of results."""

    rounds: Annotated[tuple[RoundIds, ...], Meta(min_length=1, max_length=100)]


class _CsvRow(One, frozen=True, kw_only=True):
    """A row of a table of IDs."""

    round: RoundName
    usage: str = "training"


FORM = Form(IdList, "lists of IDs", "The IDs that MLPerf results have in the official tables")


class ResultIds(msgspec.Struct, frozen=True):
    """The ID of a result; or several, one of which it has, where no source says which.

    ``why`` says what shows that the IDs of a group are of its results.
    """

    ids: tuple[str, ...]
    source: str | None = None
    why: str | None = None

    @property
    def shown(self) -> str:
        """``1.1-2040``, or ``1.0-1026 or 1.0-1028``."""
        return " or ".join([", ".join(self.ids[:-1]), self.ids[-1]] if len(self.ids) > 1 else self.ids)


class _Key(msgspec.Struct, frozen=True):
    """Whose an ID is; organisations by their names, however they are spelled."""

    usage: str
    round: str
    organisation: str
    system: str
    benchmark: str | None
    division: str | None


class Ids:
    """What is known of the IDs of results."""

    def __init__(self, known: dict[_Key, ResultIds]) -> None:
        self._known = known

    def of(
        self, usage: str, round_name: str, organisation_folder: str, system: str, benchmark: str, division: str | None
    ) -> ResultIds | None:
        """The ID of a result, or those of which one is its own; None where the list has none.

        Args:
            usage: ``training`` or ``hpc``.
            round_name: such as ``1.1``.
            organisation_folder: any spelling of the organisation.
            system: the name of the system's folder.
            benchmark: the name of the benchmark's folder.
            division: ``closed`` or ``open``; None where the result states none.
        """
        name = organisation(organisation_folder)
        keys = [
            _Key(usage, round_name, name, system, bench, div)
            for bench in (benchmark, None)
            for div in dict.fromkeys((division, None))
        ]
        return next((self._known[key] for key in keys if key in self._known), None)

    def astray(self, systems: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
        """What is wrong with IDs of systems that are not there, although their organisations are, in a line each.

        Args:
            systems: the systems that are there: usage, round, and the folders of organisation and system.
        """
        known: dict[tuple[str, str, str], set[str]] = {}
        for usage, round_name, folder, system in systems:
            known.setdefault((usage, round_name, organisation(folder)), set()).add(system)
        for key, ids in self._known.items():
            there = known.get((key.usage, key.round, key.organisation))
            if there is not None and key.system not in there:
                hint = meant(key.system, sorted(there)[:_MOST])
                yield f"{ids.shown}: {key.organisation} has no {key.system} in v{key.round}{hint}"


@lru_cache(maxsize=1)
def shipped_ids() -> Ids:
    """The IDs that published documents cite, as far as a result can be found for each."""
    return ids_of(shipped(__file__, _SHIPPED, IdList))


def ids_of(listed: IdList) -> Ids:
    """What a list that holds together says."""
    return Ids({key: ids for _, key, ids in _steps(listed)})


def read_ids(file: Path, overlay: str | None = None) -> Ids:
    """A list of IDs: YAML, or a table in CSV.

    Args:
        file: YAML by its name (``.yaml``, ``.yml``), see :func:`ids_schema`; any other is CSV with the columns id,
            round, organisation and system, and perhaps usage, benchmark and division.
        overlay: a checked overlay file that may add rounds.

    Raises:
        MlsubError: it cannot be read, or does not hold together.
    """
    if file.suffix.lower() not in (".yaml", ".yml"):
        return _read_table(file, overlay)
    listed, tree = read_document(file, FORM)
    for number, one in enumerate(listed.rounds):
        for steps, message in _unknown(one, overlay):
            tree.report(message, "rounds", number, *steps)
    known = _Known()
    for steps, key, ids in _steps(listed):
        for message in known.take(key, ids):
            tree.report(message, *steps)
    tree.raise_problems()
    return Ids(known.ids)


def ids_schema() -> dict[str, Any]:
    """The JSON Schema of lists of IDs, for editors as well."""
    return FORM.schema()


class _Known:
    """The IDs of a list as they are read; a result has one, and an ID is of one system."""

    def __init__(self) -> None:
        self.ids: dict[_Key, ResultIds] = {}
        self._owners: dict[tuple[str, str], _Key] = {}

    def take(self, key: _Key, ids: ResultIds) -> Iterator[str]:
        """Take what a list says of some results; say what contradicts what it said before."""
        before = self.ids.setdefault(key, ids)
        if before.ids != ids.ids:
            yield f"the result has {before.shown} already"
        if len(ids.ids) == 1:
            owner = self._owners.setdefault((key.usage, ids.ids[0]), key)
            if (owner.organisation, owner.system) != (key.organisation, key.system):
                yield f"{ids.ids[0]} is the ID of {owner.organisation}/{owner.system} already"


def _steps(listed: IdList) -> Iterator[tuple[tuple[str | int, ...], _Key, ResultIds]]:
    """Whose each ID is, with the path of the place that says so."""
    for number, one in enumerate(listed.rounds):
        for at, result in enumerate(one.results):
            yield ("rounds", number, "results", at), _key(one, result), ResultIds((result.id,), one.source)
        for at, group in enumerate(one.groups):
            ids = ResultIds(tuple(dict.fromkeys(group.ids)), one.source, group.why)
            for place, named in enumerate(group.results):
                yield ("rounds", number, "groups", at, "results", place), _key(one, named), ids


def _key(of: RoundIds | _CsvRow, named: Named) -> _Key:
    name = organisation(named.organisation)
    return _Key(of.usage, str(normalise_round(of.round)), name, named.system, named.benchmark, named.division)


def _unknown(one: RoundIds, overlay: str | None) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Names of a round that are not known, and IDs of another round."""
    name = str(normalise_round(one.round))
    if one.usage not in usages():
        yield ("usage",), f"unknown usage {one.usage!r}{meant(one.usage, usages())}"
        return
    if name not in known_rounds(one.usage, overlay):
        yield ("round",), f"unknown round {name!r}{meant(name, known_rounds(one.usage, overlay))}"
        return
    benchmarks = get_round(one.usage, name, overlay).benchmarks
    for steps, ids, named in _places(one):
        for text in ids:
            if not text.startswith(f"{name}-"):
                yield steps, f"{text} is not an ID of v{name}"
        if named.benchmark is not None and named.benchmark not in benchmarks:
            yield (*steps, "benchmark"), f"v{name} has no {named.benchmark!r}{meant(named.benchmark, benchmarks)}"


def _places(one: RoundIds) -> Iterator[tuple[tuple[str | int, ...], Iterable[str], Named]]:
    for at, result in enumerate(one.results):
        yield ("results", at), (result.id,), result
    for at, group in enumerate(one.groups):
        for place, named in enumerate(group.results):
            yield ("groups", at, "results", place), group.ids if not place else (), named


def _read_table(file: Path, overlay: str | None) -> Ids:
    known, problems = _Known(), list[Problem]()
    for line, fields in _rows(file):
        row, flaws = read_as(fields, _CsvRow)
        said = [with_place(place, message) for place, message in flaws]
        if row is not None:
            one = One(**{name: value for name, value in asdict(row).items() if name not in ("round", "usage")})
            listed = RoundIds(round=row.round, usage=row.usage, results=(one,))
            said += [with_place(steps[2:], message) for steps, message in _unknown(listed, overlay)]
            said += known.take(_key(row, row), ResultIds((row.id,)))
        problems += [Problem(str(file), line, message) for message in said]
        if len(problems) >= _MOST:
            break
    if problems:
        raise FileProblemsError(tuple(problems))
    return Ids(known.ids)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with their lines; empty cells are left out, and columns that a list does not have."""
    # As a file, for a cell in quotes may have a line feed, and a text more ends of lines than a table.
    lines = csv.reader(io.StringIO(read_text(file).removeprefix("\ufeff"), newline=""), strict=True)
    try:
        heads = [head.strip().lower() for head in next(lines, [])]
        if not set(_COLUMNS) <= set(heads) or len(set(heads)) < len(heads):
            raise MlsubError(f"{file}:1: a table with the columns {', '.join(_COLUMNS)}, each once, is needed")
        columns = _CsvRow.__struct_fields__
        for head in heads:
            if head not in columns and ". Did" in (hint := meant(head[:40], columns)):
                raise MlsubError(f"{file}:1: unknown column {head[:40]!r}{hint}")
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(heads):
                raise MlsubError(f"{file}:{lines.line_num}: {len(cells)} cells for {len(heads)} columns")
            if lines.line_num > MAX_ROWS:
                raise MlsubError(f"{file}:{lines.line_num}: more than {MAX_ROWS:,} lines")
            named = zip(heads, (cell.strip() for cell in cells), strict=True)
            yield lines.line_num, {head: cell for head, cell in named if cell and head in columns}
    except csv.Error as error:
        raise MlsubError(f"{file}:{lines.line_num}: {error}") from error
