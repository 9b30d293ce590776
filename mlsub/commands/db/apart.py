"""Questions in a process of their own, whose time and memory the system bounds.

DuckDB looks at the clock and at its bound of memory only between two calls of functions, and a call may be
``range(1000000000)``, which takes a minute and 20 GB. A process can be killed at any time, and what becomes of it is
told in one line.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from mlsub.commands.db.answering import MOST_TABLE_MIB, Question, Reply, too_slow
from mlsub.io.errors import MlsubError

#: It needs what this process can import, and nothing that ``site`` would add to that.
_WORDS = "import sys; sys.path[:] = sys.argv[1:]; from mlsub.commands.db.answering import main; main()"
_PACKAGES = str(Path(__file__).resolve().parents[3])
#: No reply is longer, by far: its head has the names of columns.
_MOST_BYTES, _LONGEST_HEAD = (MOST_TABLE_MIB + 64) << 20, 64 << 20


def answered(question: Question) -> Reply:
    """What a process of its own replies to a question; when this returns or raises, that has ended.

    Raises:
        MlsubError: it ended before it had answered.
    """
    process = begin()
    assert process.stdin is not None and process.stdout is not None  # noqa: S101  (both are pipes)
    try:
        # How it ended says more than that it does not read.
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        found = read(process.stdout)
        if found is None:
            raise ended(process.wait(), question)
        return found
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()


def begin() -> subprocess.Popen[bytes]:
    """A process that waits for a question."""
    path = [*(entry for entry in sys.path if isinstance(entry, str)), _PACKAGES]
    return subprocess.Popen(  # noqa: S603  (our own words, no shell)
        [sys.executable, "-S", "-c", _WORDS, *path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def read(stream: IO[bytes]) -> Reply | None:
    """A whole reply; None where it ends before."""
    line = stream.readline(_LONGEST_HEAD)
    if not line.endswith(b"\n"):
        return None
    head = json.loads(line)
    size = head.pop("bytes")
    body = stream.read(min(size, _MOST_BYTES))
    return Reply(head, body) if len(body) == size else None


def ended(status: int, question: Question) -> MlsubError:
    """What a process that did not answer has died of."""
    if status == -signal.SIGALRM:
        return too_slow(question.seconds)
    how = f"was ended by signal {-status} ({signal.strsignal(-status)})" if status < 0 else f"ended with {status}"
    return MlsubError(
        f"The question was not answered: its process {how}, most likely because memory ran out. Narrow the question."
    )
