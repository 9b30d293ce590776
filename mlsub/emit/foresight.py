"""What the rules already say of a log that is still being written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mlsub.divisions import CLOSED, division_of
from mlsub.emit.errors import EmitError
from mlsub.emit.values import plain_value
from mlsub.findings import Finding, Severity
from mlsub.judge.preflight import Given, known_keys, preflight, with_slips
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event
from mlsub.rounds import Round
from mlsub.rules.aspects.base import Flaw
from mlsub.rules.aspects.count import AnyOf
from mlsub.rules.catalogue import finding
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule
from mlsub.rules.steps import before_run

#: Keys of a log's own that are compared with missing ones.
_MOST_UNKNOWN = 200
_NOTHING: frozenset[str] = frozenset()


class Foresight:
    """Takes the records of a run as they are made, and says what is certain of them.

    The rules are those of :mod:`mlsub.judge.rules`, the same that mlsub check judges the finished log by.

    Args:
        round_: whose rules hold.
        division: ``closed`` or ``open``.
        benchmark: one of the round.
        path: what findings call the log.
    """

    def __init__(self, round_: Round, division: str, benchmark: str, path: str) -> None:
        self._rules = LogRules(round_, division_of(division), benchmark)
        self._of = (round_, division, benchmark)
        self._path = path
        self._reported: set[tuple[str, str]] = set()
        rules = rules_for(round_.usage, round_.name, division, benchmark, round_.overlay)
        every = [*rules.rules, *(rule for variant in rules.variants for rule in variant.rules)]
        late = {rule.key for rule in every if not before_run(rule.key) or "run_start" in rule.after}
        self._late = frozenset((*late, "init_stop"))
        self._seed_needed = division == CLOSED.name and round_.seeds == "required"
        self._seeds = 0
        self._known = known_keys(round_, benchmark)
        self._unknown: dict[str, Given] = {}

    def preflight(
        self, hyperparameters: Mapping[str, Any], stated: Mapping[str, Any], *, remember: bool
    ) -> list[Finding]:
        """Everything that is certain of a run with these hyperparameters, before anything of it is logged.

        Args:
            hyperparameters: by their keys in the log.
            stated: what else is logged before the clock.
            remember: whether a finding is not to be given again when the record is made.
        """
        given, found = [], []
        for key, value in hyperparameters.items():
            try:
                given.append(Given(str(key), plain_value(value)))
            except EmitError as error:
                actual = str(error).partition(" cannot")[0]
                found.append(finding("preflight.cannot-log", self._path, f"{key} cannot be logged", actual=actual))
        checked = preflight(*self._of, given, self._path, stated)
        lost = {f"key.{key}.count" for key in hyperparameters.keys() - {one.key for one in given}}
        found += [one for one in checked.findings if one.rule not in lost]
        return self._new(iter(found)) if remember else found

    def add(self, event: Event) -> list[Finding]:
        """Take the next record; the findings that it makes certain."""
        self._rules.add((event,))
        self._seeds += event.key == "seed"
        if event.key not in self._known and len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.setdefault(event.key, Given(event.key, event.value, event.line))
        if not self._rules.in_trouble(event.key):
            return []
        return self._new(self._certain())

    def _certain(self) -> Iterator[Finding]:
        """What no later record can fix."""
        return self._rules.findings(self._path, _NOTHING, cut_off=True)

    def before_clock(self) -> list[Finding]:
        """What is missing that has to be logged before the timed region, besides what is certain."""
        every = self._rules.findings(self._path, _NOTHING, cut_off=False, passing=self._comes)
        certain = {(found.rule, found.message) for found in self._certain()}
        missing = [found for found in every if (found.rule, found.message) not in certain]
        if self._seed_needed and not self._seeds:
            message, expected = "The run does not log its seed", "a different seed for each run"
            missing.append(finding("seed.missing", self._path, message, expected=expected))
        return self._new(iter(with_slips(missing, tuple(self._unknown.values()))))

    def _comes(self, rule: KeyRule, flaw: Flaw) -> bool:
        """Whether what is wrong is about a key that is logged later, when the clock runs."""
        return flaw.aspect == AnyOf.name or rule.key in self._late

    def _new(self, found: Iterator[Finding]) -> list[Finding]:
        fresh = [each for each in found if (each.rule, each.message) not in self._reported]
        self._reported.update((each.rule, each.message) for each in fresh)
        return fresh

    def reached(self) -> bool:
        """Whether the evaluations so far reach the quality target."""
        return self._rules.reached()


def dooms(found: Finding) -> bool:
    """Whether a finding rejects the log, by the official rules or the user's own."""
    return found.severity is Severity.ERROR
