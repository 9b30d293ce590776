"""Both sides on one log, and what there is to say where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from mlsub.findings import Kind
from mlsub.submission.model import LogReport
from tools.oracle.generate import usage_and_round
from tools.oracle.log import ChangedLog, Log
from tools.oracle.oracle import Answer, official
from tools.support.judging import report_on


class Both(NamedTuple):
    """One log's two answers."""

    mutant: ChangedLog
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


def judge_both(mutant: ChangedLog, round_name: str, file: Path) -> Both:
    """Write the log to ``file`` and ask both sides."""
    file.write_bytes(mutant.content)
    return both_on(file, round_name, mutant)


def judge_log(log: Log, round_name: str, folder: Path, words: str = "changed") -> Both:
    """Ask both sides about a log, which is written into a folder."""
    return judge_both(ChangedLog(words, log.content()), round_name, folder / "log.txt")


def both_on(file: Path, round_name: str, mutant: ChangedLog) -> Both:
    """Ask both sides about a file."""
    return Both(mutant, judged(file, round_name), official(file, round_name))


def judged(file: Path, round_name: str) -> LogReport:
    """What mlsub says of a file."""
    return report_on(file, *usage_and_round(round_name))


def assert_alike(mutants: Iterable[ChangedLog | None], round_name: str, file: Path) -> int:
    """Fail where the two sides differ; give the number of mutants that could be made."""
    made = [mutant for mutant in mutants if mutant is not None]
    asked = (judge_both(mutant, round_name, file) for mutant in made)
    assert_none([both.describe() for both in asked if disagrees(both) and known_deviation(both) is None])
    return len(made)


def assert_none(problems: Iterable[str | None]) -> None:
    """Fail where there is a problem, and show some."""
    found = [problem for problem in problems if problem is not None]
    assert not found, "\n\n".join([f"{len(found)} in all", *found[:5]])


def disagrees(both: Both) -> bool:
    """Whether the sides differ; a verdict that mlsub's own findings do not bear out counts as well."""
    return both.ours.compliant is not both.theirs.compliant or both.ours.compliant is bool(both.rejecting)


def known_deviation(both: Both) -> str | None:
    """The id of the deviation that a difference is due to, if it is one of docs/deviations.yaml."""
    return next((name for name, holds in KNOWN_DEVIATIONS.items() if holds(both)), None)


def _null_sparse_rate(both: Both) -> bool:
    """The only thing wrong is that v6.1's dlrmv4 logs null as its sparse learning rate, which is "not logged yet"."""
    null = b'"key": "opt_sparse_base_learning_rate", "value": null'
    rejecting = set(both.rejecting)
    return both.theirs.compliant and null in both.mutant.content and rejecting == {_SPARSE_RATE}


def _nested_too_deeply(both: Both) -> bool:
    """The only thing wrong is a record nested more than 500 levels deep; how deep Python reads is up to its version."""
    wrong = {(finding.rule, finding.actual) for finding in both.ours.findings if finding.rejects}
    return both.theirs.compliant and wrong == {("log.record-undecodable", "nested too deeply")}


_SPARSE_RATE = "key.opt_sparse_base_learning_rate.value"

#: Deviations from the live checker of the round, by their id in docs/deviations.yaml.
#: (What the checker of the round's day said otherwise is part of the oracle: see oracle.DAY_DIFFERS.)
KNOWN_DEVIATIONS: dict[str, Callable[[Both], bool]] = {
    "null-rate": _null_sparse_rate,
    "nested-records": _nested_too_deeply,
}
