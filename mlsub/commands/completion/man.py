"""Manual pages of all commands, made of what --help says; see man(7) for the language.

``make man`` writes them; the wheel installs them below ``share/man/man1``.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from mlsub.commands.lazy import Command, commands_below
from mlsub.io.version import VERSION

#: Every command has these; they are on the page of the program alone.
_COMMON = ("--color", "--help")
_ENVIRONMENT = {
    "NO_COLOR": "Without colours, unless --color says otherwise; if it is set and not empty.",
    "FORCE_COLOR": "With colours, also where the output is not a terminal; NO_COLOR comes first.",
    "COLUMNS": "The width of the terminal.",
}
_EXIT = "Exit status"


def pages(program: click.Command, name: str) -> dict[str, str]:
    """The pages of a program and of each of its commands, by file: ``mlsub.1``, ``mlsub-rcp-show.1``."""
    found = dict(_commands(program, (name,), None))
    names = ["-".join(words) for words in found]
    return {
        f"{'-'.join(words)}.1": _page(words, context, [other for other in names if _is_beside(words, other)])
        for words, context in found.items()
    }


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write the pages into a folder, which holds nothing else afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in pages.items():
        (folder / name).write_text(text, "ascii", newline="\n")


def _commands(
    command: click.Command, words: tuple[str, ...], parent: click.Context | None
) -> Iterator[tuple[tuple[str, ...], click.Context]]:
    """The command and those below it, each with the context in which its help is made."""
    context = click.Context(command, info_name=words[-1], parent=parent, **command.context_settings)
    yield words, context
    for name, below in commands_below(command, context):
        yield from _commands(below, (*words, name), context)


def _is_beside(words: Sequence[str], other: str) -> bool:
    """Whether another page is one step up or down."""
    name = "-".join(words)
    return other.rpartition("-")[0] == name or name.rpartition("-")[0] == other


def _page(words: tuple[str, ...], context: click.Context, beside: Sequence[str]) -> str:
    command, name = context.command, "-".join(words)
    about, exits = _texts(command)
    parts = [
        f'.TH {_plain(name.upper())} 1 "" "mlsub {VERSION}" "User Commands"',
        ".nh",
        ".SH NAME",
        f"{_plain(name)} \\- {_plain(command.get_short_help_str(200).rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_plain(' '.join(words))}",
        _plain(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *about,
    ]
    if isinstance(command, Command):
        parts += [".SH EXAMPLE", ".nf", f"$ {_plain(command.example)}", ".fi"]
    parts += _listed("COMMANDS", _below(command, context))
    parts += _listed("OPTIONS", _options(command, context, of_all=len(words) == 1))
    if exits:
        parts += [".SH EXIT STATUS", *exits]
    if len(words) == 1:
        parts += _listed("ENVIRONMENT", _ENVIRONMENT.items())
    if beside:
        parts += [".SH SEE ALSO", ", ".join(f"\\fB{_plain(other)}\\fR(1)" for other in sorted(beside))]
    return "\n".join(parts) + "\n"


def _texts(command: click.Command) -> tuple[list[str], list[str]]:
    """The help in paragraphs, and apart from it what it says of the exit status."""
    about: list[str] = []
    exits: list[str] = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        as_it_is = paragraph.startswith("\b")
        lines = paragraph.removeprefix("\b\n").splitlines()
        if as_it_is:
            about += [".PP", ".nf", *map(_plain, lines), ".fi"]
        elif lines and lines[0].startswith(_EXIT):
            text = " ".join(lines).removeprefix(_EXIT).lstrip(": ")
            exits += [".PP", _plain(text[:1].upper() + text[1:])]
        else:
            about += [".PP", _plain(" ".join(lines))]
    return about[1:], exits[1:]


def _below(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    return [(name, below.get_short_help_str(200)) for name, below in commands_below(command, context)]


def _options(command: click.Command, context: click.Context, *, of_all: bool) -> Iterator[tuple[str, str]]:
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and record[1] and (of_all or not set(param.opts) & set(_COMMON)):
            yield record


def _listed(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """A section of terms, each with its text; nothing where there are none."""
    found = [(term, " ".join(text.split())) for term, text in rows]
    lines = [line for term, text in found for line in (".TP", f".B {_plain(term)}", _plain(text))]
    return [f".SH {title}", *lines] if lines else []


def _plain(text: str) -> str:
    """Text that says nothing in the language of the pages, in ASCII."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    text = re.sub(r"[^\x20-\x7e]", lambda match: f"\\[u{ord(match[0]):04X}]", text)
    return f"\\&{text}" if text[:1] in (".", "'") else text
