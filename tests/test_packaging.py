"""What an installation needs beside the code is named in setup.cfg."""

from __future__ import annotations

import configparser
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
#: For people who read the source.
NOT_NEEDED = {".md", ".py", ".pyc"}


def test_every_data_file_of_the_package_is_installed() -> None:
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    patterns = {name: words.split() for name, words in config["options.package_data"].items()}
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
