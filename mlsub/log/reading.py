"""What the official convergence (RCP) checker reads of one log.

That checker has a reader of its own, apart from the compliance checker's: it searches the text of each record for six
names and keeps what it found last. A record of another key that mentions a name therefore counts as well, and the order
of records matters. :class:`RcpReadingFold` follows it state by state, and notes where it ends in a traceback.

Source: the official rcp_checker, ``get_submission_epochs`` (to v2.1) and ``read_submission_file`` (from v3.0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from mlsub.io.data import loads
from mlsub.log.event import STRIPPED, Event, RecordBatch

SIZE, NAME, SAMPLES, STOP = b"global_batch_size", b"submission_benchmark", b"train_samples", b"run_stop"
ERROR, ACCURACY = b"eval_error", b"eval_accuracy"
NAMES = (SIZE, NAME, SAMPLES, STOP, ERROR, ACCURACY)
#: What a record mentions whose key is a name, and that mentions nothing besides.
MENTIONED_BY_KEY: dict[Any, frozenset[bytes]] = {name.decode(): frozenset([name]) for name in NAMES}
#: What is larger than any count of epochs or samples is cut to it; the largest reference counts 1.6e9.
LARGEST_COUNT = 1e15
#: Bounds that keep a reading small on hostile input; a log has one ``run_stop`` and tens of evaluated steps.
MAX_STOPS = 1_000
MAX_STEPS = 100_000
_MAX_TEXT = 200

_EVALUATIONS = ("eval_accuracy", "eval_error")
#: What the counters of a dialect take for an evaluation; of two the last one counts if the log has its kind.
_COUNTED = {
    "accuracy": (frozenset((ACCURACY,)),),
    "error_first": (frozenset((ACCURACY,)), frozenset((ERROR,))),
    "either": (frozenset((ERROR, ACCURACY)),),
}
_FAILURES = (KeyError, TypeError, ValueError, OverflowError, RecursionError)


def mentions_only(text: bytes, keys: Sequence[Any], names: Sequence[bytes]) -> bool:
    """Return whether no record mentions a name but those whose key it is, and these do but once.

    A key is in the text as it is, but for escapes. So it is enough to find each name no more often than it is a key.

    Args:
        text: that of many records.
        keys: the keys among theirs that are names.
        names: to search for.
    """
    return b"\\" not in text and all(_occurs(name, keys.count(name.decode()), text) for name in names)


def _occurs(name: bytes, times: int, text: bytes) -> bool:
    """Whether a text has a name so many times; searching from the end takes two thirds of the time of counting."""
    end = len(text)
    for _ in range(times):
        end = text.rfind(name, 0, end)
        if end < 0:
            return False
    return text.rfind(name, 0, end) < 0


class RcpDialect(msgspec.Struct, frozen=True):
    """How the checker of a round reads.

    ``evaluations`` are the records of ``eval_accuracy`` (``accuracy``), those of ``eval_error`` where the log has one
    and else of ``eval_accuracy`` (``error_first``), or both (``either``). A run stops at a record that mentions
    ``run_stop`` (``text``), or whose key it is as well (``key``). ``by_name``: the log's ``submission_benchmark``
    decides what is counted; else each ``run_stop`` adds a point, and a log without an evaluation goes on from the log
    before it. ``in_samples`` are the benchmarks counted by ``samples_count``, ``step`` the metadata that Stable
    Diffusion's measures are put together by.
    """

    evaluations: Literal["accuracy", "error_first", "either"] = "either"
    stop: Literal["text", "key"] = "key"
    by_name: bool = True
    in_samples: frozenset[str] = frozenset()
    step: str = "samples_count"


class Crash(msgspec.Struct, frozen=True, array_like=True):
    """A record at which an official tool ends in a traceback, with its last line."""

    line: int
    error: str


class Stop(msgspec.Struct, frozen=True, array_like=True):
    """What one ``run_stop`` says.

    ``point``: it says success, at ``value`` (``listed`` where the log has it in a list). ``failed``: it says something
    else. ``none``: it says success, and no evaluation came before it. ``unordered``: the value is a number without
    an order, NaN. ``unusable``: nothing can be computed from the value.
    """

    kind: Literal["point", "failed", "none", "unordered", "unusable"]
    line: int
    value: int | float = 0.0
    listed: bool = False


class RcpReading(msgspec.Struct, frozen=True, array_like=True):
    """What the checker reads of a log by one way of counting.

    ``sizes`` and ``names`` hold the last value mentioned, and are empty where there is none (to v2.1 the checker reads
    no name); ``size_line`` is where the size stands. ``last`` is the last evaluation, whatever came of it. ``crash`` is
    where the official reader stops; what follows was not read. ``overflow`` says what there was more of than is kept.
    """

    sizes: tuple[Any, ...] = ()
    size_line: int = 0
    names: tuple[Any, ...] = ()
    stops: tuple[Stop, ...] = ()
    last: Stop | None = None
    crash: Crash | None = None
    overflow: str | None = None


class RcpReadingFold:
    """Collects the records of a log in file order; :meth:`finish` gives the reading.

    Where nothing but keys mentions a name, records of other keys cost no more than a search of their text.
    """

    def __init__(self, dialect: RcpDialect) -> None:
        self._dialect = dialect
        self._error_seen = False
        self._usual = [_Counter(dialect, names) for names in _COUNTED[dialect.evaluations]]
        #: None once it can read nothing else than the usual one: the log is of another benchmark than BERT.
        self._by_samples: _Counter | None = _Counter(dialect, _COUNTED["either"][0], samples=True)
        self._counters = [*self._usual, self._by_samples]

    def take(self, records: RecordBatch, named: Sequence[Event]) -> None:
        """Take the next records that the official reader sees.

        Args:
            records: the records.
            named: the events among them whose key is one of :data:`MENTIONED_BY_KEY`, with their lines.
        """
        keys = [event.key for event in named]
        names = _names_to_search(self._dialect, self._may_count_samples(records.joined, named), bool(records.defects))
        if not mentions_only(records.joined, keys, names):
            self._search(records)
            return
        self._error_seen = self._error_seen or "eval_error" in keys
        start = 0
        for place in [place for place, key in enumerate(keys) if key not in _EVALUATIONS]:
            self._evaluate(named[start:place])
            self._take(named[place].line, MENTIONED_BY_KEY[keys[place]], named[place])
            start = place + 1
        self._evaluate(named[start:])

    def _may_count_samples(self, text: bytes, named: Sequence[Event]) -> bool:
        """Whether ``train_samples`` may count in records; not where that names another benchmark before anything."""
        if self._by_samples is None or not self._dialect.by_name or self._by_samples.counted or self._usual[0].counted:
            return self._by_samples is not None
        first = next((event for event in named if event.key != "global_batch_size"), None)
        if first is None or first.key != "submission_benchmark" or first.value == "bert":
            return True
        return text.find(SAMPLES, 0, text.find(NAME)) >= 0

    def _evaluate(self, events: Sequence[Event]) -> None:
        """Take records in a row that mention nothing but an evaluation each."""
        if events:
            for counter in self._counters:
                counter.evaluate(events)

    def _search(self, records: RecordBatch) -> None:
        for line, text, event in zip(records.lines, records.texts, records.decoded, strict=True):
            names = frozenset([name for name in NAMES if name in text])
            if names:
                self._take(line, names, event if isinstance(event, Event) else _fields(text))

    def _take(self, line: int, names: frozenset[bytes], record: Any) -> None:
        self._error_seen = self._error_seen or ERROR in names
        for counter in self._counters:
            counter.take(line, names, record)
        if self._by_samples is not None and self._by_samples.same_as(self._usual[0]):
            self._by_samples = None
            self._counters.pop()

    def finish(self) -> tuple[RcpReading, RcpReading]:
        """Return the readings so far: by the evaluations, and by ``train_samples`` as BERT may ask for."""
        usual = self._usual[-1 if self._error_seen else 0].reading()
        return usual, usual if self._by_samples is None else self._by_samples.reading()


@lru_cache(maxsize=128)
def _names_to_search(dialect: RcpDialect, by_samples: bool, defects: bool) -> tuple[bytes, ...]:
    """The names that matter also where they are not a key.

    Args:
        dialect: how they are read.
        by_samples: whether ``train_samples`` may count.
        defects: whether there are records that cannot be decoded, at which the official reader ends.
    """
    matter = {
        SIZE: True,
        ACCURACY: True,
        NAME: dialect.by_name,
        SAMPLES: by_samples,
        STOP: defects or dialect.stop == "text",
        ERROR: dialect.by_name or dialect.evaluations != "accuracy",
    }
    return tuple(name for name, matters in matter.items() if matters)


def _fields(text: bytes) -> Any:
    """What a record holds that is no event, or the error of reading it."""
    try:
        return loads(text.rstrip(STRIPPED).decode("latin-1"))
    except _FAILURES as error:
        return error


def _field_of(record: Any, name: Literal["key", "value", "metadata"]) -> Any:
    """A part of an event or of :func:`_fields`; raises what the official reader would."""
    if isinstance(record, Event):
        return getattr(record, name)
    if isinstance(record, Exception):
        raise record
    return record[name]


def _are_numbers(events: Sequence[Event], unit: str) -> bool:
    """Whether the events have a number each for what of their metadata counts, so that no reader ends at them."""
    try:
        return {type(event.metadata[unit]) for event in events} <= {int, float}
    except (KeyError, TypeError):
        return False


class _Counter:
    """The official reader's variables, for one way of counting."""

    _sizes: tuple[Any, ...] = ()
    _size_line = 0
    _names: tuple[Any, ...] = ()
    _point: Stop | None = None
    _crash: Crash | None = None
    #: Whether the official reader has ended: from v3.0 also at a success without an evaluation.
    _ended = False
    _overflow: str | None = None

    def __init__(self, dialect: RcpDialect, evaluations: frozenset[bytes], *, samples: bool = False) -> None:
        self._dialect = dialect
        self.evaluations = evaluations
        self._samples = samples
        #: What of an evaluation's metadata counts; None where it is put together of several, "" where nothing does.
        self.unit: str | None = "" if samples else "epoch_num"
        self._stops: list[Stop] = []
        self._steps: dict[Any, dict[Any, Any]] = {}

    def reading(self) -> RcpReading:
        """Return what it has read so far."""
        return RcpReading(
            sizes=self._sizes,
            size_line=self._size_line,
            names=self._names,
            stops=tuple(self._stops),
            last=self._point,
            crash=self._crash,
            overflow=self._overflow,
        )

    @property
    def counted(self) -> bool:
        """Whether anything has counted yet."""
        return bool(self._point or self._stops or self._crash)

    def same_as(self, usual: _Counter) -> bool:
        """Return whether it counts as the usual one does from here on, and neither has counted anything yet."""
        return self._dialect.by_name and not (self._samples or self.counted or usual.counted)

    def take(self, line: int, names: frozenset[bytes], record: Any) -> None:
        """Take a record that mentions some names, and note where the official reader ends at it."""
        if self._ended:
            return
        try:
            self._read(line, names, record)
        except _FAILURES as error:
            self._crash = Crash(line, f"{type(error).__name__}: {error}"[:_MAX_TEXT])
            self._ended = True

    def evaluate(self, events: Sequence[Event]) -> None:
        """Take records in a row that mention nothing but an evaluation each."""
        unit = self.unit
        if self._ended or unit == "":
            return
        if len(self.evaluations) < len(_EVALUATIONS):
            events = [event for event in events if MENTIONED_BY_KEY[event.key] <= self.evaluations]
        if unit is not None and _are_numbers(events, unit):
            # Each takes the place of the one before.
            events = events[-1:]
        for event in events:
            self.take(event.line, MENTIONED_BY_KEY[event.key], event)

    def _read(self, line: int, names: frozenset[bytes], record: Any) -> None:
        unit = self.unit
        if SIZE in names:
            self._sizes, self._size_line = (_kept(_field_of(record, "value")),), line
        if self._dialect.by_name and NAME in names:
            self._names = (_kept(_field_of(record, "value")),)
            self._samples = self._samples and self._names == ("bert",)
            self.unit = unit = self._counted()
        evaluated = not names.isdisjoint(self.evaluations)
        if evaluated and unit is None:
            self._measure(record)
        elif evaluated and unit == "samples_count":
            self._point = _stop_at(line, _field_of(record, "metadata")["samples_count"])
            _field_of(record, "value")
        elif self._samples and SAMPLES in names:
            self._point = _stop_at(line, _field_of(record, "value"))
        elif evaluated and unit == "epoch_num":
            self._point = _stop_at(line, round(_field_of(record, "metadata")["epoch_num"], 3))
        if STOP in names and (self._dialect.stop == "text" or _field_of(record, "key") == "run_stop"):
            self._stop(line, record)

    def _counted(self) -> str | None:
        """What counts of an evaluation in a log of this name, where rounds go by names."""
        if self._names == ("stable_diffusion",):
            return None
        # Looked up in a set, as there, so that a list for a name ends the reader.
        if self._dialect.in_samples and self._names[0] in self._dialect.in_samples:
            return "samples_count"
        return "" if self._samples else "epoch_num"

    def _measure(self, record: Any) -> None:
        """One of Stable Diffusion's measures, which are logged one by one."""
        metadata = _field_of(record, "metadata")
        step, metric, score = metadata[self._dialect.step], metadata["metric"], _field_of(record, "value")
        hash((step, metric))
        if len(self._steps) >= MAX_STEPS and step not in self._steps:
            self._overflow = f"{MAX_STEPS} evaluated steps"
            return
        measures = self._steps.setdefault(step[:_MAX_TEXT] if isinstance(step, str) else step, {})
        if metric in ("FID", "CLIP"):
            measures[metric] = score if isinstance(score, (int, float)) else ""

    def _stop(self, line: int, record: Any) -> None:
        """The end of the run, by its own word; from v3.0 the last one counts, before each."""
        if _field_of(record, "metadata")["status"] == "success":
            if self.unit is None:
                # The checker has the measures in its code, whatever the rules of the round say.
                passing = [
                    step for step, score in self._steps.items() if score["FID"] <= 90.0 and score["CLIP"] >= 0.15
                ]
                self._point = _stop_at(line, min(passing)) if passing else None
            stop = self._point if self._point is not None else Stop("none", line)
        else:
            stop = Stop("failed", line)
        if self._dialect.by_name:
            self._stops.clear()
            self._ended = stop.kind == "none"
        if len(self._stops) < MAX_STOPS:
            self._stops.append(stop)
        else:
            self._overflow = f"{MAX_STOPS} records of run_stop"


def usable_number(value: Any) -> float | int | None:
    """Return a number that can be computed with; None for a truth value, and for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST_COUNT
    return value if number else None


def _kept(value: Any) -> Any:
    """A value to compare with that of other runs: a number, the beginning of a text, or of anything else its type."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (int, float)):
        return value
    return value[:_MAX_TEXT] if isinstance(value, str) else {"": type(value).__name__}


def _stop_at(line: int, value: Any) -> Stop:
    """The point that a value stands for. The official checker computes with true as 1, and leaves lists to numpy."""
    if (type(value) is float or type(value) is int) and -LARGEST_COUNT < value < LARGEST_COUNT:
        return Stop("point", line, value)
    listed = isinstance(value, list) and len(value) == 1
    number = value[0] if listed else value
    if not isinstance(number, (int, float)):
        return Stop("unusable", line)
    try:
        point = float(number)
    except OverflowError:
        return Stop("unusable", line)
    if math.isnan(point):
        return Stop("unordered", line)
    value = int(number) if isinstance(number, bool) else number
    if abs(point) >= LARGEST_COUNT:
        # Infinity and its opposite have no mean, which fails the test as one below zero does.
        value = min(LARGEST_COUNT, point) if point > 0 else max(-(LARGEST_COUNT**2), point)
    return Stop("point", line, value, listed)
