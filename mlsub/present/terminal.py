"""What a terminal shows beside text: colours, the console of a live view, and the progress of a long work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

import click

from mlsub.io.show import inert, tolerate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from mlsub.present.document import Block, Document

#: Called with what is done and what there is to do.
Progress = Callable[[int, int], None]


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


#: The width of text that is for no terminal, where COLUMNS does not say it.
_FILE_WIDTH = 120
#: Seconds of work before a terminal shows how far it is, and between two looks of the bar.
_PATIENCE, _EVERY = 1.0, 0.1


class ProgressBar:
    """A bar that appears once the work takes longer than a moment; what ends sooner never loads rich.

    It is a :data:`Progress`.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._next = monotonic() + _PATIENCE
        self._bar: tuple[Bar, TaskID] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Show how far the work is, unless that was just done."""
        now = monotonic()
        if now < self._next and (self._bar is None or done < total):
            return
        bar, task = self._bar = self._bar or _started(self._what)
        self._next = now + _EVERY
        bar.update(task, completed=done, total=total, refresh=True)

    def hide(self) -> None:
        """Make room for something else; if the work goes on, the bar comes back."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None


@contextmanager
def progress_bar(what: str = "reading logs") -> Iterator[ProgressBar | None]:
    """Show on a terminal, on standard error, how much of a work is done that takes more than a second.

    Args:
        what: the work, as a participle with its object.

    Yields:
        What is called with what is done and what there is to do, in whatever unit; None where there is no terminal.
        A caller that is no terminal gives its own as ``obj`` of click's context.
    """
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.obj, ProgressBar):
        yield context.obj
        return
    if not _is_shown():
        yield None
        return
    bar = ProgressBar(what)
    try:
        yield bar
    finally:
        bar.hide()


def part_of(progress: Progress | None, done: int, total: int) -> Progress | None:
    """The progress of one of several equal works, of which so many are done."""
    if progress is None:
        return None
    return lambda inner, inner_total: progress(done * inner_total + inner, total * inner_total)


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show on a terminal, on standard error, that something goes on of which nobody knows how much there is.

    Not for work that forks: what moves needs a thread.
    """
    if not _is_shown():
        yield
        return
    from rich.status import Status

    with Status(what, console=console(sys.stderr)):
        yield


def _is_shown() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _started(what: str) -> tuple[Bar, TaskID]:
    from rich.progress import Progress as Bar

    # No refresh thread: it would forbid forking the worker processes.
    bar = Bar(console=console(sys.stderr), transient=True, auto_refresh=False)
    task = bar.add_task(what, total=None)
    bar.start()
    return bar, task


def render(document: Document, format_: str, terminal: IO[str] | None = None) -> str:
    """A document in a format; text is made for the terminal, or for a file where there is none."""
    look = _look(terminal) if format_ == "text" else {}
    rendered: str = import_module(f"mlsub.present.{format_}").render(document, **look)
    return rendered


def put(stream: IO[str], *blocks: Block | str) -> None:
    """Print blocks and paragraphs as text, where they stand beside the answer or the answer is not a document."""
    from mlsub.present.text import lines

    tolerate(stream)
    look = _look(stream)
    stream.writelines(f"{inert(line)}\n" for block in blocks for line in lines(block, **look))


def _look(stream: IO[str] | None) -> dict[str, Any]:
    """The colours of a stream, which a file that is named has not, and the width: COLUMNS, or that of a terminal."""
    look: dict[str, Any] = {} if stream is None else {"colour": colours(stream)}
    if os.environ.get("COLUMNS") or (stream is not None and stream.isatty()):
        from shutil import get_terminal_size

        look["width"] = get_terminal_size((_FILE_WIDTH, 24)).columns
    return look
