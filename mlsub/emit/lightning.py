"""A PyTorch Lightning callback that records the training.

Needs ``pip install '.[lightning]'``; both packages, ``lightning`` and ``pytorch_lightning``, will do.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from mlsub.emit.adapting import Adapter, Training, not_installed
from mlsub.emit.ranks import DetectedRanks, environment_number, local_rank
from mlsub.emit.recorder import Recorder

try:
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError:
        raise not_installed("PyTorch Lightning", "lightning") from None

__all__ = ["LightningRanks", "RecorderCallback"]


class LightningRanks(DetectedRanks):
    """The processes that Lightning's own launcher starts, which say who they are by ``LOCAL_RANK`` and ``NODE_RANK``.

    Give it to the recorder as ``ranks=`` where a trainer with ``devices=`` above 1 starts the processes itself; under
    torchrun, mpirun and srun it is not needed.
    """

    @property
    def rank(self) -> int:
        """The number of this process; before Lightning has connected them only whether it is 0 counts."""
        return super().rank or local_rank()


class RecorderCallback(Adapter, Callback):
    """Records a ``Trainer.fit``: initialisation, timed region, blocks and evaluations, and stops it at the target.

    Make it first of all: the initialisation starts with it. The clock starts when the model is set up and before
    Lightning makes its first data loader, thus before the sanity check too. What a data module reads in
    ``prepare_data`` and ``setup`` comes before that, so leave reading the data set to the data loaders. :attr:`seed` is
    for ``seed_everything``. With several processes log the quality with ``sync_dist=True``.

    Args:
        recorder: open, and of this one training.
        training: its description.

    Raises:
        DoomedRunError: the rules forbid a hyperparameter, or another result has the seed.
        EmitError: an argument cannot be used.
    """

    def __init__(self, recorder: Recorder, training: Training) -> None:
        if training.seed is None and not recorder.writes:
            # Lightning hands its processes the seed of the one that starts them.
            training = msgspec.structs.replace(training, seed=environment_number(("PL_GLOBAL_SEED",)))
        super().__init__(recorder, training)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Start the clock: Lightning asks for data loaders next."""
        self._session.start(trainer)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Look how often the training is evaluated."""
        session = self._session
        session.progress.begin(trainer.current_epoch, trainer.global_step)
        session.block_epochs = _block_epochs(trainer)
        session.open_block()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Open a block after an evaluation."""
        self._session.open_block()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Count samples."""
        progress = self._session.progress
        progress.advance(progress.batch_size / trainer.accumulate_grad_batches, trainer.global_step)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin an evaluation; the sanity check is none."""
        if self._evaluates(trainer):
            if trainer.is_last_batch:
                self._session.progress.end_epoch()
            self._session.begin_evaluation()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the quality, and stop the training where it is done."""
        if self._evaluates(trainer) and self._session.take_metrics(trainer.callback_metrics):
            trainer.should_stop = True

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Count an epoch that was not evaluated."""
        if trainer.is_last_batch:
            self._session.progress.end_epoch()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """A training that did not even begin (``max_epochs=0``) is aborted."""
        self._session.fail()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Stop the clock, if the target has not stopped it."""
        self._session.finish()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The run is aborted."""
        self._session.fail()

    def _evaluates(self, trainer: Any) -> bool:
        return self._session.running and not trainer.sanity_checking and trainer.state.fn == "fit"


def _block_epochs(trainer: Any) -> float:
    """Epochs, or the part of one, from one validation to the next."""
    batches, every = trainer.val_check_batch, trainer.num_training_batches
    known = isinstance(batches, int) and isinstance(every, int) and every > 0
    if known and (batches < every or trainer.check_val_every_n_epoch is None):
        return float(round(batches / every, 6))
    return int(trainer.check_val_every_n_epoch or 1)
