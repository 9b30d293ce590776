"""A long, seeded search for logs on which mlsub and the official checker differ; goes on where it was stopped.

Usage: python bench/parity_long.py [--seed TEXT] [--mutants N] [--only TEXT] [--state FILE] [--output FOLDER] [--jobs N]
Exit status 1 on any disagreement.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.differential.compare import disagrees, judge_both
from tests.differential.mutate import mutant, stated_rules
from tests.differential.sources import Source, generated_sources, published_sources


class Searched(NamedTuple):
    """What came of the mutants of one log: how many, how many the official checker refused, and the differing ones."""

    mutants: int
    noncompliant: int
    differing: tuple[tuple[str, bytes], ...]


class State:
    """How far the search has come, kept in a file that is always whole."""

    def __init__(self, file: Path, seed: str, output: Path | None = None) -> None:
        self.file = file
        self.output = output or file.with_name(f"{file.stem}-differing")
        self.seed = seed
        self.done: dict[str, list[int]] = {}
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
        """Stop when the searches that have begun are over."""
        self.stopped = True

    def is_done(self, source: Source, wanted: int) -> bool:
        """Whether a log has been searched with so many mutants already."""
        return self.done.get(source.name, [0])[0] >= source.number(wanted)

    def add(self, source: Source, searched: Searched) -> None:
        """Keep what came of a log, and each disagreement with its mutant for inspection."""
        self.done[source.name] = [searched.mutants, searched.noncompliant]
        for description, content in searched.differing:
            name = f"{source.name}-{self.seed}-{len(self.found):04}.log".replace("/", "_")
            self.output.mkdir(parents=True, exist_ok=True)
            (self.output / name).write_bytes(content)
            self.found.append({"round": source.combination.round, "log": name, "what": description})
            print(f"\n{description}\n  saved as {self.output / name}", flush=True)
        self._save()

    def _save(self) -> None:
        """Write beside the file, then put it in its place: an interruption leaves the old one or the new one."""
        content = {"seed": self.seed, "done": self.done, "found": self.found}
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        beside.write_text(json.dumps(content, indent=1), encoding="utf-8")
        beside.replace(self.file)


def main() -> int:
    """Search every source, both cores at work."""
    options = _options()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    state = State(options.state, options.seed, options.output)
    signal.signal(signal.SIGINT, state.stop)
    print(f"progress in {state.file}; {sum(done[0] for done in state.done.values())} mutants done before")
    sources = [s for s in (*generated_sources(), *published_sources()) if options.only in full_name(s)]
    begin = time.monotonic()
    _search_all(sources, options.mutants, options.jobs, state)
    if state.stopped:
        print("stopped; the same command goes on from here")
    _table(sources, state)
    total, found = sum(done[0] for done in state.done.values()), len(state.found)
    print(f"{total} mutants, {found} disagreements, {time.monotonic() - begin:.0f} s" + f"; kept in {state.file}")
    return 1 if found else 0


def full_name(source: Source) -> str:
    """The name with the usage before it: training-5.1-bert-closed."""
    name = source.name
    return name if name.startswith("hpc-") else f"training-{name}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", default="long", help="another seed makes other mutants")
    parser.add_argument("--mutants", type=int, default=500, help="for each ruleset, benchmark and division")
    parser.add_argument("--only", default="", help="logs whose name has this text: training-5.1, hpc-, -bert-")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument(
        "--state", type=Path, default=Path(tempfile.gettempdir()) / "mlsub-parity-long.json", help="where progress is"
    )
    parser.add_argument("--output", type=Path, help="folder for the logs that differ (default: beside the progress)")
    return parser.parse_args()


def _search_all(sources: list[Source], wanted: int, jobs: int, state: State) -> None:
    """A few searches ahead of those at work, so that stopping does not take long."""
    waiting = iter([source for source in sources if not state.is_done(source, wanted)])
    with ProcessPoolExecutor(jobs, initializer=_ignore_interrupts) as pool:

        def start(some: Iterable[Source]) -> Iterator[tuple[Future[Searched], Source]]:
            for source in some:
                yield pool.submit(_search, source, wanted, state.seed), source

        running = dict(start(islice(waiting, jobs + 1)))
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                state.add(running.pop(future), future.result())
                if not state.stopped:
                    running.update(start(islice(waiting, 1)))


def _ignore_interrupts() -> None:
    """The official checker would swallow one in the middle of a check, and answer something else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _search(source: Source, wanted: int, seed: str) -> Searched:
    log, number = source.log(), source.number(wanted)
    rules = stated_rules(log, source.combination)
    noncompliant, differing = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for place in range(number):
            changed = mutant(log, rules, f"{seed}/{source.name}/{place}")
            both = judge_both(changed, source.combination.round, Path(scratch) / "log.txt")
            noncompliant += not both.theirs.compliant
            if disagrees(both):
                differing.append((both.describe(), changed.content))
    return Searched(number, noncompliant, tuple(differing))


def _table(sources: list[Source], state: State) -> None:
    """One line a ruleset: logs changed, mutants, how many of them the official checker refused, disagreements."""
    print(f"\n  {'ruleset':<9}{'logs':>6}{'mutants':>9}{'refused':>9}{'differ':>8}")
    for round_ in dict.fromkeys(source.combination.round for source in sources):
        done = [state.done[s.name] for s in sources if s.combination.round == round_ and s.name in state.done]
        mutants, refused = sum(d[0] for d in done), sum(d[1] for d in done)
        differ = sum(found["round"] == round_ for found in state.found)
        print(f"  {round_:<9}{len(done):>6}{mutants:>9}{refused / mutants if mutants else 0:>9.0%}{differ:>8}")
    print()


if __name__ == "__main__":
    sys.exit(main())
