"""Put every command that writes through faults, and print a table: ``python -m tools.campaigns.faults [--kills N]``."""

from __future__ import annotations

import argparse
import sys

from tools.campaigns.faults.cases import CASES
from tools.campaigns.faults.engine import State, put_through


def main() -> int:
    """Return 1 where anything is broken."""
    asked = argparse.ArgumentParser(prog="python -m tools.campaigns.faults", description=__doc__)
    asked.add_argument("--kills", type=int, default=200, help="kills of each command; errors in proportion")
    asked.add_argument("--only", action="append", default=[], metavar="COMMAND", help="repeatable")
    words = asked.parse_args()
    columns, broken = ("kills", "errors", *State), []
    print(f"| command | calls | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 2)}")
    for case in CASES:
        if not words.only or case.name in words.only:
            place = put_through(case, words.kills)
            cells = (f"`{case.name}`", len(place.calls), *(place.counts[column] for column in columns))
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            broken += place.broken
    print("\n".join(f"- {one}" for one in broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
