"""The IDs that results have in the official tables. Logs do not contain them, so lists of them do.

A list is a YAML file, by round, or a table in CSV. The list that ships, ids.yaml, has the IDs that published documents
cite. Where a source gives the IDs of several results and not which is whose, the list says just that: a group.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mlsub.divisions import DivisionName
from mlsub.io.data import shipped
from mlsub.io.documents import Form, read_as, read_document
from mlsub.io.errors import MlsubError
from mlsub.io.problems import FileProblemsError, Flaw, Problem, meant
from mlsub.io.read import read_text, with_place
from mlsub.rounds import get_round, known_rounds, normalise_round, usages
from mlsub.submission.find import organisation

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


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Results: those of one system, as its folder is called, or of one benchmark or division alone."""

    organisation: Text
    system: Text
    benchmark: Text | None = None
    division: DivisionName | None = None


class One(Named, frozen=True, kw_only=True):
    """Results that are known to have an ID."""

    id: ResultId


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """IDs that a source gives to several results together: each result has one of them."""

    ids: Annotated[tuple[ResultId, ...], Meta(min_length=1, max_length=1000)]
    results: Annotated[tuple[Named, ...], Meta(min_length=1, max_length=1000)]
    why: Annotated[Text | None, Meta(description="What shows that the IDs are of these results.")] = None


class RoundIds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The IDs of a round's results."""

    round: RoundName
    usage: Annotated[str, Meta(max_length=40, description="training, which is the default, or hpc.")] = "training"
    source: Annotated[Text | None, Meta(description="Where the IDs are published.")] = None
    results: Annotated[tuple[One, ...], Meta(max_length=MAX_ROWS)] = ()
    groups: Annotated[tuple[Group, ...], Meta(max_length=1000)] = ()


class IdList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list of the IDs of results."""

    rounds: Annotated[tuple[RoundIds, ...], Meta(min_length=1, max_length=100)]


class _Row(One, frozen=True, kw_only=True):
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


#: Whose an ID is: usage, round, and results with the one name of their organisation.
_Key = tuple[str, str, Named]


class Ids:
    """What is known of the IDs of results."""

    def __init__(self, known: dict[_Key, ResultIds]) -> None:
        self._known = known

    def of(
        self, usage: str, round_name: str, organisation_folder: str, system: str, benchmark: str, division: str | None
    ) -> ResultIds | None:
        """Return the ID of a result, or those of which one is its own; None where the list has none.

        Args:
            usage: ``training`` or ``hpc``.
            round_name: such as ``1.1``.
            organisation_folder: any spelling of the organisation.
            system: the name of the system's folder.
            benchmark: the name of the benchmark's folder.
            division: ``closed`` or ``open``; None where the result states none.
        """
        named = Named(organisation=organisation(organisation_folder), system=system)
        keys = [
            (usage, round_name, msgspec.structs.replace(named, benchmark=bench, division=div))
            for bench in (benchmark, None)
            for div in dict.fromkeys((division, None))
        ]
        return next((self._known[key] for key in keys if key in self._known), None)

    def astray(self, systems: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
        """Yield a line for each ID of a system that is not there, although its organisation is.

        Args:
            systems: the systems that are there: usage, round, and the folders of organisation and system.
        """
        known: dict[tuple[str, str, str], set[str]] = {}
        for usage, round_name, folder, system in systems:
            known.setdefault((usage, round_name, organisation(folder)), set()).add(system)
        for (usage, round_name, of), ids in self._known.items():
            there = known.get((usage, round_name, of.organisation))
            if there is not None and of.system not in there:
                hint = meant(of.system, sorted(there)[:_MOST])
                yield f"{ids.shown}: {of.organisation} has no {of.system} in v{round_name}{hint}"


@lru_cache(maxsize=1)
def shipped_ids() -> Ids:
    """Return the IDs that published documents cite, as far as a result can be found for each."""
    return ids_of(shipped(__file__, _SHIPPED, IdList))


def ids_of(listed: IdList) -> Ids:
    """Return what a list that holds together says."""
    return Ids({key: ids for one in listed.rounds for _, key, ids in _results(one)})


def read_ids(file: Path, overlay: str | None = None) -> Ids:
    """Return a list of IDs: YAML, or a table in CSV.

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
    for steps, message in _find_flaws(listed.rounds, overlay):
        tree.report(message, "rounds", *steps)
    tree.raise_problems()
    return ids_of(listed)


def ids_schema() -> dict[str, Any]:
    """Return the JSON Schema of lists of IDs, for editors as well."""
    return FORM.schema()


def _results(one: RoundIds) -> Iterator[tuple[tuple[str | int, ...], _Key, ResultIds]]:
    """Yield the results of a round: the steps to each, whose it is, and its IDs."""

    def key(named: Named) -> _Key:
        name = organisation(named.organisation)
        of = Named(organisation=name, system=named.system, benchmark=named.benchmark, division=named.division)
        return one.usage, str(normalise_round(one.round)), of

    for at, result in enumerate(one.results):
        yield ("results", at), key(result), ResultIds((result.id,), one.source)
    for at, group in enumerate(one.groups):
        ids = ResultIds(tuple(dict.fromkeys(group.ids)), one.source, group.why)
        for place, named in enumerate(group.results):
            yield ("groups", at, "results", place), key(named), ids


def _find_flaws(rounds: Sequence[RoundIds], overlay: str | None) -> Iterator[Flaw]:
    """Yield unknown names, IDs of another round, a result with two IDs, and an ID of two systems."""
    known: dict[_Key, ResultIds] = {}
    owners: dict[tuple[str, str], Named] = {}
    for number, one in enumerate(rounds):
        name, benchmarks = str(normalise_round(one.round)), None
        if one.usage not in usages():
            yield (number, "usage"), f"unknown usage {one.usage!r}{meant(one.usage, usages())}"
        elif name not in (rounds_ := known_rounds(one.usage, overlay)):
            yield (number, "round"), f"unknown round {name!r}{meant(name, rounds_)}"
        else:
            benchmarks = get_round(one.usage, name, overlay).benchmarks
        for steps, key, ids in _results(one):
            of = key[2]
            if benchmarks is not None:
                # Those of a group stand at its first result.
                listed = ids.ids if steps[0] == "results" or steps[-1] == 0 else ()
                for text in (one_id for one_id in listed if not one_id.startswith(f"{name}-")):
                    yield (number, *steps), f"{text} is not an ID of v{name}"
                if of.benchmark is not None and of.benchmark not in benchmarks:
                    hint = meant(of.benchmark, benchmarks)
                    yield (number, *steps, "benchmark"), f"v{name} has no {of.benchmark!r}{hint}"
            before = known.setdefault(key, ids)
            if before.ids != ids.ids:
                yield (number, *steps), f"the result has {before.shown} already"
            owner = owners.setdefault((one.usage, ids.ids[0]), of) if len(ids.ids) == 1 else of
            if (owner.organisation, owner.system) != (of.organisation, of.system):
                yield (number, *steps), f"{ids.ids[0]} is the ID of {owner.organisation}/{owner.system} already"


def _read_table(file: Path, overlay: str | None) -> Ids:
    """Return the IDs of a table; each row is a round with one result."""
    rounds: list[RoundIds] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, fields in _rows(file):
        row, flaws = read_as(fields, _Row)
        problems += [Problem(str(file), line, with_place(*flaw)) for flaw in flaws]
        if row is not None:
            rounds.append(RoundIds(round=row.round, usage=row.usage, results=(row,)))
            lines.append(line)
    for (number, *steps), message in _find_flaws(rounds, overlay):
        place = steps[2:] if steps[0] == "results" else steps
        problems.append(Problem(str(file), lines[int(number)], with_place(place, message)))
    if problems:
        raise FileProblemsError(sorted(problems, key=lambda problem: problem.line or 0)[:_MOST])
    return ids_of(IdList(rounds=tuple(rounds)))


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with their lines; empty cells are left out, and columns that a list does not have."""
    # As a file, for a cell in quotes may have a line feed, and a text more ends of lines than a table.
    lines = csv.reader(io.StringIO(read_text(file).removeprefix("\ufeff"), newline=""), strict=True)
    try:
        heads = [head.strip().lower() for head in next(lines, [])]
        if not set(_COLUMNS) <= set(heads) or len(set(heads)) < len(heads):
            raise MlsubError(f"{file}:1: a table with the columns {', '.join(_COLUMNS)}, each once, is needed")
        columns = _Row.__struct_fields__
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
