"""Time mlsub beside a floor script and the official tools: the table of cases is tools/bench/cases.py.

    python tools/bench/run.py [--only TEXT ...] [--pairs N] [--no-official]

Trees are the published packages beside the repository, and generated ones, which are kept below build/bench. mlsub is
what its users have: a wheel in an environment of its own. Commands that are compared run in turn, as whole processes;
what counts is the median of the ratios.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.bench.cases import CASES, COMMANDS, OFFICIAL, OTHERS, RECORDS, TREES, Case, Tree
from tools.bench.cluster import cluster
from tools.bench.installed import installed
from tools.bench.measure import Command, cost, in_turn, memory
from tools.bench.results import MB, REPOSITORY, Line, here

BENCH = REPOSITORY / "tools" / "bench"
KEPT = REPOSITORY / "build" / "bench"
PUBLISHED = REPOSITORY.parent / "shared" / "corpus"
_NO_CACHE = {True: " --no-cache", False: ""}


def main() -> int:
    """Run the cases, and print a line for each, with its targets."""
    options = _options()
    cases = [case for case in CASES if not options.only or any(text in case.name for text in options.only)]
    print(f"{here()}, {options.pairs} pairs")
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="mlsub-bench-") as scratch:
            line = measured(case, Path(scratch), options)
        print(line.shown(), flush=True)
        for target in case.targets:
            print(f"  {target.shown(getattr(line, target.figure))}", flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("--pairs", type=int, default=5, help="how often each command counts (default 5)")
    parser.add_argument("--published", type=Path, default=PUBLISHED, help="a folder of rounds with published packages")
    parser.add_argument("--no-official", action="store_true", help="leave the official tools out, which take longest")
    return parser.parse_args()


def measured(case: Case, scratch: Path, options: argparse.Namespace) -> Line:
    """The figures of a case; ``scratch`` is an empty folder."""
    tree, below = place(TREES[case.tree], options.published, scratch)
    against = [name for name in case.against if not (options.no_official and name in OFFICIAL)]
    words = [COMMANDS[case.command] + _NO_CACHE[case.cache == "off"], *(OTHERS[name] for name in against)]
    home, out, copy = scratch / "home", scratch / "out", scratch / "copy" / below
    home.mkdir()
    if any("{copy}" in line for line in words):
        shutil.copytree(tree, copy, copy_function=shutil.copyfile)
    environment = {
        "PATH": os.pathsep.join((str(installed(KEPT)), os.environ["PATH"])),
        "PYTHONDONTWRITEBYTECODE": "",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    made_anew = () if case.cache == "warm" else (home / "cache", out, out.with_suffix(".duckdb"))
    with cluster(scratch, environment) if "{scheduler}" in words[0] else nullcontext() as scheduler:
        values = {"tree": tree, "copy": copy, "out": out, "bench": BENCH, "records": RECORDS, "scheduler": scheduler}
        ours, *others = (
            Command(tuple(line.format_map(values).split()), scratch, environment, made_anew) for line in words
        )
        if case.cache == "warm":
            cost(ours)
        used = memory(ours)
        # The others make the same place anew.
        written = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / MB
        costs, *theirs = in_turn([ours, *others], options.pairs)
    if failed := [one.status for one in costs if one.status not in (0, 1)]:
        raise SystemExit(f"{case.name}: {' '.join(ours.words)} ended with {failed[0]}")
    size = (0, RECORDS) if "{records}" in words[0] else _size(tree)
    return Line(case.name, *size, costs, dict(zip(against, theirs, strict=True)), used, written)


def _size(tree: Path) -> tuple[int, int]:
    """Logs and records of a tree. Counted in another process: the memory of this one counts in those it starts."""
    done = subprocess.run([sys.executable, str(BENCH / "floor.py"), str(tree)], check=True, capture_output=True)
    logs, _, records, _ = done.stdout.split()
    return int(logs), int(records)


def place(tree: Tree, published: Path, scratch: Path) -> tuple[Path, str]:
    """Where a tree lies, made where it is a generated one, and its path below the folder of rounds."""
    there = tree.published is not None and published.is_dir()
    if tree.times > 1:
        return _repeated(published if there else _generated(tree.logs), scratch / "rounds", tree.times), ""
    if there and tree.published is not None:
        return published / tree.published, tree.published
    if tree.logs == 0:
        (scratch / "empty").mkdir()
        return scratch / "empty", ""
    return _generated(tree.logs) / tree.generated, tree.generated


def _repeated(rounds: Path, to: Path, times: int) -> Path:
    """Return a folder of rounds in which each organisation is there several times, under names of its own."""
    for organisation in sorted(rounds.glob("*/*/")):
        for number in range(times):
            name = f"{organisation.name}-{number}" if number else organisation.name
            shutil.copytree(organisation, to / organisation.parent.name / name, copy_function=_linked)
    return to


def _linked(source: str, to: str) -> None:
    """Link a file, or copy it to another file system."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copyfile(source, to)


def _generated(logs: int) -> Path:
    """A generated tree, kept for the next time: another one when what makes it has changed."""
    makers = (BENCH / "tree.py", REPOSITORY / "tools" / "oracle" / "generate.py")
    digest = hashlib.sha256(b"".join(maker.read_bytes() for maker in makers)).hexdigest()[:8]
    folder = KEPT / f"{logs}-logs-{digest}"
    if not folder.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, str(BENCH / "tree.py"), str(logs), str(folder)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder


if __name__ == "__main__":
    sys.exit(main())
