"""Search for logs, entries, scores and packages on which mlsub and the official tools differ, each made of a seed.

``python -m tools.campaigns.parity`` ends with 1 on any difference; logs that differ are saved in build/parity.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools.oracle import entries, faults, scores
from tools.oracle.compare import disagrees, judge_both, known_deviation
from tools.oracle.phases import PHASES, Task, logs_of

#: Tries are made in memory, where there is such a place.
_SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None
_SAVED = Path("build/parity")
#: Tries of a task, and logs of one.
_CHUNK, _PIECE = 100, 2500
#: What is numbered: a try has a ``word`` for the figures, and a ``problem`` where something differs.
NUMBERED: dict[str, Callable[[str, int, Path], entries.Both | scores.Both | faults.Tried]] = {
    "entries": lambda seed, number, above: entries.tried(entries.entry_case(seed, number, above), above),
    "scores": scores.tried,
    "packages": faults.tried,
}


class Done(NamedTuple):
    """What came of a task: how many tries ended in each way, and what differs."""

    outcomes: Counter[str]
    problems: list[str]


def try_numbers(noun: str, seed: str, numbers: range) -> Done:
    """Make numbered tries, one after the other, each in an empty folder."""
    done = Done(Counter(), [])
    for number in numbers:
        with tempfile.TemporaryDirectory(dir=_SCRATCH) as folder:
            try:
                made = NUMBERED[noun](seed, number, Path(folder))
                word, problem = made.word, made.problem
            except Exception:
                word, problem = "crash of a try", traceback.format_exc()
        done.outcomes[f"{noun}: {word}"] += 1
        if problem is not None:
            done.problems.append(f"{noun} {seed} {number}: {problem}")
    return done


def try_logs(seed: str, task: Task) -> Done:
    """Ask both sides about the logs of a task."""
    done = Done(Counter(), [])
    with tempfile.TemporaryDirectory(dir=_SCRATCH) as folder:
        file = Path(folder) / "log.txt"
        for changed in logs_of(task, seed, file):
            if changed is None:
                continue
            both = judge_both(changed, task.source.combination.round, file)
            known = known_deviation(both) if disagrees(both) else None
            word = known or ("compliant" if both.theirs.compliant else "rejected")
            done.outcomes[f"logs, {task.phase}: {word}"] += 1
            if disagrees(both) and known is None:
                done.problems.append(f"{both.describe()}\n  saved as {_saved(task, changed.content)}")
    return done


def _saved(task: Task, content: bytes) -> Path:
    _SAVED.mkdir(parents=True, exist_ok=True)
    name = f"{task.source.name}-{hashlib.sha256(content).hexdigest()[:8]}.log".replace("/", "_")
    (_SAVED / name).write_bytes(content)
    return _SAVED / name


def tasks_of_logs(logs: int, only: str = "") -> Iterator[Task]:
    """Give each phase its share, its sources alike, and fewer logs to those that take long."""
    for phase in PHASES:
        every = phase.sources()
        weights = {source.name: source.weight() for source in every}
        share = logs * phase.share / (sum(weights.values()) or 1)
        for source in every:
            number = max(1, round(share * weights[source.name])) if only in source.name else 0
            for first in range(0, number, _PIECE):
                yield Task(phase.name, source, first, min(_PIECE, number - first))


def main() -> int:
    """Search as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m tools.campaigns.parity", description=__doc__)
    parser.add_argument("--seed", default="long", help="another seed makes others")
    parser.add_argument("--logs", type=int, default=1_050_000, help="about")
    parser.add_argument("--only", default="", help="logs whose source has this in its name: 5.1-, hpc-, -bert-")
    for noun, number in (("entries", 100_000), ("scores", 20_000), ("packages", 10_000)):
        parser.add_argument(f"--{noun}", type=int, default=number)
    asked = parser.parse_args()
    outcomes: Counter[str] = Counter()
    differing = 0
    # The official checker would swallow an interrupt in the middle of a check, and answer something else.
    with ProcessPoolExecutor(initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        tasks = tasks_of_logs(asked.logs, asked.only) if asked.logs else ()
        jobs = [pool.submit(try_logs, asked.seed, task) for task in tasks]
        for noun in NUMBERED:
            numbers = range(getattr(asked, noun))
            chunks = (numbers[first : first + _CHUNK] for first in numbers[::_CHUNK])
            jobs += [pool.submit(try_numbers, noun, asked.seed, chunk) for chunk in chunks]
        for job in jobs:
            done = job.result()
            outcomes.update(done.outcomes)
            differing += len(done.problems)
            for problem in done.problems:
                print(f"{problem}\n", flush=True)
    for word, count in sorted(outcomes.items()):
        print(f"{count:8} {word}")
    print(f"{outcomes.total()} tries, {differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
