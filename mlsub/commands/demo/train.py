"""Train one run of a rehearsal benchmark and log it through the recorder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.commands.demo.digits import Digits
from mlsub.commands.demo.model import RehearsalEntry
from mlsub.commands.demo.verses.run import VersesRun
from mlsub.emit import Recorder

NAMESPACE = "rehearsal, no MLPerf result"
#: One run of a benchmark; it trains in parts, each followed by an evaluation, and logs nothing itself.
Trainer = Digits | VersesRun
_TRAINERS: dict[str, type[Trainer]] = {"digits": Digits, "verses": VersesRun}
#: A bound on a rehearsal's patience, and nothing that is logged.
_NOT_LOGGED = "max_epochs"


class Result(msgspec.Struct, frozen=True):
    """How a run ended: epochs trained, the last evaluation's quality, and whether that is the target's."""

    epochs: float
    quality: float
    success: bool


def train_run(log: Path, organisation: str, status: str, entry: RehearsalEntry, seed: int | None = None) -> Result:
    """Train one run and write its log.

    Args:
        log: the result file.
        organisation: goes to ``submission_org``.
        status: goes to ``submission_status``.
        entry: system, division, benchmark and hyperparameters.
        seed: the seed of initial weights and of the order of the data; None to draw one.

    Raises:
        ImportError: scikit-learn or mlperf-logging is not installed.
        DoomedRunError: the rules of the division forbid the run; it is refused before it trains.
    """
    with Recorder(
        log,
        usage="rehearsal",
        round="1.0",
        benchmark=entry.benchmark,
        division=entry.division,
        organisation=organisation,
        platform=entry.system,
        status=status,
        namespace=NAMESPACE,
        root=Path(__file__).resolve().parents[3],
    ) as recorder:
        # The data come with libraries and with this package; there is no cache that could hold them.
        recorder.log("cache_clear", True)
        with recorder.init():
            recorder.hyperparameter("gradient_accumulation_steps", 1)
            logged = msgspec.structs.asdict(entry.hyperparameters)
            recorder.hyperparameters({key: value for key, value in logged.items() if key != _NOT_LOGGED})
            drawn = recorder.fresh_seed() if seed is None else recorder.seed(seed)
            trainer = _TRAINERS[entry.benchmark](entry.hyperparameters, drawn)
            recorder.samples(train=trainer.train_samples, evaluation=trainer.eval_samples)
        return _train_to_target(recorder, trainer)


def _train_to_target(recorder: Recorder, trainer: Trainer) -> Result:
    quality, epochs = 0.0, 0.0
    with recorder.run() as run:
        for part in trainer.parts():
            with recorder.block(**part.block):
                trainer.train(part)
            epochs = part.evaluation["epoch"]
            with recorder.evaluation(**part.evaluation) as evaluation:
                quality = trainer.evaluate()
                evaluation.result(quality)
            if trainer.good(quality):
                # Open asks for no quality of its own; the rehearsal goes to that of Closed all the same.
                run.stop("success")
                return Result(epochs, quality, success=True)
        run.stop("aborted")
    return Result(epochs, quality, success=False)
