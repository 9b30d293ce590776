"""Make the reference points anew: ``python -m mlsub.commands.demo.reference [FOLDER]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mlsub.commands.demo.reference import SIZES, build_reference
from mlsub.convergence.reference import REHEARSAL
from mlsub.io.output import write_file


def main() -> int:
    """Train, build and write; exit status 1 where the runs are no reference."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REHEARSAL
    for benchmark in SIZES:
        built = build_reference(benchmark, lambda name, size, runs: print(f"{name}, batch size {size}: {runs} runs"))
        for problem in built.problems:
            print(problem, file=sys.stderr)
        if built.problems:
            return 1
        content = json.dumps(built.records, indent=2) + "\n"
        write_file(folder / f"rcps_{benchmark}.json", content.encode("ascii"), force=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
