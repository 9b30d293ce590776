"""What the tests of all adapters ask of a log, and the digits they train on."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mlsub.emit import Recorder, Training
from mlsub.submission.model import LogReport
from tools.support.digits import HYPERPARAMETERS, recorder
from tools.support.effort import HUNG
from tools.support.judging import report_on

ROOT = Path(__file__).parents[3]


def digits(quality: Any, **changes: Any) -> Training:
    """The training of the rehearsal's digits."""
    given = {"hyperparameters": HYPERPARAMETERS, "train_samples": 1437, "evaluation_samples": 360, "batch_size": 32}
    return Training(quality=quality, **{**given, **changes})


class TrainingCrashError(Exception):
    """What the tests raise in the middle of a training."""


def opened(log: Path, **more: Any) -> Recorder:
    """A recorder of the rehearsal, whose cache is clear."""
    made = recorder(log, **more)
    made.log("cache_clear", True)
    return made


def records(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix(":::MLLOG ")) for line in log.read_text().splitlines()]


def keys(log: Path) -> list[str]:
    return [record["key"] for record in records(log)]


def said(log: Path, key: str, name: str) -> list[Any]:
    """What the records of a key have under a name of their metadata."""
    return [record["metadata"].get(name) for record in records(log) if record["key"] == key]


def judged(log: Path) -> LogReport:
    return report_on(log, "rehearsal", "1.0")


def rejecting(log: Path) -> set[str]:
    return {finding.rule for finding in judged(log).findings if finding.rejects}


def assert_reached(log: Path) -> None:
    """The log is compliant, in order, and ends with the first evaluation that reaches the target."""
    report = judged(log)
    assert (report.compliant, report.status, rejecting(log)) == (True, "success", set())
    kept = keys(log)
    assert kept[:2] == ["cache_clear", "init_start"]
    start = kept.index("run_start")
    assert kept[start - 1] == "init_stop"
    cycle = ["block_start", "block_stop", "eval_start", "eval_accuracy", "eval_stop"]
    cycles = kept.count("eval_accuracy")
    assert kept[start + 1 :] == [*cycle * cycles, "run_stop"]
    qualities = [record["value"] for record in records(log) if record["key"] == "eval_accuracy"]
    assert [quality >= 0.96 for quality in qualities] == [False] * (cycles - 1) + [True]
    assert all(type(record["value"]) is float for record in records(log) if record["key"] == "eval_accuracy")
    assert said(log, "eval_accuracy", "epoch_num") == list(range(1, cycles + 1))
    assert said(log, "block_start", "first_epoch_num") == list(range(1, cycles + 1))
    assert said(log, "block_start", "epoch_count") == [1] * cycles


def assert_aborted(log: Path) -> None:
    """The clock ran, and the log says that the run was aborted."""
    last = records(log)[-1]
    assert (last["key"], last["metadata"]["status"]) == ("run_stop", "aborted")
    assert not judged(log).compliant


def assert_never_started(log: Path) -> None:
    """The run was refused, and nothing is in the way of the next."""
    assert list(log.parent.glob("*result_*")) == []


def run_processes(script: Path, log: Path, processes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script that records into a log: in so many processes of torchrun, or as it starts them itself."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable]
    if processes is not None:
        command += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return subprocess.run(
        [*command, str(script), str(log)], cwd=log.parent, env=environment, capture_output=True, text=True, timeout=HUNG
    )


def example(name: str) -> ModuleType:
    """A script of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
