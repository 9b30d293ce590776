"""A reader who types what a page says, in a folder of their own."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from pathlib import Path
from unittest.mock import patch

from tests.docs.pages import Step
from tools.support.corpus import CORPUS
from tools.support.runner import Outcome
from tools.support.runner import run as run_mlsub

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
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return kept | {"CORPUS": str(CORPUS)}
