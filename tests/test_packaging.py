"""What an installation needs beside the code is named in setup.cfg."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mlsub.io import VERSION

REPOSITORY = Path(__file__).parents[1]
SETUP = configparser.ConfigParser()
SETUP.read(REPOSITORY / "setup.cfg")
#: For people who read the source.
NOT_NEEDED = {".md", ".py", ".pyc"}


def test_every_data_file_of_the_package_is_installed() -> None:
    patterns = {name: words.split() for name, words in SETUP["options.package_data"].items()}
    package = REPOSITORY / "mlsub"
    assert set(patterns) == {"mlsub"}
    installed = {file for pattern in patterns["mlsub"] for file in package.glob(pattern)}
    missing = [
        file.relative_to(REPOSITORY).as_posix()
        for file in sorted(package.rglob("*"))
        if file.is_file()
        and file.suffix not in NOT_NEEDED
        and "__pycache__" not in file.parts
        and file not in installed
    ]
    assert missing == []


def test_every_package_is_found() -> None:
    folders = {file.parent for file in (REPOSITORY / "mlsub").rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_the_version_stands_in_one_place() -> None:
    assert SETUP["metadata"]["version"] == "attr: mlsub.io.VERSION"
    elsewhere = [
        file.relative_to(REPOSITORY).as_posix()
        for folder in ("mlsub", "docs", "tests")
        for file in (REPOSITORY / folder).rglob("*")
        if file.suffix in {".py", ".md", ".yaml", ".json"} and f'"{VERSION}"' in file.read_text("utf-8", "replace")
    ]
    assert elsewhere == ["mlsub/io/__init__.py"]


def test_every_extra_that_a_message_names_is_one_and_installs_from_the_source() -> None:
    """mlsub is on no package index, so that ``pip install mlsub[...]`` would install something else, or nothing."""
    files = [*(REPOSITORY / "mlsub").rglob("*.py"), *REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    texts = {file.relative_to(REPOSITORY).as_posix(): file.read_text("utf-8") for file in files}
    assert [name for name, text in texts.items() if "pip install 'mlsub[" in text or "pip install mlsub" in text] == []
    extras = {extra for text in texts.values() for extra in re.findall(r"'\.\[([a-z]+)\]'", text)}
    extras |= {extra for text in texts.values() for extra in re.findall(r'needs_extra\(.*, "([a-z]+)"\)', text)}
    assert extras and extras <= set(SETUP["options.extras_require"])


def test_the_source_distribution_has_what_its_tests_and_documentation_need() -> None:
    named = (REPOSITORY / "MANIFEST.in").read_text("utf-8").split()
    # Made here, or named in setup.cfg.
    ignored = {
        "build",
        "demo",
        "dist",
        "man",
        "mlsub",
        "LICENSE",
        "MANIFEST.in",
        "README.md",
        "pyproject.toml",
        "setup.cfg",
    }
    there = {path.name for path in REPOSITORY.iterdir() if path.name[0] != "."}
    assert {name for name in there - ignored if not name.endswith(".egg-info")} <= set(named)


@pytest.mark.long
def test_the_smoke_tests_of_a_release_pass_here(tmp_path: Path) -> None:
    """What of them needs no installation: a submission on its way through the commands."""
    script = (
        "from tools import smoke\n"
        "from tools.support.runner import run\n"
        "smoke.mlsub = lambda *words: run(*words).stdout\n"
        "smoke.goes_through()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: ") == 3
