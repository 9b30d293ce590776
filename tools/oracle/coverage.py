"""What the rules demand of a log, which demands the aimed changes hit, and whether one defect is one finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mlsub.findings import Kind, Severity
from mlsub.rules.catalogue import catalogue
from mlsub.rules.engine import rule_id
from mlsub.rules.model import KeyRule
from tools.oracle.aimed import edits
from tools.oracle.aimed_demands import NEW_ONLY, OLD_ONLY
from tools.oracle.compare import Both, disagrees, judge_both
from tools.oracle.generate import Combination, rules_of, ruleset
from tools.oracle.log import ChangedLog, generated

#: The checker reads on where mlsub bounds its memory, so no log shows this rule on both sides.
WITHOUT_OFFICIAL_TWIN = frozenset({"log.record-too-long"})


class Demand(NamedTuple):
    """One rule in force. ``rejects`` is False where breaking it is only warned of."""

    rule: str
    rejects: bool


def demands(combination: Combination) -> frozenset[Demand]:
    """Every demand on a key in a log of this combination."""
    found = {Demand(rule_id(group[0], "any-of"), rejects=True) for group in ruleset(combination).alternatives}
    for rule in rules_of(combination).values():
        where = rule.occurs.once_where
        # Of a key that should not be there at all that is told, and not its value.
        unasked = where is not None and where[1] not in combination.chosen
        found |= {demand for demand in demands_of_key(rule) if not (unasked and demand.rule.endswith(".value"))}
    return frozenset(found)


def demands_of_key(rule: KeyRule) -> Iterator[Demand]:
    """The demands of one key's rule."""
    has = {
        "count": rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where,
        "value": rule.value,
        "metadata": rule.metadata or rule.first_metadata or rule.gathers,
        "nesting": rule.nested,
        "order": rule.after or rule.not_after,
        "time": rule.within,
        "target": rule.reaches,
        "tensors": rule.tensors,
    }
    for aspect, there in has.items():
        if there:
            yield Demand(rule_id(rule.key, aspect), rejects=aspect not in rule.warn_only)
    if rule.occurs.exactly_one:
        yield Demand(rule_id(rule.key, "repeated"), rejects=False)


def log_rules() -> frozenset[str]:
    """The rules of the catalogue that reject a log as a file."""
    return frozenset(
        name
        for name, info in catalogue().items()
        if name.startswith("log.") and info.severity is Severity.ERROR and info.kind is Kind.OFFICIAL
    )


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
    """Judge the changes that are aimed at the demands of a combination by both sides: all, or so many of each rule."""
    problems, scattered, hit = [], [], set()
    log = generated(combination)
    rejecting = {demand.rule: demand.rejects for demand in demanded(combination)}
    shots: Counter[str] = Counter()
    for edit in edits("demands", combination, file):
        if shots[edit.aim] == most:
            continue
        shots[edit.aim] += 1
        mutant = ChangedLog(f"aimed at {edit.aim}: {edit.words}", edit.make(log).content())
        both = judge_both(mutant, combination.round, file)
        rejects = rejecting[edit.aim]
        excused = any(edit.aim == rule and part in edit.words for rule, part in SEVERAL_FINDINGS)
        if len(both.rejecting) > 1 and not excused:
            scattered.append(both.describe())
        problem = _problem(edit.aim, both, rejects)
        if problem is None:
            hit.add(Demand(edit.aim, rejects))
        else:
            problems.append(f"{problem}: {both.describe()}")
    return Coverage(shots.total(), demanded(combination), frozenset(hit), tuple(problems), tuple(scattered))


def demanded(combination: Combination) -> frozenset[Demand]:
    """All demands on keys, and those on logs as files that a content can break."""
    elsewhere = NEW_ONLY if combination.round == "0.6" else OLD_ONLY
    files = {Demand(rule, rejects=True) for rule in log_rules() - WITHOUT_OFFICIAL_TWIN - NO_CONTENT - elsewhere}
    return demands(combination) | files


def _problem(rule: str, both: Both, rejects: bool) -> str | None:
    """Why a change does not hit its rule; a rule that only warns must not turn the verdict."""
    if disagrees(both):
        return "the two sides differ"
    if both.ours.compliant is rejects:
        return "a warning turned the verdict" if both.rejecting else "the verdict did not turn"
    if rule not in (both.rejecting if rejects else both.warning):
        return f"{rule} is not among the findings ({', '.join(both.rejecting + both.warning) or 'none'})"
    return None
