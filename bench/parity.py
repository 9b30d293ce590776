"""Agreement of mlsub with the official verdicts, as a table: published logs, changed logs, and the rules tried.

Usage: python bench/parity.py [--mutants N] [--seed TEXT]. Exit status 1 on any disagreement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mlsub.judge.log import LogTask, judge_log
from tests.differential.compare import disagreements
from tests.differential.coverage import cover
from tests.differential.generate import ROUNDS, Combination, combinations, usage_and_round
from tests.differential.mutate import mutants
from tests.differential.shared import ABSENT, folder, present, recorded_logs
from tests.differential.sources import Source, generated_sources, published_sources

SHOWN = 10


class Figures(NamedTuple):
    """What came of one part, and the disagreements in words."""

    round: str
    counts: tuple[int, ...]
    problems: tuple[str, ...]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutants", type=int, default=220, help="changed logs for each combination (default 220)")
    parser.add_argument("--seed", default="parity", help="another seed makes other mutants")
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        problems = [
            *_table(
                "published logs against the verdicts recorded in the round's day",
                ("logs", "agree", "stricter", "laxer"),
                pool.map(_recorded, [name for name in ROUNDS if present() and folder(name).is_dir()]),
            ),
            *_table(
                "generated logs, changed at random, against the installed checker",
                ("mutants", "agree", "differ"),
                pool.map(partial(_changed, options.seed, options.mutants), generated_sources()),
            ),
            *_table(
                "published logs, changed at random, against the installed checker",
                ("mutants", "agree", "differ"),
                pool.map(partial(_changed, options.seed, options.mutants), published_sources()),
            ),
            *_table(
                "rules in force, each tried by mutants aimed at it",
                ("mutants", "on target", "demands", "hit", "of them rejecting", "hit"),
                pool.map(_covered, combinations()),
            ),
        ]
    for problem in problems[:SHOWN]:
        print(f"\n{problem}")
    print(f"\n{len(problems)} disagreements" if problems else "\nno disagreement")
    return 1 if problems else 0


def _table(title: str, columns: tuple[str, ...], rows: Iterator[Figures]) -> list[str]:
    """Print one table, a line a round, and return the problems."""
    sums: dict[str, list[int]] = {}
    problems: list[str] = []
    for row in rows:
        old = sums.get(row.round, [0] * len(columns))
        sums[row.round] = [one + other for one, other in zip(old, row.counts, strict=True)]
        problems += row.problems
    print(f"\n{title}")
    if not sums:
        print(f"  skipped: {ABSENT}")
        return problems
    print("  round  " + "  ".join(f"{column:>8}" for column in columns))
    for round_, counts in sorted(sums.items()):
        figures = "  ".join(f"{count:>{max(8, len(column))}}" for column, count in zip(columns, counts, strict=True))
        print(f"  {round_:<7}{figures}", flush=True)
    return problems


def _recorded(round_name: str) -> Figures:
    stricter, laxer = [], []
    recorded = recorded_logs(round_name)
    for path, answer in recorded.items():
        ours = judge_log(LogTask(str(folder(round_name) / path), path, *usage_and_round(round_name))).compliant
        if ours and not answer["compliant"]:
            laxer.append(f"v{round_name}/{path}: mlsub accepts what was rejected")
        elif answer["compliant"] and not ours:
            stricter.append(f"v{round_name}/{path}: mlsub rejects what was accepted")
    agree = len(recorded) - len(stricter) - len(laxer)
    return Figures(round_name, (len(recorded), agree, len(stricter), len(laxer)), (*stricter, *laxer))


def _changed(seed: str, wanted: int, source: Source) -> Figures:
    round_name, number = source.combination.round, source.number(wanted)
    with tempfile.TemporaryDirectory() as scratch:
        changed = mutants(source.log(), source.combination, f"{seed}/{source.name}", number)
        problems = tuple(both.describe() for both in disagreements(changed, round_name, Path(scratch) / "log.txt"))
    return Figures(round_name, (number, number - len(problems), len(problems)), problems)


def _covered(combination: Combination) -> Figures:
    with tempfile.TemporaryDirectory() as scratch:
        covered = cover(combination, Path(scratch) / "log.txt")
    hit = covered.demanded & covered.hit
    counts = (
        covered.mutants,
        covered.mutants - len(covered.problems),
        len(covered.demanded),
        len(hit),
        sum(demand.rejects for demand in covered.demanded),
        sum(demand.rejects for demand in hit),
    )
    missed = tuple(f"{combination}: no mutant hits {rule}" for rule in covered.missed)
    return Figures(combination.round, counts, (*covered.problems, *missed))


if __name__ == "__main__":
    sys.exit(main())
