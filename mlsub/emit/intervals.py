"""The intervals of a run as context managers, which close what an exception leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from mlsub.emit.errors import EmitError
from mlsub.emit.ranks import Ranks
from mlsub.emit.values import MetadataRules, check_measure
from mlsub.emit.writer import Writer, warn_caller


class Recording:
    """The log of one run and the processes that make it, as far as its intervals need them."""

    ranks: Ranks
    units: MetadataRules
    _writer: Writer
    _identity: dict[str, str]

    @property
    def writes(self) -> bool:
        """Whether this is the process that writes the log."""
        return self._writer.file is not None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Raise in every process what is refused in the one that writes: there the error, elsewhere its text."""
        refused: EmitError | None = None
        try:
            yield
        except EmitError as error:
            refused = error
        reason = self.ranks.share(None if refused is None else str(refused))
        if refused is not None:
            raise refused
        if reason is not None:
            raise EmitError(f"refused by the process that writes the log: {reason}")

    def log_identity(self) -> None:
        """Log what is submitted, by whom, on what."""
        for key, value in self._identity.items():
            self._writer.write(key, value, self.units.metadata(key, {}))

    def record(self, key: str, value: Any, metadata: Mapping[str, Any], at: int | None = None) -> None:
        """Write a record of the recorder's own intervals, of now or of another time (ms)."""
        self._writer.write(key, value, dict(metadata), at)

    def warn(self, message: str) -> None:
        """Warn the training code, in the process that writes."""
        if self.writes:
            warn_caller(message)

    def agree(self, *, before_clock: bool = False) -> None:
        """Wait for all processes, and refuse in all of them what the writer refuses."""
        with self.together():
            if before_clock and self.writes:
                self._writer.act_on(self._writer.before_clock())
        self.ranks.barrier()

    def reached(self) -> bool:
        """Whether the quality target is reached; in every process what the writer knows, where they can share it."""
        return bool(self.ranks.share(self._writer.reached()))


class Interval:
    """A part of a run, logged by its start and its end, which have the same metadata.

    A context manager; or by its methods, where a framework has hooks.

    Args:
        recorder: of the run.
        name: the beginning of both keys.
        progress: how far the training has come, and more metadata.
        count: what only the start says.
    """

    #: The time (ms) of its records; None for that of the call.
    _at: int | None = None

    def __init__(
        self, recorder: Recording, name: str, progress: Mapping[str, Any], count: Mapping[str, Any] | None = None
    ) -> None:
        self.recorder = recorder
        self._name, self._progress, self._count = name, progress, count or {}

    def start(self) -> None:
        """Log the start."""
        self._record("start", {**self._progress, **self._count})

    def stop(self) -> None:
        """Log the end."""
        self._record("stop", self._progress)

    def abandon(self) -> None:
        """An exception broke it off: by default no end is logged."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
        else:
            self.abandon()

    def _record(self, end: str, progress: Mapping[str, Any]) -> None:
        key = f"{self._name}_{end}"
        self.recorder.record(key, None, self.recorder.units.metadata(key, progress), self._at)


class EvaluationInterval(Interval):
    """An evaluation; :meth:`result` logs the quality that it found."""

    def __init__(self, recorder: Recording, progress: Mapping[str, Any], at: int | None = None) -> None:
        super().__init__(recorder, "eval", progress)
        self._at = at

    def result(self, value: float | Mapping[str, float]) -> bool:
        """Log the quality, and return whether the target is reached: in every process what the writer knows.

        Args:
            value: a number; where a benchmark has several measures, all of them by name.

        Raises:
            DoomedRunError: the rules forbid the value for good.
            EmitError: it is not a number; or the benchmark wants several measures, and one was given, or the other way
                round.
        """
        with self.recorder.together():
            self._log(value)
        return self.recorder.reached()

    def _log(self, value: float | Mapping[str, float]) -> None:
        units = self.recorder.units
        key, gathers = units.quality_key, units.gathers
        fields = [reach.field for reach in units.target.reaches if reach.field] if units.target is not None else []
        if isinstance(value, Mapping):
            found = {name: self._measure(name, each) for name, each in value.items()}
        elif fields or gathers is not None:
            raise EmitError(f"{key} has several measures, which belong together: give a mapping of {', '.join(fields)}")
        else:
            found = self._measure(key, value)
        metadata = units.metadata(key, self._progress)
        if gathers is None:
            self.recorder.record(key, found, metadata, self._at)
            return
        if gathers.by not in metadata:
            raise EmitError(f"{key} has to say {gathers.by}, by which its measures are put together")
        for name, each in found.items():
            self.recorder.record(key, each, {**metadata, gathers.field: name}, self._at)

    def _measure(self, name: str, value: Any) -> Any:
        """The number; a process that does not write need not have one."""
        return check_measure(name, value) if self.recorder.writes else value


class InitInterval(Interval):
    """All that comes before the clock starts."""

    def start(self) -> None:
        """Log the start, and what is submitted."""
        super().start()
        self.recorder.log_identity()

    def stop(self) -> None:
        """Log the end, unless something is missing that has to be logged before it."""
        self.recorder.agree(before_clock=True)
        super().stop()


class RunInterval(Interval):
    """The timed region. ``status`` is None until it ends, then ``success`` or ``aborted``."""

    status: str | None = None
    _started = False

    def start(self) -> None:
        """Start the clock."""
        self.recorder.agree()
        super().start()
        self._started = True

    def stop(self, status: str | None = None, *, time_ms: int | None = None) -> None:
        """End the run.

        Args:
            status: ``success`` or ``aborted``; by default success where the target was reached.
            time_ms: when the checkpoint that reached the target was written, for benchmarks that are evaluated after
                the run. Elsewhere it is refused.
        """
        if self.status is not None:
            return
        reached = self.recorder.reached()
        if status is None:
            status = "success" if reached else "aborted"
        elif status == "success" and not reached:
            self.recorder.warn("the run ends as success, and no evaluation has reached the quality target")
        self.recorder.agree()
        self.recorder.record("run_stop", None, {"status": status}, time_ms)
        self.status = status

    def abandon(self) -> None:
        """End a run that an exception broke off, without waiting for other processes or raising an exception."""
        if self._started and self.status is None:
            self.status = "aborted"
            with suppress(EmitError):
                self.recorder.record("run_stop", None, {"status": "aborted"})
