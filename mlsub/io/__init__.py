"""Files and folders: read with bounds and lines, put in place whole or not at all; and the one error of mlsub."""

from __future__ import annotations

#: The version of mlsub, which every answer names.
VERSION = "0.3.0"


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
