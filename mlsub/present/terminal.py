"""What a terminal shows beside text: colours, the console of a live view, and the progress of a long work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from mlsub.io.show import tolerate

if TYPE_CHECKING:
    from rich.console import Console


def colours(stream: IO[str]) -> bool:
    """Whether what goes to a stream is coloured: the one place that decides it.

    --color decides; without it, or with auto, NO_COLOR (no colours) before FORCE_COLOR (colours everywhere), each if it
    is set and not empty (no-color.org, force-color.org); without them, a terminal that is not dumb has colours.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def console(stream: IO[str] | None = None) -> Console:
    """A console that is a terminal only where the stream is one, and never breaks lines that go to a file.

    It leaves a closed pipe to whoever ends the command, instead of ending it itself.
    """
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise

    stream = sys.stdout if stream is None else stream
    terminal = stream.isatty()
    tolerate(stream)
    return Terminal(
        file=stream,
        force_terminal=terminal,
        no_color=not colours(stream),
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
        width=None if terminal else 1000,
    )


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
