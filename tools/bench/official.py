"""Run an official tool on each organisation below a folder, as its users do: a process each, one after the other.

python tools/bench/official.py package_checker|result_summarizer FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Folders between a tree and its organisations: none, a round, rounds.
DEPTHS = ("results", "*/results", "*/*/results")


def organisations(tree: Path) -> Iterator[tuple[Path, str, str]]:
    """The organisations of a tree, each with its usage and ruleset, as the folder of its round names them."""
    for depth in DEPTHS:
        for results in sorted(tree.glob(depth)):
            usage, _, round_ = results.parents[1].name.rpartition("v")
            yield results.parent, usage.rstrip("-") or "training", f"{round_}.0"


if __name__ == "__main__":
    tool, tree = sys.argv[1:]
    for organisation, usage, ruleset in organisations(Path(tree)):
        words = [sys.executable, "-m", f"mlperf_logging.{tool}", str(organisation), usage, ruleset]
        subprocess.run(words, check=False)
