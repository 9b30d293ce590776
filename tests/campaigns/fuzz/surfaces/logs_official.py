"""Logs before both judges: mlsub, and the installed official checker."""

from __future__ import annotations

from mlsub.judge.log import LogTask, judge_log
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.loggrammar import LONGEST, WORDS, generate, seeds, split
from tests.campaigns.fuzz.scratch import scratch
from tests.differential.compare import Both, disagrees, known_deviation
from tests.differential.generate import usage_and_round
from tests.differential.log import Mutant
from tests.differential.oracle import official

#: Rounds, and the rules by which mlsub alone rejects a log there: see "Where the official tool crashes or skips
#: something" in docs/deviations.yaml.
_STRICTER = {"6.1": frozenset(("key.opt_sparse_base_learning_rate.value",))}


def _compare(data: bytes) -> None:
    round_id, log = split(data)
    file = scratch("official") / "result_0.txt"
    file.write_bytes(log)
    ours = judge_log(LogTask(str(file), file.name, *usage_and_round(round_id)))
    both = Both(Mutant(f"round {round_id}", log), ours, official(file, round_id))
    if disagrees(both) and not _is_documented(both, round_id):
        raise BrokenError(both.describe())


def _is_documented(both: Both, round_id: str) -> bool:
    """Whether the two sides differ as docs/deviations.md says."""
    if known_deviation(both) is not None:
        return True
    rejecting = set(both.rejecting)
    return both.theirs.compliant and bool(rejecting) and rejecting <= _STRICTER.get(round_id, frozenset())


HARNESSES = (
    Harness(
        "logs-official",
        "verdicts on logs, beside the official checker",
        _compare,
        seeds,
        WORDS,
        generate,
        longest=LONGEST,
        seconds=2.0,
        # The official parser takes long for a line with many tokens.
        seconds_per_kb=0.2,
    ),
)
