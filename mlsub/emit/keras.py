"""A Keras 3 callback that records the training.

Needs ``pip install '.[keras]'`` and one of the backends of Keras.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlsub.emit.adapting import Adapter, Training, not_installed
from mlsub.emit.recorder import Recorder

try:
    from keras.callbacks import Callback
except ImportError:
    raise not_installed("Keras 3", "keras") from None

__all__ = ["RecorderCallback"]


class RecorderCallback(Adapter, Callback):
    """Records a ``model.fit``: initialisation, timed region, blocks and evaluations, and stops it at the target.

    Make it first of all: the initialisation starts with it. Call :meth:`start` before the data are read: ``model.fit``
    takes them as an argument and looks at the first batch before it calls any callback. Without it the clock starts
    late, when ``fit`` begins to train. Keras has no hook for an exception: the run is ended as aborted when the
    recorder's ``with`` is left. :attr:`seed` is for ``keras.utils.set_random_seed``.

    Args:
        recorder: open, and of this one training.
        training: its description.
        validation_freq: as it is given to ``fit``: every how many epochs there is an evaluation, or after which.

    Raises:
        DoomedRunError: the rules forbid a hyperparameter, or another result has the seed.
        EmitError: an argument cannot be used.
    """

    def __init__(self, recorder: Recorder, training: Training, *, validation_freq: int | list[int] = 1) -> None:
        super().__init__(recorder, training)
        self._frequency = validation_freq
        self._started = False
        self._steps = 0
        self._batches = 0

    def start(self, model: Any) -> None:
        """End the initialisation and start the clock: the next line may touch the data.

        Args:
            model: what a function of hyperparameters is called with.

        Raises:
            DoomedRunError: something is missing that has to be logged before the clock starts.
            EmitError: a second training was started.
        """
        self._session.start(model)
        self._started = True

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Start the clock, if :meth:`start` has not."""
        if not self._started:
            self.start(self.model)
        # The next fit is another training, which the session refuses.
        self._started = False

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Open a block, unless one goes on from the epoch before."""
        session = self._session
        if self._steps == 0:
            session.progress.begin(epoch, 0)
        session.block_epochs = _block_epochs(self._frequency, epoch)
        self._batches = 0
        session.open_block()

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Count samples; ``batch`` is the last of those that were trained on in one go."""
        session = self._session
        new = batch + 1 - self._batches
        self._batches += new
        self._steps += new
        session.progress.advance(new * session.progress.batch_size, self._steps)

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Begin an evaluation: Keras makes one at the end of an epoch."""
        if self._session.running:
            self._session.progress.end_epoch()
            self._session.begin_evaluation()

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Log the quality, and stop the training where it is done."""
        if self._session.running:
            metrics = {f"val_{name}": value for name, value in (logs or {}).items()}
            if self._session.take_metrics(metrics):
                self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Count an epoch that was not evaluated."""
        self._session.progress.end_epoch()

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Stop the clock, if the target has not stopped it."""
        self._session.finish()


def _block_epochs(frequency: int | list[int], epoch: int) -> int:
    """Epochs from the one that begins, the first being 0, to the next evaluation."""
    if isinstance(frequency, int):
        return frequency - epoch % frequency if frequency > 0 else 1
    return min((after - epoch for after in frequency if after > epoch), default=1)
