"""What an input reaches: the steps from line to line of mlsub that reading it takes.

A line is a number: that of its file among mlsub's, and its own in the lowest 16 bits. A step is the line before, times
2**25, plus the line. Both stay the same as long as the source does, which ``digest`` tells.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_MLSUB = Path(__file__).parents[3] / "mlsub"
_LINE_BITS, _STEP_BITS = 16, 25


@cache
def _files() -> dict[str, int]:
    return {str(file): number for number, file in enumerate(sorted(_MLSUB.rglob("*.py")), 1)}


@cache
def digest() -> str:
    """Of mlsub's source: what was reached in another one has other lines."""
    digest = hashlib.sha256()
    for name in _files():
        digest.update(name.encode() + b"\0" + Path(name).read_bytes())
    return digest.hexdigest()[:16]


def lines(steps: Collection[int]) -> set[int]:
    """The lines that are reached by steps."""
    return {step & (1 << _STEP_BITS) - 1 for step in steps}


def shown(line: int) -> str:
    """A line as people write it: ``mlsub/log/reader.py:12``."""
    file = list(_files())[(line >> _LINE_BITS) - 1]
    return f"{Path(file).relative_to(_MLSUB.parent)}:{line & (1 << _LINE_BITS) - 1}"


class Tracer:
    """Notes the steps while a function runs, at about ten times its cost."""

    def __init__(self) -> None:
        self._bases: dict[CodeType, int] = {}
        self._steps: set[int] = set()
        self._before = 0

    def steps(self, run: Callable[[bytes], object], data: bytes) -> frozenset[int]:
        """The steps that a run takes, whatever it raises."""
        self._steps, self._before = set(), 0
        sys.settrace(self._enter)
        try:
            run(data)
        except BaseException:  # noqa: S110  the same input was run without the tracer, which kept the finding
            pass
        finally:
            sys.settrace(None)
        return frozenset(self._steps)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        base = self._bases.get(code)
        if base is None:
            base = self._bases[code] = _files().get(code.co_filename, 0) << _LINE_BITS
        return self._line if base else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            line = self._bases[frame.f_code] | frame.f_lineno
            self._steps.add(self._before << _STEP_BITS | line)
            self._before = line
        return self._line
