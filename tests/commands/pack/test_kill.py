"""Whatever kills a pack, OUT is the old tree or the new one, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.pack.workplace import Workplace, files

KILLS = 100
_WORKERS = 2
_SCRIPT = """
import sys
from datetime import date
from pathlib import Path
from mlsub.commands.pack.pack import Request, pack
from mlsub.commands.pack.read import read_manifest
from mlsub.commands.pack.stage import Way
import mlsub.judge.package, mlsub.rules.load
manifest, out = map(Path, sys.argv[1:])
wanted = read_manifest(manifest, {})
print("ready", flush=True)
sys.stdin.readline()
packed = pack(wanted, out, Request(today=date(2026, 11, 21), write=True, jobs=1))
print("written" if packed.written else "same", flush=True)
"""


def start(manifest: Path, out: Path) -> subprocess.Popen[str]:
    """A process that is about to pack, and waits for a line."""
    return subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(manifest), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def kill_after(process: subprocess.Popen[str], seconds: float) -> None:
    """Let it go, and kill it some time later."""
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("worker", range(_WORKERS))
def test_a_killed_pack_leaves_the_old_tree_or_the_new_one(worker: int, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    workplace.add_code()
    listed = workplace.content["entries"][0]["runs"]
    states = []
    for order in (listed, listed[::-1]):
        workplace.entry(runs=order)
        assert workplace.pack().written
        states.append(files(workplace.out))
    dice = random.Random(worker)
    changes, now, span = 0, 1, 0.2
    for number in range(KILLS // _WORKERS):
        workplace.entry(runs=listed if now else listed[::-1])
        kill_after(start(workplace.manifest_file, workplace.out), dice.uniform(0, span))
        found = files(workplace.out)
        assert found in states, f"kill {number}"
        changed = found != states[now]
        # About half of the kills come too late, however fast the machine is: so the others come at all stages.
        span *= 0.85 if changed else 1.15
        changes += changed
        now = states.index(found)
    assert 0 < changes < KILLS // _WORKERS, "no kill came before, or none after the change: the test tries nothing"
    workplace.entry(runs=listed if now else listed[::-1])
    assert workplace.pack().written
    # What killed processes left beside it goes with the next pack.
    left = sorted(os.listdir(workplace.out.parent))  # noqa: PTH208
    assert left == [f".{workplace.out.name}.mlsub-written", workplace.out.name]
