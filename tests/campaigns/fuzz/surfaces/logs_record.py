"""Values that a training code hands to the recorder: each is read back from the log as it was, or refused."""

from __future__ import annotations

import random
import struct
import warnings
from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from mlsub.emit.errors import EmitError
from mlsub.emit.recorder import Recorder
from mlsub.emit.values import plain_value
from mlsub.log.event import Event, decode
from mlsub.log.reader import TOKEN, RecordCutter
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import deep, judge
from tests.campaigns.fuzz.loggrammar import chance
from tests.campaigns.fuzz.scratch import scratch
from tests.differential.oracle import prepared

_ROUND = "5.1"
_KEYS = ("seed", "opt_name", "global_batch_size", "eval_accuracy", "run_start", "run_stop", "custom", "")
_DEEPEST = 60
#: One input in so many is also read by the official parser.
_OFFICIAL = 20


class _Odd:
    """A value of a library that converts itself into something."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def item(self) -> Any:
        return self._value


def _in_pairs(text: str) -> str:
    """Text whose halves of surrogate pairs that stand side by side are one character, as JSON reads them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class _Bytes:
    """Bytes as values of Python: a letter says of which type, and what follows it is the content."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int = 1) -> bytes:
        part = self._data[self._at : self._at + size]
        self._at += size
        return part

    def number(self) -> int:
        return (self.take() or b"\0")[0]

    def text(self) -> str:
        kind, part = self.number() % 3, self.take(self.number() % 64)
        if kind == 0:
            return part.decode("utf-8", "replace")
        if kind == 1:
            return part.decode("latin-1")
        # Any character of the first plane, halves of surrogate pairs among them.
        return part[: len(part) // 2 * 2].decode("utf-16-le", "surrogatepass")

    def value(self, depth: int = 0) -> Any:
        """The next value."""
        if depth > _DEEPEST:
            return None
        match self.number() % 17:
            case 0:
                return None
            case 1:
                return bool(self.number() & 1)
            case 2:
                return int.from_bytes(self.take(self.number() % 9), "big", signed=True)
            case 3:
                return struct.unpack("<d", self.take(8).ljust(8, b"\0"))[0]
            case 4 | 5:
                return self.text()
            case 6:
                return [self.value(depth + 1) for _ in range(self.number() % 4)]
            case 7:
                return {self.text(): self.value(depth + 1) for _ in range(self.number() % 4)}
            case 8:
                return (self.value(depth + 1),)
            case 9:
                return 10 ** (self.number() * 20)
            case 10:
                return (float("nan"), float("inf"), float("-inf"), -0.0)[self.number() % 4]
            case 11:
                return self._oddity()
            case 12:
                return _Odd(self.value(depth + 1))
            case 13:
                around: list[Any] = [self.value(depth + 1)]
                return around if depth > 2 or self.number() & 3 else [around, around]
            case 14:
                key = self._oddity()
                return {key if isinstance(key, Hashable) else 0: self.value(depth + 1)}
            case 15:
                return self.text() + ":::MLLOG " + self.text()
            case _:
                return _in_pairs(self.text() * (self.number() + 1))

    def _oddity(self) -> Any:
        circle: list[Any] = []
        circle.append(circle)
        endless = _Odd(None)
        endless._value = endless
        odd = (b"bytes", {1, 2}, Decimal("0.1"), Fraction(1, 3), 1j, range(3), object, Path("x"), 1, 2.5, None, True)
        place = self.number() % (len(odd) + 2)
        return odd[place] if place < len(odd) else circle if self.number() & 1 else endless


def _read(data: bytes) -> None:
    calls, file = _Bytes(data), scratch("record") / "result_0.txt"
    file.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorder = _recorder(file)
        try:
            expected = []
            while calls.left and len(expected) < 50:
                expected += _logged(recorder, calls)
                if recorder._writer.file is not None and recorder._writer.file.lines != len(expected):
                    raise BrokenError("the number of lines is not that of the records")
            log = file.read_bytes() if expected else b""
        finally:
            recorder.close()
    _read_back(log, expected)
    judge(_ROUND, [log])
    if expected and chance(data, _OFFICIAL) == 0:
        _officially(file, len(expected))


def _recorder(file: Path) -> Recorder:
    return Recorder(
        file,
        round=_ROUND,
        benchmark="llama31_8b",
        division="closed",
        organisation="ACME",
        platform="rack1",
        status="onprem",
        strict="warn",
    )


def _logged(recorder: Recorder, calls: _Bytes) -> list[tuple[str, Any, dict[str, Any]]]:
    """Log the next record; what it has to be in the log, nothing where it was refused."""
    key = calls.text() if calls.number() % 8 == 0 else _KEYS[calls.number() % len(_KEYS)]
    value = calls.value()
    metadata = {calls.text(): calls.value() for _ in range(calls.number() % 3)}
    metadata = {name: one for name, one in metadata.items() if name not in ("self", "key", "value")}
    try:
        recorder.log(key, value, **metadata)
    except EmitError:
        return []
    return [(key, plain_value(value), plain_value(metadata))]


def _read_back(log: bytes, expected: list[tuple[str, Any, dict[str, Any]]]) -> None:
    """Each record is a line of its own, and reads as what was given."""
    lines = log.splitlines(keepends=True)
    cutter = RecordCutter()
    found = [one for batch in (cutter.feed(log), cutter.close()) for one in batch]
    if not len(lines) == len(found) == len(expected):
        raise BrokenError(f"{len(expected)} records are {len(lines)} lines, and read as {len(found)}")
    for (_, text, hidden, _), line, (key, value, metadata) in zip(found, lines, expected, strict=True):
        event = decode(1, text)
        if hidden or line != TOKEN + text + b"\n" or not isinstance(event, Event):
            raise BrokenError(f"the record of {key!r} with {value!r:.200} reads as {event}")
        own = {name: one for name, one in event.metadata.items() if name in metadata}
        if deep([event.key, event.value, own]) != deep([key, value, {name: metadata[name] for name in own}]):
            raise BrokenError(f"{key!r}, {value!r:.200}, {metadata!r:.200} reads as {event!r:.600}")
        given = {name for name, one in metadata.items() if one is not None}
        if missing := given - own.keys() - _COUNTERS:
            raise BrokenError(f"metadata {missing} of {key!r} is lost")


#: Words of the recorder's for what the round counts by.
_COUNTERS = {"epoch", "samples", "step"}


def _officially(file: Path, records: int) -> None:
    """The official parser reads as many records, and notes nothing."""
    from mlperf_logging.compliance_checker import mlp_parser

    with prepared(_ROUND):
        lines, errors = mlp_parser.parse_file(str(file), ruleset=f"{_ROUND}.0")
    if errors or len(lines) != records:
        raise BrokenError(f"the official parser reads {len(lines)} of {records} records: {errors[:1]}")


def _drawn(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((20, 100, 400)))


def _seeds() -> Iterator[bytes]:
    rng = random.Random("record")
    return (_drawn(rng) for _ in range(12))


HARNESSES = (
    Harness(
        "logs-record", "values that the recorder logs", _read, _seeds, (b":::MLLOG ", b"\0\0"), _drawn, longest=800
    ),
)
