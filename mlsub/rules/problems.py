"""Find what is wrong with a rule file: file, line, and what was probably meant.

Start-up trusts the files that ship, for the tests hold them against all of this; a file of the user's own is held
against it each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from mlsub.rules.constraints import OPERATORS
from mlsub.rules.formula import FormulaError, is_formula, parse
from mlsub.rules.parse import DEMANDS
from mlsub.yamlfile import FileProblemsError, Flaws, Problem, child, keys, meant, read, schema_problems, twice, unknown

_SECTIONS = ("both", "closed", "open")
_ROUND_WORDS = ("replaces", "runs", "forgiven", "notes", "at_least_one_of", *_SECTIONS)
_DEMAND_WORDS = (*DEMANDS, "benchmark_of_round")
_OCCURS = ("exactly_one", "at_least_one", "any")


class RuleFileError(FileProblemsError):
    """A rule file that cannot be used."""


def rule_file_problems(path: Path, rounds: Iterable[str], name: str | None = None) -> tuple[Problem, ...]:
    """Everything wrong with a rule file, in the order of its lines.

    Args:
        path: the file.
        rounds: the rounds its usage knows.
        name: how messages call the file.
    """
    node, problems = read(path, name, kind="rule files", top="a title and rounds")
    if not isinstance(node, yaml.MappingNode):
        return problems
    shown = name or str(path)
    flaws = [*twice(node), *unknown(node, ("benchmark", "title", "rounds"), "word")]
    table = child(node, "rounds")
    if isinstance(table, yaml.MappingNode):
        flaws += round_flaws(table, tuple(rounds))
    found = [Problem(shown, where.start_mark.line + 1, message) for where, message in flaws]
    return tuple(sorted(found or schema_problems(node, shown, schema()), key=lambda problem: problem.line))


def round_flaws(table: yaml.MappingNode, rounds: tuple[str, ...]) -> Flaws:
    """What is wrong with a mapping of rounds to changes."""
    yield from unknown(table, rounds, "round")
    for _, content in table.value:
        yield from unknown(content, _ROUND_WORDS, "word")
        for name in _SECTIONS:
            section = child(content, name)
            if section is not None:
                yield from _section(section)


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
    if reaches is not None and all(str(key.value).isupper() for key in keys(reaches)):
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


def schema() -> dict[str, Any]:
    """The JSON Schema of rule files."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return content
