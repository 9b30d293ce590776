"""An order in which named things can be computed, and the circles that have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def in_order(needs: Mapping[str, Sequence[str]]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Names so that each comes after those it needs, and the circles; names that are not keys need nothing."""
    order: list[str] = []
    circles: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in needs:
        path: list[str] = [start] if start not in done else []
        while path:
            name = path[-1]
            ahead = next((other for other in needs[name] if other in needs and other not in done), None)
            if ahead is None:
                done.add(path.pop())
                order.append(name)
            elif ahead in path:
                circles.append(tuple(path[path.index(ahead) :]))
                done.update(path)
                path = []
            else:
                path.append(ahead)
    return order, circles
