"""``python -m mlsub.commands.rules REPOSITORY FOLDER``: build the documentation (``make docs``)."""

from __future__ import annotations

import sys
from pathlib import Path

from mlsub.commands.rules.build import documentation, write


def main(repository: str, folder: str) -> None:
    """Write the documentation of a repository into a folder."""
    pages = documentation(Path(repository).resolve(), Path(folder).resolve())
    write(pages, Path(folder))
    sys.stdout.write(f"{folder}: {len(pages)} pages\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
