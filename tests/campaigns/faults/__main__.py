"""Put every command that writes through faults, and print a table: ``python -m tests.campaigns.faults [--kills N]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from tests.campaigns.faults.case import Case, State
from tests.campaigns.faults.engines import everything
from tests.campaigns.faults.layer import preload, why_not
from tests.campaigns.faults.place import Place, Tally

FAULTS = ("kills", "errors", "power cuts", "two at once", "vanished", "clock")
COLUMNS = ("command", *FAULTS, *State, "leftovers cleaned")


def row_of(name: str, tally: Tally) -> str:
    """A row of the table."""
    counts = [tally.faults[fault] for fault in FAULTS]
    states = [tally.states[state] for state in State if state is not State.BROKEN]
    cells = [f"`{name}`", *counts, *states, len(tally.broken), tally.cleaned]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """The status: 1 where anything is broken, 2 where faults cannot be made here."""
    asked = argparse.ArgumentParser(prog="python -m tests.campaigns.faults", description=__doc__)
    asked.add_argument("--kills", type=int, default=200, help="kills of each command; other faults in proportion")
    asked.add_argument("--only", action="append", default=[], metavar="COMMAND", help="only this command; repeatable")
    asked.add_argument("--faults", action="append", default=[], metavar="KIND", choices=FAULTS, help="only this kind")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--cases", default="tests.campaigns.faults.cases", help="module of the cases")
    words = asked.parse_args()
    if reason := why_not():
        print(reason, file=sys.stderr)
        return 2
    preload()
    cases: tuple[Case, ...] = import_module(words.cases).CASES
    chosen = [case for case in cases if not words.only or case.name in words.only]
    if not chosen:
        asked.error(f"no such command; there are {', '.join(case.name for case in cases)}")
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    broken: list[str] = []
    for case in chosen:
        broken += _put_through(case, words.kills, words.seed, words.faults)
    for one in broken:
        print(f"- {one}")
    return 1 if broken else 0


def _put_through(case: Case, count: int, seed: int, only: list[str]) -> list[str]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-", dir=_fast_disk()) as base:
        place = Place(case, Path(base))
        for kind, engine in everything(count, seed, case.name):
            if not only or kind in only:
                engine(place)
    print(row_of(case.name, place.tally), flush=True)
    print(f"{case.name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return place.tally.broken


def _fast_disk() -> str | None:
    """A folder in memory, where there is one: what a disk keeps of it is modelled, not tried."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() else None


if __name__ == "__main__":
    sys.exit(main())
