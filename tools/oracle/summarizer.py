"""The official result summarizer, the installed one and that of each round's day, asked about system descriptions."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import chdir, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tools.oracle.generate import usage_and_round
from tools.support.corpus import SHARED

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.result_summarizer import result_summarizer

#: The history of the official tool.
HISTORY = SHARED / "upstream" / "mlcommons-logging.bundle"
#: The release that submitters had at the deadline of each round.
RELEASES = {
    "0.7": "0.7.0-rc4",
    "1.0": "1.0.0",
    "1.1": "1.1.0-rc4",
    "2.0": "2.0.0-rc4",
    "2.1": "2.1.0-rc3",
    "3.0": "3.0.0-rc2",
    "3.1": "3.1.0-rc3",
    "4.0": "4.0.0-rc3-rcp-prunning",
    "4.1": "4.1.0-rc4",
    "5.0": "5.0.0-rc3",
    "5.1": "5.1.0-rc4",
    "6.0": "6.0.0-rc6",
    "6.1": "master",
    "hpc-1.0": "hpc-1.0.0-rc2",
    "hpc-2.0": "2.0.0",
    "hpc-3.0": "hpc-3.0.0",
}
_FILE = "mlperf_logging/result_summarizer/result_summarizer.py"


def fetch_history(folder: Path) -> None:
    """Unpack the history into a new folder."""
    subprocess.run(["git", "clone", "--quiet", "--bare", str(HISTORY), str(folder / "git")], check=True)


def of_history(history: Path, commit: str, file: str) -> str:
    """A file of the official tool as it was."""
    asked = ["git", "-C", str(history / "git"), "show", f"{commit}:{file}"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def summarizer_of(round_id: str, history: Path) -> ModuleType:
    """The summarizer of a round's day, which uses the installed checker."""
    source = of_history(history, RELEASES[round_id], _FILE)
    module = ModuleType(f"mlperf_logging.result_summarizer.of_{round_id.replace('.', '_').replace('-', '_')}")
    module.__package__ = "mlperf_logging.result_summarizer"
    exec(compile(source, f"{RELEASES[round_id]}/{_FILE}", "exec"), module.__dict__)  # noqa: S102  (the official tool)
    return module


def crash_of(
    above: Path, round_id: str, descriptions: Sequence[dict[str, Any]], module: ModuleType = result_summarizer
) -> str | None:
    """The exception that the summarizer ends in on systems without results, None for none.

    Args:
        above: an empty folder.
        round_id: such as ``5.1`` or ``hpc-3.0``.
        descriptions: one a system.
        module: the summarizer.
    """
    usage, name = usage_and_round(round_id)
    organisation = above / "ACME"
    (organisation / "systems").mkdir(parents=True)
    for number, description in enumerate(descriptions):
        (organisation / "results" / f"rack{number}" / ("strong" if usage == "hpc" else "")).mkdir(parents=True)
        (organisation / "systems" / f"rack{number}.json").write_text(json.dumps(description))
    argv = ["result_summarizer", str(organisation), usage, f"{name}.0"]
    printed = TextIOWrapper(BytesIO(), encoding="utf-8")
    # The newer ones write summary.json where they are.
    with chdir(above), patch.object(sys, "argv", argv), redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module.main()
            printed.flush()
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
    return None
