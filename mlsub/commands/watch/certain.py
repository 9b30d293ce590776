"""What no later record can mend: the findings of a running judge that are certain before the log ends."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.findings import Finding, Kind
from mlsub.judge.rules import LogRules
from mlsub.rounds import Round, overlay_content
from mlsub.rules.engine import Judge, KeyOutcome, Outcome
from mlsub.rules.model import Occurs
from mlsub.rules.phrases import findings_of

_ANY_NUMBER = Occurs()


def certain_findings(rules: LogRules, round_: Round, path: str, spoiled: frozenset[str]) -> Iterator[Finding]:
    """What is wrong by now, and stays wrong.

    Wrong values and metadata, a key twice with different values, a wrong order, a phase over its limit. Nothing is
    reported missing, and no target missed. At the end a finding may be told in other words: where the key that a value
    was computed from turns out to be wrong itself, that is the defect.

    Args:
        rules: has taken all records so far; takes further ones afterwards.
        round_: whose rules they are.
        path: the log, as findings name it.
        spoiled: keys of records that cannot be decoded.
    """
    official, house = rules._official, rules._house
    yield from findings_of(_so_far(official), path, round_.checker, spoiled, cut_off=True)
    if house is not None and round_.overlay:
        source = str(overlay_content(round_.overlay)["title"])
        yield from findings_of(_so_far(house), path, source, spoiled, cut_off=True, kind=Kind.HOUSE)


def _so_far(judge: Judge) -> Outcome:
    """The outcome without the end: measures that belong together are not yet put together."""
    states = list(judge._states)
    for key, value, variant in judge._variants:
        if (key, value) in judge._chosen:
            states += variant
    outcomes = tuple(_without_count_in_doubt(state.out) for state in states)
    return Outcome(outcomes, (), frozenset(judge._log.seen))


def _without_count_in_doubt(out: KeyOutcome) -> KeyOutcome:
    """How often a key must appear where another has some value is open until that other one has been logged."""
    if out.rule.occurs.once_where is None:
        return out
    rule = msgspec.structs.replace(out.rule, occurs=_ANY_NUMBER)
    return msgspec.structs.replace(out, rule=rule, wanted=None)
