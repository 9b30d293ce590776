"""What moves on a terminal: the console of a live view, and the progress of a long reading."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from mlsub.io.show import tolerate

if TYPE_CHECKING:
    from rich.console import Console


def console(stream: IO[str] | None = None) -> Console:
    """A console that colours terminals only, honours NO_COLOR, and never breaks lines that go to a file.

    It leaves a closed pipe to whoever ends the command, instead of ending it itself.
    """
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise

    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() else 1000
    tolerate(stream)
    return Terminal(file=stream, soft_wrap=True, highlight=False, markup=False, emoji=False, width=width)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Show on a terminal how many logs have been read."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress as Bar

    # No refresh thread: it would forbid forking the worker processes.
    with Bar(console=console(sys.stderr), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("reading logs", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, refresh=done % 16 == 0 or done == total)

        yield advance
