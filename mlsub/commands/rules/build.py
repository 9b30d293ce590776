"""The documentation as a folder of Markdown: pages written by hand, and pages made of the rules and of the commands.

``make docs`` builds it, and makes a site of it (mkdocs.yml).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

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
#: The page on all commands and their options.
COMMANDS = "commands.md"
#: What the pages need beside their text.
_ASSETS = "assets"
#: Columns of a help text.
_COLUMNS = 96
_COMMANDS_TITLE = "# Commands\n\nEvery command with its options, as `mlsub COMMAND --help` prints them.\n"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def documentation(repository: Path, root: click.Group) -> dict[str, str]:
    """Every page, by its path: written by hand, made of the rules, and the files of the repository that they link to.

    Args:
        repository: where README.md and docs/ are.
        root: ``mlsub`` as a command.

    Raises:
        OSError: the repository lacks a page, or a file that one links to.
    """
    written = {repository / file: page for file, page in _BESIDE.items()}
    written |= {file: file.name for file in sorted((repository / "docs").glob("*.md"))}
    sources: dict[str, str] = {}
    pages = {page: _adapted(file, repository, written, sources) for file, page in written.items()}
    made = generate() | {COMMANDS: "".join((_COMMANDS_TITLE, *_helps(root, "mlsub")))}
    return made | {page: linked(text, page) for page, text in pages.items()} | sources


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
        if place.parent == repository / "docs" / _ASSETS:
            return f"{_ASSETS}/{place.name}"
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


def _helps(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[str]:
    """The help of a command and of those in it, as they print it."""
    settings = {**command.context_settings, "terminal_width": _COLUMNS, "max_content_width": _COLUMNS}
    context = click.Context(command, above, name, **settings)
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            if inner := command.get_command(context, word):
                yield from _helps(inner, word, context)


def build(repository: Path, folder: Path, root: click.Group) -> int:
    """Write the documentation of a repository into a folder: how many pages there are."""
    pages = documentation(repository.resolve(), root)
    write(pages, folder)
    shutil.copytree(repository / "docs" / _ASSETS, folder / _ASSETS, dirs_exist_ok=True)
    return len(pages)
