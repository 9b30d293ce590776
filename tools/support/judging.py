"""One log judged by the rules of a round."""

from __future__ import annotations

from pathlib import Path

from mlsub.judge.log import judge_log
from mlsub.rounds import get_round
from mlsub.submission.model import LogReport


def report_on(
    file: Path, usage: str, round_name: str, path: str | None = None, *, trace: bool = False, intervals: bool = False
) -> LogReport:
    """The report on a log, which it calls by the name of its file unless it is given another ``path``."""
    return judge_log(str(file), path or file.name, get_round(usage, round_name), trace=trace, intervals=intervals)
