"""A rule file of the user's own: house rules for rounds that exist, and rounds that mlsub does not know yet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlsub.divisions import CLOSED
from mlsub.io.problems import did_you_mean
from mlsub.io.read import YamlTree, read_tree
from mlsub.rounds import every_benchmark, get_round, known_rounds, usages
from mlsub.rules.load import entry_requirements, rules_for
from mlsub.rules.problems import SECTIONS, Changes, check_changes, schema

#: Of a benchmark: its folder, and the files of its code, are called so.
_LONGEST_NAME = 100
#: Rounds that a file adds, and benchmarks of one of them; the rules are put together for each benchmark of each round.
MAX_ROUNDS, MAX_BENCHMARKS = 20, 100


def check_overlay(path: Path) -> str:
    """The absolute path of an overlay file that holds together.

    Raises:
        FileProblemsError: it does not; each problem says where and what was probably meant.
    """
    tree = read_tree(path, kind="rule files", top="a title and rounds")
    tree.check(overlay_schema())
    content = tree.content()
    usage = content.get("usage", "training")
    if usage in usages():
        _check_names(tree, content, usage)
    tree.raise_problems()
    _check_variants(tree, content.get("common") or {})
    tree.raise_problems()
    added = content.get("rounds") or {}
    tables: list[tuple[tuple[str | int, ...], Changes]] = [(("common",), content.get("common") or {})]
    tables += [
        (("benchmarks", name), {round_: changes for round_, changes in table.items() if round_ != "title"})
        for name, table in (content.get("benchmarks") or {}).items()
    ]
    check_changes(tree, tables, (*known_rounds(usage), *added))
    overlay = str(path.resolve())
    for name in added:
        for benchmark in get_round(usage, name, overlay).benchmarks:
            for message in _missing_parts(overlay, usage, name, benchmark):
                tree.report(message)
    tree.raise_problems()
    return overlay


def _check_names(tree: YamlTree, content: dict[str, Any], usage: str) -> None:
    """Whether the rounds are new, and the benchmarks known; the document need not fit its schema."""
    added, benchmarks = (_keys_in(content.get(section)) for section in ("rounds", "benchmarks"))
    for name in added:
        if name in known_rounds(usage):
            tree.report(f"round {name} exists; rules for it go under common or benchmarks", "rounds", name)
    every = every_benchmark(usage)
    for name in benchmarks:
        here = ("benchmarks", name)
        if name.startswith("common"):
            tree.report(f"{name[:40]} is not a benchmark; what binds all stands under common", *here)
        elif len(name) > _LONGEST_NAME:
            tree.report(f"a benchmark's name has up to {_LONGEST_NAME} characters, for a folder is called so", *here)
        elif name not in every and not added:
            tree.report(f"unknown benchmark{did_you_mean(name, sorted(every))}", *here)


def _check_variants(tree: YamlTree, common: Changes) -> None:
    """Whether variants are those of a benchmark; the document fits its schema."""
    for name, changes in common.items():
        for section in SECTIONS:
            if "variants" in ((changes or {}).get(section) or {}):
                tree.report(
                    "only a benchmark has variants; put them under benchmarks", "common", name, section, "variants"
                )


def _keys_in(section: Any) -> tuple[str, ...]:
    return tuple(section) if isinstance(section, dict) else ()


def overlay_schema() -> dict[str, Any]:
    """The JSON Schema of an overlay file, on top of that of the rule files."""
    overlay = json.loads(Path(__file__).with_name("overlay.json").read_text("utf-8"))
    overlay["properties"]["usage"]["enum"] = list(usages())
    rounds = overlay["properties"]["rounds"]
    rounds["maxProperties"] = MAX_ROUNDS
    rounds["additionalProperties"]["properties"]["benchmarks"]["maxItems"] = MAX_BENCHMARKS
    return {**schema(), **overlay}


def _missing_parts(overlay: str, usage: str, round_name: str, benchmark: str) -> Iterator[str]:
    """What only shows when the rules are put together: a benchmark without a run count or rules, say."""
    try:
        entry_requirements(usage, round_name, benchmark, overlay)
        rules = rules_for(usage, round_name, CLOSED.name, benchmark, overlay)
    except (KeyError, TypeError) as error:
        lacking = error.args[0] if isinstance(error, KeyError) else "a title or run count"
        yield f"round {round_name}, benchmark {benchmark}: {lacking} is missing under benchmarks"
        return
    if not any(rule.reaches for rule in rules.rules):
        yield f"round {round_name}, benchmark {benchmark}: no key has a quality target (reaches)"
