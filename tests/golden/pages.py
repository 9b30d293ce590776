"""Pages of a site as facts: the rows of tables, and the numbers of charts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.golden.figures import Facts, digest, shortened

#: A cell that holds a figure and no words.
_FIGURE = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?: ?[%×x])?")


class _Page(HTMLParser):
    """The rows of a page's tables, cell by cell, and the data of its charts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.charts: list[Any] = []
        self._cell: list[str] | None = None
        self._data: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "script" and ("type", "application/json") in attrs:
            self._data = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        elif tag == "script" and self._data is not None:
            self.charts.append(json.loads("".join(self._data)))
            self._data = None

    def handle_data(self, data: str) -> None:
        for text in (self._cell, self._data):
            if text is not None:
                text.append(data)


def _figure(cell: str) -> float:
    return float(re.sub(r"[, %×x]", "", cell).replace("−", "-"))


def _points(chart: Any) -> list[Any]:
    """The numbers of a chart, wherever they are."""
    if isinstance(chart, bool | str) or chart is None:
        return []
    if isinstance(chart, int | float):
        return [chart]
    return [point for item in (chart.values() if isinstance(chart, dict) else chart) for point in _points(item)]


def page_facts(folder: Path) -> Facts:
    """The files of a site; of each page the numbers of its tables, row by row, and of its charts."""
    facts: Facts = {}
    for file in sorted(folder.rglob("*")):
        if file.is_dir() or file.name.startswith("."):
            continue
        name = file.relative_to(folder).as_posix()
        facts[f"file {name}"] = True
        if file.suffix != ".html":
            continue
        page = _Page(file.read_text(encoding="utf-8"))
        for number, table in enumerate(page.tables, 1):
            rows = [[row[0], *map(_figure, filter(_FIGURE.fullmatch, row[1:]))] for row in table[1:] if row]
            facts[f"table {number} of {name}"] = [len(table) - 1, shortened([row for row in rows if len(row) > 1])]
        for number, chart in enumerate(page.charts, 1):
            points = _points(chart)
            facts[f"chart {number} of {name}"] = [len(points), digest(sorted(points))]
    return facts
