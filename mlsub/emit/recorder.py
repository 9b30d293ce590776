"""Record a training run so that its log becomes a compliant result, or the run is refused before the clock starts.

::

    with Recorder("result_0.txt", round="5.1", benchmark="llama31_8b", ...) as recorder:
        with recorder.init():
            recorder.hyperparameters(hyperparameters)
        with recorder.run():
            with recorder.block(samples_so_far=0): ...
            with recorder.evaluation(samples=12_288) as evaluation:
                reached = evaluation.result(evaluate())
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from mlsub.divisions import CLOSED, DIVISIONS, DivisionName
from mlsub.emit.errors import EmitError
from mlsub.emit.intervals import EvaluationInterval, InitInterval, Interval, Recording, RunInterval
from mlsub.emit.ranks import SEED_VARIABLE, DetectedRanks, Ranks, draw_seed, seed_of_launcher
from mlsub.emit.sink import LogFile, earlier_seeds
from mlsub.emit.values import BLOCK_WORDS, MetadataRules, check_samples, check_status, check_whole, check_words
from mlsub.emit.writer import JudgedAs, Writer
from mlsub.findings import Finding, Severity
from mlsub.io import MlsubError
from mlsub.rounds import Round, get_round, known_rounds, normalise_round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for

Strict = DivisionName | Literal["warn"]
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


class Recorder(Recording):
    """The log of one run, judged while it is written.

    A context manager: what an exception leaves open is closed, and a run that was under way ends as ``aborted``. An
    exception before the clock starts, a refusal above all, leaves no file.

    Args:
        path: the result file, ``result_<anything>.txt``. It must not exist yet.
        round: such as ``"6.1"``.
        benchmark: such as ``"llama31_8b"``.
        division: ``"closed"`` or ``"open"``.
        organisation: goes to ``submission_org``.
        platform: goes to ``submission_platform``; the name of the system.
        status: goes to ``submission_status``, unless that is in ``submission``; one of the round's values.
        usage: ``"training"``, ``"hpc"`` or ``"rehearsal"``.
        submission: more about it, such as ``submission_poc_name``.
        strict: by the rules of which division the run is refused, by default its own; ``"warn"`` only warns.
        rules: an overlay file of your own rules.
        ranks: the processes of the run; by default they are detected.
        namespace: goes into every record.
        root: the folder that is cut off the names of source files in the log.
        overwrite: start over where the file holds a run.

    Raises:
        EmitError: round, benchmark, division or status do not exist, or the file cannot be written.
        LogInUseError: another process writes it.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        round: str,
        benchmark: str,
        division: Literal["closed", "open"],
        organisation: str,
        platform: str,
        status: str = "",
        usage: str = "training",
        submission: Mapping[str, str] | None = None,
        strict: Strict | None = None,
        rules: str | None = None,
        ranks: Ranks | None = None,
        namespace: str = "",
        root: Path | None = None,
        overwrite: bool = False,
    ) -> None:
        self.round = _find_round(usage, round, rules)
        _check_choice(benchmark, self.round.benchmarks, f"benchmark of {self.round.title}")
        _check_choice(division, tuple(DIVISIONS), "division")
        _check_choice(strict or division, (*DIVISIONS, "warn"), "strictness")
        if self.round.log_format != "mllog":
            raise EmitError(f"{self.round.title} has a log format of its own, which nothing writes any more")
        self.path = Path(path)
        self.benchmark, self.division = benchmark, division
        self.ranks = ranks or DetectedRanks()
        strictness = division if strict in (None, "warn") else str(strict)
        self.units = MetadataRules(rules_for(usage, self.round.name, strictness, benchmark, self.round.overlay))
        self._identity = {
            "submission_benchmark": benchmark,
            "submission_division": division,
            "submission_org": organisation,
            "submission_platform": platform,
            "submission_status": status,
            **(submission or {}),
        }
        check_status(self._identity["submission_status"], self.round)
        file = LogFile(self.path, overwrite=overwrite) if self.ranks.rank == 0 else None
        judged = JudgedAs(self.round, strictness, benchmark)
        self._writer = Writer(file, judged, self.path.name, refuses=strict != "warn", namespace=namespace, root=root)
        self._earlier = earlier_seeds(self.path) if file is not None else {}
        self._run: RunInterval | None = None
        self._closed = False

    def preflight(
        self, hyperparameters: Mapping[str, Any], *, train: int | None = None, evaluation: int | None = None
    ) -> tuple[Finding, ...]:
        """Give all violations of a run at once, before anything of it is logged.

        What is missing, misspelled or forbidden is refused; what may be misspelled is warned of. What a run logs
        besides its hyperparameters, such as its seed, is not missed here.

        Args:
            hyperparameters: by their keys in the log.
            train: samples of the training data set, where that is known yet.
            evaluation: samples of the data set that is evaluated.

        Returns:
            The findings for which no run is refused; with ``strict="warn"`` all.

        Raises:
            DoomedRunError: the rules would reject the run; it has all the reasons.
        """
        sizes = {"train_samples": train, "eval_samples": evaluation}
        values = {**hyperparameters, **{key: size for key, size in sizes.items() if size is not None}}
        found = self._writer.preflight(values, self._identity)
        self._writer.act_on([one for one in found if one.severity is not Severity.NOTE])
        return tuple(found)

    def log(self, key: str, value: Any = None, **metadata: Any) -> None:
        """Log one record; ``epoch``, ``samples`` and ``step`` become the metadata that the round calls so.

        Raises:
            DoomedRunError: the rules forbid it for good.
            EmitError: metadata is missing, or the value is not JSON.
        """
        self._writer.write(key, value, self.units.metadata(key, metadata))

    def hyperparameter(self, key: str, value: Any, **metadata: Any) -> None:
        """Log one hyperparameter; what a Closed rule forbids is refused here."""
        self.log(key, value, **metadata)

    def hyperparameters(self, values: Mapping[str, Any]) -> None:
        """Log several."""
        for key, value in values.items():
            self.log(key, value)

    def samples(self, *, train: int, evaluation: int) -> None:
        """Log how many samples the data sets have.

        Raises:
            EmitError: one is not a whole number above 0; then neither is logged.
        """
        train, evaluation = check_samples("train", train), check_samples("evaluation", evaluation)
        self.log("train_samples", train)
        self.log("eval_samples", evaluation)

    def seed(self, value: int) -> int:
        """Log the seed of the run, and return it.

        Raises:
            DoomedRunError: another result in the folder has it: two runs of one seed are one run.
            EmitError: it is not a whole number, or not the one that process 0 logs.
        """
        value = check_whole("the seed", value)
        logged = self.ranks.share(value)
        if logged != value:
            raise EmitError(
                f"process {self.ranks.rank} has the seed {value}, and process 0 logs {logged}: "
                "give all processes one seed, and derive from it what each of them needs"
            )
        other = self._earlier.get(value)
        if other is not None and self.division == CLOSED.name:
            message, expected = "Another run of the entry has this seed", "a different seed for each run"
            actual = f"seed {value}, as in {other}"
            self._writer.act_on([finding("seed.shared", self.path.name, message, expected=expected, actual=actual)])
        self.log("seed", value)
        return value

    def fresh_seed(self) -> int:
        """Draw a seed from the system's source of randomness, log it and return it: the same in every process.

        Where the launcher sets ``MLSUB_SEED``, that is the seed. Where it has started several processes and nothing
        connects them (see :class:`~mlsub.emit.Ranks`), it has to: no process could learn what another one draws.

        Raises:
            DoomedRunError: another result in the folder has ``MLSUB_SEED``.
            EmitError: it is not a seed, or the processes are not connected.
        """
        given = seed_of_launcher()
        if given is not None:
            return self.seed(given)
        rank, size = self.ranks.rank, self.ranks.size
        if not getattr(self.ranks, "connected", True) and (rank, size) != (0, 1):
            raise EmitError(
                f"process {rank} of {size} is not connected with the others, and each would draw a seed of its own: "
                "start torch.distributed, jax.distributed or mpi4py before the recorder, give ranks=..., or have the "
                f"launcher set {SEED_VARIABLE} for all of them, to another seed for each run"
            )
        drawn = draw_seed()
        while drawn in self._earlier:
            drawn = draw_seed()
        drawn = int(self.ranks.share(drawn))
        self.log("seed", drawn)
        return drawn

    def cache_clear(self) -> str | None:
        """Drop the page cache of this machine, and log that it was done.

        Returns:
            None where it was dropped, else why not: then it is the launcher that has to do it before each run.
        """
        why = drop_page_cache()
        self.log("cache_clear", True)
        return why

    def init(self) -> InitInterval:
        """The initialisation: a context manager for all that comes before the clock starts.

        On leaving it the rules look for what is missing; a run that lacks a key is refused here.
        """
        return InitInterval(self, "init", {})

    def run(self) -> RunInterval:
        """The timed region: a context manager. It ends as success where the target was reached, else as aborted."""
        self._run = RunInterval(self, "run", {})
        return self._run

    def block(
        self,
        *,
        first_epoch: int | None = None,
        epochs: float = 1,
        samples_so_far: int | None = None,
        steps_so_far: int | None = None,
        **metadata: Any,
    ) -> Interval:
        """A part of the training between evaluations: a context manager.

        Args:
            first_epoch: the number of its first epoch.
            epochs: how many epochs it has, or which part of one; goes with ``first_epoch``.
            samples_so_far: for benchmarks that count samples: how many were trained before it begins, not its own.
            steps_so_far: the same for benchmarks that count steps.
            metadata: more to log with its start and end.

        Raises:
            EmitError: a name does not say whether it is a position or a size.
        """
        check_words("block", metadata, BLOCK_WORDS)
        count = {} if first_epoch is None else {"epoch_count": epochs}
        where = {"first_epoch_num": first_epoch, "samples_count": samples_so_far, "step_num": steps_so_far}
        return Interval(self, "block", {**where, **metadata}, count)

    def epoch(self, epoch: int | None = None, *, samples_so_far: int | None = None, **metadata: Any) -> Interval:
        """One epoch: a context manager.

        Args:
            epoch: its number.
            samples_so_far: for benchmarks that count samples: how many were trained before it begins.
            metadata: more to log with its start and end.
        """
        check_words("epoch", metadata, {"samples": "samples_so_far"})
        return Interval(self, "epoch", {"epoch_num": epoch, "samples_count": samples_so_far, **metadata})

    def evaluation(self, *, time_ms: int | None = None, **progress: Any) -> EvaluationInterval:
        """An evaluation: a context manager around it while it runs, to which its result is given.

        ::

            with recorder.evaluation(epoch=epoch) as evaluation:
                reached = evaluation.result(evaluate(model))

        Args:
            time_ms: when the checkpoint that is evaluated was written, for benchmarks that are evaluated after the
                run; all records of the evaluation get this time. Elsewhere it is refused.
            progress: how far the training has come: ``epoch``, ``samples`` or ``step``, and more metadata.
        """
        return EvaluationInterval(self, progress, time_ms)

    def evaluate(self, value: float | Mapping[str, float], *, time_ms: int | None = None, **progress: Any) -> bool:
        """Log an evaluation after the fact, and say whether the target is reached.

        Its start, its quality and its end get the time of this call, which ``mlsub check`` reports: evaluations of no
        length. Use :meth:`evaluation` around the evaluation instead, unless it runs where no recorder can be.

        Args:
            value: the quality; where a benchmark has several measures, all of them by name.
            time_ms: as :meth:`evaluation` takes it.
            progress: how far the training has come: ``epoch``, ``samples`` or ``step``, and more metadata.
        """
        with self.evaluation(time_ms=time_ms, **progress) as evaluation:
            return evaluation.result(value)

    def close(self) -> None:
        """End the log; a run under way ends as aborted, and one refused before the clock started leaves no file."""
        self._close(in_vain=self._writer.refused)

    def _close(self, *, in_vain: bool) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._run is not None:
                self._run.abandon()
        finally:
            self._writer.close(discard=in_vain and self._writer.run_start is None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(in_vain=error is not None or self._writer.refused)


def drop_page_cache(drop: Path = _DROP_CACHES) -> str | None:
    """Write dirty pages out and drop the page cache of this machine.

    Returns:
        None where it was dropped, else in words why it was not.
    """
    if not drop.exists():
        return f"there is no {drop}: only Linux has it"
    os.sync()
    try:
        drop.write_text("3\n")
    except OSError as error:
        return f"{drop} cannot be written: {error.strerror or error}; it takes root, outside of most containers"
    return None


def _find_round(usage: str, name: str, rules: str | None) -> Round:
    try:
        return get_round(usage, normalise_round(name) or name, rules)
    except (MlsubError, KeyError) as error:
        known = ", ".join(known_rounds(usage)) or "no round of such a usage"
        raise EmitError(f"There are no rules for {usage} round {name}; known: {known}") from error


def _check_choice(name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(known)}."
        raise EmitError(f"{name!r} is not a {what}. {hint}")
