"""A long, seeded search for cases on which two sides differ: numbered tries, both cores, goes on where it was stopped.

Every try is made of the seed and its number alone, so that any of them can be made again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

#: Tries after which the state is written.
CHUNK = 100
#: Where files are read and written without a disk.
_MEMORY = Path("/dev/shm")


class Outcome(NamedTuple):
    """A word on how a try ended, for the figures, and what is wrong with it; None where both sides agree."""

    word: str
    problem: str | None = None


class Search(NamedTuple):
    """What is searched: ``noun`` are the things tried, ``attempt`` makes one of a seed and a number in a folder."""

    noun: str
    attempt: Callable[[str, int, Path], Outcome]


class Done(NamedTuple):
    """What came of a chunk of tries."""

    outcomes: dict[str, int]
    problems: list[str]


class State:
    """How far a search has come, in a file that is always whole."""

    def __init__(self, file: Path, noun: str, seed: str) -> None:
        self.file, self.seed, self.noun = file, seed, noun
        self.done: dict[str, dict[str, int]] = {}
        self.problems: list[str] = []
        self.stopped = False
        if file.exists():
            self._resume(json.loads(file.read_text(encoding="utf-8")))

    def _resume(self, content: dict[str, Any]) -> None:
        if (content["noun"], content["seed"]) != (self.noun, self.seed):
            raise SystemExit(
                f"{self.file} is of {content['noun']} and seed {content['seed']!r}: give another --state or remove it"
            )
        self.done, self.problems = content["done"], content["problems"]

    def stop(self, *_: object) -> None:
        """Stop when the chunks that have begun are over."""
        self.stopped = True

    def add(self, chunk: range, done: Done) -> None:
        """Keep what came of a chunk."""
        self.done[f"{chunk.start}-{chunk.stop}"] = done.outcomes
        self.problems += done.problems
        for problem in done.problems:
            print(f"\n{problem}", flush=True)
        content = {"noun": self.noun, "seed": self.seed, "done": self.done, "problems": self.problems}
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        beside.write_text(json.dumps(content, indent=1), encoding="utf-8")
        beside.replace(self.file)

    @property
    def figures(self) -> Counter[str]:
        """How many tries ended in each way."""
        figures: Counter[str] = Counter()
        for outcomes in self.done.values():
            figures.update(outcomes)
        return figures


def chunks(number: int, done: Sequence[str] = ()) -> Iterator[range]:
    """The tries from 0 to ``number`` in chunks, without those that are done."""
    for start in range(0, number, CHUNK):
        chunk = range(start, min(number, start + CHUNK))
        if f"{chunk.start}-{chunk.stop}" not in done:
            yield chunk


def scratch() -> Path:
    """Where the files of a try belong: in memory, where there is such a place."""
    return _MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir())


def searched(search: Search, seed: str, chunk: Sequence[int]) -> Done:
    """Make the tries of a chunk, one after the other, each in an empty folder."""
    outcomes: Counter[str] = Counter()
    problems: list[str] = []
    for number in chunk:
        with tempfile.TemporaryDirectory(dir=scratch(), prefix="mlsub-search-") as folder:
            try:
                outcome = search.attempt(seed, number, Path(folder))
            except Exception:
                outcome = Outcome("crash of a try", traceback.format_exc())
        outcomes[outcome.word] += 1
        if outcome.problem is not None:
            problems.append(f"{search.noun} {seed} {number}: {outcome.problem}")
    return Done(dict(outcomes), problems)


def run(search: Search) -> int:
    """Search as the command line asks; exit status 1 on any difference."""
    options = _options(search.noun)
    options.state.parent.mkdir(parents=True, exist_ok=True)
    state = State(options.state, search.noun, options.seed)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, state.stop)
    before, begin = sum(state.figures.values()), time.monotonic()
    print(f"progress in {state.file}; {before} {search.noun} done before", flush=True)
    _search_all(search, options, state)
    if state.stopped:
        print("stopped; the same command goes on from here")
    _print(state, before, time.monotonic() - begin)
    return 1 if state.problems else 0


def _search_all(search: Search, options: argparse.Namespace, state: State) -> None:
    waiting = iter(list(chunks(options.number, list(state.done))))
    with ProcessPoolExecutor(options.jobs, initializer=_ignore_interrupts) as pool:

        def start(some: Iterator[range]) -> dict[Future[Done], range]:
            return {pool.submit(searched, search, state.seed, chunk): chunk for chunk in some}

        # A few ahead of those at work, so that stopping does not take long.
        running = start(islice(waiting, options.jobs + 1))
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                state.add(running.pop(future), future.result())
                if not state.stopped:
                    running.update(start(islice(waiting, 1)))


def _ignore_interrupts() -> None:
    """The official checker would swallow one in the middle of a check, and answer something else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _options(noun: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Search for {noun} on which mlsub and the official tools differ.")
    parser.add_argument("--seed", default="long", help=f"another seed makes other {noun}")
    parser.add_argument(f"--{noun}", dest="number", type=int, default=1000, metavar="N", help="how many to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes")
    default = Path(tempfile.gettempdir()) / f"mlsub-{noun}.json"
    parser.add_argument("--state", type=Path, default=default, metavar="FILE", help="where progress is kept")
    return parser.parse_args()


def _print(state: State, before: int, seconds: float) -> None:
    for word, count in sorted(state.figures.items()):
        print(f"{count:8} {word}")
    total = sum(state.figures.values())
    rate = (total - before) / seconds if seconds else 0
    print(f"{total} {state.noun}, {len(state.problems)} differences, {seconds:.0f} s, {rate:.0f} a second")


def main_of(search: Search) -> None:
    """The end of a module that can be started."""
    sys.exit(run(search))
