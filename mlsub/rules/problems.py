"""Find what is wrong with a rule file: file, line, and what was probably meant.

Start-up trusts the files that ship, for the tests hold them against all of this; a file of the user's own is held
against it each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mlsub.rules.constraints import OPERATORS
from mlsub.rules.formula import FormulaError, is_formula, parse
from mlsub.rules.parse import DEMANDS

_SCHEMA = Path(__file__).with_name("schema.json")
#: A rule file is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20

_SECTIONS = ("both", "closed", "open")
_ROUND_WORDS = ("replaces", "runs", "forgiven", "notes", "at_least_one_of", *_SECTIONS)
_DEMAND_WORDS = (*DEMANDS, "benchmark_of_round")
_OCCURS = ("exactly_one", "at_least_one", "any")


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a rule file, at a 1-based line."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class RuleFileError(ValueError):
    """A rule file that cannot be used; ``problems`` says why, at least one."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


Flaws = Iterator[tuple[yaml.Node, str]]


def read(path: Path, name: str | None = None) -> tuple[yaml.Node | None, tuple[Problem, ...]]:
    """The nodes of a YAML file, and what keeps it from being one. ``name`` is how messages call the file."""
    shown = name or str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            return None, (Problem(shown, 1, f"larger than {MAX_BYTES >> 20} MiB"),)
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
        return None, (Problem(shown, 1, f"cannot be read: {reason}"),)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                place: Any = event.start_mark
                return None, (Problem(shown, place.line + 1, "aliases (*name) are not for rule files"),)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark: Any = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        return None, (Problem(shown, line, f"no YAML: {getattr(error, 'problem', None) or 'nested too deeply'}"),)
    if not isinstance(node, yaml.MappingNode):
        return None, (Problem(shown, 1, "a mapping is needed, with a title and rounds"),)
    return node, ()


def rule_file_problems(path: Path, rounds: Iterable[str], name: str | None = None) -> tuple[Problem, ...]:
    """Everything wrong with a rule file, in the order of its lines.

    Args:
        path: the file.
        rounds: the rounds its usage knows.
        name: how messages call the file.
    """
    node, problems = read(path, name)
    if not isinstance(node, yaml.MappingNode):
        return problems
    shown = name or str(path)
    flaws = [*twice(node), *unknown(node, ("benchmark", "title", "rounds"), "word")]
    table = child(node, "rounds")
    if isinstance(table, yaml.MappingNode):
        flaws += round_flaws(table, tuple(rounds))
    found = [Problem(shown, where.start_mark.line + 1, message) for where, message in flaws]
    return tuple(sorted(found or schema_problems(node, shown), key=lambda problem: problem.line))


def child(node: yaml.Node, name: str) -> yaml.Node | None:
    """The value of a key of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def twice(node: yaml.Node) -> Flaws:
    """Keys that stand twice in one mapping; YAML lets the later one win without a word."""
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            text = str(key.value)
            if text in first:
                yield key, f"{text!r} is there twice, first on line {first[text]}"
            first.setdefault(text, key.start_mark.line + 1)
            yield from twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from twice(item)


def unknown(node: yaml.Node, words: Iterable[str], kind: str) -> Flaws:
    """Keys of a mapping that are not of the vocabulary."""
    known = tuple(words)
    for key in _keys(node):
        if key.value not in known:
            yield key, f"unknown {kind} {key.value!r}{meant(str(key.value), known)}"


def meant(text: str, known: Iterable[str]) -> str:
    """A did-you-mean, or what there is."""
    names = tuple(known)
    close = get_close_matches(text, names, n=1)
    return f". Did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"


def round_flaws(table: yaml.MappingNode, rounds: tuple[str, ...]) -> Flaws:
    """What is wrong with a mapping of rounds to changes."""
    yield from unknown(table, rounds, "round")
    for _, content in table.value:
        yield from unknown(content, _ROUND_WORDS, "word")
        for name in _SECTIONS:
            section = child(content, name)
            if section is not None:
                yield from _section(section)


def _keys(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, _ in node.value:
            yield key


def _section(section: yaml.Node) -> Flaws:
    if not isinstance(section, yaml.MappingNode):
        return
    for key, demands in section.value:
        if key.value == "variants":
            for _, choices in demands.value if isinstance(demands, yaml.MappingNode) else ():
                for _, variant in choices.value if isinstance(choices, yaml.MappingNode) else ():
                    yield from _section(variant)
        else:
            yield from _demands(demands)


def _demands(node: yaml.Node) -> Flaws:
    if isinstance(node, yaml.ScalarNode):
        if node.tag != "tag:yaml.org,2002:null" and node.value not in _OCCURS:
            yield node, f"unknown occurrence {node.value!r}{meant(node.value, _OCCURS)}"
        return
    yield from unknown(node, (*_DEMAND_WORDS, *sorted(OPERATORS)), "operator")
    occurs = child(node, "occurs")
    if isinstance(occurs, yaml.ScalarNode) and occurs.value not in _OCCURS:
        yield occurs, f"unknown occurrence {occurs.value!r}{meant(occurs.value, _OCCURS)}"
    first = child(node, "first")
    for metadata in (child(node, "metadata"), child(first, "metadata") if first else None):
        for _, tests in metadata.value if isinstance(metadata, yaml.MappingNode) else ():
            yield from unknown(tests, ("optional", "when", *sorted(OPERATORS)), "operator")
    reaches = child(node, "reaches")
    if reaches is not None and all(str(key.value).isupper() for key in _keys(reaches)):
        for _, tests in reaches.value if isinstance(reaches, yaml.MappingNode) else ():
            yield from unknown(tests, sorted(OPERATORS), "operator")
    elif reaches is not None:
        yield from unknown(reaches, sorted(OPERATORS), "operator")
    yield from _formulas(node, False)


def _formulas(node: yaml.Node, bare: bool) -> Flaws:
    """Formulas that do not read as one; under ``satisfies`` they stand without the sign of equality."""
    if isinstance(node, yaml.ScalarNode):
        if bare or (node.style in ("'", '"') and is_formula(node.value)):
            try:
                parse(node.value.removeprefix("=") if not bare else node.value)
            except FormulaError as error:
                yield node, f"formula {node.value!r}: {error}"
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _formulas(value, bare or key.value == "satisfies")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _formulas(item, bare)


def schema_problems(node: yaml.Node, shown: str, schema: dict[str, Any] | None = None) -> list[Problem]:
    """What the JSON Schema refuses, where it stands in the file."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    content = yaml.SafeLoader("").construct_document(node)
    validator = Draft202012Validator(schema or json.loads(_SCHEMA.read_text("utf-8")))
    error = best_match(validator.iter_errors(content))
    if error is None:
        return []
    at: yaml.Node = node
    for step in error.absolute_path:
        if isinstance(at, yaml.MappingNode):
            at = next((value for key, value in at.value if str(key.value) == str(step)), at)
        elif isinstance(at, yaml.SequenceNode) and isinstance(step, int):
            at = at.value[step]
    place = ".".join(str(step) for step in error.absolute_path) or "the file"
    return [Problem(shown, at.start_mark.line + 1, f"{place}: {error.message[:200]}")]
