"""A long, seeded search for logs on which mlsub and the official checker differ; goes on where it was stopped.

Usage: python bench/parity_long.py [--logs N] [--seed TEXT] [--only TEXT] [--phase NAME] [--jobs N]
[--state FILE] [--output FOLDER]
Exit status 1 on any disagreement.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.parity_state import Searched, State, full_name, tables
from tests.differential.compare import disagrees, judge_both, known_deviation
from tests.differential.phases import PHASES, Task, logs_of

#: A task has so many logs at most, so that stopping takes some seconds.
PIECE = 2500
#: Logs are written here, in memory, where there is such a place.
MEMORY = Path("/dev/shm")  # noqa: S108  (below it, a folder of its own)


def main() -> int:
    """Search all that is asked for, both cores at work."""
    options = _options()
    options.state.parent.mkdir(parents=True, exist_ok=True)
    state = State(options.state, options.seed, options.output)
    signal.signal(signal.SIGINT, state.stop)
    print(f"progress in {state.file}; {state.logs()} logs done before")
    wanted = list(_wanted(options.logs, options.only, options.phase))
    begin, before = time.monotonic(), state.logs()
    _search_all(wanted, options.jobs, state)
    if state.stopped:
        print("stopped; the same command goes on from here")
    print(tables(state))
    print(f"{state.logs() - before} logs in {time.monotonic() - begin:.0f} s; {state.logs()} in all", end="")
    print(f", {len(state.found)} differences; kept in {state.file}")
    return 1 if state.found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--logs", type=int, default=1_000_000, help="in all, about (default 1,000,000)")
    parser.add_argument("--seed", default="long", help="another seed makes other logs")
    parser.add_argument("--only", default="", help="logs whose name has this text: training-5.1, hpc-, -bert-")
    parser.add_argument("--phase", default="", help="phases whose name has this text: boundary, pairs, splices")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument(
        "--state", type=Path, default=Path(tempfile.gettempdir()) / "mlsub-parity-long.json", help="where progress is"
    )
    parser.add_argument("--output", type=Path, help="folder for the logs that differ (default: beside the progress)")
    return parser.parse_args()


def _wanted(logs: int, only: str, phase_name: str) -> Iterable[Task]:
    """What is to be searched: of each phase its share, of its sources alike, fewer of those that take long."""
    for phase in PHASES:
        if phase_name not in phase.name:
            continue
        every = phase.sources()
        weights = {source.name: source.weight() for source in every}
        share = logs * phase.share / (sum(weights.values()) or 1)
        for source in every:
            if only in full_name(source):
                yield Task(phase.name, source, 0, max(1, round(share * weights[source.name])))


def _search_all(wanted: list[Task], jobs: int, state: State) -> None:
    """One task more than there are processes, so that stopping does not take long; phases take turns."""
    waiting = deque(_in_turn([task for task in wanted if state.left(task)]))
    with ProcessPoolExecutor(jobs, initializer=_ignore_interrupts) as pool:
        running: dict[Future[Searched], Task] = {}
        while running or (waiting and not state.stopped):
            while waiting and len(running) <= jobs and not state.stopped:
                task = waiting.popleft()
                piece = task._replace(first=state.reached(task), number=min(PIECE, state.left(task)))
                running[pool.submit(search, piece, state.seed)] = task
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                state.add(task, future.result())
                if state.left(task):
                    waiting.append(task)


def _in_turn(tasks: list[Task]) -> list[Task]:
    """The tasks of all phases spread evenly, so that a search which is stopped has some of each."""
    numbers = {phase.name: sum(task.phase == phase.name for task in tasks) for phase in PHASES}
    place = dict.fromkeys(numbers, 0)
    when = []
    for task in tasks:
        place[task.phase] += 1
        when.append(place[task.phase] / numbers[task.phase])
    return [task for _, task in sorted(zip(when, tasks, strict=True), key=lambda pair: pair[0])]


def _ignore_interrupts() -> None:
    """The official checker would swallow one in the middle of a check, and answer something else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def search(task: Task, seed: str) -> Searched:
    """Ask both sides about the logs of a task."""
    begin, places, logs, rejected = time.process_time(), 0, 0, 0
    differing, named = [], []
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch:
        file = Path(scratch) / "log.txt"
        for changed in logs_of(task, seed, file):
            places += 1
            if changed is None:
                continue
            both = judge_both(changed, task.source.combination.round, file)
            logs, rejected = logs + 1, rejected + (not both.theirs.compliant)
            if disagrees(both):
                name = known_deviation(both)
                named += [name] if name else []
                differing += [] if name else [(both.describe(), changed.content)]
    spent = time.process_time() - begin
    return Searched(places, places < task.number, logs, rejected, spent, tuple(named), tuple(differing))


if __name__ == "__main__":
    sys.exit(main())
