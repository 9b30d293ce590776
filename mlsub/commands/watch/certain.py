"""What no later record can mend: the findings of a running judge that are certain before the log ends."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.findings import Finding
from mlsub.judge.rules import LogRules
from mlsub.rounds import Round


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
    yield from rules.certain(path, spoiled)
