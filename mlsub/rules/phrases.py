"""Put what the engine saw into findings: one defect, one finding, in words for the person who has to mend it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.show import show
from mlsub.rounds import rounds_with
from mlsub.rules.engine import Failure, KeyOutcome, Outcome
from mlsub.rules.model import KeyRule

#: The aspects of a key's rule; the rule id is ``key.<key>.<aspect>``.
ASPECTS = ("count", "repeated", "value", "metadata", "order", "nesting", "time", "target", "tensors", "any-of")


def rule_id(key: str, aspect: str, kind: Kind = Kind.OFFICIAL) -> str:
    """The stable id of one demand on one key; the user's own rules have ids of their own."""
    return f"{'house' if kind is Kind.HOUSE else 'key'}.{key}.{aspect}"


def findings_of(
    outcome: Outcome,
    path: str,
    checker: str,
    spoiled: frozenset[str],
    *,
    cut_off: bool = False,
    kind: Kind = Kind.OFFICIAL,
) -> Iterator[Finding]:
    """The findings of one log.

    Args:
        outcome: what the engine saw.
        path: the log, relative to the report's root.
        checker: where the official checker of the round keeps its rules.
        spoiled: keys of records that exist but cannot be decoded; they are not reported missing as well.
        cut_off: whether the log ends in a broken record; then nothing is reported missing that would have followed.
        kind: whose rules these are: official, or the user's own.
    """
    required = {out.rule.key for out in outcome.keys if out.rule.occurs.exactly_one or out.rule.occurs.at_least}
    missed = frozenset((required | spoiled) - outcome.seen)
    excuses = excused(outcome.keys, missed)
    found = [
        finding
        for index, out in enumerate(outcome.keys)
        for finding in _Phrases(out, path, checker, missed, excuses[index], spoiled, cut_off, kind).findings()
    ]
    nested = {"run_start", *(out.rule.key for out in outcome.keys if out.rule.nested)}
    yield from _without_what_follows(found, nested)
    for group in () if cut_off else outcome.missing_groups:
        if not spoiled.intersection(group):
            names = " or ".join(group)
            yield Finding(
                rule=rule_id(group[0], "any-of", kind),
                severity=Severity.ERROR,
                kind=kind,
                blocks=Blocks.NONE if kind is Kind.HOUSE else Blocks.BOTH,
                path=path,
                line=None,
                message=f"Neither {' nor '.join(group)} appears",
                expected=f"at least one record of {names}",
                actual="none",
                fix=f"Log {names}; the run's structure cannot be followed without.",
                source=f"{checker}, {group[0]}" if kind is Kind.HOUSE else f"{checker}/common.yaml, {group[0]}",
            )


def excused(keys: Sequence[KeyOutcome], missed: frozenset[str]) -> list[frozenset[str]]:
    """For each outcome the keys that are at fault themselves: what is computed from them is wrong for that alone.

    A key that fails only by what others state is at fault in turn. Of keys that fail by each other the first is told,
    so that no chain of excuses leaves a log without a finding.
    """
    faulty = missed.union(out.rule.key for out in keys if _is_faulty(out))
    excuses: dict[int, frozenset[str]] = {}
    waiting = [index for index, out in enumerate(keys) if out.rule.key not in faulty and _needs(out)]
    while waiting:
        following = [index for index in waiting if faulty.intersection(_needs(keys[index]))] or waiting[:1]
        excuses.update(dict.fromkeys(following, faulty))
        faulty = faulty.union(keys[index].rule.key for index in following)
        waiting = [index for index in waiting if index not in excuses]
    return [excuses.get(index, faulty - {out.rule.key}) for index, out in enumerate(keys)]


def _is_faulty(out: KeyOutcome) -> bool:
    """Whether a key has no one value that the rules allow, whatever other keys say."""
    wrong = any(aspect == "value" and not failure.needs for (aspect, _), failure in out.failures.items())
    return wrong or (out.rule.occurs.exactly_one and out.count > 1 and not out.same)


def _needs(out: KeyOutcome) -> set[str]:
    return {name for (aspect, _), failure in out.failures.items() if aspect == "value" for name in failure.needs}


def _without_what_follows(found: list[Finding], nested: set[str]) -> Iterator[Finding]:
    """Findings without the breaks of a sequence that follow from another one, or from a record it lacks."""
    breaks = [finding for finding in found if finding.rule.endswith(".nesting")]
    others = [finding for finding in found if not finding.rule.endswith(".nesting")]
    first = min(breaks, key=lambda finding: finding.line or 0, default=None)
    if first is not None and not any(finding.rejects and finding.rule.split(".")[1] in nested for finding in others):
        others.append(first)
    yield from others


class _Phrases:
    """The findings of one key in one log."""

    def __init__(
        self,
        out: KeyOutcome,
        path: str,
        checker: str,
        missed: frozenset[str],
        faulty: frozenset[str],
        spoiled: frozenset[str],
        cut_off: bool,
        kind: Kind,
    ) -> None:
        self.kind = kind
        self.out = out
        self.rule: KeyRule = out.rule
        self.path = path
        place = checker if kind is Kind.HOUSE else f"{checker}/{out.rule.origin}"
        self.source = f"{place}, {out.rule.key}"
        self.missed = missed
        self.faulty = faulty
        self.key = _name(out.rule)
        self.spoiled = spoiled
        self.cut_off = cut_off

    def findings(self) -> Iterator[Finding]:
        yield from self._count()
        for (aspect, words), failure in self.out.failures.items():
            if aspect == "value" and self.out.wanted == 0:
                continue  # A key that should not be there at all is told as that.
            if not self.faulty.intersection(failure.needs) and not self._follows_from_a_missing_key(aspect, words):
                yield self._failed(aspect, words, failure)
        if self.out.count:
            yield from self._target()
            yield from self._tensors()

    def _finding(
        self,
        aspect: str,
        line: int | None,
        message: str,
        expected: str,
        actual: str,
        fix: str,
        warning: bool = False,
    ) -> Finding:
        warning = warning or aspect in self.rule.warn_only
        return Finding(
            rule=rule_id(self.rule.key, aspect, self.kind),
            severity=Severity.WARNING if warning else Severity.ERROR,
            kind=self.kind,
            blocks=Blocks.NONE if warning or self.kind is Kind.HOUSE else self.rule.blocks,
            path=self.path,
            line=line,
            message=message,
            expected=expected,
            actual=actual,
            fix=self._remedy(fix),
            source=self.source,
        )

    def _remedy(self, fix: str) -> str:
        gathers = self.rule.gathers
        if gathers is not None:
            fix = f"Log each {gathers.field} of an evaluation with the same {gathers.by}; they count together."
        return f"{fix} {self.rule.note}" if self.rule.note else fix

    def _count(self) -> Iterator[Finding]:
        out, key, occurs = self.out, self.key, self.rule.occurs
        if occurs.once_where is not None:
            if occurs.once_where[0] not in self.faulty:
                yield from self._once_where()
        elif self.rule.gathers is not None and self.rule.gathers.key in self.missed:
            return
        elif out.count == 0:
            if (occurs.exactly_one or occurs.at_least) and key not in self.spoiled and not self.cut_off:
                yield self._finding(
                    "count",
                    None,
                    f"{key} is missing",
                    occurs.words(),
                    "0 times",
                    f"Log {key} {occurs.words()}.",
                )
        elif occurs.exactly_one and out.count > 1:
            places = ", ".join(str(line) for line in out.lines)
            if out.same:
                yield self._finding(
                    "repeated",
                    out.lines[1],
                    f"{key} appears more than once, each time with the same value",
                    "exactly once",
                    f"{out.count} times (lines {places}{', …' if out.count > len(out.lines) else ''})",
                    "Log it from one process only; repeats of the same value are tolerated.",
                    warning=True,
                )
            else:
                yield self._finding(
                    "count",
                    out.lines[1],
                    f"{key} appears more than once, with different values",
                    "exactly once",
                    f"{out.count} times: {', '.join(out.values)} (lines {places})",
                    "Keep the record that is true of this run; one file is one run.",
                )
        elif out.count < occurs.at_least and not self.cut_off:
            yield self._finding(
                "count",
                None,
                f"{key} appears too seldom",
                occurs.words(),
                f"{out.count} times",
                f"Log {key} {occurs.words()}.",
            )

    def _once_where(self) -> Iterator[Finding]:
        out, key = self.out, self.rule.key
        lacking = out.count < (out.wanted or 0)
        if out.count != out.wanted and not (lacking and (self.cut_off or key in self.spoiled)):
            yield self._finding(
                "count",
                None,
                f"{key} is missing" if lacking else f"{key} appears too often",
                self.rule.occurs.words(),
                f"{out.count} time{'' if out.count == 1 else 's'}",
                f"Log {key} {self.rule.occurs.words()}.",
            )

    def _follows_from_a_missing_key(self, aspect: str, words: str) -> bool:
        """Being out of order with a key that is nowhere is no defect of its own: the missing key is reported."""
        if aspect != "order" or not words.startswith("after "):
            return False
        return words.removeprefix("after ") in self.missed

    def _failed(self, aspect: str, words: str, failure: Failure) -> Finding:
        key = self.key
        message, fix = {
            "value": (
                f"{key} has a value that the rules do not allow",
                _did_you_mean(self.rule, failure.actual) or f"Run with {key} {words}, and log the value that was used.",
            ),
            "metadata": (
                f"{key} lacks what its metadata must say",
                f"Give each {key} record {words if words.startswith('metadata') else 'metadata with ' + words}.",
            ),
            "order": (
                f"{key} comes {_opposite(words)}",
                f"Log {key} {words}; records count in the order of the file.",
            ),
            "nesting": (
                f"{key} does not fit the sequence of epochs, blocks and evaluations",
                f"Log {key} {words}.",
            ),
            "time": (
                f"{key} comes too late",
                "Move work that touches no training data out of the init phase, or make it faster.",
            ),
        }[aspect]
        actual = failure.actual if failure.count == 1 else f"{failure.actual}, and {failure.count - 1} more"
        return self._finding(aspect, failure.first_line, message, failure.expected or words, actual, fix)

    def _target(self) -> Iterator[Finding]:
        out, key = self.out, self.key
        demand = ", ".join(reach.words() for reach in self.rule.reaches)
        if out.incomparable is not None:
            needs = [name for reach in self.rule.reaches for c in reach.constraints for name in c.names()]
            if not self.faulty.intersection(needs) and not any(aspect == "value" for aspect, _ in out.failures):
                yield self._finding(
                    "target",
                    out.incomparable.first_line,
                    f"{key} has a value that cannot be compared with the quality target",
                    demand,
                    out.incomparable.actual,
                    f"Log {key} as a number (for several measures, an object of numbers).",
                )
        elif self.rule.reaches and not out.reached and not self.cut_off:
            yield self._finding(
                "target",
                out.last_line,
                f"No {key} reaches the quality target",
                demand,
                f"{show(out.best)} at best, in {out.count} evaluation{'s' if out.count > 1 else ''}",
                "Such a run counts as not converged: the entry may hold a few of them, and each counts as slowest.",
            )

    def _tensors(self) -> Iterator[Finding]:
        wanted = self.rule.tensors
        if wanted is None or self.cut_off or any(aspect == "metadata" for aspect, _ in self.out.failures):
            return
        found = self.out.tensors
        try:
            same = sorted(found) == list(wanted)
        except TypeError:
            same = False
        if not same:
            names = {name for name in found if isinstance(name, str)}
            lacking = [name for name in wanted if name not in names]
            extra = sorted(names.difference(wanted))
            parts = (
                [f"{len(lacking)} lacking ({', '.join(lacking[:3])}{', …' if len(lacking) > 3 else ''})"]
                if lacking
                else []
            )
            if extra:
                parts.append(f"{len(extra)} unknown ({show(extra[0])}{', …' if len(extra) > 1 else ''})")
            yield self._finding(
                "tensors",
                None,
                f"{self.rule.key} does not name each weight tensor of the reference model once",
                f"{len(wanted)} tensors, each once",
                "; ".join(parts) or f"{self.out.count} records, some tensors more than once",
                "Log one record for each tensor of the reference, with the reference's name in metadata.",
            )


def _name(rule: KeyRule) -> str:
    """What to call a key: a virtual one by what it is made of."""
    return f"{rule.gathers.key} of one {rule.gathers.by}" if rule.gathers else rule.key


def _did_you_mean(rule: KeyRule, actual: str) -> str | None:
    """A hint where a name of a closed list was misspelled."""
    stated = actual.strip('"')
    rounds = rounds_with(stated) if rule.key == "submission_benchmark" else ""
    if rounds:
        return f"{stated} is a benchmark of {rounds}: check that the round is right (--round)."
    names = [name for c in rule.value if c.operator == "one_of" for name in c.operand if isinstance(name, str)]
    close = get_close_matches(stated.lower(), names, n=1)
    return f"Did you mean {close[0]}?" if close else None


def _opposite(words: str) -> str:
    relation, _, other = words.partition(" ")
    return f"{'before' if relation == 'after' else 'after'} {other}"
