"""A Hugging Face Trainer callback that records the training.

Needs ``pip install '.[transformers]'``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlsub.emit.adapting import Adapter, not_installed

try:
    from transformers import TrainerCallback
except ImportError:
    raise not_installed("Hugging Face Transformers", "transformers") from None

__all__ = ["RecorderCallback"]


class RecorderCallback(Adapter, TrainerCallback):
    """Records a ``Trainer.train``: initialisation, timed region, blocks and evaluations, and stops it at the target.

    Make it first of all: the initialisation starts with it. The clock starts when ``Trainer.train`` has set up the
    model and before it draws the first batch. What is read of the data set before ``Trainer.train`` is not timed, so
    leave reading it to the data set's own ``__getitem__``. The Trainer has no hook for an exception: the run is ended
    as aborted when the recorder's ``with`` is left. :attr:`seed` is for ``TrainingArguments(seed=...)``.

    Args:
        recorder: open, and of this one training.
        training: its description.

    Raises:
        DoomedRunError: the rules forbid a hyperparameter, or another result has the seed.
        EmitError: an argument cannot be used.
    """

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Start the clock: the Trainer draws batches next."""
        session = self._session
        session.start(args)
        session.progress.begin(int(state.epoch or 0), state.global_step)
        session.block_epochs = _block_epochs(args, state, session.progress.train_samples, session.progress.batch_size)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Open a block: the Trainer loads the first batch."""
        self._session.open_block()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Open a block after an evaluation."""
        self._session.open_block()

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Count samples."""
        progress = self._session.progress
        progress.advance(progress.batch_size, state.global_step)
        if control.should_evaluate:
            self._session.begin_evaluation()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Count an epoch, unless a limit broke it off."""
        if state.epoch and abs(state.epoch - round(state.epoch)) < 1e-6:
            self._session.progress.end_epoch()
        if control.should_evaluate:
            self._session.begin_evaluation()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """An evaluation that another callback asked for has begun."""
        self._session.begin_evaluation()

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Mapping[str, Any], **more: Any) -> None:
        """Log the quality, and stop the training where it is done.

        Of several data sets each has an evaluation of its own; the quality may come with any.
        """
        if self._session.take_metrics(metrics, last=False):
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Stop the clock, if the target has not stopped it."""
        self._session.finish()


def _block_epochs(args: Any, state: Any, train_samples: int, batch_size: int) -> float:
    """Epochs, or the part of one, from one evaluation to the next."""
    if str(getattr(args.eval_strategy, "value", args.eval_strategy)) == "steps" and state.eval_steps:
        return float(round(min(state.eval_steps, state.max_steps) * batch_size / train_samples, 6))
    return 1
