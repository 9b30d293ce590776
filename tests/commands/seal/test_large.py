"""Large trees are sealed and opened in bounded memory: a gigabyte, most of it a hole, in a process of its own."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.runner import REPOSITORY
from tests.effort import effort

pyrage = pytest.importorskip("pyrage")
GIB = 1 << 30
#: Bytes; Python with the libraries alone has about 25 MiB.
MOST = 64 << 20
PROBE = """
import re, sys
from pathlib import Path
from mlsub.commands.seal.contents import Limits
from mlsub.commands.seal.keys import Identities, Passphrase, Recipients, Unencrypted
from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed
form, key, public, tree, out = sys.argv[1:]
secret = Passphrase(b"correct horse battery", work_factor=10)
seal, open_ = {
    "open": (Unencrypted(), None), "passphrase": (secret, secret),
    "recipient": (Recipients((public,)), Identities(key.encode())),
}[form]
receipt = seal_tree(Path(tree), Path(out), seal)
assert verify_sealed(Path(out), open_, limits=Limits(ratio=None)).findings == ()
print(receipt.files_size, re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no /proc here to read the peak of memory from")
@pytest.mark.parametrize("form", ["open", "passphrase", "recipient"])
def test_memory_does_not_grow_with_the_tree(form: str, tmp_path: Path) -> None:
    """A file of 128 MiB with a noisy beginning; in a long run of 1 GiB for the recipient."""
    size = effort(GIB // 8, GIB) if form == "recipient" else GIB // 8
    (tmp_path / "T").mkdir()
    with (tmp_path / "T" / "log").open("wb") as stream:
        stream.write(random.Random(1).randbytes(16 << 20))
        stream.truncate(size)
    identity = pyrage.x25519.Identity.generate()
    arguments = [form, str(identity), str(identity.to_public()), str(tmp_path / "T"), str(tmp_path / "sealed")]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    sealed, peak = map(int, done.stdout.split())
    assert sealed == size
    assert peak * 1024 < MOST
