"""The documentation as a folder of Markdown: the pages written by hand, and beside them those made of the rules.

``python -m mlsub.commands.rules.build REPOSITORY FOLDER`` builds it; ``make docs`` makes a site of it (mkdocs.yml).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from mlsub.commands.rules.pages import generate, in_prose, linked

#: Pages that the repository keeps beside docs/, by what they become.
_BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
#: The page that README.md becomes.
START = _BESIDE["README.md"]
#: What the pages need beside their text.
_ASSETS = "assets"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def documentation(repository: Path) -> dict[str, str]:
    """Every page, by its path: written by hand, made of the rules, and the files of the repository that they link to.

    Raises:
        OSError: the repository lacks a page, or a file that one links to.
    """
    written = {repository / file: page for file, page in _BESIDE.items()}
    written |= {file: file.name for file in sorted((repository / "docs").glob("*.md"))}
    sources: dict[str, str] = {}
    pages = {page: _adapted(file, repository, written, sources) for file, page in written.items()}
    return generate() | {page: linked(text, page) for page, text in pages.items()} | sources


def write(pages: Mapping[str, str], folder: Path) -> None:
    """Write pages below a folder."""
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="\n")


def _adapted(file: Path, repository: Path, written: Mapping[Path, str], sources: dict[str, str]) -> str:
    """A page written by hand, its links as they lead from its new place; ``sources`` gets the files it links to."""

    def target(match: re.Match[str]) -> str:
        place = Path(os.path.normpath(file.parent / match[1]))
        if place in written:
            return written[place]
        name = place.relative_to(repository).as_posix()
        page = f"source/{name}.md"
        sources[page] = _source(name, place)
        return page

    return in_prose(file.read_text("utf-8"), lambda prose: _LINK.sub(target, prose))


def _source(name: str, file: Path) -> str:
    """A page that shows a file of the repository, and that a search does not find."""
    language = _LANGUAGES.get(file.suffix, "text")
    return (
        f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n````{language}\n{file.read_text('utf-8').rstrip()}\n````\n"
    )


def main(repository: str, folder: str) -> None:
    """Write the documentation of a repository into a folder."""
    pages = documentation(Path(repository).resolve())
    write(pages, Path(folder))
    shutil.copytree(Path(repository, "docs", _ASSETS), Path(folder, _ASSETS), dirs_exist_ok=True)
    sys.stdout.write(f"{folder}: {len(pages)} pages\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
