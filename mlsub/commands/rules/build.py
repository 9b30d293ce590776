"""The documentation as a folder of Markdown: the pages written by hand, and beside them those made of the rules."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from mlsub.commands.rules.pages import generate

#: The page that README.md becomes.
START = "index.md"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
_CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
#: A page that is not in the repository, by where it is built.
_BUILT = re.compile(r"`build/docs/([\w./-]+\.md)`")
#: A rule id set as code, outside of a link.
_RULE = re.compile(r"(?<!\[)`([a-z]+\.[a-z0-9-]+)`(?!\])")


def documentation(repository: Path, folder: Path) -> dict[str, str]:
    """Every page, by its path below the folder; links out of the pages lead from there to the repository.

    Raises:
        OSError: the repository has no README.md, or a page cannot be read.
    """
    pages = generate()
    written = {repository / "README.md": START}
    written |= {file: file.name for file in sorted((repository / "docs").glob("*.md"))}
    for file, name in written.items():
        pages[name] = _adapted(file, written, folder, pages)
    return pages


def write(pages: Mapping[str, str], folder: Path) -> None:
    """Write pages below a folder."""
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="\n")


def _adapted(file: Path, written: Mapping[Path, str], folder: Path, pages: Mapping[str, str]) -> str:
    """A page written by hand, with its links as they lead from the folder; rules and built pages become links."""

    def target(match: re.Match[str]) -> str:
        place = Path(os.path.normpath(file.parent / match[1]))
        return written.get(place) or Path(os.path.relpath(place, folder)).as_posix()

    def rule(match: re.Match[str]) -> str:
        page = f"rules/{match[1]}.md"
        return f"[{match[0]}]({page})" if page in pages else match[0]

    def prose(text: str) -> str:
        return _BUILT.sub(r"[\1](\1)", _RULE.sub(rule, _LINK.sub(target, text)))

    text = file.read_text("utf-8")
    code = _CODE_BLOCK.findall(text)
    parts = _CODE_BLOCK.split(text)
    return "".join(prose(part) + block for part, block in zip(parts, [*code, ""], strict=True))
