"""Whatever kills a pack, OUT is the old tree or the new one, whole."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.commands.pack.workplace import Workplace, files
from tests.killed import starter

KILLS = 100
_WORKERS = 2
#: Packs; the first time, which changes nothing, it loads what it needs.
PROGRAM = """
import sys
from datetime import date
from pathlib import Path
from mlsub.commands.pack.read import read_manifest
from mlsub.commands.pack.run import Request, pack
from mlsub.workspace import Settings
import mlsub.judge.package, mlsub.io.assemble, mlsub.rules.load

def run(manifest, out):
    request = Request(today=date(2026, 11, 21), write=True, settings=Settings(jobs=1))
    pack(read_manifest(Path(manifest), {}), Path(out), request)

run(*sys.argv[1:])
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
    dice = random.Random(worker)
    changes, now, span = 0, 1, 0.2
    with starter(PROGRAM, workplace.manifest_file, workplace.out) as processes:
        for number in range(KILLS // _WORKERS):
            workplace.entry(runs=listed if now else listed[::-1])
            processes.start(workplace.manifest_file, workplace.out)
            time.sleep(dice.uniform(0, span))
            processes.kill()
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
