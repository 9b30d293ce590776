"""Two real processes of JAX on a CPU: a refusal that reaches both and leaves no file, then one seed and one log."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax", reason="JAX is not installed: make test-all", exc_type=ImportError)

from tests.emit.adapters.common import ROOT, judged, keys, rejecting
from tools.support.effort import HUNG

PROGRAM = """
import sys
import jax
jax.distributed.initialize(f"localhost:{sys.argv[2]}", 2, int(sys.argv[1]))
from pathlib import Path
from mlsub.emit import EmitError
from tools.support.digits import initialise, recorder
try:
    with recorder(Path(sys.argv[3])) as rec:
        initialise(rec, opt_momentum=None)
except EmitError as error:
    print("refused", type(error).__name__, "opt_momentum is missing" in str(error), flush=True)
with recorder(Path(sys.argv[3])) as rec:
    print("seed", initialise(rec), flush=True)
    with rec.run() as run:
        for epoch in range(1, 10):
            with rec.block(first_epoch=epoch):
                pass
            with rec.evaluation(epoch=epoch) as evaluation:
                if evaluation.result(0.9 + 0.03 * epoch if jax.process_index() == 0 else 0.0):
                    break
    print("ended", run.status, epoch, rec.ranks.rank, rec.ranks.size, flush=True)
jax.distributed.shutdown()
"""


def test_two_processes_have_one_seed_one_end_and_one_log_and_are_refused_together(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, "-c", PROGRAM]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    started = [subprocess.Popen([*words, str(rank), str(port), str(log)], **pipes) for rank in (0, 1)]
    said = []
    for process in started:
        out, errors = process.communicate(timeout=HUNG)
        assert process.returncode == 0, errors[-3000:]
        said.append([line for line in out.splitlines() if line.startswith(("refused", "seed", "ended"))])
    refused, seeds, ends = zip(*said, strict=True)
    assert refused == ("refused DoomedRunError True", "refused EmitError True")
    assert seeds[0] == seeds[1]
    assert ends == ("ended success 2 0 2", "ended success 2 1 2")
    assert (judged(log).compliant, rejecting(log), keys(log).count("seed")) == (True, set(), 1)
    assert [file.name for file in tmp_path.iterdir()] == ["result_0.txt"]
