"""The documentation as a folder of Markdown: the pages written by hand, and beside them those made of the rules.

``python -m mlsub.commands.rules.build REPOSITORY FOLDER`` builds it (``make docs``).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from mlsub.commands.rules.pages import generate, in_prose, linked

#: The page that README.md becomes.
START = "index.md"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")


def documentation(repository: Path, folder: Path) -> dict[str, str]:
    """Every page, by its path below the folder; links out of the pages lead from there to the repository.

    Raises:
        OSError: the repository has no README.md, or a page cannot be read.
    """
    pages = generate()
    written = {repository / "README.md": START}
    written |= {file: file.name for file in sorted((repository / "docs").glob("*.md"))}
    return pages | {name: linked(_adapted(file, written, folder), name) for file, name in written.items()}


def write(pages: Mapping[str, str], folder: Path) -> None:
    """Write pages below a folder."""
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="\n")


def _adapted(file: Path, written: Mapping[Path, str], folder: Path) -> str:
    """A page written by hand, with its links as they lead from the folder."""

    def target(match: re.Match[str]) -> str:
        place = Path(os.path.normpath(file.parent / match[1]))
        return written.get(place) or Path(os.path.relpath(place, folder)).as_posix()

    return in_prose(file.read_text("utf-8"), lambda prose: _LINK.sub(target, prose))


def main(repository: str, folder: str) -> None:
    """Write the documentation of a repository into a folder."""
    pages = documentation(Path(repository).resolve(), Path(folder).resolve())
    write(pages, Path(folder))
    sys.stdout.write(f"{folder}: {len(pages)} pages\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
