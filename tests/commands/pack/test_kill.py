"""Whatever kills a pack, OUT is the old tree or the new one, whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.commands.pack.workplace import Workplace, files
from tests.effort import effort
from tests.killed import starter

KILLS = effort(40, 200)
_WORKERS = 2
#: Packs, and kills itself at a step: an audit event of Python. Without a step it writes down how many there are.
#: The first time, which changes nothing, it loads what it needs.
PROGRAM = """
import os, signal, sys
from datetime import date
from pathlib import Path
from mlsub.commands.pack.read import read_manifest
from mlsub.commands.pack.run import Request, pack
from mlsub.workspace import Settings
import mlsub.judge.package, mlsub.io.folders, mlsub.rules.load

def run(manifest, out, step):
    steps = 0
    def count(*event):
        nonlocal steps
        steps += 1  # First, as a kill is an event too.
        if str(steps - 1) == step:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count)
    pack_once(manifest, out)
    if not step:
        Path(manifest).with_name("steps").write_text(str(steps))

def pack_once(manifest, out):
    request = Request(today=date(2026, 11, 21), write=True, settings=Settings(jobs=1))
    pack(read_manifest(Path(manifest), {}), Path(out), request)

pack_once(*sys.argv[1:])
"""


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
    changes = now = 0
    with starter(PROGRAM, workplace.manifest_file, workplace.out) as processes:
        # Once it answers, it has packed what is there again; the second of these runs changes it.
        for order in (listed[::-1], listed):
            workplace.entry(runs=order)
            processes.start(workplace.manifest_file, workplace.out, "")
            assert not processes.wait()
        steps = int((tmp_path / "steps").read_text())
        for number in range(worker, KILLS, _WORKERS):
            # What the one before has left goes first, so that each step is that of a run without it.
            for left in workplace.out.parent.glob(".mlsub-*"):
                shutil.rmtree(left)
            workplace.entry(runs=listed if now else listed[::-1])
            step = steps * number // (KILLS - _WORKERS)
            processes.start(workplace.manifest_file, workplace.out, step)
            processes.wait()
            found = files(workplace.out)
            assert found in states, f"killed at step {step} of {steps}"
            changes += found != states[now]
            now = states.index(found)
    assert 0 < changes < KILLS // _WORKERS, "no kill came before, or none after the change: the test tries nothing"
    workplace.entry(runs=listed if now else listed[::-1])
    assert workplace.pack().written
    # What killed processes left beside it goes with the next pack.
    left = sorted(os.listdir(workplace.out.parent))  # noqa: PTH208
    assert left == [f".{workplace.out.name}.mlsub-written", workplace.out.name]
