"""Time mlsub against the official tool on the same tree: whole processes, in turn, one ratio a pair.

Absolute times say little on a shared machine, so each round runs both commands back to back and the median of the
ratios is what counts. The official tool writes into the tree it checks, so it gets a copy.

    python bench/run.py [--tree PATH] [--pairs N]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import recorder_cost

REPOSITORY = Path(__file__).resolve().parents[1]
DEFAULT_TREE = REPOSITORY.parent / "shared" / "corpus" / "v1.0" / "Graphcore"


def seconds(command: list[str], folder: Path) -> float:
    """Wall time of a whole process in seconds."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def pairs(ours: list[str], theirs: list[str], folder: Path, count: int) -> list[tuple[float, float]]:
    """Wall times of both commands, run in turn, after one run of each that does not count."""
    seconds(ours, folder)
    seconds(theirs, folder)
    return [(seconds(ours, folder), seconds(theirs, folder)) for _ in range(count)]


def report(title: str, times: list[tuple[float, float]]) -> None:
    """Print medians and the median ratio."""
    ours = statistics.median(a for a, _ in times)
    theirs = statistics.median(b for _, b in times)
    ratios = sorted(a / b for a, b in times)
    print(
        f"{title}: {ours:.3f} s against {theirs:.3f} s, "
        f"ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}, {len(ratios)} pairs)"
    )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=DEFAULT_TREE, help="an organisation's tree of a known round")
    parser.add_argument("--round", default="1.0", help="its round")
    parser.add_argument("--pairs", type=int, default=7)
    options = parser.parse_args()
    if not options.tree.is_dir():
        print(f"bench: {options.tree} is not there; name a published tree with --tree", file=sys.stderr)
        return 2
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / "official"
        shutil.copytree(options.tree, copy, copy_function=shutil.copyfile)
        check = [python, "-m", "mlsub", "check", "--round", options.round, "--usage", "training"]
        official = [python, "-m", "mlperf_logging.package_checker", str(copy), "training", f"{options.round}.0"]
        title = f"check {options.tree.parent.name}/{options.tree.name}, against the official package checker"
        report(title, pairs([*check, str(options.tree)], official, folder, options.pairs))
    start = [seconds([python, "-m", "mlsub", "--version"], REPOSITORY) for _ in range(options.pairs)]
    print(f"mlsub --version: {statistics.median(start):.3f} s ({min(start):.3f} to {max(start):.3f})")
    with tempfile.TemporaryDirectory() as name:
        recorder_cost.report(Path(name), options.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
