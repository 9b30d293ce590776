"""The one place where a call of ``mlsub`` ends: its result, a full device, a closed pipe, Ctrl-C."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from mlsub.io import MlsubError
from mlsub.io.show import inert, message_line, plain

#: Exit status where something could not be checked, written or asked for.
COULD_NOT = 2
#: Exit statuses that a shell gives to a program that SIGINT or SIGPIPE ended.
INTERRUPTED, CLOSED_PIPE = 130, 141

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ClosedPipeError(Exception):
    """The reader closed stdout; not an OSError, for click makes status 1 of that."""


@contextmanager
def closed_pipe_passed_on() -> Iterator[None]:
    """Let a closed pipe reach :func:`end` through click.

    Raises:
        ClosedPipeError: it is closed.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


def end(work: Callable[[], object], command: str) -> NoReturn:
    """Do the work of a command and exit with its status, which is never a verdict where the answer did not arrive.

    0 or the status the command asked for; 2 with one line on standard error where the system refuses to read or to
    write; 141 where the reader closed stdout; 130 after Ctrl-C. A defect of mlsub shows its traceback and ends
    with 2.

    Args:
        work: what the command does.
        command: its name, for messages.
    """
    name = f"mlsub {command}".strip()
    if sys.stdout is None:
        _tell(name, "standard output is closed")
        raise SystemExit(COULD_NOT)
    if sys.stderr is None:
        # Closing it asks for silence; warnings must not fail for that.
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  (open until the process ends)
    streams = (sys.stdout, sys.stderr)
    cause: BaseException | None = None
    try:
        status = _status(work, name)
    except ClosedPipeError:
        status = CLOSED_PIPE
    except OSError as error:
        status = _refused(error, name)
    except (KeyboardInterrupt, click.Abort) as error:
        status = _interrupted(error, name)
    except Exception as error:
        status, cause = _defect(error, name), error
    for stream, what in zip(streams, ("standard output", "standard error"), strict=True):
        status = _flush(stream, what, name, status)
    raise SystemExit(status) from cause


def _status(work: Callable[[], object], name: str) -> int:
    """What the command asks for; its errors of usage are shown as click shows them."""
    try:
        answer = work()
    except SystemExit as ended:
        # Whoever made a status of a closed pipe did not know this one.
        answer = CLOSED_PIPE if isinstance(ended.__context__, BrokenPipeError) else ended.code
    except click.ClickException as error:
        _show_usage(error)
        answer = error.exit_code
    except MlsubError as error:
        for line in error.lines:
            _tell(name, line)
        return COULD_NOT
    if isinstance(answer, str):
        _tell(name, answer)
        return COULD_NOT
    return answer if isinstance(answer, int) else 0


def _show_usage(error: click.ClickException) -> None:
    """Print what click says of a command line, whose words are made safe to print."""
    if not isinstance(error, NoArgsIsHelpError):  # Its message is the help, of many lines.
        vars(error)["message"] = plain(error.message)
    stream = io.StringIO()
    error.show(stream)
    sys.stderr.write(inert(stream.getvalue()))


def _refused(error: OSError, name: str) -> int:
    """The status where the system refuses; a stream that is the reason is reported when it is flushed."""
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        reason = f"{os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename}: {reason}"
    elif error.errno in _FULL:
        reason = f"output cannot be written: {reason}"
    for stream in (sys.stdout, sys.stderr):
        if _failure(stream) is not None:
            return COULD_NOT
    _tell(name, reason)
    return COULD_NOT


def _interrupted(error: BaseException, name: str) -> int:
    """Ctrl-C, or the end of the input at a question: click makes the same exception of both."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (KeyboardInterrupt, EOFError)):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, EOFError):
        _tell(name, "the input ended before the last question")
        return COULD_NOT
    return INTERRUPTED


def _defect(error: Exception, name: str) -> int:
    import traceback

    text = "".join(traceback.format_exception(error))
    _tell(name, "a defect of mlsub; nothing was decided. Please report it with the lines above.", before=text)
    return COULD_NOT


def _flush(stream: IO[str], what: str, name: str, status: int) -> int:
    """The status once a stream has been written; what it refuses would end in a message and a status of Python's."""
    failure = _failure(stream)
    if failure is None:
        return status
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass
    if isinstance(failure, BrokenPipeError):
        return CLOSED_PIPE
    if isinstance(failure, KeyboardInterrupt):
        return INTERRUPTED
    if status not in (INTERRUPTED, CLOSED_PIPE):
        status = COULD_NOT
    _tell(name, f"{what} cannot be written: {failure.strerror or failure}")
    return status


def _failure(stream: IO[str]) -> OSError | KeyboardInterrupt | None:
    try:
        stream.flush()
    except (OSError, KeyboardInterrupt) as error:
        return error
    except ValueError:  # Closed by whoever lent it.
        return None
    return None


def _tell(name: str, message: str, before: str = "") -> None:
    """Say it on standard error, as far as that can be written."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"{inert(before)}{message_line(f'{name}: {message}')}\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        pass
