"""Write a tree of N logs that looks like a published history, without published data: the same for the same seed.

    python tools/bench/tree.py N FOLDER [--seed TEXT]

FOLDER becomes a folder of rounds, each with organisations, systems and benchmarks. The logs are those that the rules of
the round ask for (tools/oracle/generate.py), about 520 records each, a few of 10,000, so that ``mlsub check``
accepts all entries but the last, which lacks runs where N ends within it.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mlsub.rules.load import entry_requirements
from tools.oracle.generate import Combination, combinations, compliant_log, line_of
from tools.support.make_tree import Tree

ROUNDS = ("6.0", "5.1", "5.0", "4.1", "4.0", "3.1", "3.0", "2.1", "2.0", "1.1", "1.0")
#: Benchmarks whose generated logs pass the convergence test of Closed; of the others there are entries in Open alone.
CLOSED = ("dlrm", "dlrm_dcnv2", "gnn", "minigo", "rgat")
#: Evaluations of the runs of an entry, about ten records each, and how many of 200 entries have so many.
EVALUATIONS = {6: 54, 12: 48, 25: 40, 60: 30, 200: 26, 1000: 2}
#: Logs that an organisation has in a round, or a few more, and its systems in each division.
PACKAGE_LOGS, SYSTEMS = 100, 2
STATUS = "Available on-premise"
#: What frameworks log between two evaluations, and no rule asks for.
UNASKED = (("tracked_stats", {"throughput": 1234.5678}), ("train_loss", 2.718281))
FIRST_MS, STEP_MS, PAUSE_MS = 1_620_000_000_000, 1000, 600_000
_TIME, _SEED, _ORGANISATION, _SYSTEM = "<time>", "<seed>", "<organisation>", "<system>"


class Package(NamedTuple):
    """What an organisation submits to a round."""

    round: str
    organisation: str
    entries: tuple[Entry, ...]


class Entry(NamedTuple):
    """The logs of a system and a benchmark: as many runs as the round asks for."""

    system: str
    combination: Combination
    evaluations: int
    runs: int


def main() -> int:
    """Write a tree beside its place, and put it there when it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=int, metavar="N")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", default="bench", help="another seed makes another tree")
    options = parser.parse_args()
    beside = options.folder.with_name(f"{options.folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    records = write(beside, options.logs, options.seed)
    beside.rename(options.folder)
    print(f"{options.folder}: {options.logs} logs, {records} records")
    return 0


def write(folder: Path, logs: int, seed: str = "bench") -> int:
    """Write a tree of so many logs, and count their records."""
    records, written, clock = 0, 0, FIRST_MS
    for package in packages(random.Random(seed)):
        tree = Tree(folder / f"v{package.round}" / package.organisation)
        for entry in package.entries:
            # With %d for the times of its records and, behind the second one, its seed.
            text = _pattern(entry.combination, entry.evaluations)
            text = text.replace(_ORGANISATION, package.organisation).replace(_SYSTEM, entry.system)
            number = text.count("\n")
            tree.add_system(entry.system, entry.combination.division, status=STATUS, system_name=entry.system)
            tree.add_code(entry.combination.benchmark, entry.system)
            place = tree.entry(entry.combination.benchmark, entry.system)
            place.mkdir(parents=True)
            for run in range(min(entry.runs, logs - written)):
                # Each run has its own start, seed and duration, or it would be a copy of another one.
                pace = STEP_MS + run
                times = range(clock, clock + number * pace, pace)
                (place / f"result_{run}.txt").write_text(text % (times[0], times[1], written, *times[2:]))
                clock = times[-1] + PAUSE_MS
                records += number
                written += 1
            if written == logs:
                return records
    raise AssertionError("packages() ended")


def packages(chance: random.Random) -> Iterator[Package]:
    """Packages without end: every round in turn, in each one organisation after the other."""
    systems = range(1, SYSTEMS + 1)
    lengths, weights = tuple(EVALUATIONS), tuple(EVALUATIONS.values())
    offered = [c for c in combinations() if c.division == "open" or c.benchmark in CLOSED]
    for number in count(1):
        for name in ROUNDS:
            entries: list[Entry] = []
            offers = [(f"{c.division}{system}", c) for c in offered if c.round == name for system in systems]
            chance.shuffle(offers)
            while offers and sum(entry.runs for entry in entries) < PACKAGE_LOGS:
                system, combination = offers.pop()
                runs = entry_requirements("training", name, combination.benchmark).runs
                entries.append(Entry(system, combination, chance.choices(lengths, weights)[0], runs))
            yield Package(name, f"Organisation{number}", tuple(entries))


@cache
def _pattern(combination: Combination, evaluations: int) -> str:
    lines = [line_of({**record, "time_ms": _TIME}) for record in _records(combination, evaluations)]
    text = "".join(f"{line}\n" for line in lines).replace("%", "%%")
    return text.replace(f'"{_TIME}"', "%d").replace(f'"{_SEED}"', "%d")


def _records(combination: Combination, evaluations: int) -> Iterator[dict[str, Any]]:
    said = {"submission_org": _ORGANISATION, "submission_platform": _SYSTEM}
    for place, record in enumerate(compliant_log(combination, evaluations)):
        if place == 1:
            yield {**record, "event_type": "POINT_IN_TIME", "key": "seed", "value": _SEED}
        if record["key"] != "seed":
            yield {**record, "value": said.get(record["key"], record["value"])}
        if record["key"] == "block_start":
            for key, value in UNASKED:
                yield {**record, "event_type": "POINT_IN_TIME", "key": key, "value": value}


if __name__ == "__main__":
    sys.exit(main())
