"""The official age program opens what mlsub seals, and mlsub opens what age seals."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.packing.forms import Key, read_identities
from tests.commands.seal.trees import for_keys, plant, snapshot, with_keys, with_phrase

if not shutil.which("age") or sys.platform == "win32":
    pytest.skip("the age program, or a terminal to talk to it, is not here", allow_module_level=True)

SECRET = "correct horse battery staple"  # noqa: S105  (of the tests alone)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the archive that mlsub seals, unencrypted."""
    seal_tree(plant(tmp_path), tmp_path / "archive", None)
    return tmp_path


def keys(place: Path) -> tuple[Key, Key]:
    """A pair of keys made by age-keygen."""
    subprocess.run(["age-keygen", "-o", "key"], cwd=place, check=True, capture_output=True)
    public = subprocess.run(["age-keygen", "-y", "key"], cwd=place, check=True, capture_output=True, text=True)
    return for_keys((public.stdout.strip(),)), with_keys(read_identities(place / "key"))


def typed(arguments: Sequence[str], folder: Path) -> None:
    """Run age in a terminal of its own, where it asks for the passphrase, and type that as often as it asks."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvp("age", ["age", *arguments])  # noqa: S606  (the program under test)
    said = b""
    answered = 0
    while True:
        try:
            said += os.read(terminal, 1024)
        except OSError:
            break
        if said.count(b"assphrase") > said[:answered].count(b"assphrase") and said.rstrip().endswith(b":"):
            answered = len(said)
            os.write(terminal, SECRET.encode() + b"\n")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said.decode()


def test_age_opens_what_is_sealed_for_a_recipient(place: Path) -> None:
    recipients, _ = keys(place)
    seal_tree(plant(place / "again"), place / "sealed", recipients)
    subprocess.run(["age", "-d", "-i", "key", "-o", "theirs", "sealed"], cwd=place, check=True)
    assert (place / "theirs").read_bytes() == (place / "archive").read_bytes()


def test_age_opens_what_is_sealed_with_a_passphrase(place: Path) -> None:
    """With the work factor that users get."""
    seal_tree(plant(place / "again"), place / "sealed", with_phrase(SECRET.encode()))
    typed(["-d", "-o", "theirs", "sealed"], place)
    assert (place / "theirs").read_bytes() == (place / "archive").read_bytes()


@pytest.mark.parametrize("form", ["recipient", "passphrase"])
def test_what_age_seals_is_opened(form: str, place: Path) -> None:
    if form == "recipient":
        recipients, key = keys(place)
        subprocess.run(["age", "-r", *recipients.recipients, "-o", "theirs", "archive"], cwd=place, check=True)
        unseal(place / "theirs", place / "out", key)
    else:
        typed(["-p", "-o", "theirs", "archive"], place)
        unseal(place / "theirs", place / "out", with_phrase(SECRET.encode()))
    assert snapshot(place / "out" / "ACME") == snapshot(place / "training_results_v1.0" / "ACME")
