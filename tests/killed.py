"""Processes that a test kills: forked from one that has loaded the program, so that hundreds of kills take seconds."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[1]
#: For each line it forks a process that calls ``run`` with the words of the line; an empty line kills that process, and
#: one with a dot waits until it has ended.
_LOOP = """
import os, signal, sys
process = None
for line in sys.stdin:
    words = line.rstrip("\\n").split("\\t")
    if words in ([""], ["."]):
        if words == [""]:
            os.kill(process, signal.SIGKILL)
        print(os.WTERMSIG(os.waitpid(process, 0)[1]), flush=True)
        process = None
        continue
    process = os.fork()
    if process == 0:
        print("ready", flush=True)
        run(*words)
        os._exit(0)
if process is not None:  # the test has failed
    os.kill(process, signal.SIGKILL)
"""


class Starter:
    """Starts a process, and kills it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, *words: object) -> None:
        """Fork a process that calls ``run`` with the words."""
        assert self._say("\t".join(map(str, words))) == "ready"

    def kill(self) -> bool:
        """Kill it; False where it has ended by itself before."""
        return int(self._say("")) == signal.SIGKILL

    def wait(self) -> bool:
        """Wait until it has ended; whether it was killed, as by itself."""
        return int(self._say(".")) == signal.SIGKILL

    def _say(self, line: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()


@contextmanager
def starter(program: str, *arguments: Path) -> Iterator[Starter]:
    """A process that loads a program, which defines ``run``, and forks it again and again."""
    command = [sys.executable, "-c", program + _LOOP, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as process:
        yield Starter(process)
