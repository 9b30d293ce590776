"""Draft a manifest, from options and answers to questions or from a submission, and write it as text to go on with."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
import yaml

from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.io import MlsubError
from mlsub.io.problems import did_you_mean
from mlsub.io.show import first_few
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.submission.file_tree import ItemKind, parents, read_file_tree, stray_paths
from mlsub.submission.find import PathKind, Place, counted, folders, is_folder
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
