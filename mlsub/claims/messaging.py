"""What the rules on talking about results say of claims; a list of its own beside the numeric verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlsub.claims.evaluate import World
from mlsub.claims.verdict import Judged
from mlsub.findings import Finding

_Rule = Callable[[Judged, World], Iterator[Finding]]
#: The rules, in the order in which findings are told.
RULES: tuple[_Rule, ...] = ()


def judge(judged: Sequence[Judged], world: World) -> list[Finding]:
    """The findings of all rules on all claims, claims in the order of the file."""
    return [finding for one in judged for rule in RULES for finding in rule(one, world)]
