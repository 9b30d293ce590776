"""What is wrong with an input."""

from __future__ import annotations

import re
import signal
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

_ROOT = Path(__file__).parents[3]
_MLSUB, _FUZZ = f"{_ROOT}/mlsub/", f"{_ROOT}/tests/"
_MOST_TEXT = 6_000
#: One line of what faulthandler writes.
_FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)
#: Kinds for which the place differs from run to run, so that a harness has one finding of each at a time.
TIME, MEMORY = "Timeout", "MemoryGrowth"


class Failure(msgspec.Struct, frozen=True):
    """How an input fails.

    Attributes:
        kind: the class of the exception, the name of the signal, ``Timeout`` or ``MemoryGrowth``.
        place: the innermost frame in mlsub, else in the harness.
        text: the end of the traceback, or a sentence.
    """

    kind: str
    place: str
    text: str

    @property
    def signature(self) -> str:
        """By which a defect is known again."""
        return f"{self.kind} in {self.place}"

    def is_like(self, other: Failure | None) -> bool:
        """Whether two failures come from one defect, as far as one can know."""
        if other is None or self.kind != other.kind:
            return False
        return self.kind in (TIME, MEMORY) or self.place == other.place


class Finding(msgspec.Struct, frozen=True):
    """A failure with the smallest input known for it; ``number`` is that of the input in the search, by ``seed``."""

    failure: Failure
    data: bytes
    number: int
    seed: str
    minimised: bool = False


def of_exception(error: BaseException) -> Failure:
    """What an exception that left the harness says."""
    frames = [
        (frame.f_code.co_filename, line, frame.f_code.co_qualname)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    text = "".join(traceback.format_exception(error))
    if isinstance(error, RecursionError):
        return Failure("RecursionError", _commonest([(file, name) for file, _, name in frames]), _shortened(text))
    return Failure(type(error).__name__, _innermost(frames), _shortened(text))


def of_signal(number: int, stack: str) -> Failure:
    """What the death of a process says; ``stack`` is what faulthandler has written, innermost frame first."""
    frames = [(found["file"], 0, found["name"]) for found in _FRAME.finditer(stack)]
    name = signal.Signals(number).name
    return Failure(name, _innermost(frames[::-1]), f"ended by {name}\n{_shortened(stack)}")


def of_time(sentence: str, stack: str) -> Failure:
    """What a process says that did not end in time."""
    frames = [(found["file"], 0, found["name"]) for found in _FRAME.finditer(stack)]
    return Failure(TIME, _innermost(frames[::-1]), f"{sentence}\n{_shortened(stack)}")


def _innermost(frames: Sequence[tuple[str, int, str]]) -> str:
    """The last frame in mlsub, else in the tests, as ``mlsub/log/reader.py:12 (feed)``."""
    for below in (_MLSUB, _FUZZ):
        for file, line, name in reversed(frames):
            if file.startswith(below):
                return f"{_place(file)}:{line} ({name})" if line else f"{_place(file)} ({name})"
    return "an unknown place"


def _commonest(frames: Sequence[tuple[str, str]]) -> str:
    """The function of mlsub that is most often in a deep stack, where the innermost one is chance."""
    counted = Counter(frame for frame in frames if frame[0].startswith(_MLSUB)) or Counter(frames)
    file, name = counted.most_common(1)[0][0]
    return f"{_place(file)} ({name})"


def _place(file: str) -> str:
    return file.removeprefix(f"{_ROOT}/")


def _shortened(text: str) -> str:
    half = _MOST_TEXT // 2
    return text if len(text) <= _MOST_TEXT else f"{text[:half]}\n...\n{text[-half:]}"
