"""Fold the events of one log into the facts of one run."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.log.event import Event, Records
from mlsub.log.events import Handler, Tally
from mlsub.log.parts import EvaluationLengths, LengthFold, Seed, SeedFold, TimedRegion
from mlsub.log.reading import Reading, ReadingFold

#: Bounds that keep a run small on hostile input; published logs stay far below them.
MAX_EVALUATIONS = 10_000
MAX_HYPERPARAMETERS = 512
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
        """The evaluation as the record it was."""
        named = ("epoch_num", "samples_count", "step_num", "metric")
        metadata = {name: value for name in named if (value := getattr(self, name)) is not None}
        return Event(line=self.line, time_ms=self.time_ms, key=key, value=self.value, metadata=metadata)


class Timeline(msgspec.Struct, frozen=True, array_like=True):
    """When things happened, in ms since the Unix epoch; None where the log does not say."""

    first: float | None = None
    last: float | None = None
    init_start: float | None = None
    init_stop: float | None = None
    run_start: float | None = None
    run_stop: float | None = None
    blocks: int = 0
    epochs: int = 0
    events: int = 0


class ClockStep(msgspec.Struct, frozen=True, array_like=True):
    """How often the clock of a log runs backwards, where first, and by how many ms at worst."""

    count: int
    first_line: int
    worst_ms: float


class Run(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one log, as the official parser sees it.

    ``identity`` holds the ``submission_*`` values, ``hyperparameters`` the first value of every other key that is
    neither timeline nor result. ``status`` is the status of ``run_stop``: normally ``success`` or ``aborted``.
    ``seeds_left_out`` counts those that do not fit in ``seeds``.
    ``last_block`` is line and time (ms) of the last ``block_start`` before ``run_stop``; ``latest_ms`` the latest time
    of a record before the first ``run_stop``. ``reading`` is what the convergence checker reads of the log, which
    follows rules of its own. ``scale`` has the ``number_of_nodes`` and ``accelerators_per_node`` that the official
    result summarizer takes: what was stated last when both had been.
    """

    identity: dict[str, Any]
    hyperparameters: dict[str, Any]
    timeline: Timeline
    evaluations: tuple[Evaluation, ...]
    seeds: tuple[Seed, ...]
    status: Any
    status_line: int | None
    lines: dict[str, int]
    clock: ClockStep | None
    event_types: dict[str, tuple[str, int]]
    last_block: tuple[int, float] | None = None
    latest_ms: float | None = None
    seeds_left_out: int = 0
    reading: Reading = Reading()
    lengths: EvaluationLengths = EvaluationLengths()
    scale: tuple[Any, Any] = (None, None)

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

    @property
    def converged(self) -> bool:
        """Whether the log itself says that the run reached its target."""
        return bool(self.status == "success")


_START, _END, _POINT = "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"
_EXPECTED_TYPE = {
    **{f"{name}_start": _START for name in ("init", "run", "block", "epoch", "eval", "staging")},
    **{f"{name}_stop": _END for name in ("init", "run", "block", "epoch", "eval", "staging")},
    **dict.fromkeys(
        (
            "eval_accuracy",
            "eval_error",
            "seed",
            "cache_clear",
            "global_batch_size",
            "train_samples",
            "eval_samples",
            "weights_initialization",
        ),
        _POINT,
    ),
}

_SCALE = ("number_of_nodes", "accelerators_per_node")
#: Keys that others compute with, kept whatever else a log states before them.
_ALWAYS_KEPT = frozenset(
    (
        *(f"submission_{name}" for name in ("org", "division", "benchmark", "platform", "status")),
        *("global_batch_size", "train_samples", "eval_samples", *_SCALE),
    )
)


def expected_event_type(key: str) -> str | None:
    """The event type a key stands for, by the names of the official logger; None where either would do."""
    return _EXPECTED_TYPE.get(key)


class RunFold:
    """Collects the facts of one run; :meth:`finish` gives it.

    Args:
        tally: what the reader counts.
        reading: what the convergence checker reads of the same log.
    """

    def __init__(self, tally: Tally | None = None, reading: ReadingFold | None = None) -> None:
        self._tally = tally or Tally()
        self._reading = reading
        self.identity: dict[str, Any] = {}
        self.hyperparameters: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.evaluations: list[Evaluation] = []
        self._seeds = SeedFold()
        self.status: Any = None
        self.status_line: int | None = None
        self.times: dict[str, float] = {}
        self.counts = {"block_start": 0, "epoch_start": 0}
        self.event_types: dict[str, tuple[str, int]] = {}
        self.scale: dict[str, Any] = dict.fromkeys(_SCALE)
        self.timed = TimedRegion()
        self._lengths = LengthFold(self.timed)
        self._latest: float | None = None
        self._block: Event | None = None
        self.last_block: Event | None = None
        #: What the reading asks for of the records under way.
        self._named: list[Event] = []

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key: each where its type is known, of the others the first is kept."""
        if key is None:
            return None
        take = _HANDLERS.get(key)
        return self._state if take is None else MethodType(take, self)

    def take(self, records: Records) -> None:
        """Take records whose events have been taken, and have them read."""
        if self._reading is not None:
            self._reading.take(records, self._named)
        self._named.clear()

    def _type(self, event: Event) -> None:
        """Note an event type that contradicts the key; each key that has one comes here."""
        found, expected = event.event_type, _EXPECTED_TYPE.get(event.key)
        if found != expected and found is not None and expected is not None:
            self.event_types.setdefault(event.key, (show(found).strip('"'), event.line))

    def _point(self, event: Event) -> None:
        if event.event_type != _POINT:
            self._type(event)

    def _end(self, event: Event) -> None:
        if event.event_type != _END:
            self._type(event)

    def _seed(self, event: Event) -> None:
        self._type(event)
        self._seeds.take(event)

    def _named_state(self, event: Event) -> None:
        self._named.append(event)
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
            target = self.identity if key.startswith("submission_") else self.hyperparameters
            target[key] = event.value

    def finish(self) -> Run:
        """The run so far; more events may follow."""
        tally, block = self._tally, self.last_block
        timeline = Timeline(
            first=tally.first if tally.events else None,
            last=tally.last if tally.events else None,
            init_start=self.times.get("init_start"),
            init_stop=self.times.get("init_stop"),
            run_start=self.timed.start,
            run_stop=self.timed.stop,
            blocks=self.counts["block_start"],
            epochs=self.counts["epoch_start"],
            events=tally.events,
        )
        return Run(
            identity=self.identity,
            hyperparameters=self.hyperparameters,
            timeline=timeline,
            evaluations=tuple(self.evaluations),
            seeds=tuple(self._seeds.kept),
            status=self.status,
            status_line=self.status_line,
            lines=self.lines,
            clock=ClockStep(tally.steps, tally.step_line, tally.worst_step) if tally.steps else None,
            event_types=self.event_types,
            last_block=(block.line, block.time_ms) if block is not None else None,
            latest_ms=self._latest,
            seeds_left_out=self._seeds.left_out,
            reading=self._reading.finish() if self._reading is not None else Reading(),
            lengths=self._lengths.finish(),
            scale=(self.scale[_SCALE[0]], self.scale[_SCALE[1]]),
        )

    def _run_edge(self, event: Event) -> None:
        self._type(event)
        self.timed.edge(event)
        self.lines.setdefault(event.key, event.line)
        if event.key == "run_stop":
            self._named.append(event)
            if self.status_line is None:
                self._latest = self._tally.latest
            self.status = _get(event.metadata, "status")
            self.status_line = event.line
            self.last_block = self._block

    def _time(self, event: Event) -> None:
        self._type(event)
        self.times.setdefault(event.key, event.time_ms)
        self.lines.setdefault(event.key, event.line)

    def _block_start(self, event: Event) -> None:
        if event.event_type != _START:
            self._type(event)
        self.counts["block_start"] += 1
        self._block = event

    def _epoch_start(self, event: Event) -> None:
        if event.event_type != _START:
            self._type(event)
        self.counts["epoch_start"] += 1

    def _eval_start(self, event: Event) -> None:
        if event.event_type != _START:
            self._type(event)
        self._lengths.start(event)

    def _eval_stop(self, event: Event) -> None:
        if event.event_type != _END:
            self._type(event)
        self._lengths.stop(event)

    def _evaluation(self, event: Event) -> None:
        self._named.append(event)
        if event.event_type != _POINT:
            self._type(event)
        if len(self.evaluations) < MAX_EVALUATIONS:
            of = event.metadata.get if isinstance(event.metadata, dict) else _nothing
            metric = of("metric")
            self.evaluations.append(
                Evaluation(
                    event.line,
                    event.time_ms,
                    event.value,
                    of("epoch_num"),
                    of("samples_count"),
                    of("step_num"),
                    metric[:MAX_METRIC] if isinstance(metric, str) else None,
                )
            )


#: What takes the events of keys whose type is known; not bound to a fold, which would then hold on to itself.
_HANDLERS: dict[str, Callable[[RunFold, Event], None]] = {
    "submission_benchmark": RunFold._named_state,
    "global_batch_size": RunFold._named_state,
    "train_samples": RunFold._named_state,
    "eval_samples": RunFold._typed_state,
    **dict.fromkeys(_SCALE, RunFold._scale_state),
    "cache_clear": RunFold._typed_state,
    "weights_initialization": RunFold._point,
    "run_start": RunFold._run_edge,
    "run_stop": RunFold._run_edge,
    "init_start": RunFold._time,
    "init_stop": RunFold._time,
    "eval_accuracy": RunFold._evaluation,
    "eval_error": RunFold._evaluation,
    "eval_start": RunFold._eval_start,
    "eval_stop": RunFold._eval_stop,
    "seed": RunFold._seed,
    "block_start": RunFold._block_start,
    "block_stop": RunFold._end,
    "epoch_start": RunFold._epoch_start,
    "epoch_stop": RunFold._end,
    "staging_start": RunFold._type,
    "staging_stop": RunFold._end,
}


def _get(metadata: Any, name: str) -> Any:
    return metadata.get(name) if isinstance(metadata, dict) else None


def _nothing(_name: str) -> None:
    return None
