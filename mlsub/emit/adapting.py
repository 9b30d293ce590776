"""What the callbacks of all frameworks have in common: how far a training has come, and what the log says of it.

No framework is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence import unit_of, unit_words
from mlsub.emit.errors import EmitError
from mlsub.emit.intervals import EvaluationInterval, Interval, RunInterval
from mlsub.emit.recorder import Recorder
from mlsub.emit.values import BLOCK_WORDS, NAMES, WORDS, check_samples
from mlsub.io import needs_extra
from mlsub.io.show import first_few

#: Hyperparameters by their keys in a log, or a function of the framework's trainer or model that makes them.
Hyperparameters = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
#: The metric that is the quality; for several measures their metrics by name; or a function of all metrics.
Quality = str | Mapping[str, str] | Callable[[Mapping[str, Any]], Any]
_MOST_NAMES = 20


class Position(NamedTuple):
    """How far a training has come: epochs (a whole number at the end of one), samples seen, optimizer steps."""

    epoch: float
    samples: int
    step: int


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """The description of one training, from which a callback records it.

    Args:
        hyperparameters: by their keys in the log, or a function of the framework's object that makes them: Lightning's
            trainer, the Hugging Face training arguments, the Keras model.
        quality: the name of the metric as the framework logs it, such as ``val_accuracy``; where a benchmark has
            several measures, a mapping from measure to metric; or a function of all metrics.
        train_samples: of the training data set.
        evaluation_samples: of the data set that is evaluated.
        batch_size: samples of one optimizer step in all processes together.
        seed: of the run; None to draw one.
        done: whether a quality is good enough to stop; by default it is where the target of the rules is reached.
        progress: makes the metadata of a position, where the rules' own words will not do.

    Raises:
        EmitError: a number of samples is not a whole number above 0.
    """

    hyperparameters: Hyperparameters
    quality: Quality
    train_samples: int
    evaluation_samples: int
    batch_size: int
    seed: int | None = None
    done: Callable[[Any], bool] | None = None
    progress: Callable[[Position], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        for name in ("train_samples", "evaluation_samples", "batch_size"):
            msgspec.structs.force_setattr(self, name, check_samples(name, getattr(self, name)))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that make up the quality; none are known where a function finds it."""
        if isinstance(self.quality, Mapping):
            return tuple(self.quality.values())
        return (self.quality,) if isinstance(self.quality, str) else ()

    def quality_of(self, found: Mapping[str, Any]) -> Any:
        """The quality among the metrics of an evaluation: a number, or the measures by name.

        Raises:
            EmitError: it is not among them.
        """
        if not isinstance(self.quality, (str, Mapping)):
            return self.quality(found)
        lacking = [name for name in self.metrics if name not in found]
        if lacking:
            raise _no_metric(lacking[:1], found)
        if isinstance(self.quality, str):
            return found[self.quality]
        return {measure: found[name] for measure, name in self.quality.items()}


def _no_metric(wanted: Iterable[str], found: Iterable[Any]) -> EmitError:
    """The error for an evaluation that lacks a metric, with those that it has."""
    every = sorted(set(map(str, found)))
    shown = first_few(every, _MOST_NAMES) or "none"
    return EmitError(f"no metric is called {' or '.join(map(repr, wanted))}; the evaluation has {shown}")


class ProgressCounter:
    """Counts samples and epochs, of which frameworks know only their own batches.

    Args:
        train_samples: of the training data set.
        batch_size: samples of one optimizer step in all processes together.
    """

    def __init__(self, train_samples: int, batch_size: int) -> None:
        self.train_samples, self.batch_size = train_samples, batch_size
        self.begin(0, 0)

    def begin(self, epochs: int, step: int) -> None:
        """Start where a training that is taken up again stands."""
        self._epochs, self._before, self._within = epochs, float(epochs * self.train_samples), 0.0
        self._step = step

    def advance(self, samples: float, step: int) -> None:
        """Some samples more; ``step`` is the number of optimizer steps so far."""
        self._within += samples
        self._step = step

    def end_epoch(self) -> None:
        """An epoch is over. Said twice, it counts once."""
        if self._within:
            self._before += self._in_epoch()
            self._epochs += 1
            self._within = 0.0

    def _in_epoch(self) -> float:
        """Samples of this epoch: its last batch may be a short one, or filled up with samples seen before."""
        over = self._within - self.train_samples
        return float(self.train_samples) if 0 < over < self.batch_size else self._within

    def position(self) -> Position:
        """Where the training stands now."""
        part = self._in_epoch() / self.train_samples
        epoch = self._epochs + part
        return Position(
            int(epoch) if epoch == int(epoch) else round(epoch, 6), round(self._before + self._in_epoch()), self._step
        )


class PositionMetadata:
    """Makes the metadata in which round and benchmark want the position of an interval.

    Several benchmarks count samples or steps under the name of ``epoch_num``; what a number means there is what the
    reference points of the benchmark count.

    Raises:
        EmitError: the benchmark counts what an adapter cannot know (tokens), and no ``progress`` was given.
    """

    def __init__(self, recorder: Recorder, progress: Callable[[Position], Mapping[str, Any]] | None = None) -> None:
        self._recorder, self._progress = recorder, progress
        self._unit = unit_words(recorder.benchmark, recorder.round)
        self._names = self._choose_names()
        if self._unit not in ("epochs", "samples", "steps") and progress is None:
            raise EmitError(
                f"{recorder.benchmark} counts {self._unit}, which no framework does: give progress=..., a function "
                "that makes the metadata of a position (epoch, samples, step)"
            )

    def evaluation_metadata(self, position: Position) -> dict[str, Any]:
        """The metadata of an evaluation."""
        if self._progress is not None:
            return dict(self._progress(position))
        counted = {"samples": position.samples, "steps": position.step}
        every: dict[str, Any] = {
            "epoch_num": counted.get(self._unit, position.epoch),
            "samples_count": position.samples,
            "step_num": position.step,
        }
        return {name: value for name, value in every.items() if name in self._names}

    def _choose_names(self) -> frozenset[str]:
        """The metadata that says the position of an evaluation: no more than is asked for."""
        units, gathers = self._recorder.units, self._recorder.units.gathers
        keys = ["eval_start", "eval_stop", units.quality_key]
        # Where a key leaves a choice, it is made as by the key that leaves none.
        groups = sorted((names for key in keys for names in units.demanded(key)), key=len)
        chosen = {gathers.by} if gathers else set()
        for names in groups:
            known = [name for name in names if name in NAMES.values()]
            if known and not chosen.intersection(known):
                preferred = unit_of(self._recorder.benchmark)
                chosen.add(preferred if preferred in known else known[0])
        return frozenset(chosen or {"epoch_num"})

    def block_arguments(self, position: Position, epochs: float, train_samples: int) -> dict[str, Any]:
        """The arguments of :meth:`Recorder.block` for a block that begins at a position.

        Args:
            position: its beginning.
            epochs: how many the block has, or which part of one.
            train_samples: of the data set.
        """
        if self._progress is not None:
            found = {WORDS.get(name, name): value for name, value in self._progress(position).items()}
            return {BLOCK_WORDS.get(word, word): value for word, value in found.items()} | {"epochs": epochs}
        names = {name for group in self._recorder.units.demanded("block_start") for name in group} & self._names
        if "samples_count" in names:
            return {"samples_so_far": position.samples}
        if "step_num" in names:
            return {"steps_so_far": position.step}
        if self._unit == "samples":
            return {"first_epoch": position.samples, "epochs": max(1, round(epochs * train_samples))}
        return {"first_epoch": int(position.epoch) + 1, "epochs": epochs}


class Session:
    """One training, logged as the hooks of its framework are called.

    Making it starts the initialisation and logs what is known by then, so that a forbidden hyperparameter is refused
    before anything else is done.

    Args:
        recorder: open, and of this one training.
        training: its description.

    Raises:
        DoomedRunError: the rules forbid a hyperparameter, or another result has the seed.
        EmitError: an argument cannot be used.
    """

    def __init__(self, recorder: Recorder, training: Training) -> None:
        self.recorder, self._training = recorder, training
        self.progress = ProgressCounter(training.train_samples, training.batch_size)
        self.block_epochs: float = 1
        self._metadata = PositionMetadata(recorder, training.progress)
        self._part: Interval | None = None
        self._seen: list[str] = []
        self._met = False
        self._run: RunInterval | None = None
        # The hooks of a framework cannot stand in a with statement; what an exception leaves open the recorder closes.
        self._init = recorder.init()
        self._init.start()
        if not callable(training.hyperparameters):
            self._preflight(training.hyperparameters)
            recorder.hyperparameters(training.hyperparameters)
        recorder.samples(train=training.train_samples, evaluation=training.evaluation_samples)
        self.seed = recorder.fresh_seed() if training.seed is None else recorder.seed(training.seed)

    @property
    def running(self) -> bool:
        """Whether the clock runs."""
        return self._run is not None and self._run.status is None

    def start(self, made: Any) -> None:
        """End the initialisation and start the clock: the next line may touch the data.

        Args:
            made: what a function of hyperparameters is called with.

        Raises:
            DoomedRunError: something is missing that has to be logged before the clock starts.
            EmitError: a second training was started, or the processes do not agree.
        """
        if self._run is not None:
            raise EmitError("one recorder is one run, and a training is logged already: make a recorder for the next")
        self._check_processes()
        if callable(self._training.hyperparameters):
            # Other processes wait already, and a refusal has to reach them.
            with self.recorder.together():
                found = self._training.hyperparameters(made)
                self._preflight(found)
                self.recorder.hyperparameters(found)
        self._init.stop()
        run = self.recorder.run()
        run.start()
        self._run = run

    def _preflight(self, hyperparameters: Mapping[str, Any]) -> None:
        sizes = {"train": self._training.train_samples, "evaluation": self._training.evaluation_samples}
        self.recorder.preflight(hyperparameters, **sizes)

    def _check_processes(self) -> None:
        if self.recorder.writes and self.recorder.ranks.rank != 0:
            raise EmitError(
                f"process {self.recorder.ranks.rank} was forked from the one that opened the log: start each process "
                "of a training by itself (torchrun, mpirun, srun), and make the recorder in each"
            )
        if self.recorder.ranks.share(self.seed) != self.seed:
            raise EmitError(
                "the processes have seeds of their own: start the process group before the recorder, or give seed=..."
            )

    def open_block(self) -> None:
        """Training goes on: a block is open from here to the next evaluation."""
        if self.running and (self._part is None or isinstance(self._part, EvaluationInterval)):
            self._close_part()
            position, samples = self.progress.position(), self.progress.train_samples
            self._part = self.recorder.block(**self._metadata.block_arguments(position, self.block_epochs, samples))
            self._part.start()

    def begin_evaluation(self) -> None:
        """An evaluation begins."""
        if self.running and not isinstance(self._part, EvaluationInterval):
            self._end_part()
            self._part = self.recorder.evaluation(**self._metadata.evaluation_metadata(self.progress.position()))
            self._part.start()

    def take_metrics(self, metrics: Mapping[str, Any], *, last: bool = True) -> bool:
        """An evaluation has metrics.

        Args:
            metrics: all that the framework has.
            last: whether the quality has to be among them; else more may follow.

        Returns:
            Whether the training is done; then the clock is stopped.

        Raises:
            EmitError: the quality is not among them.
        """
        if not self.running:
            return self._met
        self.begin_evaluation()
        self._seen.extend(map(str, metrics))
        if not last and any(name not in metrics for name in self._training.metrics):
            return False
        value = self._training.quality_of(metrics)
        assert isinstance(self._part, EvaluationInterval)  # noqa: S101  (opened above)
        reached = self._part.result(value)
        if self._training.done is not None:
            reached = bool(self.recorder.ranks.share(bool(self._training.done(value))))
        self._end_part()
        if reached:
            self._met = True
            self.finish()
        return reached

    def finish(self) -> None:
        """The training is over: stop the clock, as success where it is done, else as aborted."""
        if self._run is not None and self.running:
            self._close_part()
            self._run.stop("success" if self._met else "aborted")

    def fail(self) -> None:
        """An exception ended the training: the run is aborted, and no process is waited for."""
        if self._run is not None:
            self._run.abandon()

    def _close_part(self) -> None:
        """Close a block, or an evaluation that came to nothing.

        Raises:
            EmitError: it had metrics, and the quality was not among them.
        """
        if self._seen:
            raise _no_metric(self._training.metrics, self._seen)
        self._end_part()

    def _end_part(self) -> None:
        part, self._part, self._seen = self._part, None, []
        if part is not None:
            part.stop()


class Adapter:
    """What the callbacks of all frameworks inherit: a session, made from the recorder and the training."""

    def __init__(self, recorder: Recorder, training: Training) -> None:
        super().__init__()
        self._session = Session(recorder, training)

    @property
    def seed(self) -> int:
        """The seed of the run, as it is logged."""
        return self._session.seed


def not_installed(framework: str, extra: str) -> ImportError:
    """What to say where a framework is not installed."""
    return ImportError(needs_extra(f"{framework} is not installed.", extra))
