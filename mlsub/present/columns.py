"""Text in columns that stays readable at any width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

GAP = 2
#: Where standard output is no terminal.
WIDTH = 100
_LEAST = 24


def columns(
    rows: Sequence[Sequence[str]],
    heads: Sequence[str] | None = None,
    *,
    width: int = WIDTH,
    caps: Sequence[int] = (),
    indent: int = 0,
) -> list[str]:
    """Lines of a table: each column as wide as it needs, at most its cap, and the last one takes what is left.

    A cell may hold several lines; each is wrapped for itself, its continuation set in.
    """
    if not rows:
        return []
    every = [*([heads] if heads else []), *rows]
    count = len(every[0])
    widths = []
    for number in range(count - 1):
        cap = caps[number] if number < len(caps) else width
        longest = max(len(line) for row in every for line in (row[number].split("\n")))
        widths.append(min(longest, cap))
    left = width - indent - sum(widths) - GAP * (count - 1)
    widths.append(max(left, _LEAST))
    lines = []
    if heads:
        lines += _row(heads, widths, indent)
        longest = min(max(len(line) for row in every for line in row[-1].split("\n")), widths[-1])
        lines.append(" " * indent + "-" * (sum(widths[:-1]) + GAP * (count - 1) + longest))
    for row in rows:
        lines += _row(row, widths, indent)
    return lines


def wrapped(text: str, width: int = WIDTH, hang: int = 0) -> list[str]:
    """A paragraph; every line but the first is set in by ``hang``."""
    return _wrap(text, width, " " * hang) or [""]


def _row(cells: Sequence[str], widths: Sequence[int], indent: int) -> list[str]:
    blocks = [
        [line for part in cell.split("\n") for line in (_wrap(part, width, "  ") or [""])]
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, blocks))):
        texts = [
            (block[number] if number < len(block) else "").ljust(width)
            for block, width in zip(blocks, widths, strict=True)
        ]
        lines.append((" " * indent + (" " * GAP).join(texts)).rstrip())
    return lines


def _wrap(text: str, width: int, hang: str) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=hang, break_on_hyphens=False)
