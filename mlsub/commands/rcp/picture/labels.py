"""Where labels go, so that they hide neither each other nor what they are about. Lengths are points (1/72 inch)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

#: Where a label is tried: directions as seen from its mark (right first), and distances from it.
_DIRECTIONS = (0, 180, 35, -35, 145, -145, 90, -90, 60, -60, 120, -120)
_DISTANCES = (9, 16, 25, 36, 50, 66)
#: What a point of distance costs, in square points of overlap.
_FAR = 1.2
_OUTSIDE = 1e6


class Box(msgspec.Struct, frozen=True):
    """A rectangle; ``weight`` is what hiding a square point of it costs."""

    left: float
    bottom: float
    right: float
    top: float
    weight: float = 1.0

    def overlap(self, other: Box) -> float:
        """The area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0


class Label(msgspec.Struct, frozen=True):
    """A label of some size and the place of its mark."""

    x: float
    y: float
    width: float
    height: float


def place(labels: Sequence[Label], obstacles: Sequence[Box], bounds: Box) -> list[Box]:
    """A place for each label: one after the other, where it hides least and is nearest to its mark.

    Args:
        labels: in the order in which they choose.
        obstacles: what had better not be hidden.
        bounds: what labels should stay within.
    """
    found: list[Box] = []
    for label in labels:
        near = [box for box in (*obstacles, *found) if _within_reach(box, label)]
        best = min(_candidates(label), key=partial(_cost, obstacles=near, bounds=bounds))
        found.append(msgspec.structs.replace(best[0], weight=20.0))
    return found


def _candidates(label: Label) -> Iterator[tuple[Box, float]]:
    for distance in _DISTANCES:
        for direction in _DIRECTIONS:
            across, up = math.cos(math.radians(direction)), math.sin(math.radians(direction))
            x = label.x + across * (distance + label.width / 2)
            y = label.y + up * (distance + label.height / 2)
            box = Box(x - label.width / 2, y - label.height / 2, x + label.width / 2, y + label.height / 2)
            yield box, distance


def _cost(candidate: tuple[Box, float], obstacles: Sequence[Box], bounds: Box) -> float:
    box, distance = candidate
    inside = box.overlap(bounds)
    outside = (box.right - box.left) * (box.top - box.bottom) - inside
    return sum(box.overlap(other) * other.weight for other in obstacles) + _FAR * distance + _OUTSIDE * (outside > 0.01)


def _within_reach(box: Box, label: Label) -> bool:
    reach = _DISTANCES[-1] + label.width + label.height
    return (
        box.left < label.x + reach
        and box.right > label.x - reach
        and box.bottom < label.y + reach
        and box.top > label.y - reach
    )
