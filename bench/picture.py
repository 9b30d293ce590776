"""Pictures of measurements: lines over logarithmic axes, in colours that read on white and on dark grey alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

#: Each colour has at least three to one on white and on the dark grey of the documentation.
INK, GRID = "#7d838c", "#7d838c55"
LOOKS = (("#0a7fc4", "o", "-"), ("#c46a00", "s", "-"), ("#0b9169", "^", "--"), ("#b0559a", "D", "--"))
SIZE, COLUMNS = (5.2, 3.6), 2
SETTINGS: Any = {
    "svg.hashsalt": "mlsub",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 10.0,
    "text.parse_math": False,
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    **{f"axes.{part}": INK for part in ("edgecolor", "labelcolor", "titlecolor")},
}


class Curve(NamedTuple):
    """Points that are joined."""

    name: str
    points: Sequence[tuple[Any, float]]


class Panel(NamedTuple):
    """Axes with their curves; ``log`` names the logarithmic ones."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    log: str = "xy"


def draw(panels: Sequence[Panel], title: str, about: str) -> bytes:
    """Panels as an SVG file, two beside each other: the same bytes for the same panels.

    Args:
        panels: at least one.
        title: of the file.
        about: what a reader who does not see it should know.
    """
    import io

    import matplotlib
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure(figsize=(SIZE[0] * columns, SIZE[1] * rows), layout="constrained")
        figure.patch.set_alpha(0)
        for place, panel in enumerate(panels, 1):
            _dress(figure.add_subplot(rows, columns, place), panel)
        stream = io.BytesIO()
        metadata = {"Title": title, "Description": about, "Date": None, "Creator": "mlsub"}
        figure.savefig(stream, format="svg", metadata=metadata)
    # Lines end without blanks, as the repository's other files.
    return b"\n".join(line.rstrip() for line in stream.getvalue().split(b"\n"))


def _dress(axes: Any, panel: Panel) -> None:
    from matplotlib.ticker import NullLocator

    axes.patch.set_alpha(0)
    for curve, (colour, marker, line) in zip(panel.curves, LOOKS, strict=False):
        x, y = zip(*curve.points, strict=True)
        axes.plot(x, y, color=colour, marker=marker, linestyle=line, linewidth=1.8, markersize=5, label=curve.name)
    for name in panel.log:
        axes.set(**{f"{name}scale": "log"})
        axis = getattr(axes, f"{name}axis")
        axis.set(major_formatter=lambda value, _: f"{value:,.10g}", minor_locator=NullLocator())
    if "y" not in panel.log:
        axes.set_ylim(bottom=0)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    axes.tick_params(axis="x", rotation=0 if "x" in panel.log else 30)
    axes.grid(visible=True, color=GRID, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def write(file: Path, panels: Sequence[Panel], title: str, about: str) -> None:
    """Write a picture."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(draw(panels, title, about))
