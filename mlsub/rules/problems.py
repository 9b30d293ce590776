"""Find what is wrong with a rule file: file, line, and what was probably meant.

Start-up trusts the files that ship, for the tests check them against all of this; a file of the user's own is checked
each time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks
from mlsub.io.problems import FileProblemsError, Problem, did_you_mean
from mlsub.io.read import YamlTree, read_tree
from mlsub.rules.aspects import compile_key
from mlsub.rules.formula import formulas_in, parse
from mlsub.rules.model import parse_rule

#: The parts of what a round changes that hold demands, by the logs that they bind.
SECTIONS = ("both", *DIVISIONS)
#: Demands of one file; the rules of a benchmark are some sixty.
MAX_RULES = 10_000
Step = str | int
#: What rounds change, as a rule file has it: by round, section and key.
Changes = dict[str, Any]


def rule_file_problems(path: Path, rounds: Iterable[str], name: str | None = None) -> tuple[Problem, ...]:
    """Everything wrong with a rule file, in the order of its lines.

    Args:
        path: the file.
        rounds: the rounds its usage knows.
        name: how messages call the file.
    """
    try:
        tree = read_tree(path, kind="rule files", top="a title and rounds", name=name)
        tree.check(schema())
        tree.raise_problems()
        check_changes(tree, [(("rounds",), tree.content()["rounds"])], tuple(rounds))
    except FileProblemsError as error:
        return error.problems
    return ()


def error_in(files: Iterable[Path], rounds: Collection[str]) -> FileProblemsError | None:
    """The error that says everything wrong with rule files; None where nothing is. The rounds are those they know."""
    problems = [problem for file in files for problem in rule_file_problems(file, rounds, file.name)]
    return FileProblemsError(problems) if problems else None


def check_changes(tree: YamlTree, tables: Iterable[tuple[tuple[Step, ...], Changes]], rounds: tuple[str, ...]) -> None:
    """Check what no schema can say of changes by round: that there is such a round, and that each demand is a rule.

    Args:
        tree: the document; it fits its schema.
        tables: mappings of rounds to changes, each with its path.
        rounds: those there are.

    Raises:
        FileProblemsError: something is wrong with them.
    """
    for place, table in tables:
        for name in table:
            if name not in rounds:
                tree.report(f"unknown round{did_you_mean(name, rounds)}", *place, name)
    demands = [found for place, table in tables for found in _walk_demands(place, table)]
    if len(demands) > MAX_RULES:
        tree.report(f"more than {MAX_RULES:,} rules", *demands[MAX_RULES][0])
        tree.raise_problems()
    for path, content in demands:
        for where, written, text in formulas_in(content, path):
            try:
                parse(text)
            except ValueError as error:
                tree.report(f"formula {written!r}: {error}", *where)
    tree.raise_problems()
    for path, content in demands:
        if why := _why_unusable(str(path[-1]), content):
            tree.report(f"not a rule: {why}", *path)
    tree.raise_problems()


def _walk_demands(place: tuple[Step, ...], table: Changes) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Every demand of some changes with its path, those of variants included; the last step is the key."""
    for name, changes in table.items():
        for section in SECTIONS:
            here = (*place, name, section)
            for key, content in ((changes or {}).get(section) or {}).items():
                if key != "variants":
                    yield (*here, key), content
                    continue
                for of, choices in content.items():
                    for value, variant in choices.items():
                        for variant_key, demand in variant.items():
                            yield (*here, key, of, value, variant_key), demand


def _why_unusable(key: str, content: Any) -> str | None:
    """Why a demand that fits the schema still cannot be put into a rule."""
    try:
        rule = parse_rule(key, content, Blocks.BOTH, "", ())
        for aspect in compile_key(rule).aspects:
            aspect.parts()
    except Exception as error:
        # Whatever a rule stumbles over here would keep every log from being judged.
        return f"{error!s:.200}"
    return None


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of rule files."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return content
