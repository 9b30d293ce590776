"""Draw a picture with matplotlib, which is loaded only here."""

from __future__ import annotations

import io
import warnings
from typing import Any

import mlsub
from mlsub.commands.rcp.picture.collect import Picture
from mlsub.commands.rcp.picture.entries import draw_entries
from mlsub.commands.rcp.picture.frame import Frame, frame_of, grouped, ticks
from mlsub.commands.rcp.picture.layers import draw_reference, draw_unreferenced
from mlsub.commands.rcp.picture.panel import draw_panel, panel_height
from mlsub.commands.rcp.picture.style import FAINT, SETTINGS, cut
from mlsub.io.errors import MlsubError

#: Inches, and dots an inch of a PNG.
WIDTH, LEAST_HEIGHT, DPI = 11.0, 6.2, 150
_LEFT, _AXES, _PANEL, _BELOW, _ABOVE = 0.85, 6.55, 7.62, 0.95, 0.8
_FORMATS = ("svg", "png")
_MISSING = "matplotlib is needed to draw. Install it: pip install 'mlsub[plot]'"


def check_matplotlib() -> None:
    """Find out beforehand whether anything can be drawn.

    Raises:
        MlsubError: nothing can.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MlsubError(_MISSING)


def draw(picture: Picture, format_: str) -> bytes:
    """A picture as an SVG or PNG file; the same picture gives the same bytes with the same matplotlib.

    Args:
        picture: what to draw.
        format_: ``svg`` or ``png``.

    Raises:
        MlsubError: matplotlib is not installed.
    """
    if format_ not in _FORMATS:
        raise ValueError(f"no picture can be drawn as {format_}")
    check_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: Any = SETTINGS
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font does not have; they show as boxes.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        frame = frame_of(picture)
        height = max(LEAST_HEIGHT, panel_height(picture, frame) + _BELOW + _ABOVE)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI)
        FigureCanvasAgg(figure)
        _compose(figure, picture, frame, height)
        stream = io.BytesIO()
        figure.savefig(stream, format=format_, dpi=DPI, metadata=_metadata(picture, format_))
    return stream.getvalue()


def _compose(figure: Any, picture: Picture, frame: Frame, height: float) -> None:
    inner = height - _BELOW - _ABOVE
    axes = figure.add_axes((_LEFT / WIDTH, _BELOW / height, _AXES / WIDTH, inner / height))
    draw_unreferenced(axes, picture, frame)
    draw_reference(axes, picture, frame)
    _dress(axes, picture, frame)
    # Last, for the places of labels hang on the limits of the axes.
    draw_entries(axes, picture, frame)
    panel = figure.add_axes((_PANEL / WIDTH, _BELOW / height, (WIDTH - _PANEL - 0.08) / WIDTH, inner / height))
    draw_panel(panel, picture, frame, inner)
    _frame_texts(figure, picture, height)


def _dress(axes: Any, picture: Picture, frame: Frame) -> None:
    """Axes, ticks and labels."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if frame.log:
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(ticks(picture, frame, _AXES * 72)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(value)))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlim(frame.left, frame.right)
    axes.set_ylim(frame.bottom / frame.factor, frame.top / frame.factor)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"global batch size{' (logarithmic)' if frame.log else ''}")
    axes.set_ylabel(f"{frame.words}{picture.unit} to converge")


def _frame_texts(figure: Any, picture: Picture, height: float) -> None:
    """Title above, source below."""
    left = _LEFT / WIDTH
    title = f"{picture.reference.benchmark}, {picture.round_title}: convergence against the reference"
    figure.text(left, 1 - 0.3 / height, cut(title, 90), fontsize=13, fontweight="bold", va="center", gid="title")
    figure.text(left, 1 - 0.56 / height, _subtitle(picture), fontsize=9, color=FAINT, va="center", gid="subtitle")
    figure.text(left, 0.3 / height, _source(picture), fontsize=7.5, color=FAINT, va="center", gid="source")


def _subtitle(picture: Picture) -> str:
    if not picture.entries:
        return cut(picture.title, 110)
    names = ", ".join(cut(name, 40) for name in picture.organisations[:6])
    more = len(picture.organisations) - 6
    count = len(picture.entries)
    return cut(
        f"{picture.title}; {count} entr{'y' if count == 1 else 'ies'} of {names}{f' and {more} more' * (more > 0)}", 130
    )


def _source(picture: Picture) -> str:
    source, runs = cut(picture.reference.source, 60), picture.reference.runs
    return (
        f"Reference points: {source}. Limit: one-sided t-test at 5 %, {runs} runs an entry, "
        f"pruned and interpolated as the checker of v{picture.round} did. mlsub {mlsub.__version__}."
    )


def _metadata(picture: Picture, format_: str) -> dict[str, str | None]:
    title = f"{picture.reference.benchmark}, {picture.round_title}"
    if format_ == "svg":
        return {"Date": None, "Creator": f"mlsub {mlsub.__version__}", "Title": title}
    return {"Software": f"mlsub {mlsub.__version__}", "Title": title}
