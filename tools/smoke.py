"""Smoke tests of an installation, with nothing but Python and what it is run with: ``python tools/smoke.py``.

``make dist`` runs them in an environment that holds the wheel alone. They take a submission through the commands that
need no extra, and look at what an installation has beside the code.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TRAINING = """
from mlsub.emit import Recorder

for number in range(5):
    with Recorder(f"runs/digits/result_{number}.txt", usage="rehearsal", round="1.0", benchmark="digits",
                  division="closed", organisation="ACME", platform="rack1", status="onprem") as recorder:
        recorder.cache_clear()
        with recorder.init():
            recorder.hyperparameters({
                "global_batch_size": 32, "gradient_accumulation_steps": 1, "opt_name": "sgd",
                "opt_base_learning_rate": 0.02, "opt_momentum": 0.9, "opt_weight_decay": 0.0001,
                "model_hidden_units": 64,
            })
            recorder.samples(train=1437, evaluation=360)
            recorder.fresh_seed()
        with recorder.run():
            for epoch in range(1, 10):
                with recorder.block(first_epoch=epoch):
                    pass
                with recorder.evaluation(epoch=epoch) as evaluation:
                    if evaluation.result(0.9 + 0.0125 * epoch):
                        break
"""
#: Where a command needs an extra, what it says without it.
EXTRAS = {
    "db query 'select 1'": ("duckdb", ".[db]"),
}


def mlsub(*words: str, status: int = 0) -> str:
    """Run the command that is installed beside this Python, outside of any copy of the source."""
    program = Path(sys.executable).with_name("mlsub")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(program), *words], capture_output=True, text=True, check=False, env=environment | {"NO_COLOR": "1"}
    )
    shown = f"mlsub {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    if done.returncode != status or "Traceback" in shown:
        raise SystemExit(f"expected exit status {status}, found\n{shown}")
    return done.stdout + done.stderr


def expect(what: str, found: bool) -> None:
    if not found:
        raise SystemExit(f"failed: {what}")
    print(f"ok: {what}")


def looks_installed() -> None:
    """Version, data files, completion."""
    from importlib.metadata import version
    from importlib.util import find_spec

    expect("one version", mlsub("--version") == f"mlsub, version {version('mlsub')}\n")
    expect("the data of rules and rounds", "llama2_70b_lora" in mlsub("rules", "show", "llama2_70b_lora"))
    expect("the catalogue of systems", "ipu-pod16" in mlsub("system", "list"))
    expect("schemas", json.loads(mlsub("schema", "manifest"))["type"] == "object")
    expect("completion", "_MLSUB_COMPLETE" in mlsub("completion", "bash"))
    for words, (library, extra) in EXTRAS.items():
        if find_spec(library) is None:
            expect(f"{library} is missed by name", extra in mlsub(*shlex.split(words), status=2))


def goes_through() -> None:
    """Record runs, describe the system, pack, check, score, show, fix, seal and verify."""
    Path("runs/digits").mkdir(parents=True)
    subprocess.run([sys.executable, "-c", TRAINING], check=True)
    mlsub("system", "new", "--from", "dgx-a100-640gb", "--submitter", "ACME", "--division", "closed",
          "--status", "onprem", "--framework", "PyTorch", "--set", "system_name=rack1", "-o", "rack1.json")  # fmt: skip
    Path("submission.yaml").write_text(
        'organisation: ACME\nusage: rehearsal\nround: "1.0"\nsystems: {rack1: rack1.json}\n'
        "entries: [{system: rack1, benchmark: digits, runs: runs/digits}]\n"
    )
    mlsub("pack", "submission.yaml", "-o", "rehearsal-v1.0/ACME", "--write")
    report = json.loads(mlsub("check", "rehearsal-v1.0/ACME", "--format", "json"))["reports"][0]
    expect("pack and check", report["official"] == "accepted")
    expect("score", "digits" in mlsub("score", "rehearsal-v1.0/ACME"))
    mlsub("site", "rehearsal-v1.0/ACME", "-o", "site")
    expect("site", Path("site/index.html").is_file())
    mlsub("fix", "rehearsal-v1.0/ACME")
    mlsub("seal", "rehearsal-v1.0/ACME", "--no-encryption", "--even-unfilled", "-o", "ACME.tar.gz")
    mlsub("verify", "ACME.tar.gz")
    expect("fix, seal and verify", Path("ACME.tar.gz.receipt.txt").is_file())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        looks_installed()
        goes_through()
        os.chdir("/")
