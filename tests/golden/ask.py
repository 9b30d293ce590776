"""Asks the cases of ``cases.yaml`` and gathers the facts of their answers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml
from click.testing import CliRunner

from mlsub.cli import main
from tests.golden import places
from tests.golden.answer import Answer
from tests.golden.figures import Facts, dumps, sketch
from tools.support.corpus import CORPUS, REPOSITORY

HERE = Path(__file__).parent
FACTS = HERE / "facts"
#: Files whose bytes carry chance, a date, a drawing or a private shape: that they were written is the fact.
_UNSTABLE = (
    "*.age",
    "*.svg",
    "*.png",
    "*.html",
    "*.duckdb",
    "*.receipt.txt",
    "*-written",
    ".mlsub*",
    "key.txt",
    "recipients.txt",
)
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?")


class Command(NamedTuple):
    """What a case asks for: today's words of the command line, and the adapter that reads the answer."""

    words: tuple[str, ...]
    facts: Callable[[Answer], Facts]


class Case(NamedTuple):
    """One question to one command."""

    name: str
    ask: str
    of: str
    place: str | None
    before: tuple[str, ...]
    writes: str | None
    prose: tuple[str, ...]
    each: bool
    needs_corpus: bool


@cache
def _document() -> Mapping[str, Any]:
    content = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@cache
def commands() -> dict[str, Command]:
    """The commands by the names that cases call them by."""
    return {
        name: Command(tuple(shlex.split(entry["words"])), _adapter(entry.get("facts", "known.anything")))
        for name, entry in _document()["commands"].items()
    }


def _adapter(name: str) -> Callable[[Answer], Facts]:
    module, function = name.split(".")
    adapter: Callable[[Answer], Facts] = getattr(import_module(f"tests.golden.adapters.{module}"), function)
    return adapter


@cache
def cases() -> dict[str, Case]:
    """All cases by name."""
    return {name: _case(name, entry) for name, entry in _document()["cases"].items()}


def _case(name: str, entry: Mapping[str, Any]) -> Case:
    before = tuple(entry.get("before", ()))
    return Case(
        name=name,
        ask=entry["ask"],
        of=entry["of"],
        place=entry.get("place"),
        before=before,
        writes=entry.get("writes"),
        prose=tuple(entry.get("prose", ())),
        each=entry.get("each", False),
        needs_corpus="{corpus}" in " ".join([entry["of"], *before]) or entry.get("corpus", False),
    )


def line_of(command: str) -> tuple[Case, str]:
    """The first case of a command that answers, at best without published packages, and its line without a format."""
    named = (case for case in cases().values() if f"{' '.join(commands()[case.ask].words)} ".startswith(f"{command} "))
    case = min(named, key=lambda case: (case.name.startswith("broken"), case.needs_corpus, bool(case.before)))
    words = re.sub(r" --format \w+", "", " ".join(commands()[case.ask].words))
    return case, f"{words} {case.of}"


def _call(ask: str, of: str, folder: Path) -> Answer:
    words = of.format(corpus=CORPUS, submissions=REPOSITORY / "submissions", tmp=folder)
    arguments = [*commands()[ask].words, *shlex.split(words)]
    result = CliRunner().invoke(main, arguments, env={"NO_COLOR": "1", "COLUMNS": "200", "CORPUS": str(CORPUS)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"traceback instead of an answer: {result.exception!r}") from result.exception
    return Answer(result.exit_code, _placeless(result.stdout, folder), _placeless(result.stderr, folder), folder)


def _placeless(text: str, folder: Path) -> str:
    for path, name in ((folder, "TMP"), (CORPUS, "CORPUS"), (REPOSITORY, "REPOSITORY")):
        text = text.replace(str(path), name)
    return text


def ask(case: Case) -> Facts:
    """The facts of a case, rounded as they are in its file."""
    facts = _each(case) if case.each else _one(case)
    loaded = json.loads(dumps(facts))
    assert isinstance(loaded, dict)
    return loaded


def _each(case: Case) -> Facts:
    """Exit status, and a sketch of the facts about each benchmark of each round."""
    facts: Facts = {}
    about = (name.split() for name in kept(cases()["rules-list"]) if name.startswith("round "))
    for usage, round_name, benchmark in (names[1:] for names in about if len(names) == 4):
        of = case.of.format(usage=usage, round=round_name, benchmark=benchmark)
        answer = _call(case.ask, of, Path("/nowhere"))
        told = commands()[case.ask].facts(answer) if answer.stdout.strip() else {}
        facts[f"{usage} {round_name} {benchmark}"] = [answer.status, sketch(told)]
    return facts


def _one(case: Case) -> Facts:
    with TemporaryDirectory() as made, contextlib.chdir(made):
        folder = Path(made).resolve()
        if case.place is not None:
            getattr(places, case.place)(folder)
            _age(folder)
        facts: Facts = {}
        for number, step in enumerate(case.before):
            word, _, of = step.partition(": ")
            facts[f"exit of step {number + 1}"] = _call(word, of, folder).status
        answer = _call(case.ask, case.of, folder)
        facts["exit"] = answer.status
        facts |= commands()[case.ask].facts(answer) if answer.stdout.strip() else {"answer": "none"}
        facts |= _named(answer)
        if case.writes is not None:
            facts |= _written(folder / case.writes, folder, case.prose)
    return facts


def _age(folder: Path) -> None:
    """Let all files be of one day long ago, so that nobody waits for more of them."""
    for path in folder.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


def _named(answer: Answer) -> Facts:
    """The files, folders and lines that an error names."""
    if answer.status != 2:
        return {}
    paths = re.findall(r"(?:TMP|CORPUS|REPOSITORY)/[\w./-]*\w(?::\d+)?", answer.stderr)
    return {"error names": sorted(set(paths))}


def _written(folder: Path, tmp: Path, prose: tuple[str, ...]) -> Facts:
    """Every file below a folder (or the file), with its size and first line where these are the same each time."""
    if not folder.is_dir():
        return {f"written {folder.name}": _content(folder, tmp, prose) if folder.exists() else "absent"}
    found: Facts = {}
    for parent, _, names in os.walk(folder):
        for path in (Path(parent) / name for name in names):
            found[f"written {path.relative_to(folder).as_posix()}"] = _content(path, tmp, prose)
    return found or {"written": "nothing"}


def _content(path: Path, tmp: Path, prose: tuple[str, ...]) -> str:
    if any(path.match(pattern) for pattern in (*_UNSTABLE, *prose)):
        return "bytes"
    content = path.read_bytes()
    shown = f"{len(content)} bytes"
    with contextlib.suppress(UnicodeDecodeError):
        text = _DATE.sub("DATE", _placeless(content.decode(), tmp))
        shown = f"{len(text.splitlines())} lines, {len(text)} characters: {text.partition(chr(10))[0][:60]}"
    return shown + (" (executable)" if path.stat().st_mode & 0o100 else "")


def file_of(case: Case) -> Path:
    """Where the facts of a case are kept."""
    return FACTS / f"{case.name}.json"


def kept(case: Case) -> Facts:
    """The facts as they were when they were last accepted."""
    file = file_of(case)
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    assert isinstance(content, dict)
    return content
