"""What an installation needs beside the code is named in setup.cfg."""

from __future__ import annotations

import configparser
from fnmatch import fnmatchcase
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
#: For people who read the source.
NOT_NEEDED = {".md", ".py", ".pyc"}


def test_every_data_file_of_the_package_is_installed() -> None:
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    patterns = {name: words.split() for name, words in config["options.package_data"].items()}
    missing = []
    for file in sorted((REPOSITORY / "mlsub").rglob("*")):
        if not file.is_file() or file.suffix in NOT_NEEDED or "__pycache__" in file.parts:
            continue
        package = file.parent
        while not (package / "__init__.py").exists():
            package = package.parent
        name = ".".join(package.relative_to(REPOSITORY).parts)
        inside = file.relative_to(package).as_posix()
        if not any(
            fnmatchcase(inside, pattern) and inside.count("/") == pattern.count("/")
            for pattern in patterns.get(name, ())
        ):
            missing.append(file.relative_to(REPOSITORY).as_posix())
    assert missing == []


def test_every_package_is_found() -> None:
    folders = {file.parent for file in (REPOSITORY / "mlsub").rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
