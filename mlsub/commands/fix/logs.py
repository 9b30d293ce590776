"""Which logs a path names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mlsub.io.errors import MlsubError

#: What a log is called in a folder that is named as a whole.
ENDINGS = (".txt", ".log", ".out")
MAX_LOGS = 100_000


def find_logs(paths: Sequence[str]) -> list[Path]:
    """The logs that are named, and those anywhere below the folders that are; hidden files and links are passed over.

    Raises:
        MlsubError: a path does not exist or is empty of logs, or a folder cannot be read.
    """
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(os.path.abspath(name)) if "\0" not in name else None  # noqa: PTH100  (links keep their names)
        if path is None or not os.path.lexists(path):
            raise MlsubError(f"There is no {name}. Name logs, or folders of them.")
        if not path.is_dir():
            found[path] = None
            continue
        below = _below(path)
        if not below:
            raise MlsubError(f"{path} holds no log ({', '.join(ENDINGS)}). Name logs, or folders of them.")
        found.update(dict.fromkeys(below))
        if len(found) > MAX_LOGS:
            raise MlsubError(f"There are more than {MAX_LOGS} logs. Name fewer.")
    return list(found)


def root_of(files: Sequence[Path]) -> Path:
    """The folder that the logs are told by their place in."""
    return Path(os.path.commonpath([file.parent for file in files]))


def _below(folder: Path) -> list[Path]:
    found = []

    def fail(error: OSError) -> None:
        raise MlsubError(f"{error.filename} cannot be read: {error.strerror}. Open it, or name the logs.")

    for parent, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(parent, name)
            if not name.startswith(".") and name.endswith(ENDINGS) and file.is_file() and not file.is_symlink():
                found.append(file)
    return found
