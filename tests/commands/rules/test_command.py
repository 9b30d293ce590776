"""``mlsub rules``: what people read, to the letter, and how it ends.

ROOT stands for the folder that was checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ExpectedText
from tools.support.runner import run

#: Name of the expected text: the call.
TEXTS = {
    "list.txt": "list",
    "list.md": "list --usage hpc --format markdown",
    "list-round.txt": "list --round 1.1",
    "list-round.md": "list --round 6.1 --division open --format markdown",
    "list-benchmark.txt": "list --benchmark bert",
    "show-resnet.txt": "show resnet --round 1.1",
    "show-resnet.md": "show resnet --round 1.1 --format markdown",
    "show-unet3d-open.txt": "show unet3d --round 1.0 --division open",
    "show-digits.txt": "show digits",
    "show-llama31-8b.txt": "show llama31_8b --round 6.1",
    "show-dlrmv4.txt": "show dlrmv4 --round 6.1",
    "show-deepcam.txt": "show deepcam --round 3.0 --usage hpc",
    "diff-1.0-1.1.txt": "diff 1.0 1.1",
    "diff-1.0-1.1.md": "diff 1.0 1.1 --format markdown",
    "diff-1.0-2.0-open.txt": "diff 1.0 2.0 --division open",
    "diff-6.0-6.1.txt": "diff 6.0 6.1",
    "diff-6.0-6.1.md": "diff 6.0 6.1 --format markdown",
    "diff-none.txt": "diff 2.1 2.1 --benchmark resnet",
    "diff-hpc.txt": "diff 2.0 3.0 --usage hpc",
    "keys-llama31-8b.txt": "keys llama31_8b --round 6.1",
    "keys-llama31-8b.md": "keys llama31_8b --round 6.1 --format markdown",
    "keys-resnet.txt": "keys resnet --round 1.0",
    "keys-minigo-0.6.txt": "keys minigo --round 0.6 --division open",
    "keys-stable-diffusion.txt": "keys stable_diffusion --round 5.0",
    "keys-digits-open.md": "keys digits --division open --format markdown",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_rules_read_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    outcome = run("rules", *TEXTS[name].split())
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text(name, outcome.stdout)


#: The call, and the start of the one line on standard error.
REFUSED = {
    "show resnt": "mlsub rules show: no benchmark 'resnt'. Did you mean resnet or rnnt?",
    "show resnet --round 6.1": "mlsub rules show: training 6.1 has no resnet; it was in 0.6 to 4.0",
    "show bert --round 1.2": "mlsub rules show: no training round '1.2'; there are 0.6, ",
    "show bert --division close": "mlsub rules show: no division 'close'; there are closed, open. Did you mean closed?",
    "show cosmoflow --usage hcp": "mlsub rules show: no usage 'hcp'; there are training, hpc, rehearsal. Did you",
    "show bert\x1b[31m": "mlsub rules show: no benchmark 'bert\\x1b[31m'. Did you mean bert?",
    "show llama": "mlsub rules show: no benchmark 'llama'. Did you mean llama31_8b?",
    "keys flux": "mlsub rules keys: no benchmark 'flux'. Did you mean flux1?",
    "keys bert --division opn": "mlsub rules keys: no division 'opn'; there are closed, open. Did you mean open?",
    "keys bert --round 6.0": "mlsub rules keys: training 6.0 has no bert; it was in 0.7 to 5.0",
    "list --round 9 --usage hpc": "mlsub rules list: no hpc round '9'; there are 1.0, 2.0, 3.0",
    "list --division open": "mlsub rules list: --division needs --round or --benchmark",
    "list --round 1.0 --benchmark bert": "mlsub rules list: --round and --benchmark exclude each other; use ",
    "list --round 99.0": "mlsub rules list: no training round '99.0'; there are ",
    "diff 1.0 1.O": "mlsub rules diff: no training round '1.O'; there are ",
    "diff 1.0 1.1 --benchmark llama31_8b": "mlsub rules diff: neither training 1.0 nor 1.1 has llama31_8b",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_name_that_there_is_not_gets_one_line(arguments: str) -> None:
    outcome = run("rules", *arguments.split(" "))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.count("\n") == 1
    assert outcome.stderr.startswith(REFUSED[arguments])


_OPENED = """
import json, sys
opened = []
sys.addaudithook(lambda event, found: opened.append(str(found[0])) if event == "open" else None)
from mlsub.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("\\nOPENED " + json.dumps([name for name in opened if name.endswith(".yaml")]))
"""


def test_showing_a_benchmark_reads_its_rules_alone() -> None:
    """What makes it quick; time itself is for make bench."""
    words = ["rules", "show", "resnet", "--round", "2.1"]
    done = subprocess.run([sys.executable, "-c", _OPENED, *words], capture_output=True, text=True, check=True)
    opened = [Path(name).name for name in json.loads(done.stdout.rpartition("OPENED ")[2])]
    assert sorted(opened) == ["common.yaml", "resnet.yaml", "rounds.yaml"]
