"""A long, seeded search for logs on which mlsub and the official checker differ; goes on where it was stopped.

Usage: python bench/parity_long.py [--seed TEXT] [--mutants N] [--state FILE]. Exit status 1 on any disagreement.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.differential.compare import Both, disagreements
from tests.differential.mutate import mutant, stated_rules
from tests.differential.sources import Source, generated_sources, published_sources

#: Mutants between two records of the progress.
STEP = 50


class State:
    """How far the search has come, kept in a file that is always whole."""

    def __init__(self, file: Path, seed: str) -> None:
        self.file = file
        self.seed = seed
        self.done: dict[str, int] = {}
        self.found: list[dict[str, str]] = []
        self.stopped = False
        if file.exists():
            self._resume(json.loads(file.read_text(encoding="utf-8")))

    def _resume(self, content: dict[str, Any]) -> None:
        if content["seed"] != self.seed:
            raise SystemExit(
                f"{self.file} is of seed {content['seed']!r}: give that seed, another --state, or remove the file"
            )
        self.done, self.found = content["done"], content["found"]

    def stop(self, *_: object) -> None:
        """Stop after the current step. The official checker swallows an interrupt and would answer something else."""
        self.stopped = True

    def save(self) -> None:
        """Write beside the file, then put it in its place: an interruption leaves the old one or the new one."""
        content = {"seed": self.seed, "done": self.done, "found": self.found}
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        beside.write_text(json.dumps(content, indent=1), encoding="utf-8")
        beside.replace(self.file)

    def add(self, source: Source, both: Both) -> None:
        """Keep a disagreement, with its log for inspection."""
        log = self.file.with_name(f"{self.file.stem}-{self.seed}-{len(self.found):04}.log".replace("/", "_"))
        log.write_bytes(both.mutant.content)
        self.found.append({"round": source.combination.round, "log": log.name, "what": both.describe()})
        print(f"\n{both.describe()}\n  saved as {log}", flush=True)


def main() -> int:
    """Search every source in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", default="long", help="another seed makes other mutants")
    parser.add_argument("--mutants", type=int, default=2000, help="for each combination (default 2000)")
    parser.add_argument(
        "--state", type=Path, default=Path(tempfile.gettempdir()) / "mlsub-parity-long.json", help="where progress is"
    )
    options = parser.parse_args()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    state = State(options.state, options.seed)
    signal.signal(signal.SIGINT, state.stop)
    print(f"progress in {state.file}; {sum(state.done.values())} mutants done before")
    begin = time.monotonic()
    for source in (*generated_sources(), *published_sources()):
        _search(source, options.mutants, state)
        if state.stopped:
            print("\nstopped; the same command goes on from here")
            break
        print(f"{time.monotonic() - begin:7.0f} s  {state.done.get(source.name, 0):6}  {source.name}", flush=True)
    total, found = sum(state.done.values()), len(state.found)
    print(f"{total} mutants, {found} disagreements" + (f", kept in {state.file}" if found else ""))
    return 1 if found else 0


def _search(source: Source, wanted: int, state: State) -> None:
    log, number = source.log(), source.number(wanted)
    rules = stated_rules(log, source.combination)
    with tempfile.TemporaryDirectory() as scratch:
        while not state.stopped and (done := state.done.get(source.name, 0)) < number:
            until = min(number, done + STEP)
            batch = (mutant(log, rules, f"{state.seed}/{source.name}/{place}") for place in range(done, until))
            for both in disagreements(batch, source.combination.round, Path(scratch) / "log.txt"):
                state.add(source, both)
            state.done[source.name] = until
            state.save()


if __name__ == "__main__":
    sys.exit(main())
