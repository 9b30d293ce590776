"""Several real processes under torchrun: one log, that mlsub check accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("sklearn", reason="scikit-learn is not installed: make test-all")

from tests.emit.adapters.common import (
    ROOT,
    assert_aborted,
    assert_never_started,
    assert_reached,
    keys,
    records,
    run_processes,
)
from tools.support.effort import HUNG


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """The example with some of its lines changed."""
    text = (ROOT / "examples" / "ddp_digits.py").read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    script = folder / "changed.py"
    script.write_text(text)
    return script


@pytest.mark.parametrize("processes", [2, 4])
def test_the_example_leaves_one_log_that_is_accepted(processes: int, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    done = run_processes(ROOT / "examples" / "ddp_digits.py", log, processes)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_reached(log)
    assert [keys(log).count(key) for key in ("init_start", "seed", "run_start", "run_stop")] == [1, 1, 1, 1]
    assert [file.name for file in tmp_path.iterdir()] == ["result_0.txt"]
    check = [sys.executable, "-m", "mlsub", "check", "--usage", "rehearsal", "--round", "1.0", str(log)]
    checked = subprocess.run(check, capture_output=True, text=True, timeout=HUNG)
    assert (checked.returncode, "accepted: 1 of 1 logs compliant" in checked.stdout) == (0, True), checked.stdout


def test_a_refusal_ends_all_processes_before_the_clock_starts(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    done = run_processes(changed(tmp_path, ('"opt_momentum": 0.9,', "")), log, 2)
    assert done.returncode != 0
    assert "DoomedRunError" in done.stderr
    assert "refused by the process that writes the log" in done.stderr
    assert_never_started(log)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_crashes_leaves_no_log_that_says_success(rank: int, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    crash = f"if epoch == 2 and distributed.get_rank() == {rank}: raise RuntimeError('crash')\n            "
    line = "sampler.set_epoch(epoch)\n"
    done = run_processes(changed(tmp_path, (line, crash + line)), log, 2)
    assert done.returncode != 0
    assert records(log)[0]["key"] == "cache_clear"
    if rank == 0:
        assert_aborted(log)
    else:
        # The writer ends by the broken connection, as aborted, or is killed by torchrun, in the middle of the log.
        assert '"success"' not in log.read_text()
