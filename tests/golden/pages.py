"""Pages of a site as facts: the rows of tables, and the numbers of charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.commands.site.sites import result_rows, script
from tests.golden.figures import Facts, Reader, columns, numbers_in, shortened

#: A cell that holds a figure and no words.
_FIGURE = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?: ?[%×x])?")


class _Page(HTMLParser):
    """The rows of a page's tables, cell by cell, and the data of its charts. Cells end where something else begins."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        #: The tables that charts are drawn from, by their names: a row a run, its cells lists of numbers.
        self.lists: dict[str, list[list[str]]] = {}
        self.charts: list[Any] = []
        self._cell: list[str] | None = None
        self._data: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th", "tr", "tbody"):
            self._end_cell()
        if tag == "table":
            self.tables.append([])
            if "data-lists" in dict(attrs):
                self.lists[str(dict(attrs)["id"])] = self.tables[-1]
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "script" and ("type", "application/json") in attrs:
            self._data = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._end_cell()
        elif tag == "script" and self._data is not None:
            self.charts.append(json.loads("".join(self._data)))
            self._data = None

    def handle_data(self, data: str) -> None:
        for text in (self._cell, self._data):
            if text is not None:
                text.append(data)

    def _end_cell(self) -> None:
        if self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None


def _spread(table: list[list[str]]) -> list[list[str]]:
    """A table of lists with a row for each of their numbers, as a script makes it."""
    rows, above = [table[0]], list[str]()
    for head, *lists in table[1:]:
        # A ditto mark stands for what the run above has, as far as this run went.
        above = [before if cell == "″" else cell for cell, before in zip(lists, above or lists, strict=True)]
        spread = zip(*(cell.split(" ")[: lists[-1].count(" ") + 1] for cell in above), strict=True)
        rows += [[head, str(number), *cells] for number, cells in enumerate(spread, 1) if any(cells)]
    return rows


def _figure(cell: str) -> float:
    return float(re.sub(r"[, %×x]", "", cell).replace("−", "-"))


def _short(numbers: Iterable[float | None]) -> Any:
    return shortened([None if number is None else float(f"{number:.6g}") for number in numbers])


def _drawn(chart: Any, page: _Page) -> Facts:
    """The numbers of a chart, by axis: those of its series, and those that it takes from a table of the page."""
    if "series" not in chart and "table" not in chart:
        return {"numbers": _short(numbers_in(chart))}
    facts: Facts = {}
    for number, one in enumerate(chart.get("series", ()), 1):
        for axis, column in zip(("x", "y", "z"), one["points"], strict=False):
            facts[f"{axis} of series {number}"] = _short(column)
    if "table" in chart:
        rows = page.lists[chart["table"]["id"]][1:]
        for axis in chart["table"].keys() & {"x", "y"}:
            texts = [text for row in rows for text in row[chart["table"][axis]].split(" ")]
            facts[f"{axis} of the table"] = _short(_figure(text) for text in texts if text not in ("", "–", "″"))
    return facts


def page_facts(folder: Path, reader: Reader) -> Facts:
    """The files of a site; of each page the numbers of its tables, and of its charts by axis."""
    facts: Facts = {}
    for file in sorted(folder.rglob("*")):
        if file.is_dir() or file.name.startswith("."):
            continue
        name = file.relative_to(folder).as_posix()
        facts[f"file {name}"] = True
        if name == "data/results.js":
            facts |= {
                f"result {number}": reader.row(row) for number, row in enumerate(result_rows(file.read_bytes()), 1)
            }
        if name.startswith("data/reference"):
            facts[f"numbers of {name}"] = _short(numbers_in(script(file.read_bytes())))
        if file.suffix != ".html":
            continue
        page = _Page(file.read_text(encoding="utf-8"))
        listed = page.lists.values()
        for number, found in enumerate(page.tables, 1):
            table = _spread(found) if any(found is one for one in listed) else found
            rows = [[row[0], *map(_figure, filter(_FIGURE.fullmatch, row[1:]))] for row in table[1:] if row]
            facts[f"table {number} of {name}"] = [len(table) - 1, columns([row for row in rows if len(row) > 1])]
        facts |= {f"chart {number} of {name}": _drawn(chart, page) for number, chart in enumerate(page.charts, 1)}
    return facts
