"""The pages as their readers see them: what they ask to type, and what they show of the answer.

A block of ``console`` holds commands (``$ ``, with more lines after ``> ``), and below a command what it prints, where
the page shows that. A line ``...`` stands for lines that are left out.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tools.support.corpus import CORPUS
from tools.support.runner import Outcome
from tools.support.runner import run as run_mlsub

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "submissions/README.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
]
#: What a page says behind a command that is to find something.
FINDS = "  # exit status 1"
_CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```)", re.MULTILINE | re.DOTALL)
_LEFT_OUT = "..."


class Step(NamedTuple):
    """A command of a page, and the lines that the page shows of its answer."""

    command: str
    shown: tuple[str, ...]

    @property
    def status(self) -> int:
        """The exit status that the page promises."""
        return 1 if self.command.endswith(FINDS) else 0

    @property
    def typed(self) -> str:
        """The step's first part, as the page has it."""
        return "".join(f"{'> ' if at else '$ '}{line}\n" for at, line in enumerate(self.command.splitlines()))


def steps(text: str) -> list[Step]:
    """Every command of a page, in order."""
    return [step for block in _CONSOLE.findall(text) for step in _steps(block)]


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in docs/ that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (REPOSITORY / page).read_text(), re.MULTILINE | re.DOTALL)


def _steps(block: str) -> Iterator[Step]:
    lines = block.splitlines()
    assert lines[0].startswith("$ "), block
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        more = list(takewhile(lambda line: line.startswith("> "), lines[start + 1 : end]))
        command = "\n".join(line[2:] for line in (lines[start], *more))
        yield Step(command, tuple(lines[start + 1 + len(more) : end]))


def renewed(text: str, answer: Callable[[Step], list[str] | None]) -> str:
    """The page with the answers of its commands as they are now, cut where the page cuts them.

    Args:
        text: of the page.
        answer: runs a step and gives the lines that it prints; None leaves the page as it is.
    """

    def block(match: re.Match[str]) -> str:
        return "".join(step.typed + "".join(f"{line}\n" for line in again(step)) for step in _steps(match[0]))

    def again(step: Step) -> tuple[str, ...]:
        lines = answer(step)
        return step.shown if lines is None or not step.shown else cut(lines, step.shown)

    return _CONSOLE.sub(block, text)


def cut(lines: list[str], shown: tuple[str, ...]) -> tuple[str, ...]:
    """As many lines of an answer, from its start and to its end, as the page shows of it."""
    if _LEFT_OUT not in shown:
        return tuple(lines)
    head = shown.index(_LEFT_OUT)
    tail = len(shown) - head - 1
    return (*lines[:head], _LEFT_OUT, *(lines[-tail:] if tail else ()))


#: How the pages name the folder that their reader works in.
HOME = "/home/you/mlsub"


class Reader:
    """Someone who works in a folder, and keeps what is printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def answer(self, step: Step) -> list[str]:
        """What a command of a page prints, its exit status being what the page says."""
        done = self.type(step.command, step.status)
        assert done.stderr == "", step.command
        return [line.rstrip() for line in done.stdout.replace(str(self.folder), HOME).splitlines()]

    def type(self, command: str, status: int = 0) -> Outcome:
        """Run a line."""
        return self.run(shlex.split(command.replace("\\\n", ""), comments=True), status)

    def run(self, command: list[str], status: int = 0) -> Outcome:
        """Run a command: mlsub in this process, anything else in one of its own."""
        if command[0] == "mlsub":
            with contextlib.chdir(self.folder), patch.dict(os.environ, _environment(), clear=True):
                done = run_mlsub(*command[1:])
        else:
            process = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, check=False, env=_environment()
            )
            done = Outcome(process.returncode, process.stdout, process.stderr)
        assert done.status == status, f"{command}: exit {done.status}\n{done.stdout}\n{done.stderr}"
        return done


def _environment() -> dict[str, str]:
    """The reader's environment, without what the test run itself sets for make."""
    of_make = {"LOCK", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "PART", "PATHS"}
    kept = {name: value for name, value in os.environ.items() if name not in of_make}
    return kept | {"CORPUS": str(CORPUS)}
