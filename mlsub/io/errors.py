"""The one error of mlsub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MlsubError(Exception):
    """What was asked for cannot be done, for a reason outside of mlsub: a missing file, a name that does not exist.

    A command that raises it ends with status 2, and prints each of ``lines`` on standard error. A line says what is
    wrong, where, and how to fix it. What a checked file gets wrong is a finding, not an error.
    """

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print, at least one line."""
        return tuple(map(str, self.args)) or (type(self).__name__,)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def needs_extra(sentence: str, extra: str) -> str:
    """A sentence on what is missing, and how to install it: from the source, for mlsub is on no package index."""
    return f"{sentence} Install it from a copy of the source: pip install '.[{extra}]'"


def reason_of(error: Exception) -> str:
    """Why something failed, in the words of the system where it has any."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


@contextmanager
def failing_as(what: str, hint: str = "") -> Iterator[None]:
    """Raise MlsubError, which begins with ``what``, where the block raises OSError."""
    try:
        yield
    except OSError as error:
        raise MlsubError(f"{what}: {reason_of(error)}{hint}") from error


@contextmanager
def without_panics(message: str) -> Iterator[None]:
    """Raise MlsubError where a library in Rust meets what it took for impossible; what it raises is no Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise MlsubError(message) from error
        raise
