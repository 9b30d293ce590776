"""The calls of ``calls.yaml``, which says what tests ask of every command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml

from tests.commands.tree import leaves
from tools.support.corpus import CORPUS, REPOSITORY

_PLACES = {"corpus": CORPUS, "submissions": REPOSITORY / "submissions"}


class Overwrite(NamedTuple):
    """A file that somebody changes after a first call, and what a second one comes to."""

    call: str
    changed: str
    first: tuple[str, ...] | None
    again: tuple[str, ...]
    status: int
    aside: bool


class Case(NamedTuple):
    """A call whose facts are kept; ``{tmp}`` stands for the folder where it is made."""

    name: str
    call: str
    of: str
    place: str | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    reads: str | None = None
    omits: tuple[str, ...] = ()
    written: str | None = None
    prose: tuple[str, ...] = ()
    each: bool = False
    shown: bool = False
    corpus: bool = False

    @property
    def needs_corpus(self) -> bool:
        """Whether it asks about published packages."""
        return self.corpus or "{corpus}" in " ".join([self.of, *self.before])


class Call(NamedTuple):
    """A command with its options, and what tests know of it."""

    words: str
    of: str
    title: str
    answer: str
    progress: str
    without: frozenset[str]
    writes: str
    overwrites: tuple[Overwrite, ...]
    cases: tuple[Case, ...]

    @property
    def name(self) -> str:
        """The command without its options."""
        return self.words.partition(" --")[0]

    @property
    def command(self) -> click.Command:
        """The command of click."""
        return leaves()[self.name]

    @property
    def makes_a_file(self) -> bool:
        """Whether it writes a file of a new name, at the latest with ``writes``."""
        return "{new}" in self.of + self.writes

    def line(self, new: object, *more: str) -> list[str]:
        """The words of the command line, with a name for what is made."""
        return [*self.words.split(), *filled(self.of, new=new), *more]

    def written(self, new: object, *more: str) -> list[str]:
        """The words of the command line by which it writes."""
        return self.line(new, *filled(self.writes, new=new), *more)


def filled(words: str, **places: object) -> list[str]:
    """The words of a command line, with the folders that it names."""
    return shlex.split(words.format_map({**_PLACES, **places}))


def option(command: click.Command, name: str) -> click.Parameter | None:
    """An option of a command."""
    return next((one for one in command.params if name in one.opts), None)


@cache
def calls() -> dict[str, Call]:
    """The calls by their words."""
    content = yaml.safe_load(Path(__file__).with_name("calls.yaml").read_text(encoding="utf-8"))
    return {words: _call(words, entry) for words, entry in content.items()}


@cache
def cases() -> dict[str, Case]:
    """The calls whose facts are kept, by the names of these."""
    return {case.name: case for call in calls().values() for case in call.cases}


def _call(words: str, entry: Mapping[str, Any]) -> Call:
    return Call(
        words=words,
        of=entry["of"],
        title=entry.get("title", ""),
        answer=entry.get("answer", words),
        progress=entry.get("progress", ""),
        without=frozenset(entry.get("without", ())),
        writes=entry.get("writes", ""),
        overwrites=tuple(_overwrite(words, entry, row) for row in entry.get("overwrites", ())),
        cases=tuple(_case(words, entry, name, asked) for name, asked in entry.get("cases", {}).items()),
    )


def _overwrite(words: str, entry: Mapping[str, Any], row: Mapping[str, Any]) -> Overwrite:
    of = row.get("of", f"{entry['of']} {entry.get('writes', '')}")
    line = (*words.split(), *filled(of, new="made"))
    return Overwrite(
        call=words,
        changed=row["changed"].format(new="made"),
        first=(*line, *shlex.split(row.get("once", ""))) if row.get("first", True) else None,
        again=(*line, *shlex.split(row.get("again", ""))),
        status=row["status"],
        aside=row.get("aside", False),
    )


def _case(words: str, entry: Mapping[str, Any], name: str, asked: str | Mapping[str, Any]) -> Case:
    told = {"of": asked} if isinstance(asked, str) else asked
    given: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in told.items()}
    return Case(name, words, reads=entry.get("reads"), omits=tuple(entry.get("omits", ())), **given)
