"""The intervals of a run as context managers, which close what an exception leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mlsub.emit.errors import EmitError
from mlsub.emit.values import measure

if TYPE_CHECKING:
    from mlsub.emit.recorder import Recorder


class _Interval:
    """A start and an end with the same metadata."""

    name = ""

    def __init__(self, recorder: Recorder, progress: Mapping[str, Any]) -> None:
        self.recorder = recorder
        self._progress = progress

    def _metadata(self, end: str) -> dict[str, Any]:
        return self.recorder.units().metadata(f"{self.name}_{end}", self._progress)

    def __enter__(self) -> Self:
        self.recorder.record(f"{self.name}_start", None, self._metadata("start"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.recorder.record(f"{self.name}_stop", None, self._metadata("stop"))


class Epoch(_Interval):
    """One epoch."""

    name = "epoch"


class Block(_Interval):
    """The training between two evaluations, in epochs or in samples."""

    name = "block"

    def __init__(
        self, recorder: Recorder, epoch: int | None, epochs: int, samples: int | None, metadata: Mapping[str, Any]
    ) -> None:
        first = {} if epoch is None else {"first_epoch_num": epoch}
        super().__init__(recorder, {**first, "samples": samples, **metadata})
        self._count = {} if epoch is None else {"epoch_count": epochs}

    def _metadata(self, end: str) -> dict[str, Any]:
        count = self._count if end == "start" else {}
        return self.recorder.units().metadata(f"block_{end}", {**self._progress, **count})


class Evaluation(_Interval):
    """An evaluation; :meth:`result` logs what came of it."""

    name = "eval"

    def result(self, value: float | Mapping[str, float]) -> bool:
        """Log the quality, and say whether the target is reached: in every process what the writer knows.

        Args:
            value: a number; where a benchmark has several measures, all of them by name.

        Raises:
            DoomedRunError: the rules forbid the value for good.
            EmitError: it is not a number; or the benchmark wants several measures, and one was given, or the other way
                round.
        """
        refused: EmitError | None = None
        try:
            self._log(value)
        except EmitError as error:
            refused = error
        return self.recorder.settle(refused)

    def _log(self, value: float | Mapping[str, float]) -> None:
        target = self.recorder.units().target()
        if target is None or target.gathers is None:
            key = target.key if target is not None else "eval_accuracy"
            wanted = [reach.field for reach in target.reaches if reach.field] if target is not None else []
            if wanted and not isinstance(value, Mapping):
                raise EmitError(f"{key} has several measures: give a mapping of {', '.join(map(str, wanted))}")
            metadata = self.recorder.units().metadata(key, self._progress)
            if isinstance(value, Mapping):
                self.recorder.record(key, {name: self._measure(name, each) for name, each in value.items()}, metadata)
            else:
                self.recorder.record(key, self._measure(key, value), metadata)
            return
        gathers = target.gathers
        if not isinstance(value, Mapping):
            fields = ", ".join(str(reach.field) for reach in target.reaches)
            raise EmitError(f"the measures of one evaluation belong together: give a mapping of {fields}")
        metadata = self.recorder.units().metadata(gathers.key, self._progress)
        if gathers.by not in metadata:
            raise EmitError(f"{gathers.key} has to say {gathers.by}, by which its measures are put together")
        for name, each in value.items():
            self.recorder.record(gathers.key, self._measure(name, each), {**metadata, gathers.field: name})

    def _measure(self, name: str, value: Any) -> Any:
        """The number; of a process that does not write nobody asks for one."""
        return measure(name, value) if self.recorder.writes else value


class Init:
    """All that comes before the clock starts."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __enter__(self) -> Self:
        self.recorder.record("init_start", None, {})
        self.recorder.log_identity()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.recorder.agree(before_clock=True)
            self.recorder.record("init_stop", None, {})


class TimedRun:
    """The timed region. ``status`` is None until it ends, then ``success`` or ``aborted``."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.status: str | None = None
        self._started = False

    def __enter__(self) -> Self:
        self.recorder.agree()
        self.recorder.record("run_start", None, {})
        self._started = True
        return self

    def stop(self, status: str | None = None) -> None:
        """End the run.

        Args:
            status: ``success`` or ``aborted``; as a rule success where the target was reached.
        """
        if self.status is not None:
            return
        reached = self.recorder.reached()
        if status is None:
            status = "success" if reached else "aborted"
        elif status == "success" and not reached:
            self.recorder.warn("the run ends as success, and no evaluation has reached the quality target")
        self.recorder.agree()
        self.status = status
        self.recorder.record("run_stop", None, {"status": status})

    def abandon(self) -> None:
        """End a run that an exception broke off, without waiting for anybody, and without an exception of its own."""
        if self._started and self.status is None:
            self.status = "aborted"
            with suppress(EmitError):
                self.recorder.record("run_stop", None, {"status": "aborted"})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
        else:
            self.abandon()
