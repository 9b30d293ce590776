"""Measure what is large, and print a table: ``python -m tools.campaigns.limits [--gigabytes N] [WORD ...]``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tools.campaigns.limits.sizes import Size, emptied, sizes

REPOSITORY = Path(__file__).parents[3]


@dataclass(frozen=True)
class Measured:
    """What a command took and answered: seconds of wall clock and of CPU, MiB of its largest process, and flaws."""

    seconds: float
    cpu: float
    megabytes: int
    answer: int
    flaws: tuple[str, ...]


def measure(size: Size, folder: Path) -> Measured:
    """Make it, and read it in a process of its own."""
    words = size.make(emptied(folder / "made"))
    with (folder / "answer").open("w+b") as answer:
        begin = time.perf_counter()
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}
        actions = [(os.POSIX_SPAWN_DUP2, answer.fileno(), 1), (os.POSIX_SPAWN_DUP2, answer.fileno(), 2)]
        process = os.posix_spawn(
            sys.executable, [sys.executable, "-m", "mlsub", *words], environment, file_actions=actions
        )
        _, ended, used = os.wait4(process, 0)
        took = time.perf_counter() - begin
        answer.seek(0)
        said = answer.read()
    megabytes = used.ru_maxrss >> 10
    flaws = [f"does not say {text.decode()!r}" for text in size.says if text not in said]
    if (status := os.waitstatus_to_exitcode(ended)) != size.status:
        flaws.append(f"exit status {status}, expected {size.status}: {said[-300:].decode(errors='replace')!r}")
    if megabytes > size.megabytes:
        flaws.append(f"{megabytes} MiB of memory, expected {size.megabytes} at most")
    if len(said) > size.answer:
        flaws.append(f"an answer of {len(said)} bytes, expected {size.answer} at most")
    if b"Traceback" in said:
        flaws.append("a traceback")
    return Measured(took, used.ru_utime + used.ru_stime, megabytes, len(said), tuple(flaws))


def main() -> int:
    """Measure all, or those with one of the words in their name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--gigabytes", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    chosen = [
        size for size in sizes(asked.gigabytes) if not asked.words or any(word in size.what for word in asked.words)
    ]
    print("| input | seconds | CPU seconds | peak memory, MiB | answer, bytes |\n|---|---|---|---|---|", flush=True)
    flaws = []
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for size in chosen:
            found = measure(size, Path(folder))
            row = (size.what, f"{found.seconds:.1f}", f"{found.cpu:.1f}", found.megabytes, f"{found.answer:,}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)
            flaws += [f"{size.what}: {flaw}" for flaw in found.flaws]
    print(*flaws, sep="\n", end="\n" if flaws else "")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
