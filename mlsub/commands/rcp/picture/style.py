"""Colours, marks and settings of a picture: readable in grey print, and without telling red from green.

The colours are those of Okabe and Ito (2008), made to be told apart by colour-blind readers; each verdict also has a
shape of its own, each line a width and a dash.
"""

from __future__ import annotations

from typing import Any

import msgspec

INK, FAINT, HOLLOW = "#222222", "#666666", "#8a8a8a"
CURVE, LIMIT, TOO_FAST = "#0072b2", "#d55e00", "#fbe6d8"


class Mark(msgspec.Struct, frozen=True):
    """How an entry with a verdict is marked: a shape of matplotlib, its size in points, and colours."""

    shape: str
    size: float
    colour: str
    words: str


MARKS = {
    "pass": Mark("o", 9.0, "#007a5a", "passes"),
    "fail": Mark("s", 8.5, "#a31500", "fails"),
    "missing": Mark("^", 10.0, "#8a5a00", "no reference covers it"),
    "bypassed": Mark("D", 8.0, "#b0558a", "fails, bypassed"),
    "open": Mark("h", 10.0, "#3a6ea5", "so far, runs are lacking"),
}

#: What a matplotlibrc of the machine says does not count.
SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "mlsub",
    "svg.fonttype": "none",
    # A reader without the first one sees the text in a sans serif of his own.
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    # Names of systems are text, never formulas.
    "text.usetex": False,
    "text.parse_math": False,
    "hatch.linewidth": 0.6,
    "path.simplify": True,
}


def cut(text: str, width: int) -> str:
    """A name as it is printed: without characters that are none, the middle left out where it is too long."""
    from mlsub.io.plain import plain

    text = plain(text[:400])
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
