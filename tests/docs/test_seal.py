"""The page on sealing, from the first command to the last, as a reader would follow it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY, blocks, steps
from tests.docs.reader import Reader
from tools.support.make_tree import make_tree

pyrage = pytest.importorskip("pyrage")
PAGE = "docs/seal.md"


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A folder with a tree where the page has one, keys and a passphrase."""
    make_tree(tmp_path / "demo", "rehearsal-v1.0", "Rehearsal", ("digits",))
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "committee.txt").write_text(f"# the committee\n{identity.to_public()}\n")
    for name, text in (("committee-key.txt", f"{identity}\n"), ("passphrase.txt", "correct horse battery staple\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    return Reader(tmp_path)


def test_the_commands_of_the_page_follow_one_another(reader: Reader) -> None:
    said = [reader.type(step.command).stdout for step in steps((REPOSITORY / PAGE).read_text())]
    assert len(said) == 7
    assert said[0].startswith("Dry run\n\nWould seal ")
    assert said[1].startswith("Receipt of the sealed submission of Rehearsal\n")
    assert said[2] == "Verification\n\nNothing differs: Rehearsal.tar.gz.age with Rehearsal.tar.gz.age.receipt.txt\n"
    assert said[3].startswith("Opened\n\nform:  age v1, for recipients\ntree:  opened/Rehearsal\n")
    assert said[4].startswith("Verification\n\nNothing differs: ")
    assert said[5].startswith("Verification\n\nNothing differs: ")
    assert json.loads(said[6])["findings"] == []


@pytest.mark.slow
def test_the_lines_of_python_of_the_page_run(reader: Reader) -> None:
    [code] = blocks(PAGE, "python")
    files, opened = reader.run([sys.executable, "-c", code]).stdout.split()
    assert files == opened != "0"
    assert (reader.folder / "by-hand" / "Rehearsal" / "results").is_dir()
