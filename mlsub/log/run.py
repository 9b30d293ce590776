"""Fold the events of one log into the facts of one run."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.log.event import EXPECTED_TYPES, Event, RecordBatch, Seed, read_seed, step_of
from mlsub.log.events import EventTally, Handler
from mlsub.log.lengths import EvaluationLengths, LengthFold
from mlsub.log.reader import SCALE, LoggedSystem, SystemReader
from mlsub.log.reading import RcpReading, RcpReadingFold

#: Bounds that keep a run small on hostile input; published logs stay far below them.
MAX_EVALUATIONS = 10_000
MAX_HYPERPARAMETERS = 512
MAX_SEEDS = 20_000
MAX_METRIC = 64


class Evaluation(msgspec.Struct, frozen=True, array_like=True):
    """One ``eval_accuracy``, or ``eval_error`` of HPC: when (ms), where (line) and its value.

    How far the training had come is in ``epoch_num``, ``samples_count`` or ``step_num``; ``metric`` names the measure
    where a benchmark has several (Stable Diffusion: FID and CLIP).
    """

    line: int
    time_ms: float
    value: Any
    epoch_num: Any = None
    samples_count: Any = None
    step_num: Any = None
    metric: Any = None

    def event(self, key: str) -> Event:
        """Return the evaluation as the record it was."""
        named = ("epoch_num", "samples_count", "step_num", "metric")
        metadata = {name: value for name in named if (value := getattr(self, name)) is not None}
        return Event(line=self.line, time_ms=self.time_ms, key=key, value=self.value, metadata=metadata)


class Timeline(msgspec.Struct, frozen=True, array_like=True):
    """When things happened, in ms since the Unix epoch; None where the log does not say.

    The clock ran backwards ``steps`` times, first at ``step_line``, by ``worst_step`` ms at most.
    """

    first: float | None = None
    last: float | None = None
    init_start: float | None = None
    init_stop: float | None = None
    run_start: float | None = None
    run_stop: float | None = None
    blocks: int = 0
    epochs: int = 0
    events: int = 0
    steps: int = 0
    step_line: int = 0
    worst_step: float = 0.0


class PrivatePlaces(msgspec.Struct, frozen=True, array_like=True):
    """Private things of one kind in a file: the line of the first, and how many there are."""

    kind: str
    line: int
    count: int


class Run(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one log, as the official parser sees it.

    ``identity`` holds the ``submission_*`` values, ``hyperparameters`` the first value of every other key that marks
    no step of a run. ``status`` is the status of ``run_stop``: normally ``success`` or ``aborted``.
    ``seeds_left_out`` counts those that do not fit in ``seeds``.
    ``last_block`` is line and time (ms) of the last ``block_start`` before ``run_stop``; ``latest_ms`` the latest time
    of a record before the first ``run_stop``. ``reading`` is what the convergence checker reads of the log, which
    follows rules of its own, ``reading_by_samples`` what it reads of BERT where that is counted by samples. ``scale``
    has the ``number_of_nodes`` and ``accelerators_per_node`` that the official result summarizer takes: what was stated
    last when both had been. ``edges`` has the earliest and the latest time (ms) of ``run_start`` and ``run_stop``, and
    the line of the last record. ``system`` is what the log says of its system outside of its records. ``other_lines``
    counts the lines without a record; None where the log was not read to its end. ``private`` is what the log shows of
    persons, secrets and machines, where a review asks for that.
    """

    identity: dict[str, Any]
    hyperparameters: dict[str, Any]
    timeline: Timeline
    evaluations: tuple[Evaluation, ...]
    seeds: tuple[Seed, ...]
    status: Any
    status_line: int | None
    lines: dict[str, int]
    event_types: dict[str, tuple[str, int]]
    last_block: tuple[int, float] | None = None
    latest_ms: float | None = None
    seeds_left_out: int = 0
    reading: RcpReading = RcpReading()
    reading_by_samples: RcpReading = RcpReading()
    lengths: EvaluationLengths = EvaluationLengths()
    scale: tuple[Any, Any] = (None, None)
    edges: dict[str, tuple[float, float, int]] = {}
    system: LoggedSystem = LoggedSystem()
    other_lines: int | None = None
    private: tuple[PrivatePlaces, ...] = ()

    @property
    def duration_ms(self) -> float | None:
        """Time to train in ms, ``run_stop`` minus ``run_start``; None without both or where it is not finite."""
        start, stop = self.timeline.run_start, self.timeline.run_stop
        if start is None or stop is None or not math.isfinite(stop - start):
            return None
        return stop - start

    @property
    def minutes(self) -> float | None:
        """Time to train in minutes, unrounded."""
        duration = self.duration_ms
        return None if duration is None else duration / 60_000.0

    def stated(self, key: str) -> tuple[Any, int | None]:
        """Return what the log states of itself under a key, in a record or in ``:::SYSJSON``, and in which line."""
        if key in self.system.fields and key not in self.identity:
            return self.system.fields[key], self.system.line
        return self.identity.get(key), self.lines.get(key)

    @property
    def converged(self) -> bool:
        """Whether the log itself says that the run reached its target."""
        return bool(self.status == "success")


#: Keys that others compute with, kept whatever else a log states before them.
_ALWAYS_KEPT = frozenset(
    (
        *(f"submission_{name}" for name in ("org", "division", "benchmark", "platform", "status")),
        *("global_batch_size", "train_samples", "eval_samples", *SCALE),
    )
)


class RunFold:
    """Collects the facts of one run; :meth:`finish` gives it.

    Args:
        tally: what the reader counts.
        reading: what the convergence checker reads of the same log.
    """

    def __init__(self, tally: EventTally | None = None, reading: RcpReadingFold | None = None) -> None:
        self._tally = tally or EventTally()
        self._reading = reading
        #: Takes the bytes of the log, of whoever has them.
        self.system = SystemReader()
        self.identity: dict[str, Any] = {}
        self.hyperparameters: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.evaluations: list[Evaluation] = []
        self._seeds: list[Seed] = []
        self._seeds_left_out = 0
        self._unusable_seed = False
        self.status: Any = None
        self.status_line: int | None = None
        self.times: dict[str, float] = {}
        self.counts = {"block_start": 0, "epoch_start": 0}
        self.event_types: dict[str, tuple[str, int]] = {}
        self.scale: dict[str, Any] = dict.fromkeys(SCALE)
        #: The interval the official score uses (ms): the last of each up to where both are known.
        self.run_start: float | None = None
        self.run_stop: float | None = None
        self._edges: dict[str, tuple[float, float, int]] = {}
        self._lengths = LengthFold()
        self._latest: float | None = None
        self._block: Event | None = None
        self.last_block: Event | None = None
        #: Of the records under way, those whose key is a name that the convergence checker searches for.
        self._mentioned: list[Event] = []

    def handler(self, key: str | None) -> Handler | None:
        """Return what takes the events of a key: each where its type is known, of the others the first is kept."""
        if key is None:
            return None
        take = _HANDLERS.get(key)
        return self._state if take is None else MethodType(take, self)

    def take(self, records: RecordBatch) -> None:
        """Take records whose events have been taken, and have them read."""
        if self._reading is not None:
            self._reading.take(records, self._mentioned)
        self._mentioned.clear()

    def _type(self, event: Event) -> None:
        """Note an event type that contradicts the key; each key that has one comes here."""
        found, expected = event.event_type, EXPECTED_TYPES.get(event.key)
        if found != expected and found is not None and expected is not None:
            self.event_types.setdefault(event.key, (show(found).strip('"'), event.line))

    def _seed(self, event: Event) -> None:
        """Keep a seed, as the official seed checker reads it."""
        self._type(event)
        seed = read_seed(event)
        # The first that cannot be used decides of the log, so it is kept wherever it stands.
        first_unusable = seed.error is not None and not self._unusable_seed
        self._unusable_seed = self._unusable_seed or first_unusable
        if len(self._seeds) < MAX_SEEDS or first_unusable:
            self._seeds.append(seed)
        else:
            self._seeds_left_out += 1

    def _mentioned_state(self, event: Event) -> None:
        self._mentioned.append(event)
        self._typed_state(event)

    def _scale_state(self, event: Event) -> None:
        self._state(event)
        if None in self.scale.values():
            self.scale[event.key] = event.value

    def _typed_state(self, event: Event) -> None:
        self._type(event)
        self._state(event)

    def _state(self, event: Event) -> None:
        """An event whose key is a fact of the run, which the first states."""
        key = event.key
        if key not in self.lines and (len(self.lines) < MAX_HYPERPARAMETERS or key in _ALWAYS_KEPT):
            self.lines[key] = event.line
            if key.startswith("submission_"):
                self.identity[key] = event.value
            elif step_of(key) == "hyperparameters":
                self.hyperparameters[key] = event.value

    def finish(self) -> Run:
        """Return the run so far; more events may follow."""
        tally, block = self._tally, self.last_block
        usual, by_samples = self._reading.finish() if self._reading is not None else (RcpReading(), RcpReading())
        timeline = Timeline(
            first=tally.first if tally.events else None,
            last=tally.last if tally.events else None,
            init_start=self.times.get("init_start"),
            init_stop=self.times.get("init_stop"),
            run_start=self.run_start,
            run_stop=self.run_stop,
            blocks=self.counts["block_start"],
            epochs=self.counts["epoch_start"],
            events=tally.events,
            steps=tally.steps,
            step_line=tally.step_line,
            worst_step=tally.worst_step,
        )
        return Run(
            identity=self.identity,
            hyperparameters=self.hyperparameters,
            timeline=timeline,
            evaluations=tuple(self.evaluations),
            seeds=tuple(self._seeds),
            status=self.status,
            status_line=self.status_line,
            lines=self.lines,
            event_types=self.event_types,
            last_block=(block.line, block.time_ms) if block is not None else None,
            latest_ms=self._latest,
            seeds_left_out=self._seeds_left_out,
            reading=usual,
            reading_by_samples=by_samples,
            lengths=self._lengths.finish(),
            scale=(self.scale[SCALE[0]], self.scale[SCALE[1]]),
            edges=self._edges,
            system=self.system.finish(),
            other_lines=tally.others,
        )

    def _run_edge(self, event: Event) -> None:
        self._type(event)
        if self.run_start is None or self.run_stop is None:
            if event.key == "run_start":
                self.run_start = event.time_ms
            else:
                self.run_stop = event.time_ms
        earliest, latest, _ = self._edges.get(event.key, (event.time_ms, event.time_ms, 0))
        self._edges[event.key] = (min(earliest, event.time_ms), max(latest, event.time_ms), event.line)
        self.lines.setdefault(event.key, event.line)
        if event.key == "run_stop":
            self._mentioned.append(event)
            if self.status_line is None:
                self._latest = self._tally.latest
            self.status = event.metadata.get("status") if isinstance(event.metadata, dict) else None
            self.status_line = event.line
            self.last_block = self._block

    def _time(self, event: Event) -> None:
        self._type(event)
        self.times.setdefault(event.key, event.time_ms)
        self.lines.setdefault(event.key, event.line)

    def _count(self, event: Event) -> None:
        self._type(event)
        self.counts[event.key] += 1
        if event.key == "block_start":
            self._block = event

    def _eval_start(self, event: Event) -> None:
        self._type(event)
        if self.run_start is not None and self.run_stop is None:
            self._lengths.start(event)

    def _eval_stop(self, event: Event) -> None:
        self._type(event)
        self._lengths.stop(event)

    def _evaluation(self, event: Event) -> None:
        self._mentioned.append(event)
        self._type(event)
        self._lengths.accuracy(event)
        if len(self.evaluations) < MAX_EVALUATIONS:
            metadata = event.metadata if isinstance(event.metadata, dict) else {}
            metric = metadata.get("metric")
            self.evaluations.append(
                Evaluation(
                    event.line,
                    event.time_ms,
                    event.value,
                    metadata.get("epoch_num"),
                    metadata.get("samples_count"),
                    metadata.get("step_num"),
                    metric[:MAX_METRIC] if isinstance(metric, str) else None,
                )
            )


#: What takes the events of keys whose type is known; not bound to a fold, which would then hold on to itself.
_HANDLERS: dict[str, Callable[[RunFold, Event], None]] = {
    **dict.fromkeys(EXPECTED_TYPES, RunFold._type),
    **dict.fromkeys(("submission_benchmark", "global_batch_size", "train_samples"), RunFold._mentioned_state),
    **dict.fromkeys(("eval_samples", "cache_clear"), RunFold._typed_state),
    **dict.fromkeys(SCALE, RunFold._scale_state),
    **dict.fromkeys(("run_start", "run_stop"), RunFold._run_edge),
    **dict.fromkeys(("init_start", "init_stop"), RunFold._time),
    **dict.fromkeys(("eval_accuracy", "eval_error"), RunFold._evaluation),
    **dict.fromkeys(("block_start", "epoch_start"), RunFold._count),
    "eval_start": RunFold._eval_start,
    "eval_stop": RunFold._eval_stop,
    "seed": RunFold._seed,
}
