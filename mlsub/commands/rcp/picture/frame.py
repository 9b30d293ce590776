"""Where a picture begins and ends, and what its axes count in."""

from __future__ import annotations

import math

import msgspec

from mlsub.commands.rcp.picture.collect import Picture
from mlsub.commands.rcp.picture.curves import Line, limit_lines, mean_line, spans_a_decade

#: Batch sizes so many times smaller or larger than every reference point are not drawn.
_FAR = 16
#: Room beside the outermost batch sizes, and above and below the values.
_ROOM = 0.07
#: How far runs may widen the picture, in heights of the reference; what lies beyond is marked at the edge.
_WIDER = 0.6
_SCALES = ((1e9, "billion "), (1e6, "million "), (1e4, "thousand "))


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The axes of a picture and the lines in it.

    Batch sizes run from ``left`` to ``right``, on a logarithmic axis if ``log``; values from ``bottom`` to ``top``, in
    the benchmark's unit. ``factor`` and ``words`` say what the axis is labelled in: 1e6 and ``million ``.
    """

    left: float
    right: float
    log: bool
    bottom: float
    top: float
    factor: float
    words: str
    curve: Line
    hull: Line
    limits: tuple[Line, ...]

    def holds(self, batch_size: float) -> bool:
        """Whether a batch size is drawn."""
        return self.left <= batch_size <= self.right

    def within(self, value: float) -> float:
        """A value, or the edge of the picture that it lies beyond."""
        edge = 0.012 * (self.top - self.bottom)
        return min(max(value, self.bottom + edge), self.top - edge)

    def beyond(self, value: float) -> int:
        """1 for a value above the picture, -1 for one below, else 0."""
        return (value > self.top) - (value < self.bottom)


def frame_of(picture: Picture) -> Frame:
    """The frame of a picture: around the reference, and as far beyond as runs reasonably lie."""
    reference = picture.reference
    sizes = [point.batch_size for point in reference.points]
    near = [e.batch_size for e in picture.entries if min(sizes) / _FAR <= e.batch_size <= max(sizes) * _FAR]
    log = spans_a_decade([*sizes, *near])
    left, right = _sides(min([*sizes, *near]), max([*sizes, *near]), log=log)
    limits = limit_lines(reference, left, log=log)
    bottom, top = _heights(picture, limits)
    factor, words = next(((factor, words) for factor, words in _SCALES if top >= factor), (1.0, ""))
    differs = reference.hull != reference.kept
    return Frame(
        left=left,
        right=right,
        log=log,
        bottom=bottom,
        top=top,
        factor=1e3 if factor == 1e4 else factor,
        words=words,
        curve=mean_line(reference.kept, log=log),
        hull=mean_line(reference.hull, log=log) if differs else (),
        limits=limits,
    )


def _sides(low: float, high: float, *, log: bool) -> tuple[float, float]:
    if log:
        room = (high / low) ** _ROOM
        return low / room, high * room
    room = _ROOM * (high - low) or 0.25 * high
    return max(low - room, 0.0), high + room


def _heights(picture: Picture, limits: tuple[Line, ...]) -> tuple[float, float]:
    """The reference with its stdevs and limits; runs widen this by no more than a part of its height."""
    points = picture.reference.points
    least = [picture.reference.allowed(point).minimum for point in picture.reference.kept]
    low = min([p.mean - p.stdev for p in points] + least + [value for line in limits for _, value in line])
    high = max(p.mean + p.stdev for p in points)
    height = max(high - low, 0.2 * high)
    low, high = min(low, high - height), max(high, low + height)
    values = [value for entry in picture.entries for value in (*entry.points, entry.mean) if value is not None]
    low = min([low, *(value for value in values if value >= low - _WIDER * height)])
    high = max([high, *(value for value in values if value <= high + _WIDER * height)])
    room = _ROOM * (high - low)
    return max(low - room, min(low, 0.0)), high + room


def ticks(picture: Picture, frame: Frame, width: float) -> list[float]:
    """Batch sizes to name on the axis as far as there is room: of points that count, of entries, of pruned points.

    Args:
        picture: whose batch sizes.
        frame: its axes.
        width: length of the axis, in points.
    """
    reference = picture.reference
    wanted = dict.fromkeys(
        (
            *(point.batch_size for point in (reference.kept[0], reference.kept[-1], *reference.kept)),
            *(entry.batch_size for entry in picture.entries if frame.holds(entry.batch_size)),
            *(point.batch_size for point in reference.points),
        )
    )
    chosen: list[tuple[float, float, float]] = []
    for size in wanted:
        at, half = width * _along(size, frame), 3.0 * len(grouped(size)) + 3.0
        if all(abs(at - other) >= half + room for _, other, room in chosen):
            chosen.append((size, at, half))
    return sorted(size for size, _, _ in chosen)


def grouped(value: float) -> str:
    """A batch size with its thousands apart."""
    return f"{value:,.10g}".replace(",", " ")


def _along(size: float, frame: Frame) -> float:
    """How far along the axis a batch size lies, 0 to 1."""
    if frame.log:
        return math.log(size / frame.left) / math.log(frame.right / frame.left)
    return (size - frame.left) / (frame.right - frame.left)
