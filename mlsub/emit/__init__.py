"""The training side: a recorder that logs a run by the rules, and refuses a doomed one before the clock starts."""

from mlsub.emit.adapting import Position, Training
from mlsub.emit.errors import DoomedRunError, EmitError, EmitWarning, LogInUseError
from mlsub.emit.ranks import Ranks
from mlsub.emit.recorder import Recorder

__all__ = ["DoomedRunError", "EmitError", "EmitWarning", "LogInUseError", "Position", "Ranks", "Recorder", "Training"]
