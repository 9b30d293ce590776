"""Tables of results on pages about what they share: short rows whose names lead to further pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.commands.site.history import minutes_to_train
from mlsub.commands.site.model import Cell, Column, Table, cell_of, number_of, table_of, text_of
from mlsub.commands.site.places import benchmark_href, system_href
from mlsub.commands.site.results import Result
from mlsub.commands.site.tables import ORGANISATION, VERDICT, count_of_accelerators, division_of, round_cell

#: Rows of one table; which ones are left out is said.
MAX_ROWS = 400


def brief_table(caption: str, results: Sequence[Result], *without: str, most: int = MAX_ROWS, key: str = "") -> Table:
    """One row a result, with all columns but some.

    Args:
        caption: what the table shows.
        results: in the order of the rows; after ``most`` they are left out, which the caption says.
        without: the titles of the columns that would say the same in each row.
        most: the most rows.
        key: what scripts call the table.
    """
    columns = [column for column in COLUMNS if column.title not in without]
    left = f"{caption}: the first {most} of {len(results):,}, which the page of results has all"
    table = table_of(caption if len(results) <= most else left, results[:most], columns)
    return Table(caption=table.caption, heads=table.heads, rows=table.rows, key=key)


def by_benchmark(results: Iterable[Result]) -> list[Result]:
    """By benchmark, the newest round first, and then the fastest."""

    def rank(result: Result) -> tuple[str, str, float, float]:
        return (result.named.title.casefold(), result.named.benchmark, -(round_cell(result).sort or 0.0), fast(result))

    return sorted(results, key=rank)


def fast(result: Result) -> float:
    """What puts the fastest first, and those without a time last."""
    minutes = minutes_to_train(result)
    return float("inf") if minutes is None else minutes


def _system(result: Result) -> Cell:
    return Cell(text_of(result.row.system or result.entry.system, 120), href=system_href(result.named, result.row))


def _minutes(result: Result) -> Cell:
    minutes = minutes_to_train(result)
    return Cell(number_of(minutes), minutes, href=result.href)


COLUMNS: tuple[Column[Result], ...] = (
    Column("benchmark", lambda one: Cell(text_of(one.named.title, 100), href=benchmark_href(one.named))),
    Column("system", _system),
    ORGANISATION,
    Column("accelerators", lambda one: count_of_accelerators(one, one.named.accelerator), True),
    Column("minutes", _minutes, True),
    Column("chip-minutes", lambda one: cell_of(one.named.chip_minutes, number_of(one.named.chip_minutes, 3)), True),
    Column("division", lambda one: Cell(division_of(one))),
    Column("round", round_cell, True),
    VERDICT,
)
