"""mlsub's answers beside those that were recorded in the round's day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import mlsub
from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.report.model import Report
from tests.differential.generate import usage_and_round
from tests.differential.shared import folder, recorded_entries, recorded_logs


class Compared(NamedTuple):
    """Something that was judged then and is judged now; the first reason of each side, where it has one."""

    path: str
    then: bool
    now: bool
    reason_then: str = ""
    reason_now: str = ""

    def describe(self, round_name: str) -> str:
        """Who says what, in three lines."""
        then, now = ("accepted" if passed else "rejected" for passed in (self.then, self.now))
        return "\n".join(
            [
                f"{folder(round_name).name}/{self.path}",
                f"    recorded: {then} {self.reason_then}".rstrip(),
                f"    mlsub:    {now} {self.reason_now}".rstrip(),
            ]
        )


def compared_logs(round_name: str) -> Iterator[Compared]:
    """Every published log of a round."""
    for path, answer in recorded_logs(round_name).items():
        ours = judge_log(LogTask(str(folder(round_name) / path), path, *usage_and_round(round_name)))
        yield Compared(path, answer["compliant"], ours.compliant, _first(answer), _first_of(ours))


def check(round_name: str) -> Report:
    """All packages of a round as one."""
    usage, name = usage_and_round(round_name)
    return mlsub.check(folder(round_name), usage=usage, round=name, jobs=1)


def compared_seeds(round_name: str, report: Report) -> Iterator[Compared]:
    """Every Closed entry that the seed checker of the day judged; to v0.7 there was none."""
    faults: dict[str, str] = {}
    for finding in report.findings:
        if finding.rule.startswith("seed.") and finding.rejects:
            faults.setdefault(finding.path.rpartition("/")[0], f"{finding.rule}: {finding.message}")
    for path, entry in recorded_entries(round_name).items():
        if answer := entry.get("seeds"):
            yield Compared(path, answer["passed"], path not in faults, _first(answer), faults.get(path, ""))


def compared_dropped(round_name: str, report: Report) -> Iterator[Compared]:
    """Every entry: whether as many of its runs are noncompliant as then."""
    ours = {entry.path: entry.runs - entry.compliant for entry in report.entries}
    for path, entry in recorded_entries(round_name).items():
        if path in ours:
            then, now = entry["score"]["dropped"], ours[path]
            yield Compared(path, True, now == then, f"{then} runs dropped", f"{now} runs dropped")


def _first(answer: dict[str, Any]) -> str:
    return " ".join(str(answer.get("messages", [""])[0]).split()) if answer.get("messages") else ""


def _first_of(ours: LogReport) -> str:
    return next((f"{f.rule}: {f.message} ({f.actual})" for f in ours.findings if f.rejects), "")
