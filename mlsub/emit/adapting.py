"""What the adapters of all frameworks have in common: how far a training has come, and what the log is told of it.

No framework is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mlsub.convergence.algorithm import unit_of, unit_words
from mlsub.emit.errors import EmitError
from mlsub.emit.intervals import Block, Evaluation, TimedRun
from mlsub.emit.recorder import Recorder
from mlsub.emit.units import NAMES
from mlsub.emit.values import samples

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


class Course:
    """Counts samples and epochs, of which frameworks know only their own batches.

    Args:
        train_samples: of the training data set.
        batch_size: samples of one optimizer step in all processes together.
    """

    def __init__(self, train_samples: int, batch_size: int) -> None:
        self.train_samples, self.batch_size = train_samples, batch_size
        self._epochs = 0
        self._before = 0.0
        self._within = 0.0
        self._step = 0

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


class Language:
    """Says positions in the metadata that round and benchmark ask for.

    Several benchmarks count samples or steps under the name of ``epoch_num``; what a number means there is what the
    reference points of the benchmark count.

    Raises:
        EmitError: the benchmark counts what an adapter cannot know (tokens), and no ``progress`` was given.
    """

    def __init__(self, recorder: Recorder, progress: Callable[[Position], Mapping[str, Any]] | None = None) -> None:
        self._recorder, self._progress = recorder, progress
        self._words = unit_words(recorder.benchmark, recorder.round)
        self._named = self._names()
        if self._words not in ("epochs", "samples", "steps") and progress is None:
            raise EmitError(
                f"{recorder.benchmark} counts {self._words}, which no framework does: give progress=..., a function "
                "that makes the metadata of a position (epoch, samples, step)"
            )

    def _counted(self, position: Position) -> float:
        """What a benchmark's ``epoch_num`` holds at a position."""
        return {"samples": position.samples, "steps": position.step}.get(self._words, position.epoch)

    def of_evaluation(self, position: Position) -> dict[str, Any]:
        """The metadata of an evaluation."""
        if self._progress is not None:
            return dict(self._progress(position))
        said: dict[str, Any] = {
            "epoch_num": self._counted(position),
            "samples_count": position.samples,
            "step_num": position.step,
        }
        return {name: value for name, value in said.items() if name in self._named}

    def _names(self) -> frozenset[str]:
        """The metadata that says the position of an evaluation: no more than is asked for."""
        units = self._recorder.units()
        target = units.target()
        gathers = target.gathers if target is not None else None
        keys = ["eval_start", "eval_stop", gathers.key if gathers else target.key if target else "eval_accuracy"]
        # Where a key leaves a choice, it is made as by the key that leaves none.
        groups = sorted((names for key in keys for names in units.demanded(key)), key=len)
        chosen = {gathers.by} if gathers else set()
        for names in groups:
            known = [name for name in names if name in NAMES.values()]
            if known and not chosen.intersection(known):
                preferred = unit_of(self._recorder.benchmark)
                chosen.add(preferred if preferred in known else known[0])
        return frozenset(chosen or {"epoch_num"})

    def of_block(self, position: Position, epochs: float, train_samples: int) -> dict[str, Any]:
        """The arguments of :meth:`Recorder.block` for a block that begins at a position.

        Args:
            position: its beginning.
            epochs: how many the block has, or which part of one.
            train_samples: of the data set.
        """
        if self._progress is not None:
            said = dict(self._progress(position))
            words = {name: word for word, name in NAMES.items()}
            return {words.get(name, name): value for name, value in said.items()} | {"epochs": epochs}
        names = {name for group in self._recorder.units().demanded("block_start") for name in group}
        if "samples_count" in names and "samples_count" in self._named:
            return {"samples": position.samples}
        if "step_num" in names and "step_num" in self._named:
            return {"step": position.step}
        if self._words == "samples":
            return {"epoch": position.samples, "epochs": max(1, round(epochs * train_samples))}
        return {"epoch": int(position.epoch) + 1, "epochs": epochs}


class Session:
    """One training, logged as the hooks of its framework are called.

    Making it starts the initialisation and logs what is known by then, so that a forbidden hyperparameter is refused
    before anything else is done.

    Args:
        recorder: open, and of this one training.
        hyperparameters: by their keys in the log, or a function that makes them of the framework's object.
        quality: how to find the quality of an evaluation among the metrics.
        train_samples: of the training data set.
        evaluation_samples: of the data set that is evaluated.
        batch_size: samples of one optimizer step in all processes together.
        seed: of the run; None to draw one.
        done: whether a quality is good enough to stop; as a rule it is where the target of the rules is reached.
        progress: makes metadata of a position, where the rules' own words will not do.

    Raises:
        DoomedRunError: the rules forbid the run.
        EmitError: an argument cannot be used.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        hyperparameters: Hyperparameters,
        quality: Quality,
        train_samples: int,
        evaluation_samples: int,
        batch_size: int,
        seed: int | None = None,
        done: Callable[[Any], bool] | None = None,
        progress: Callable[[Position], Mapping[str, Any]] | None = None,
    ) -> None:
        train_samples, batch_size = samples("train_samples", train_samples), samples("batch_size", batch_size)
        evaluation_samples = samples("evaluation_samples", evaluation_samples)
        self.recorder, self.course = recorder, Course(train_samples, batch_size)
        self.block_epochs: float = 1
        self._language = Language(recorder, progress)
        self._hyperparameters, self._quality, self._done = hyperparameters, quality, done
        self._block: Block | None = None
        self._evaluation: Evaluation | None = None
        self._seen: list[str] = []
        self._met = self._over = False
        self._run: TimedRun | None = None
        # The hooks of a framework cannot stand in a with statement; what an exception leaves open the recorder closes.
        self._init = recorder.init().__enter__()
        if not callable(hyperparameters):
            recorder.hyperparameters(hyperparameters)
        recorder.samples(train=train_samples, evaluation=evaluation_samples)
        self.seed = recorder.fresh_seed() if seed is None else recorder.seed(seed)

    @property
    def running(self) -> bool:
        """Whether the clock runs."""
        return self._run is not None and not self._over

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
        if callable(self._hyperparameters):
            self._log_together(self._hyperparameters(made))
        self._init.__exit__(None, None, None)
        self._run = self.recorder.run().__enter__()

    def _log_together(self, hyperparameters: Mapping[str, Any]) -> None:
        """Log hyperparameters when other processes wait already: a refusal has to reach them."""
        error: EmitError | None = None
        try:
            self.recorder.hyperparameters(hyperparameters)
        except EmitError as refused:
            error = refused
        told = self.recorder.ranks.share(None if error is None else str(error))
        if error is not None:
            raise error
        if told is not None:
            raise EmitError(f"refused by the process that writes the log: {told}")

    def _check_processes(self) -> None:
        if self.recorder.writes and self.recorder.ranks.rank != 0:
            raise EmitError(
                f"process {self.recorder.ranks.rank} was forked from the one that opened the log: start each process "
                "of a training by itself (torchrun, mpirun, srun), and make the recorder in each"
            )
        if self.recorder.ranks.share(self.seed) != self.seed:
            raise EmitError(
                "the processes drew seeds of their own: start the process group before the recorder, or give seed=..."
            )

    def training(self) -> None:
        """Training goes on: a block is open from here to the next evaluation."""
        if not self.running or self._block is not None:
            return
        self._settle()
        position = self.course.position()
        words = self._language.of_block(position, self.block_epochs, self.course.train_samples)
        self._block = self.recorder.block(**words).__enter__()

    def evaluating(self) -> None:
        """An evaluation begins."""
        if not self.running or self._evaluation is not None:
            return
        self._end_block()
        words = self._language.of_evaluation(self.course.position())
        self._evaluation = self.recorder.evaluation(**words).__enter__()

    def evaluated(self, metrics: Mapping[str, Any], *, last: bool = True) -> bool:
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
        self.evaluating()
        self._seen.extend(str(name) for name in metrics)
        if not last and not callable(self._quality) and any(name not in metrics for name in self._names()):
            return False
        value = self._find(metrics)
        assert self._evaluation is not None  # noqa: S101  (opened above)
        reached = self._evaluation.result(value)
        if self._done is not None:
            reached = bool(self.recorder.ranks.share(bool(self._done(value))))
        self._end_evaluation()
        if reached:
            self._met = True
            self.finish()
        return reached

    def _names(self) -> tuple[str, ...]:
        if isinstance(self._quality, str):
            return (self._quality,)
        return tuple(self._quality.values()) if isinstance(self._quality, Mapping) else ()

    def _find(self, metrics: Mapping[str, Any]) -> Any:
        if callable(self._quality):
            return self._quality(metrics)
        for name in self._names():
            if name not in metrics:
                raise EmitError(f"no metric is called {name!r}; the evaluation has {_listed(map(str, metrics))}")
        if isinstance(self._quality, str):
            return metrics[self._quality]
        return {measure: metrics[name] for measure, name in self._quality.items()}

    def finish(self) -> None:
        """The training is over: stop the clock, as success where it is done, else as aborted."""
        if not self.running or self._run is None:
            return
        self._settle()
        self._end_block()
        self._over = True
        self._run.stop("success" if self._met else "aborted")

    def fail(self) -> None:
        """An exception ended the training: the run is aborted, and nobody is waited for."""
        if self._run is not None and not self._over:
            self._over = True
            self._run.abandon()

    def _settle(self) -> None:
        """Close an evaluation that came to nothing.

        Raises:
            EmitError: it had metrics, and the quality was not among them.
        """
        if self._evaluation is None:
            return
        if self._seen:
            raise EmitError(
                f"no metric is called {' or '.join(map(repr, self._names()))}; the evaluation has {_listed(self._seen)}"
            )
        self._end_evaluation()

    def _end_evaluation(self) -> None:
        evaluation, self._evaluation, self._seen = self._evaluation, None, []
        if evaluation is not None:
            evaluation.__exit__(None, None, None)

    def _end_block(self) -> None:
        block, self._block = self._block, None
        if block is not None:
            block.__exit__(None, None, None)


def _listed(names: Iterable[str]) -> str:
    every = sorted(set(names))
    shown = ", ".join(every[:_MOST_NAMES]) or "none"
    return shown if len(every) <= _MOST_NAMES else f"{shown} and {len(every) - _MOST_NAMES} more"


def missing(framework: str, extra: str) -> ImportError:
    """What to say where a framework is not installed."""
    return ImportError(f"{framework} is not installed: pip install 'mlsub[{extra}]'")
