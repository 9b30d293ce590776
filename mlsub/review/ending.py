"""Audit of how a run ends: somebody must have measured that the target was reached."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.findings import Finding
from mlsub.log.run import MAX_EVALUATIONS, Run
from mlsub.rules.catalogue import finding

#: Many implementations open a block as they stop; training takes longer than that.
IDLE_MS = 1_000
#: And a share of the run: what is logged in one go may carry times that are a little off.
IDLE_SHARE = 0.005


def audit_ending(run: Run, path: str) -> Iterator[Finding]:
    """A successful run whose last block of training ends without an evaluation."""
    if not run.converged or len(run.evaluations) >= MAX_EVALUATIONS:
        return
    if not run.evaluations:
        yield _missing(run, path, "none in the log")
        return
    last = run.evaluations[-1]
    stop, block = run.timeline.run_stop, run.last_block
    if block is None or stop is None or block[0] < last.line or any(e.time_ms >= block[1] for e in run.evaluations):
        return
    idle = stop - block[1]
    if idle > max(IDLE_MS, IDLE_SHARE * (run.duration_ms or 0)):
        yield _missing(
            run, path, f"the last one in line {last.line}, before a block in line {block[0]} of {idle / 1000:g} s"
        )


def _missing(run: Run, path: str, actual: str) -> Finding:
    return finding(
        "run.eval-missing",
        path,
        "The run ends with success, but there is no evaluation after its last training block",
        line=run.status_line,
        expected="eval_accuracy between the last block_start and run_stop",
        actual=actual,
    )
