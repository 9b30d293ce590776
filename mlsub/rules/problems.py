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

from mlsub.findings import Blocks
from mlsub.io.yamlfile import (
    FileProblemsError,
    Flaws,
    Problem,
    child,
    content_of,
    keys,
    meant,
    read,
    schema_problems,
    twice,
    unknown,
)
from mlsub.rules.constraints import OPERATORS
from mlsub.rules.formula import FormulaError, is_formula, parse
from mlsub.rules.parse import DEMANDS, parse_rule

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
    found = placed(shown, flaws) or schema_problems(node, shown, schema()) or placed(shown, rule_flaws(table))
    return tuple(sorted(found, key=lambda problem: problem.line))


def placed(shown: str, flaws: Iterable[tuple[yaml.Node, str]]) -> list[Problem]:
    """Flaws as problems of a file."""
    return [Problem(shown, where.start_mark.line + 1, message) for where, message in flaws]


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
    yield from _operators(node, _DEMAND_WORDS)
    occurs = child(node, "occurs")
    if isinstance(occurs, yaml.ScalarNode) and occurs.value not in _OCCURS:
        yield occurs, f"unknown occurrence {occurs.value!r}{meant(occurs.value, _OCCURS)}"
    first = child(node, "first")
    for metadata in (child(node, "metadata"), child(first, "metadata") if first else None):
        for _, tests in metadata.value if isinstance(metadata, yaml.MappingNode) else ():
            yield from _operators(tests, ("optional", "when"))
    reaches = child(node, "reaches")
    if reaches is not None and all(str(key.value).isupper() for key in keys(reaches)):
        for _, tests in reaches.value if isinstance(reaches, yaml.MappingNode) else ():
            yield from _operators(tests)
    elif reaches is not None:
        yield from _operators(reaches)
    yield from _formulas(node, False)


def _operators(node: yaml.Node, others: Iterable[str] = ()) -> Flaws:
    """Operators that there are not, at any depth; ``others`` are the words that may stand beside them."""
    if not isinstance(node, yaml.MappingNode):
        return
    yield from unknown(node, (*others, *sorted(OPERATORS)), "operator")
    for key, value in node.value:
        if key.value in ("length", "whole_part"):
            yield from _operators(value)
        elif key.value == "item":
            yield from _operators(value, ("index",))
        elif key.value == "any_of" and isinstance(value, yaml.SequenceNode):
            for choice in value.value:
                yield from _operators(choice, ("where",))


def _formulas(node: yaml.Node, bare: bool) -> Flaws:
    """Formulas that do not read as one; under ``satisfies`` they stand without the sign of equality."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag == "tag:yaml.org,2002:str" and (bare or is_formula(node.value)):
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


def rule_flaws(table: yaml.Node | None, benchmarks: tuple[str, ...] = ()) -> Flaws:
    """Demands that fit the schema and still cannot be put into a rule, in a mapping of rounds to changes."""
    for _, content in table.value if isinstance(table, yaml.MappingNode) else ():
        for name in _SECTIONS:
            yield from _unusable(child(content, name), benchmarks)


def _unusable(section: yaml.Node | None, benchmarks: tuple[str, ...]) -> Flaws:
    from mlsub.rules.compiled import compile_key
    from mlsub.rules.demands import aspects_of

    for key, demands in section.value if isinstance(section, yaml.MappingNode) else ():
        if key.value == "variants":
            for _, choices in demands.value:
                for _, variant in choices.value:
                    yield from _unusable(variant, benchmarks)
            continue
        try:
            rule = parse_rule(str(key.value), content_of(demands), Blocks.BOTH, "", benchmarks)
            compile_key(rule)
            tuple(aspects_of(rule))
        except Exception as error:
            # Whatever a rule stumbles over here would keep every log from being judged.
            yield demands, f"{key.value}: not a rule: {error!s:.200}"


def schema() -> dict[str, Any]:
    """The JSON Schema of rule files."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return content
