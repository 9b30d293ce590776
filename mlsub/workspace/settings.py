"""What the caller of a command asked for."""

from __future__ import annotations

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.judge.log import NewFold
from mlsub.judge.pool import Progress


class Settings(msgspec.Struct, frozen=True):
    """What the caller asked for: a round and usage (None to infer them), and how many processes may read.

    ``overlay`` is a file of the caller's own rules, checked before; ``convergence`` what the convergence test is to do.
    ``folds`` are what to find out of each log besides, see :class:`mlsub.judge.log.LogTask`.
    """

    round: str | None = None
    usage: str | None = None
    jobs: int | None = None
    progress: Progress | None = None
    overlay: str | None = None
    convergence: Options = USUAL
    folds: tuple[NewFold, ...] = ()
