"""The reference inside the axes of a picture: points, curves, limit, and what is too fast."""

from __future__ import annotations

from typing import Any

from mlsub.commands.rcp.picture.collect import Picture
from mlsub.commands.rcp.picture.curves import Line
from mlsub.commands.rcp.picture.frame import Frame
from mlsub.commands.rcp.picture.style import CURVE, FAINT, HOLLOW, INK, LIMIT, TOO_FAST


def draw_reference(axes: Any, picture: Picture, frame: Frame) -> None:
    """The points, the official curve, the hull where it is another, the limit and what is too fast."""
    for number, line in enumerate(frame.limits):
        sizes, values = _scaled(line, frame)
        floor = [frame.bottom / frame.factor] * len(sizes)
        axes.fill_between(
            sizes, floor, values, facecolor=TOO_FAST, edgecolor="#e9b897", hatch="//", linewidth=0, zorder=1
        ).set_gid(f"too-fast-{number}")
        axes.plot(sizes, values, color=LIMIT, linewidth=2.4, zorder=3, gid=f"limit-{number}")
    at_points = [(p.batch_size, picture.reference.allowed(p).minimum) for p in picture.reference.kept]
    axes.plot(*_scaled(at_points, frame), "_", color=LIMIT, markersize=19, markeredgewidth=2.4, zorder=4, gid="limits")
    axes.plot(*_scaled(frame.curve, frame), color=CURVE, linewidth=1.8, zorder=3, gid="official-curve")
    if frame.hull:
        axes.plot(
            *_scaled(frame.hull, frame), color=INK, linewidth=1.2, dashes=(5, 3), zorder=3.5, gid="hull-of-the-rules"
        )
    kept = set(picture.reference.kept)
    for point in picture.reference.points:
        _point(axes, point.batch_size, point.mean, point.stdev, frame, kept=point in kept)


def _point(axes: Any, size: float, mean: float, stdev: float, frame: Frame, *, kept: bool) -> None:
    bar = axes.errorbar(
        [size],
        [mean / frame.factor],
        yerr=[stdev / frame.factor],
        fmt="o",
        color=INK if kept else HOLLOW,
        markersize=6.5,
        markerfacecolor=INK if kept else "white",
        markeredgecolor=INK if kept else HOLLOW,
        markeredgewidth=1.2,
        ecolor=INK if kept else HOLLOW,
        elinewidth=1.2,
        capsize=4,
        capthick=1.2,
        zorder=5 if kept else 4.5,
    )
    bar.lines[0].set_gid(f"reference-{'kept' if kept else 'pruned'}-{size:g}")


def draw_unreferenced(axes: Any, picture: Picture, frame: Frame) -> None:
    """The part beyond the largest reference point, if an entry lies there."""
    largest = picture.reference.points[-1].batch_size
    if any(largest < entry.batch_size <= frame.right for entry in picture.entries):
        axes.axvspan(largest, frame.right, facecolor="#eeeeee", linewidth=0, zorder=0).set_gid("no-reference")
        axes.annotate(
            "no reference",
            (largest, 1),
            (4, -4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            rotation=90,
            ha="left",
            va="top",
            fontsize=8,
            color=FAINT,
            zorder=2,
        )


def _scaled(line: Line | list[tuple[float, float]], frame: Frame) -> tuple[list[float], list[float]]:
    return [size for size, _ in line], [value / frame.factor for _, value in line]
