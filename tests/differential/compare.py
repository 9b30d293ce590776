"""Both sides on one log, and what there is to say where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mlsub.findings import Kind
from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from tests.differential.generate import usage_and_round
from tests.differential.log import Mutant
from tests.differential.oracle import Answer, official

#: Deviations from the live checker, by name: a text that stands in the mutant's description, and the reason.
#: (That of weights_initialization in v1.1 is part of the oracle: see oracle.LENIENT_ROUND.)
KNOWN_DEVIATIONS: dict[str, str] = {}


class Both(NamedTuple):
    """One log's two answers."""

    mutant: Mutant
    ours: LogReport
    theirs: Answer

    @property
    def rejecting(self) -> list[str]:
        """The rules that mlsub rejects the log by, one entry a finding."""
        return [finding.rule for finding in self.ours.findings if finding.rejects]

    @property
    def warning(self) -> list[str]:
        """The official rules that mlsub has found broken without rejecting the log for it."""
        official = [finding for finding in self.ours.findings if finding.kind is Kind.OFFICIAL]
        return [finding.rule for finding in official if not finding.rejects]

    def describe(self) -> str:
        """What was changed, and what each side says of it."""
        findings = [f"    {f.rule}: {f.message} ({f.actual})" for f in self.ours.findings if f.rejects]
        messages = [f"    {message[:600]}" for message in self.theirs.messages]
        return "\n".join(
            [
                self.mutant.description,
                f"  mlsub: {'' if self.ours.compliant else 'non'}compliant",
                *findings,
                f"  official: {'' if self.theirs.compliant else 'non'}compliant",
                *messages,
            ]
        )


def judge_both(mutant: Mutant, round_name: str, file: Path) -> Both:
    """Write the log to ``file`` and ask both sides."""
    file.write_bytes(mutant.content)
    return both_on(file, round_name, mutant)


def both_on(file: Path, round_name: str, mutant: Mutant) -> Both:
    """Ask both sides about a file."""
    ours = judge_log(LogTask(str(file), file.name, *usage_and_round(round_name)))
    return Both(mutant, ours, official(file, round_name))


def disagreements(mutants: Iterable[Mutant], round_name: str, file: Path) -> Iterator[Both]:
    """The mutants on which the two sides differ, or on which mlsub's verdict and findings do."""
    for mutant in mutants:
        both = judge_both(mutant, round_name, file)
        if disagrees(both) and not any(name in mutant.description for name in KNOWN_DEVIATIONS):
            yield both


def known_deviation(both: Both) -> str | None:
    """The name of the deviation that a difference is due to, if it is one of docs/deviations.md."""
    return next((name for name in KNOWN_DEVIATIONS if name in both.mutant.description), None)


def disagrees(both: Both) -> bool:
    """Whether the sides differ; a verdict that mlsub's own findings do not bear out counts as well."""
    return both.ours.compliant is not both.theirs.compliant or both.ours.compliant is bool(both.rejecting)
