"""Agreement of mlsub with the official verdicts, as tables: published logs and entries, changed logs, the rules tried.

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

from tests.differential.compare import disagreements
from tests.differential.coverage import cover
from tests.differential.generate import ROUNDS, Combination, combinations
from tests.differential.mutate import mutants
from tests.differential.recorded import (
    check,
    compared_dropped,
    compared_logs,
    compared_rcp,
    compared_scores,
    compared_seeds,
)
from tests.differential.shared import ABSENT, folder, has_entries, present
from tests.differential.sources import Source, generated_sources, published_sources

SHOWN = 10
#: What was recorded of entries: seeds, noncompliant runs, the convergence test, scores.
_COMPARISONS = (compared_seeds, compared_dropped, compared_rcp, compared_scores)


class Figures(NamedTuple):
    """What came of one part, and the disagreements in words."""

    round: str
    counts: tuple[int, ...]
    problems: tuple[str, ...]


def main() -> int:
    """Print the tables."""
    options = _options()
    rounds = [name for name in ROUNDS if present() and folder(name).is_dir()]
    changed = partial(_changed, options.seed, options.mutants)
    mutants_columns = ("mutants", "agree", "differ")
    demands_columns = ("mutants", "on target", "demands", "hit", "of them rejecting", "hit")
    with ProcessPoolExecutor() as pool:
        recorded = [
            *_table(
                "published logs against the verdicts recorded in the round's day",
                ("logs", "agree", "stricter", "laxer"),
                pool.map(_recorded, rounds),
            ),
            *_table(
                "published entries against the figures recorded in the round's day",
                ("seeds", "agree", "runs dropped", "agree", "convergence", "agree", "scores", "agree"),
                pool.map(_entries, [name for name in rounds if has_entries(name)]),
            ),
        ]
        generated = "generated logs, changed at random, against the installed checker"
        published = "published logs, changed at random, against the installed checker"
        aimed = "rules in force, each tried by mutants aimed at it"
        found = [
            *_table(generated, mutants_columns, pool.map(changed, generated_sources())),
            *_table(published, mutants_columns, pool.map(changed, published_sources())),
            *_table(aimed, demands_columns, pool.map(_covered, combinations())),
        ]
    for problem in (*recorded, *found[:SHOWN]):
        print(f"\n{problem}")
    number = len(recorded) + len(found)
    print(f"\n{number} disagreements" if number else "\nno disagreement")
    return 1 if number else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutants", type=int, default=220, help="changed logs for each combination (default 220)")
    parser.add_argument("--seed", default="parity", help="another seed makes other mutants")
    return parser.parse_args()


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
    for round_, counts in (*((name, sums[name]) for name in ROUNDS if name in sums), ("all", _total(sums))):
        figures = "  ".join(f"{count:>{max(8, len(column))}}" for column, count in zip(columns, counts, strict=True))
        print(f"  {round_:<7}{figures}", flush=True)
    return problems


def _total(sums: dict[str, list[int]]) -> list[int]:
    return [sum(column) for column in zip(*sums.values(), strict=True)]


def _recorded(round_name: str) -> Figures:
    logs = list(compared_logs(round_name))
    stricter = [log.describe(round_name) for log in logs if log.then and not log.now]
    laxer = [log.describe(round_name) for log in logs if log.now and not log.then]
    agree = len(logs) - len(stricter) - len(laxer)
    return Figures(round_name, (len(logs), agree, len(stricter), len(laxer)), (*stricter, *laxer))


def _entries(round_name: str) -> Figures:
    report = check(round_name)
    compared = [list(compare(round_name, report)) for compare in _COMPARISONS]
    differing = [[entry.describe(round_name) for entry in some if entry.then is not entry.now] for some in compared]
    counts = [n for some, bad in zip(compared, differing, strict=True) for n in (len(some), len(some) - len(bad))]
    return Figures(round_name, tuple(counts), tuple(problem for bad in differing for problem in bad))


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
