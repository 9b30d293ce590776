"""The column beside the axes: what the lines and marks mean, and which entry has which number."""

from __future__ import annotations

from typing import Any

from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.commands.rcp.picture.frame import Frame, grouped
from mlsub.commands.rcp.picture.style import CURVE, FAINT, HOLLOW, INK, LIMIT, MARKS, TOO_FAST, cut
from mlsub.convergence.words import number

#: Entries that the key names; the page has them all.
NAMED = 24
#: Up to so many entries have a second line with their figures.
_TWO_LINES = 12
_LINE, _LEGEND_LINE = 0.165, 0.235
#: Characters of a name.
_WIDTH = 42


def panel_height(picture: Picture, frame: Frame) -> float:
    """The height that the column needs, in inches."""
    rows = min(len(picture.entries), NAMED)
    lines = rows * (2.35 if rows <= _TWO_LINES else 1.15) + (len(picture.entries) > NAMED) + 3
    return len(_legend(picture, frame)) * _LEGEND_LINE + lines * _LINE


def draw_panel(panel: Any, picture: Picture, frame: Frame, height: float) -> None:
    """Draw the column into axes of their own, one inch of which is one unit; ``height`` is that of the axes."""
    panel.set_axis_off()
    panel.set_xlim(0, 3.3)
    panel.set_ylim(0, height)
    top = height - 0.1
    for handle, words in _legend(picture, frame):
        _sample(panel, handle, top)
        panel.text(0.42, top, words, va="center", fontsize=8.5)
        top -= _LEGEND_LINE
    if picture.entries:
        top -= 0.12
        panel.text(0.0, top, "Entries: olympic mean of the runs", va="center", fontsize=8.5, fontweight="bold")
        top -= 1.5 * _LINE
    for entry in picture.entries[:NAMED]:
        top = _key(panel, entry, picture, frame, top)
    if len(picture.entries) > NAMED:
        panel.text(0.46, top, f"and {len(picture.entries) - NAMED} more", va="center", fontsize=7.5, color=FAINT)


def _legend(picture: Picture, frame: Frame) -> list[tuple[str, str]]:
    reference = picture.reference
    rows = [("kept", "reference: mean ± standard deviation")]
    if len(reference.kept) < len(reference.points):
        rows.append(("pruned", "reference point the checker prunes"))
    if len(reference.kept) > 1:
        rows.append(("curve", "official curve"))
    if frame.hull:
        rows.append(("hull", "lower hull of the written rules"))
    rows += [("limit", "acceptance limit: least olympic mean"), ("too-fast", "too fast: not accepted")]
    verdicts = {entry.verdict for entry in picture.entries}
    rows += _runs(picture)
    rows += [(verdict, f"olympic mean: {mark.words}") for verdict, mark in MARKS.items() if verdict in verdicts]
    return rows


def _runs(picture: Picture) -> list[tuple[str, str]]:
    if not picture.entries:
        return []
    rows = [("run", f"runs ({sum(len(entry.points) for entry in picture.entries)}), larger where several meet")]
    failed = sum(entry.failed for entry in picture.entries)
    if failed:
        rows.append(("failed", f"and {failed} run{'s' * (failed > 1)} that did not converge"))
    return rows


def _sample(panel: Any, kind: str, at: float) -> None:
    """The sample of a line or mark in the legend."""
    left, right, middle = 0.03, 0.33, 0.18
    if kind in ("kept", "pruned"):
        colour = INK if kind == "kept" else HOLLOW
        panel.plot([middle] * 2, [at - 0.085, at + 0.085], color=colour, linewidth=1.2)
        panel.plot([middle], [at], "o", color=colour, markersize=6, markerfacecolor=INK if kind == "kept" else "white")
    elif kind == "curve":
        panel.plot([left, right], [at, at], color=CURVE, linewidth=1.8)
    elif kind == "hull":
        panel.plot([left, right], [at, at], color=INK, linewidth=1.2, dashes=(5, 3))
    elif kind == "limit":
        panel.plot([left, right], [at, at], color=LIMIT, linewidth=2.4)
    elif kind == "too-fast":
        panel.fill_between(
            [left, right], at - 0.075, at + 0.075, facecolor=TOO_FAST, edgecolor="#e9b897", hatch="//", linewidth=0
        )
    elif kind == "run":
        panel.plot([middle], [at], "o", color=FAINT, markersize=3.6, markeredgecolor="white", markeredgewidth=0.3)
    elif kind in MARKS:
        mark = MARKS[kind]
        panel.plot([middle], [at], mark.shape, color=mark.colour, markersize=mark.size)


def _key(panel: Any, entry: Shown, picture: Picture, frame: Frame, top: float) -> float:
    """The line of an entry; returns where the next one goes."""
    mark = MARKS[entry.verdict]
    panel.plot([0.12], [top], mark.shape, color=mark.colour, markersize=mark.size)
    panel.text(0.24, top, str(entry.number), fontsize=7.5, fontweight="bold", color=mark.colour, va="center_baseline")
    many = len(picture.organisations) > 1
    name = f"{entry.organisation} / {entry.system}" if many and entry.organisation != entry.system else entry.system
    panel.text(0.46, top, cut(name, _WIDTH), va="center", fontsize=7.5)
    if min(len(picture.entries), NAMED) > _TWO_LINES:
        return top - 1.15 * _LINE
    panel.text(0.46, top - 0.95 * _LINE, _figures(entry, frame), va="center", fontsize=7.0, color=FAINT)
    return top - 2.35 * _LINE


def _figures(entry: Shown, frame: Frame) -> str:
    told = "no olympic mean"
    if entry.mean is not None:
        scaled = entry.mean / frame.factor
        told = f"mean {scaled:.4g} {frame.words}".rstrip() if scaled > 1e-3 else f"mean {number(entry.mean)}"
        if entry.limit:
            told += f", limit {100 * (entry.mean / entry.limit - 1):+.2f} %"
    if not frame.holds(entry.batch_size):
        return f"not drawn, batch {entry.batch_size:.4g}: {told.partition(',')[0]}"
    return f"batch {grouped(entry.batch_size)}: {told}"
