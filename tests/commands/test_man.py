"""The manual pages: every command has one, with what its help says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mlsub.cli import main
from mlsub.commands.completion.man import pages, write
from mlsub.io.version import VERSION
from tests.commands.tree import every, leaves

PAGES = pages(main, "mlsub")


def test_every_command_has_a_page() -> None:
    assert set(PAGES) == {"-".join(("mlsub", *words)) + ".1" for words, _ in every()}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_has_what_people_look_for(name: str) -> None:
    page = PAGES[name]
    first = page.splitlines()[0]
    assert first == f'.TH {name[:-2].upper()} 1 "" "mlsub {VERSION}" "User Commands"'.replace("-", "\\-")
    sections = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
    assert sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"] and "SEE ALSO" in sections
    words = name[:-2].replace("-", " ").removeprefix("mlsub ")
    assert ("EXAMPLE" in sections) == (words in leaves())
    assert ("EXIT STATUS" in sections) or words not in leaves()
    assert page.isascii() and "\b" not in page


def test_options_and_exit_status_are_those_of_the_help() -> None:
    page = PAGES["mlsub-check.1"]
    assert ".TP\n.B \\-\\-jobs N\nRead logs with N processes.\n" in page or "\\-\\-jobs N\nRead logs" in page
    assert "--color" not in page and "\\-\\-color" in PAGES["mlsub.1"] and "NO_COLOR" in PAGES["mlsub.1"]
    assert ".SH EXIT STATUS\n" in page and "\\fBmlsub\\fR(1)" in page
    assert "\\fBmlsub\\-rcp\\-margin\\fR(1)" in PAGES["mlsub-rcp.1"]
    # What stands in lines of its own in the help does here, too.
    assert ".nf\n  ssh host tail" in PAGES["mlsub-watch.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff to read them")
def test_groff_has_nothing_to_complain_of(tmp_path: Path) -> None:
    write(tmp_path / "man", PAGES)
    files = sorted((tmp_path / "man").iterdir())
    done = subprocess.run(["groff", "-man", "-ww", "-z", *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
