"""What runs the work of a check: this process, several on this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

Task = TypeVar("Task")
Found = TypeVar("Found")


class Tree(msgspec.Struct, frozen=True):
    """A task whose result rests on all that lies below a folder, and on no other file.

    ``logs`` is about how many logs that are.
    """

    folder: str
    logs: int


class Executor(Protocol):
    """Runs one function on many tasks, in any order and anywhere."""

    @property
    def processes(self) -> int:
        """How many tasks run at a time; the work is cut into pieces accordingly."""
        ...

    @property
    def far(self) -> bool:
        """Whether other machines do it: then each task is a :class:`mlsub.judge.log.LogTask` or a :class:`Tree`."""
        ...

    def run(self, work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[tuple[int, Found]]:
        """The results as they complete, each once and with the index of its task, in any order.

        Tasks are begun in their order, so the longest ones come first. An iterator that is closed early, or left by
        an exception, ends what it has begun.

        Args:
            work: a function of a module (or a ``functools.partial`` of one) that never raises; it, its argument and its
                result can be pickled.
            tasks: what to call it with.

        Raises:
            MlsubError: nothing can run there.
        """
        ...
