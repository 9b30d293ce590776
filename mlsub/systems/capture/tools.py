"""What a capture asks the machine: its tools, by PATH, without a shell and for a bounded time, and its files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.systems.catalogue import SourcedValue
from mlsub.systems.draft import TO_FILL_IN

#: Fields with values, and reasons where there are none.
Found = dict[str, SourcedValue]
#: Seconds a tool may take; nvidia-smi needs some where it has to wake the driver.
TIMEOUT_S = 20.0


class ToolRun(msgspec.Struct, frozen=True):
    """What came of a tool: its exit status (None where it was stopped), output, and the last line of its complaints."""

    status: int | None
    output: str
    complaint: str

    @property
    def succeeded(self) -> bool:
        """Whether it ended, and with success."""
        return self.status == 0


def run_tool(words: Sequence[str]) -> ToolRun | None:
    """Run a tool with the locale C and no input; return None where there is no such tool. Never raises."""
    program = shutil.which(words[0])
    if program is None:
        return None
    try:
        ran = subprocess.run(  # noqa: S603  (our own words, no shell)
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C", "LANG": "C"},
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ToolRun(None, "", "it took too long")
    except OSError as error:
        return ToolRun(None, "", error.strerror or str(error))
    lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    return ToolRun(ran.returncode, ran.stdout.decode("utf-8", "replace"), lines[-1][:200] if lines else "")


def output_of(words: Sequence[str]) -> str:
    """Return what a tool writes; nothing where there is no such tool, or it fails."""
    ran = run_tool(words)
    return ran.output if ran is not None and ran.succeeded else ""


def unknown(reason: str) -> SourcedValue:
    """Return a field whose value this machine does not report, and why."""
    return SourcedValue(TO_FILL_IN, reason)


def read_text(path: Path) -> str:
    """Return a file of the system, without blanks around it; nothing where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def children(folder: Path) -> list[Path]:
    """Return what a folder of the system holds, sorted; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def count_names(names: list[str]) -> str:
    """Return equal names once, with their number: ``8x A, 2x B``."""
    return ", ".join(f"{names.count(name)}x {name}" for name in dict.fromkeys(names))
