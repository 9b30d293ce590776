"""Which demands the aimed mutants hit, and whether one defect is one finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from mlsub.submission.model import LogReport
from tools.oracle.compare import Both, disagrees, judge_both
from tools.oracle.demands import WITHOUT_OFFICIAL_TWIN, Demand, demands, log_rules
from tools.oracle.generate import Combination
from tools.oracle.targeted import Aimed, aimed
from tools.oracle.targeted_files import NEW_ONLY, OLD_ONLY

#: Rules that no content breaks; test_mutants has a test of its own for them.
NO_CONTENT = frozenset({"log.unreadable"})

#: Single changes that rightly have several findings, by rule and (part of) the description, with the reason.
SEVERAL_FINDINGS: dict[tuple[str, str], str] = {
    ("key.init_stop.order", "before init_start"): "each of the two records is on the wrong side of the other",
    ("key.run_start.order", "before init_stop"): "each of the two records is on the wrong side of the other",
    ("key.opt_name.count", "a second time"): "a second optimizer brings demands of its own",
    ("key.scheduler_type.count", "a second time"): "a second scheduler brings demands of its own",
    ("key.eval_accuracy.target", "all eval_accuracy with -"): "what is out of bounds misses the target as well",
    ("key.eval_accuracy.metadata", "eval_accuracy w"): "without its step it is no part of a pair either",
    ("key.aggregated_eval_accuracy.metadata", "no s"): "without its step it is no part of a pair either",
    ("key.run_stop.order", "before run_start"): "each of the records between is on the wrong side of run_stop",
}


class Coverage(NamedTuple):
    """What became of the aimed mutants of one combination; ``scattered`` are those of one defect and many findings."""

    mutants: int
    demanded: frozenset[Demand]
    hit: frozenset[Demand]
    problems: tuple[str, ...]
    scattered: tuple[str, ...]

    @property
    def missed(self) -> list[str]:
        """Demands that no mutant hit."""
        return sorted(demand.rule for demand in self.demanded - self.hit)


def cover(combination: Combination, file: Path, most: int | None = None) -> Coverage:
    """Judge the aimed mutants of a combination by both sides: all, or at most so many of each rule."""
    problems, scattered, hit, number = [], [], set(), 0
    rejecting = {demand.rule: demand.rejects for demand in demanded(combination)}
    shots: Counter[str] = Counter()
    for shot in aimed(combination):
        shots[shot.rule] += 1
        if most is not None and shots[shot.rule] > most:
            continue
        number += 1
        both = judge_both(shot.mutant, combination.round, file)
        rejects = rejecting[shot.rule]
        scattered += several_findings(shot, both.ours)
        problem = _problem(shot, both, rejects)
        if problem is None:
            hit.add(Demand(shot.rule, rejects))
        else:
            problems.append(f"{problem}: {both.describe()}")
    return Coverage(number, demanded(combination), frozenset(hit), tuple(problems), tuple(scattered))


def demanded(combination: Combination) -> frozenset[Demand]:
    """All demands on keys, and those on logs as files that a content can break."""
    elsewhere = NEW_ONLY if combination.round == "0.6" else OLD_ONLY
    files = {Demand(rule, rejects=True) for rule in log_rules() - WITHOUT_OFFICIAL_TWIN - NO_CONTENT - elsewhere}
    return demands(combination) | files


def _problem(shot: Aimed, both: Both, rejects: bool) -> str | None:
    """Why the mutant does not hit its rule; a rule that only warns must not turn the verdict."""
    if disagrees(both):
        return "the two sides differ"
    if both.ours.compliant is rejects:
        return "a warning turned the verdict" if both.rejecting else "the verdict did not turn"
    if shot.rule not in (both.rejecting if rejects else both.warning):
        return f"{shot.rule} is not among the findings ({', '.join(both.rejecting + both.warning) or 'none'})"
    return None


def several_findings(shot: Aimed, ours: LogReport) -> list[str]:
    """Nothing if mlsub rejects the mutant by one finding at most, or by more for a reason; otherwise all of them."""
    rejecting = [
        f"{finding.rule}: {finding.message} ({finding.actual})" for finding in ours.findings if finding.rejects
    ]
    description = shot.mutant.description
    excused = any(shot.rule == rule and part in description for rule, part in SEVERAL_FINDINGS)
    return [] if len(rejecting) <= 1 or excused else ["\n    ".join([description, *rejecting])]
