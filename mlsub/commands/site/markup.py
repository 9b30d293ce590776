"""Tables as HTML: a site has hundreds of thousands of cells, so none of them says what its table can say for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from mlsub.commands.site.model import Cell, Table

#: What means something to HTML; most cells have nothing of it.
_SPECIAL = re.compile(r"[&<>\"']")
#: Longer texts are given the room of several lines.
_LONG = 48


def table_markup(table: Table, root: str) -> str:
    """A table as HTML, without what HTML does without: end tags, and ``scope`` where its headers are plain to see.

    Args:
        table: what is shown.
        root: the way from the page to the root of the site.
    """
    caption = _safe(table.caption)
    numeric = [head.numeric for head in table.heads]
    heads = "".join(f"<th>{_safe(head.title)}" for head in table.heads)
    name = f' id="table-{_safe(table.key)}"' if table.key else ""
    lists = " data-lists" if table.lists else ""
    body = "".join(
        f"<tr><th{_attributes(row.cells[0], numeric=False)}>{_content(row.cells[0], root)}"
        f"{_cells(row.cells[1:], numeric[1:], root)}"
        for row in table.rows
    )
    return (
        f"<div class=table tabindex=0>\n<table{name}{_columns(numeric)}{lists} data-sortable>\n"
        f"<caption>{caption}</caption>\n<thead><tr>{heads}<tbody>{body}</table>\n</div>"
    )


def _columns(numeric: Sequence[bool]) -> str:
    """Which columns are numeric, as the style sheet reads it."""
    if all(numeric[1:]):
        return " class=n"
    names = " ".join(f"n{place}" for place, is_number in enumerate(numeric, 1) if is_number)
    return f' class="{names}"' if names else ""


def _cells(cells: Sequence[Cell], numeric: Sequence[bool], root: str) -> str:
    return "".join(
        f"<td{_attributes(cell, numeric=is_number)}>{_content(cell, root)}"
        for cell, is_number in zip(cells, numeric, strict=True)
    )


def _attributes(cell: Cell, *, numeric: bool) -> str:
    found = "" if numeric or len(cell.text) <= _LONG else " class=long"
    if cell.sort is not None and not (numeric and _says(cell.text, cell.sort)):
        found += f" data-sort={cell.sort}"
    return f'{found} title="{_safe(cell.note)}"' if cell.note else found


def _says(text: str, value: float) -> bool:
    """Whether a text is the number that its cell sorts by, as far as it shows."""
    try:
        return abs(float(text.replace(",", "")) - value) <= 1e-5 * abs(value)
    except ValueError:
        return False


def _content(cell: Cell, root: str) -> str:
    text = escape(cell.text, quote=False) if _SPECIAL.search(cell.text) else cell.text
    if cell.href:
        return f'<a href="{root}{_safe(cell.href)}">{text}</a>'
    return f"<span class={cell.badge}>{text}</span>" if cell.badge else text


def _safe(text: str) -> str:
    return escape(text) if _SPECIAL.search(text) else text
