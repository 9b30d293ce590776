"""Draft a manifest, from options and answers to questions or from a submission, and write it as text to go on with."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click
import msgspec
import yaml

from mlsub.commands.output import write_output
from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError, did_you_mean
from mlsub.io.show import first_few
from mlsub.io.write import check_output
from mlsub.packing.plan import expected_paths
from mlsub.packing.read import read_manifest
from mlsub.present.document import Code, Column, Section, Table
from mlsub.present.terminal import put
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.submission.file_tree import ItemKind, parents, read_file_tree, stray_paths
from mlsub.submission.find import PathKind, Place, counted, find, folders, is_folder, is_organisation
from mlsub.submission.model import Entry
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_description

T = TypeVar("T")

_POWER = "power"
#: What needs no quotes, unless YAML reads it as something other than text.
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./+@=-]*")
_SECTIONS = re.compile(r"^(?=(?:systems|entries|code|files):)", re.MULTILINE)

#: A manifest's content: plain data, as its YAML has it; a word that is None is left out.
Draft = dict[str, Any]


def init(file: Path, tree: Path | None, given: Mapping[str, str | None], *, force: bool, ask: bool | None) -> None:
    """Write a manifest.

    Args:
        file: where to.
        tree: start from this submission.
        given: what the options say, by their names.
        force: replace a file that is there.
        ask: ask for what no option gives; by default on a terminal.

    Raises:
        MlsubError: it cannot be written.
    """
    check_output(file, force=force)
    if tree is not None:
        draft, notes = _of_tree(tree, file, given["round"], given["usage"])
    else:
        draft, notes = draft_from(Answers(given, sys.stdin.isatty() if ask is None else ask)), []
    text = manifest_text(draft, notes)
    _check_manifest(text, file.name)
    write_output(file, text.encode(), force=force)
    _print_tree(file)


def _of_tree(tree: Path, file: Path, round_: str | None, usage: str | None) -> tuple[Draft, list[str]]:
    """Return the draft of a submission that exists, and notes on it.

    Raises:
        MlsubError: it is not a submission, or its round is not known.
    """
    if not is_organisation(tree):
        raise MlsubError(f"{tree} holds neither results nor systems. Name an organisation's folder.")
    place = find(tree)
    if round_ is None and not place.round:
        raise MlsubError("No folder above is named like a round. Say --round, such as --round 5.1.")
    name = round_ or place.round
    found = get_round(usage or place.usage or "training", normalise_round(name) or name[:40])
    return draft_of(tree, found, file.parent)


def _check_manifest(text: str, name: str) -> None:
    """Refuse a text that is no manifest, such as one with a name that no folder can have.

    Raises:
        MlsubError: it is not; says why.
    """
    with TemporaryDirectory(prefix="mlsub-") as folder:
        trial = Path(folder, name)
        trial.write_text(text, "utf-8")
        try:
            read_manifest(trial, {})
        except FileProblemsError as error:
            raise MlsubError(error.problems[0].message) from error


def _print_tree(file: Path) -> None:
    """Say what was written, and print the files that the rules expect."""
    manifest = read_manifest(file)
    entries = len(manifest.entries)
    noun = "entry" if entries == 1 else "entries"
    files = Table((Column("", when_narrow="keep"), Column("")), tuple(expected_paths(manifest).items()))
    put(
        sys.stdout,
        f"Written to {file}: {manifest.organisation}, {manifest.round.title}, {entries} {noun}.",
        Section((f"The submission rules expect in {manifest.organisation}/:", ""), (files,)),
    )
    absent = next((system for system in manifest.systems if not system.file.exists()), None)
    if absent is not None:
        put(sys.stdout, "Describe a system, on one of its machines:", Code(manifest.to_capture(absent)))
    put(sys.stdout, f"See what is there, what is missing and what comes next: mlsub status {quote(str(file))}")


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than the word they belong to, and texts in double quotes where they need any."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _text)


def manifest_text(draft: Draft, notes: Iterable[str] = ()) -> str:
    """Return the manifest, ending in a line feed; notes become comments at the top."""
    head = ["What is submitted, for mlsub pack. Paths are relative to this file and may hold ${NAME:-default}.", *notes]
    text = yaml.dump(_without_none(draft), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20)
    return "".join(f"# {' '.join(line.split())}\n" for line in head) + _SECTIONS.sub("\n", text)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return [_without_none(each) for each in value] if isinstance(value, list | tuple) else value


def path(text: str) -> str:
    """Return a path that is to be taken as it is: its dollar signs begin no variable."""
    return text.replace("$", "$$")


class Answers(msgspec.Struct, frozen=True):
    """What the options give, by their names; None, or nothing, where they do not. ``ask`` for what is missing."""

    given: Mapping[str, str | None]
    ask: bool

    def read(self, option: str, question: str, read: Callable[[str], T], usual: str | None = None) -> T:
        """Return the value of an option, or what somebody answers, asked until it can be read.

        Raises:
            MlsubError: it is missing and nobody is asked, or the option has a value that cannot be read.
        """
        value = (self.given[option] or "").strip()
        if value:
            return read(value)
        if not self.ask:
            raise MlsubError(f"--{option} is not given. Say it, or use --ask to be asked for what is missing.")
        while True:
            try:
                return read(click.prompt(question, default=usual, type=str).strip())
            except MlsubError as error:
                click.echo(str(error))


def draft_from(answers: Answers) -> Draft:
    """Return a draft with every system and benchmark; each has its runs in ``runs/<system>/<benchmark>``.

    Raises:
        MlsubError: something is missing and nobody is asked, or an option names what does not exist.
    """
    organisation = answers.read("organisation", "Organisation", str)
    usage = "training"
    if answers.ask or answers.given["usage"]:
        usage = answers.read("usage", "Usage", partial(_known, usages(), "usage"), usage)
    rounds = known_rounds(usage)

    def read_round(text: str) -> str:
        return _known(rounds, f"round of {usage}", normalise_round(text) or text)

    name = answers.read("round", f"Round ({', '.join(rounds[-4:])})", read_round)
    round_ = get_round(usage, name)
    systems = answers.read("system", "Systems, separated by commas", _split_names)

    def read_benchmarks(text: str) -> list[str]:
        return [_known(round_.benchmarks, "benchmark of the round", name) for name in _split_names(text)]

    benchmarks = answers.read("benchmark", f"Benchmarks ({', '.join(round_.benchmarks)})", read_benchmarks)
    division = answers.read("division", "Division", partial(_known, tuple(DIVISIONS), "division"), CLOSED.name)
    scaling, code = answers.given["scaling"], answers.given["implementation"]
    if round_.scaling_folders:
        scaling = answers.read("scaling", "Scaling", partial(_known, ("strong", "weak"), "scaling"), "strong")
    return {
        "organisation": organisation,
        "usage": usage,
        "round": name,
        "systems": {system: f"systems/{system}.json" for system in systems},
        "entries": [
            {
                "system": system,
                "scaling": scaling,
                "benchmark": benchmark,
                "division": division,
                "implementation": code,
                "runs": path("/".join(part for part in ("runs", system, scaling, benchmark) if part)),
            }
            for system in systems
            for benchmark in benchmarks
        ],
        "code": [{"benchmark": of, "implementation": code, "folder": f"code/{of}"} for of in benchmarks if code]
        or None,
    }


def _split_names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise MlsubError("Name at least one.")
    return names


def _known(known: Sequence[str], kind: str, name: str) -> str:
    """Return a name that is known.

    Raises:
        MlsubError: it is not; says what was probably meant.
    """
    if name not in known:
        raise MlsubError(f"There is no {kind} {name[:40]!r}{did_you_mean(name, known)}")
    return name


def draft_of(tree: Path, round_: Round, folder: Path) -> tuple[Draft, list[str]]:
    """Return the manifest that would make this submission, and notes on what it does not take over.

    Results keep their order: the numbers in their names count as numbers, so that ``result_10.txt`` comes last.

    Args:
        tree: an organisation's folder.
        round_: its round.
        folder: where the manifest is going to lie.
    """
    tree = Path(os.path.abspath(tree))  # noqa: PTH100

    def near(inside: str) -> str:
        return path(Path(os.path.relpath(tree / inside, folder)).as_posix())

    files = read_tree(Place(tree, PathKind.ORGANISATION), "", round_)
    described = [file.name.removesuffix(".json") for file in files.descriptions]
    systems = sorted({*described, *(entry.system for entry in files.entries)})
    entries = [_entry(entry, tree, round_, near) for entry in files.entries]
    code = [
        {"benchmark": benchmark.name, "implementation": code.name, "folder": near(code.relative_to(tree).as_posix())}
        for benchmark in folders(tree / "benchmarks")
        if benchmark.name in round_.benchmarks
        for code in folders(benchmark / "implementations")
    ]
    placed = {near(f"systems/{name}.json") for name in systems}
    placed |= {near(run.relative_to(tree).as_posix()) for entry in files.entries for run in entry.results}
    placed |= {entry[word] for entry in entries for word in ("setup", "power")} | {each["folder"] for each in code}
    rest, left = _rest(tree, placed, near)
    draft = {
        "organisation": tree.name,
        "usage": round_.usage,
        "round": round_.name,
        "systems": {name: near(f"systems/{name}.json") for name in systems},
        "entries": entries,
        "code": code or None,
        "files": rest or None,
    }
    notes = [f"Not taken over: {found.path}: {found.message}." for found in files.findings if found.rejects]
    return draft, [*notes, *([f"Left out: {first_few(left)}."] if left else [])]


def _entry(entry: Entry, tree: Path, round_: Round, near: Callable[[str], str]) -> dict[str, Any]:
    inside = entry.folder.relative_to(tree).as_posix()
    setup = f"benchmarks/{entry.benchmark}/{entry.system}"
    codes = [code.name for code in folders(tree / "benchmarks" / entry.benchmark / "implementations")]
    division = read_description(tree / "systems" / f"{entry.system}.json", "", round_).division
    numbered = sorted(entry.results, key=lambda run: counted(run.name))
    runs = [near(f"{inside}/{run.name}") for run in numbered] or [near(inside)]
    return {
        "system": entry.system,
        "scaling": entry.scaling_type,
        "benchmark": entry.benchmark,
        "division": division.lower() if division is not None and division.lower() in DIVISIONS else None,
        "implementation": codes[0] if len(codes) == 1 else None,
        "setup": near(setup) if is_folder(tree / setup) else None,
        "power": near(f"{inside}/{_POWER}") if is_folder(entry.folder / _POWER) else None,
        "runs": runs[0] if len(runs) == 1 else runs,
    }


def _rest(tree: Path, placed: set[str], near: Callable[[str], str]) -> tuple[list[dict[str, str]], list[str]]:
    """Return files that belong to no entry, description or code, and what lies about by mistake, or is a link."""
    file_tree = read_file_tree(tree)
    strays = {stray for paths in stray_paths(file_tree).values() for stray in paths}
    rest, left = [], []
    for item in file_tree.items:
        if item.path in strays:
            left.append(item.path)
        elif item.kind not in (ItemKind.FILE, ItemKind.LINK) or placed & {*map(near, (item.path, *parents(item.path)))}:
            continue
        elif item.kind is ItemKind.LINK or any(part.startswith(".") for part in item.path.split("/")):
            left.append(item.path)
        else:
            rest.append({"from": near(item.path), "to": item.path})
    return rest, left
