"""Asks the cases of ``tests/commands/calls.yaml`` and gathers the facts of their answers."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import yaml
from click.testing import CliRunner

from mlsub.cli import main
from tests.commands.calls import Call, Case, calls, filled, option
from tests.golden import places
from tests.golden.figures import Facts, Reader, digest, dumps, rounded
from tests.golden.pages import page_facts
from tools.support.corpus import CORPUS, REPOSITORY

FACTS = Path(__file__).parent / "facts"
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


class Answer(NamedTuple):
    """Exit status and output, with the folders of this machine replaced by their names."""

    status: int
    stdout: str
    stderr: str
    folder: Path


def _invoke(words: Sequence[str], folder: Path) -> Answer:
    result = CliRunner().invoke(main, words, env={"NO_COLOR": "1", "COLUMNS": "120", "CORPUS": str(CORPUS)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"traceback instead of an answer: {result.exception!r}") from result.exception
    return Answer(result.exit_code, _placeless(result.stdout, folder), _placeless(result.stderr, folder), folder)


def _placeless(text: str, folder: Path) -> str:
    way = os.path.relpath(CORPUS, folder)
    for path, name in (
        (folder, "TMP"),
        *((place, "CORPUS") for place in (way, CORPUS, CORPUS.resolve())),
        (REPOSITORY, "REPOSITORY"),
    ):
        text = text.replace(str(path), name)
    return text


def _for_programs(call: Call) -> list[str]:
    """The words that make an answer of a command one for programs, read in this process."""
    words = ["--jobs", "1"] if option(call.command, "--jobs") else []
    formats = getattr(getattr(option(call.command, "--format"), "type", None), "choices", ())
    wanted = next((name for name in ("json", "jsonl") if name in formats), None)
    return [*words, "--format", wanted] if wanted and "--format" not in call.words else words


def ask(case: Case) -> Facts:
    """The facts of a case, rounded as they are in its file."""
    facts = _each(case) if case.each else _one(case)
    loaded = json.loads(dumps(facts))
    assert isinstance(loaded, dict)
    return loaded


def _each(case: Case) -> Facts:
    """The facts about each benchmark, with its rounds: of each fact the rounds in which it is another than before."""
    call, nowhere = calls()[case.call], Path("/nowhere")
    asked: dict[str, dict[str, Facts]] = {}
    for one in json.loads(_invoke(["rules", "list", "--format", "json"], nowhere).stdout)["rounds"]:
        for name in (benchmark["name"] for benchmark in one["benchmarks"]):
            of = filled(case.of, usage=one["usage"], round=one["round"], benchmark=name)
            answer = _invoke([*call.words.split(), *of, *_for_programs(call)], nowhere)
            told = _document(answer, Reader(published=False)) if answer.stdout.strip() else {}
            asked.setdefault(f"{one['usage']} {name}", {})[one["round"]] = {"exit": answer.status, **told}
    facts: Facts = {}
    for benchmark, by_round in asked.items():
        for name in sorted({name for told in by_round.values() for name in told}):
            facts[f"{benchmark}: {name}"] = _changes({one: told.get(name) for one, told in by_round.items()})
    return facts


def _changes(by_round: Facts) -> Facts:
    """Of a fact in each round: what it is at first, and later what is another than the round before, or null."""
    changes: Facts = {}
    before = None
    for round_name, now in by_round.items():
        if isinstance(now, dict) and isinstance(before, dict):
            fields = [*now, *(before.keys() - now.keys())]
            changes[round_name] = {field: now.get(field) for field in fields if now.get(field) != before.get(field)}
        elif now != before:
            changes[round_name] = now
        before = now
    return {round_name: change for round_name, change in changes.items() if change != {}}


def _one(case: Case) -> Facts:
    call = calls()[case.call]
    with TemporaryDirectory() as made, contextlib.chdir(made):
        folder = Path(made).resolve()
        if case.place is not None:
            getattr(places, case.place)(folder)
            _age(folder)
        before = [_invoke(filled(step, tmp=folder), folder).status for step in case.before]
        answer = _invoke([*call.words.split(), *filled(case.of, tmp=folder), *_for_programs(call)], folder)
        after = [_invoke(filled(step, tmp=folder), folder).status for step in case.after]
        facts: Facts = {f"exit of step {number}": status for number, status in enumerate([*before, *after], 1)}
        facts["exit"] = answer.status
        reader = Reader(case.needs_corpus, case.omits)
        facts |= _told(call, answer, reader) if answer.stdout.strip() else {"answer": "none"}
        if case.reads is not None and (folder / case.reads).exists():
            content = _placeless((folder / case.reads).read_text(encoding="utf-8"), folder)
            facts |= reader.facts(yaml.safe_load(content), case.reads)
        if answer.status == 2:
            places_named = re.findall(r"(?:TMP|CORPUS|REPOSITORY)/[\w./-]*\w(?::\d+)?", answer.stderr)
            facts["error names"] = sorted(set(places_named))
        if case.written is not None:
            facts |= _written(folder / case.written, folder, case)
    return facts


def _told(call: Call, answer: Answer, reader: Reader) -> Facts:
    if call.name == "site":
        return page_facts(answer.folder / "site", reader)
    if call.name == "system capture":  # The values are those of this machine.
        document = json.loads(answer.stdout)
        return {"fields": sorted(document.get("values", document))}
    if call.name == "system new":
        return reader.facts({"description": json.loads(answer.stdout)})
    if "csv" in call.words:
        rows = enumerate(csv.DictReader(io.StringIO(answer.stdout)), 1)
        return {f"row {at}": reader.row({name: _number(cell) for name, cell in row.items()}) for at, row in rows}
    if answer.stdout.startswith("{"):
        return _document(answer, reader)
    return {}


def _document(answer: Answer, reader: Reader) -> Facts:
    """The facts of a JSON document, or of several, one a line."""
    try:
        return reader.facts(json.loads(answer.stdout))
    except json.JSONDecodeError:
        events = [json.loads(line) for line in answer.stdout.splitlines()]
        told = (reader.facts(event, f"event {number:03d}") for number, event in enumerate(events))
        return {name: one for facts in told for name, one in facts.items()}


def _number(cell: str) -> float | str:
    try:
        return float(rounded(float(cell)))
    except ValueError:
        return cell


def _age(folder: Path) -> None:
    """Let all files be of one day long ago, so that nobody waits for more of them."""
    for path in folder.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


def _written(folder: Path, tmp: Path, case: Case) -> Facts:
    """Every file below a folder (or the file), with its size where that is the same each time, and its first line."""
    if not folder.is_dir():
        return {f"written {folder.name}": _content(folder, tmp, case) if folder.exists() else "absent"}
    found: Facts = {}
    for parent, _, names in os.walk(folder):
        for path in (Path(parent) / name for name in names):
            found[f"written {path.relative_to(folder).as_posix()}"] = _content(path, tmp, case)
    return found or {"written": "nothing"}


def _content(path: Path, tmp: Path, case: Case) -> str:
    if any(path.match(pattern) for pattern in (*_UNSTABLE, *case.prose)):
        return "bytes"
    content = path.read_bytes()
    shown = f"{len(content)} bytes"
    with contextlib.suppress(UnicodeDecodeError):
        text = _DATE.sub("DATE", _placeless(content.decode(), tmp))
        first = text.partition("\n")[0][:60]
        shown = f"{len(text.splitlines())} lines, {len(text)} characters"
        shown += f", {digest(text)}" if case.needs_corpus else f": {first}"
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
