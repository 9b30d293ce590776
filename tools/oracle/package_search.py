"""Packages with faults, drawn by a seed, and where the two sides differ on them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mlsub.convergence.algorithm import algorithm_of
from mlsub.submission.report import Report
from tools.oracle.faults import listing, spoil
from tools.oracle.generate import usage_and_round
from tools.oracle.packages import (
    Answer,
    Package,
    accepted,
    build,
    official,
    ours,
    package_combinations,
    rejecting,
)

#: Where mlsub rejects and the official tool accepts: the rule that does so, and the row of docs/deviations.yaml.
STRICTER: dict[str, str] = {
    "tree.unknown-benchmark": "unknown-benchmark",
    "tree.unknown-scaling": "hpc-third-folder",
    "tree.unreadable": "broken-link",
    "tree.no-logs": "no-logs",
    "tree.systems-missing": "no-systems",
    "log.empty": "unreadable-log",
    "log.no-records": "unreadable-log",
    "log.wide-encoding": "unreadable-log",
    "entry.glob-name": "glob-name",
}
#: Rules that name a log and reject its entry.
_ENTRY = ("official.", "seed.", "rcp.")


class Tried(NamedTuple):
    """A package with faults, what each side says of it, and in words what lies in it.

    ``factors`` are those of the entries that pass the convergence test, where the official checker writes one: mlsub's,
    and what it wrote.
    """

    description: str
    report: Report
    answer: Answer
    listing: str
    factors: tuple[tuple[float, float], ...] = ()

    @property
    def problem(self) -> str | None:
        """Where the sides differ without a known reason, or a rule of mlsub crashed; None where neither is so."""
        crashed = [f.actual for f in self.report.findings if f.rule in ("rule.crashed", "review.crashed")]
        if crashed:
            return self._told(f"a rule of mlsub crashed: {crashed}")
        if accepted(self.report) and not self.answer.accepted:
            return self._told("mlsub accepts what the official checker does not")
        if self.answer.accepted and not accepted(self.report) and (self._unexplained or not rejecting(self.report)):
            return self._told("mlsub rejects what the official checker accepts")
        differing = [pair for pair in self.factors if not math.isclose(*pair, rel_tol=1e-12)]
        if differing:
            return self._told(f"the factors differ: {differing}")
        return None

    @property
    def _unexplained(self) -> set[str]:
        """The rules that reject for no reason of STRICTER.

        A hidden description is opened by the official tool, which does not check its fields.
        """
        logs = {log.path for log in self.report.logs}
        # What a single log is noncompliant by is forgiven, or has a finding on the entry as well.
        deciding = [f for f in self.report.findings if f.rejects and (f.path not in logs or f.rule.startswith(_ENTRY))]
        # The result summarizer, which is not asked here, ends on some descriptions that the package checker takes.
        deciding = [f for f in deciding if "result summarizer" not in f.message]
        # Of an entry in whose place others are judged nothing else matters.
        replaced = tuple(f.path for f in deciding if f.rule == "entry.glob-name")
        return {
            f.rule
            for f in deciding
            if f.rule not in STRICTER and "systems/." not in f.path and not f.path.startswith(replaced)
        }

    @property
    def word(self) -> str:
        """A word for the figures."""
        side = "accepted" if self.answer.accepted else "crash" if self.answer.crash else "rejected"
        return f"official {side}, mlsub {'accepted' if accepted(self.report) else 'rejected'}"

    def _told(self, what: str) -> str:
        return f"{self.description}: {what}\n  {sorted(rejecting(self.report))}\n  {self.answer}\n{self.listing}"


def tried(seed: str, number: int, above: Path, fault: str | None = None) -> Tried:
    """Build a package, put faults into it (or one, by name) and ask both sides."""
    rng = random.Random(f"{seed} {number} {fault or ''}")
    package = build(above, rng.choice(package_combinations()))
    faulty = spoil(package, rng, rng.choice((1, 1, 2, 3)), fault)
    package = faulty.package
    # The official checker comes last, for it writes into the package.
    report, content = ours(package), listing(package.folder)
    description = f"{seed} {number}, {package.combination}, {', '.join(faulty.faults)}"
    answer = official(package)
    both = answer.accepted and accepted(report)
    return Tried(description, report, answer, content, tuple(_factors(package, report)) if both else ())


def _factors(package: Package, report: Report) -> Iterator[tuple[float, float]]:
    usage, name = usage_and_round(package.combination.round)
    algorithm = algorithm_of(usage, name)
    for entry in report.entries if algorithm and algorithm.normalise else ():
        if entry.rcp.verdict == "pass":
            file = package.folder / entry.path / "scaling.json"
            written = json.loads(file.read_text())["scaling_factor"] if file.is_file() else 1.0
            yield entry.rcp.scaling, written
