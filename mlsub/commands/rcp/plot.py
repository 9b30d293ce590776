"""``mlsub rcp plot``: the entries and the reference of a picture, drawn by matplotlib, which is loaded only here."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.options import check, check_own_rules
from mlsub.commands.output import tell, tell_unchecked
from mlsub.convergence.curves import Reference, limit_lines, mean_line, reference_of, spans_a_decade
from mlsub.convergence.margin import benchmark_held, verdict_of, why_untested
from mlsub.convergence.reference import Which
from mlsub.convergence.words import number
from mlsub.io import VERSION
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.io.show import plain, plural
from mlsub.io.write import check_output
from mlsub.log.reading import BEYOND
from mlsub.present.document import Section, Text
from mlsub.rounds import Round, find_benchmark, get_round
from mlsub.submission.report import EntryResult

if TYPE_CHECKING:
    from mlsub.workspace.places import Settings

_SUFFIXES = (".svg", ".png", ".pdf")
#: Up to so many entries are named beside the picture and numbered in it.
NAMED = 24
#: Batch sizes so many times smaller or larger than every reference point are not drawn.
_FAR = 16
#: How far runs may widen the picture, in heights of the reference; what lies beyond is marked at the edge.
_WIDER = 0.6
#: The colour, the shape and the words of each verdict; shapes can be told apart in grey print.
VERDICTS = {
    "pass": ("#009e73", "o", "passes"),
    "fail": ("#c84b00", "s", "fails"),
    "missing": ("#e08e00", "^", "no reference covers it"),
    "bypassed": ("#b8508c", "D", "fails, bypassed"),
    "open": ("#3aa0dc", "h", "so far, runs are lacking"),
}
#: What a matplotlibrc of the machine says does not count. Names of systems are text, never formulas.
_STYLE: Any = {
    **{"svg.hashsalt": "mlsub", "svg.fonttype": "none", "text.usetex": False, "text.parse_math": False},
    **{"font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9.0, "legend.frameon": False, "legend.fontsize": 8.0},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "grid.color": "#dddddd"},
}


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark of one round: its reference, the entries to draw, and why others cannot be drawn."""

    round: Round
    reference: Reference
    entries: tuple[EntryResult, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def check_before(output: str, force: bool) -> str:
    """Return the file's format, refusing what cannot be written before gigabytes of logs are read."""
    suffix = Path(output).suffix.lower()
    if suffix not in _SUFFIXES:
        raise MlsubError(f"{output} cannot be a picture. Name a file that ends in .svg, .png or .pdf.")
    check_output(Path(output), force=force)
    check_matplotlib()
    return suffix.removeprefix(".")


def check_matplotlib() -> None:
    """Raise an MlsubError where matplotlib is not installed, without importing it."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MlsubError(needs_extra("matplotlib is needed to draw.", "plot"))


def pictures_for(asked: Settings, benchmarks: Sequence[str]) -> tuple[Picture, ...]:
    """Return the pictures that are asked for: of references alone, or with the entries below paths.

    Args:
        asked: names of benchmarks, and paths.
        benchmarks: further names.

    Raises:
        MlsubError: there is nothing to draw, or a name, a file or a path cannot be used.
    """
    names, paths = _names_and_paths(asked)
    overlay = check_own_rules(asked.overlay)
    found = [find_benchmark(name, asked.round, asked.usage, overlay) for name in (*names, *benchmarks)]
    if paths:
        return _pictures_of_entries(msgspec.structs.replace(asked, paths=tuple(paths)), [name for _, name in found])
    rounds = {name: round_ for round_, name in found}
    return tuple(
        picture_of(round_, name, (), asked.convergence.reference, asked.convergence.points)
        for name, round_ in rounds.items()
    )


def picture_of(
    round_: Round, name: str, entries: Sequence[EntryResult] = (), own: str | None = None, which: Which = "published"
) -> Picture:
    """Return the picture of a benchmark's entries, by batch size and system.

    Raises:
        MlsubError: there is no reference, see :func:`mlsub.convergence.curves.reference_of`.
    """
    why = [_why_not(entry, round_) for entry in entries]
    drawn = [entry for entry, reason in zip(entries, why, strict=True) if reason is None]
    drawn.sort(key=lambda entry: (entry.rcp.batch_size, entry.organisation, entry.system, entry.path))
    left_out = tuple((entry.path, reason) for entry, reason in zip(entries, why, strict=True) if reason is not None)
    reference = reference_of(round_, name, own, which)
    return Picture(round=round_, reference=reference, entries=tuple(drawn), left_out=left_out)


def _names_and_paths(asked: Settings) -> tuple[list[str], list[str]]:
    """Return names of benchmarks, and paths; what is neither is refused as a name, with the nearest names."""
    overlay, names, paths = check_own_rules(asked.overlay), [], []
    for text in asked.paths:
        if os.sep in text or text in ("", ".", ".."):
            paths.append(text)
            continue
        try:
            names.append(find_benchmark(text, None, asked.usage, overlay)[1])
        except MlsubError:
            if not os.path.lexists(text):
                raise
            paths.append(text)
    return names, paths


def _pictures_of_entries(asked: Settings, wanted: Sequence[str]) -> tuple[Picture, ...]:
    """Return a picture for each benchmark and round with an entry to draw, in the order of the reports."""
    reports, overlay = check(asked), check_own_rules(asked.overlay)
    tell_unchecked(reports)
    found: dict[tuple[Round, str], list[EntryResult]] = {}
    for report in filter(lambda one: one.entries, reports):
        round_ = get_round(str(report.usage), str(report.round), overlay)
        for entry in report.entries:
            name = benchmark_held(report, entry, round_)
            if not wanted or name in wanted:
                found.setdefault((round_, name), []).append(entry)
    pictures, problems = list[Picture](), dict[str, None]()
    for (round_, name), entries in found.items():
        try:
            pictures.append(picture_of(round_, name, entries, asked.convergence.reference, asked.convergence.points))
        except MlsubError as error:
            problems[str(error)] = None
    empty = [f"{path}: {why}" for picture in pictures if not picture.entries for path, why in picture.left_out]
    drawn = tuple(picture for picture in pictures if picture.entries)
    if not drawn:
        there = dict.fromkeys(entry.benchmark for report in reports for entry in report.entries)
        raise MlsubError(_why_none(empty, list(problems), list(there), wanted))
    for line in (*problems, *empty):
        tell(f"not drawn: {line}", "rcp plot")
    return drawn


def _why_none(empty: Sequence[str], problems: Sequence[str], there: Sequence[str], wanted: Sequence[str]) -> str:
    if empty:
        return f"no entry can be drawn. {empty[0]}"
    if problems:
        return "; ".join(problems)
    if wanted and there:
        return f"there is no entry of {' or '.join(wanted)}, but of {', '.join(there)}"
    return "there is no entry to draw. Name a folder of results, or a benchmark for its reference alone."


def _why_not(entry: EntryResult, round_: Round) -> str | None:
    """Return why an entry cannot be drawn, None if it can."""
    rcp = entry.rcp
    if rcp.verdict == "not-required":
        return why_untested(entry, round_)
    if rcp.logs_unit is not None:
        return rcp.incomparable
    if rcp.batch_size is None:
        return "its runs agree on no batch size"
    if not 0 < rcp.batch_size < BEYOND:
        return "its batch size is out of range"
    beyond = any(not 0 <= point < BEYOND for point in rcp.points if point is not None)
    return "a convergence point is beyond any real one" if beyond else None


def summary(picture: Picture, output: str) -> Section:
    """Return what was drawn, and what was not."""
    points, entries = len(picture.reference.points), len(picture.entries)
    drawn = f"{picture.reference.benchmark}, {picture.round.title}: {plural(points, 'reference point')}"
    if entries:
        runs = sum(len(entry.rcp.points) for entry in picture.entries)
        drawn += f", {entries} entr{'y' if entries == 1 else 'ies'} of {plural(runs, 'run')}"
    return Section(f"{output}: {drawn}", tuple(Text(f"not drawn: {path}: {why}") for path, why in picture.left_out))


def draw(pictures: Sequence[Picture], format_: str) -> bytes:
    """Return a file of pictures; the same pictures give the same bytes with the same matplotlib.

    Args:
        pictures: what to draw; in ``pdf`` each is a page.
        format_: ``svg``, ``png`` or ``pdf``.

    Raises:
        MlsubError: matplotlib is not installed, or the format has room for one picture, and there are several.
    """
    check_matplotlib()
    if len(pictures) > 1 and format_ != "pdf":
        there = ", ".join(f"{picture.reference.benchmark} v{picture.round.name}" for picture in pictures)
        raise MlsubError(
            f"there are {len(pictures)} pictures to draw ({there}). "
            f"Choose one with --benchmark and --round, or write them all into one .pdf."
        )
    import matplotlib
    from matplotlib.backends.backend_pdf import PdfPages

    stream = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font does not have; they show as boxes.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        if format_ == "pdf":
            with PdfPages(stream, metadata={"Creator": f"mlsub {VERSION}", "CreationDate": None}) as pages:
                for picture in pictures:
                    pages.savefig(_figure(picture))
        else:
            metadata = {"svg": {"Creator": f"mlsub {VERSION}", "Date": None}, "png": {"Software": f"mlsub {VERSION}"}}
            _figure(pictures[0]).savefig(stream, format=format_, metadata=metadata[format_])
    return stream.getvalue()


def _figure(picture: Picture) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, max(6.2, 3.2 + 0.34 * min(len(picture.entries), NAMED + 1))), dpi=150)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    _set_axes(axes, picture)
    _draw_reference(axes, picture.reference)
    _draw_entries(axes, picture)
    figure.legend(loc="outside right upper")
    title = f"{picture.reference.benchmark}, {picture.round.title}: convergence against the reference"
    axes.set_title(shorten(title, 90), loc="left", fontweight="bold")
    source = f"Reference points: {shorten(picture.reference.source, 60)}. mlsub {VERSION}."
    figure.supxlabel(source, x=0.01, ha="left", fontsize=7.5)
    return figure


def _set_axes(axes: Any, picture: Picture) -> None:
    """Set the ends and the titles of both axes: the reference, and entries and runs that are not too far off."""
    reference = picture.reference
    sizes = [point.batch_size for point in reference.points]
    near = [size for entry in picture.entries if min(sizes) / _FAR <= (size := _size(entry)) <= max(sizes) * _FAR]
    left, right, log = min(*near, *sizes, *sizes), max(*near, *sizes, *sizes), spans_a_decade([*near, *sizes])
    room = (right / left) ** 0.07 if log else 0.07 * (right - left) or 0.25 * right
    ends = (left / room, right * room) if log else (max(left - room, 0), right + room)
    axes.set(xscale="log" if log else "linear", xlim=ends)
    axes.set_xlabel(f"global batch size{' (logarithmic)' if log else ''}")
    axes.set_xticks(sizes, [f"{size:,.10g}".replace(",", " ") for size in sizes], rotation=45)
    axes.set_xticks([], minor=True)
    low = min(reference.allowed(point).minimum for point in reference.kept)
    low = min(low, *(point.mean - point.stdev for point in reference.points))
    high = max(point.mean + point.stdev for point in reference.points)
    height = max(high - low, 0.2 * high)
    values = [value for entry in picture.entries for value in (*entry.rcp.points, entry.rcp.mean) if value is not None]
    shown = [value for value in values if abs(value - (low + high) / 2) <= (0.5 + _WIDER) * height]
    low, high = min([low, high - height, *shown]), max([high, *shown])
    axes.set_ylim(low - 0.07 * (high - low), high + 0.07 * (high - low))
    axes.set_ylabel(f"{reference.unit} to converge")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.grid(axis="y")


def _draw_reference(axes: Any, reference: Reference) -> None:
    log, (left, _), (floor, _) = axes.get_xscale() == "log", axes.get_xlim(), axes.get_ylim()
    pruned = [point for point in reference.points if point not in reference.kept]
    for points, words, fill in ((reference.kept, "", "#4b535c"), (pruned, " that the checker prunes", "white")):
        if points:
            x, y, stdevs = zip(*((point.batch_size, point.mean, point.stdev) for point in points), strict=True)
            label = f"reference points{words or ': mean ± standard deviation'}"
            bars = axes.errorbar(x, y, stdevs, fmt="o", color="#4b535c", mfc=fill, capsize=4, zorder=5, label=label)
            bars.lines[0].set_gid(f"reference-{'pruned' if words else 'kept'}")
    for points, words, look in ((reference.kept, "official curve", "-"), (reference.hull, "hull of the rules", "--")):
        if len(points) > 1 if look == "-" else points != reference.kept:
            x, y = zip(*mean_line(points, log=log), strict=True)
            axes.plot(x, y, look, color="#0072b2", zorder=3, label=words, gid=words.replace(" ", "-"))
    for at, piece in enumerate(limit_lines(reference, left, log=log)):
        x, y = zip(*piece, strict=True)
        named = "" if at else "acceptance limit: least olympic mean"
        axes.plot(x, y, color="#c84b00", linewidth=2.4, zorder=3, label=named, gid=f"limit-{at}")
        axes.fill_between(x, floor, y, color="#fbe6d8", label=None if at else "too fast: not accepted")
    x, y = zip(*((point.batch_size, reference.allowed(point).minimum) for point in reference.kept), strict=True)
    axes.plot(x, y, linestyle="", marker="_", markersize=19, color="#c84b00", zorder=4, gid="limits")


def _draw_entries(axes: Any, picture: Picture) -> None:
    """Draw the runs and the olympic mean of each entry; what lies beyond the axis is marked at its edge."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    many = len({entry.organisation for entry in picture.entries}) > 1
    for at, entry in enumerate(picture.entries, 1):
        reference, size, mean = picture.reference, _size(entry), entry.rcp.mean
        colour, shape, words = VERDICTS[verdict_of(entry, reference.benchmark, reference.runs)]
        inside = left <= size <= right
        runs = [min(max(point, low), high) for point in entry.rcp.points if point is not None] if inside else []
        axes.plot([size] * len(runs), runs, ".", color=colour, alpha=0.6, zorder=6, clip_on=False, gid=f"runs-{at}")
        name = shorten(f"{entry.organisation} / {entry.system}" if many else entry.system, 42)
        label = f"{at}  {name}: {words}\n{_figures(entry, reference)}{'' if inside else ', not drawn'}"
        if at > NAMED:
            label = f"and {len(picture.entries) - NAMED} more" if at == NAMED + 1 else ""
        place = ([size], [min(max(mean, low), high)]) if mean is not None and inside else ([], [])
        look = {"color": colour, "markeredgecolor": "white", "markersize": 9, "clip_on": False, "gid": f"mean-{at}"}
        axes.plot(*place, shape, zorder=7, label=label, **look)
        if place[0] and at <= NAMED:
            axes.annotate(str(at), (size, place[1][0]), (8, 0), textcoords="offset points", va="center", zorder=8)


def _size(entry: EntryResult) -> float:
    return float(entry.rcp.batch_size or 0)


def _figures(entry: EntryResult, reference: Reference) -> str:
    """Return the batch size, the mean and its distance from the limit in words."""
    mean, (point, _) = entry.rcp.mean, reference.held_against(_size(entry))
    words = f"batch {_size(entry):,.10g}: ".replace(",", " ")
    if mean is None:
        return f"{words}no olympic mean"
    limit = f", limit {100 * (mean / point.minimum - 1):+.2f} %" if point is not None and point.minimum else ""
    return f"{words}mean {number(mean)}{limit}"


def shorten(text: str, width: int) -> str:
    """Return a name as it is printed: no unprintable characters, the middle left out where it is too long."""
    text = plain(text[:400])
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
