"""A rule file of the user's own: house rules for rounds that exist, and rounds that mlsub does not know yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from mlsub.io.yamlfile import Problem, child, content_of, meant, read, schema_problems, twice, unknown
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.rules.load import rules_for
from mlsub.rules.problems import RuleFileError, placed, round_flaws, rule_flaws

_WORDS = ("title", "usage", "common", "benchmarks", "rounds")
#: Of a benchmark: its folder, and the files of its code, are called so.
_LONGEST_NAME = 100
_ROUND_WORDS = ("ruleset", "checker", "benchmarks", "log_format", "empty_benchmark_folder", "seeds", "scaling")


def check_overlay(path: Path) -> str:
    """The absolute path of an overlay file that holds together.

    Raises:
        RuleFileError: it does not; each problem says where and what was probably meant.
    """
    node, problems = read(path, kind="rule files", top="a title and rounds")
    if node is None:
        raise RuleFileError(problems)
    shown = str(path)
    found = placed(shown, _flaws(node)) or schema_problems(node, shown, _schema()) or placed(shown, _rule_flaws(node))
    if not found:
        found = [Problem(shown, 1, message) for message in _unusable(path, content_of(node))]
    if found:
        raise RuleFileError(tuple(sorted(found, key=lambda problem: problem.line)))
    return str(path.resolve())


def _flaws(node: yaml.Node) -> Iterator[tuple[yaml.Node, str]]:
    yield from twice(node)
    yield from unknown(node, _WORDS, "word")
    usage_node = child(node, "usage")
    usage = str(usage_node.value) if usage_node is not None else "training"
    if usage not in usages():
        yield usage_node or node, f"unknown usage {usage!r}{meant(usage, usages())}"
        return
    known = known_rounds(usage)
    added = child(node, "rounds")
    names = []
    for key, content in added.value if isinstance(added, yaml.MappingNode) else ():
        names.append(str(key.value))
        if key.value in known:
            yield key, f"round {key.value} exists; rules for it go under common or benchmarks"
        yield from unknown(content, _ROUND_WORDS, "word")
    rounds = (*known, *names)
    common = child(node, "common")
    if isinstance(common, yaml.MappingNode):
        yield from round_flaws(common, rounds)
    benchmarks = child(node, "benchmarks")
    every = {name for round_name in known for name in get_round(usage, round_name).benchmarks}
    for key, content in benchmarks.value if isinstance(benchmarks, yaml.MappingNode) else ():
        if str(key.value).startswith("common"):
            yield key, f"{str(key.value)[:40]} is not a benchmark; what binds all stands under common"
        elif len(key.value) > _LONGEST_NAME:
            yield key, f"a benchmark's name has up to {_LONGEST_NAME} characters, for a folder is called so"
        elif key.value not in every and not names:
            yield key, f"unknown benchmark {key.value!r}{meant(str(key.value), sorted(every))}"
        if isinstance(content, yaml.MappingNode):
            kept = [(k, v) for k, v in content.value if k.value != "title"]
            yield from round_flaws(yaml.MappingNode(content.tag, kept), rounds)


def _rule_flaws(node: yaml.Node) -> Iterator[tuple[yaml.Node, str]]:
    """Demands that cannot be put into rules."""
    yield from rule_flaws(child(node, "common"))
    benchmarks = child(node, "benchmarks")
    for _, content in benchmarks.value if isinstance(benchmarks, yaml.MappingNode) else ():
        kept = [(k, v) for k, v in content.value if k.value != "title"]
        yield from rule_flaws(yaml.MappingNode(content.tag, kept))


def _schema() -> dict[str, Any]:
    """The schema of an overlay file, on top of that of the rule files."""
    import json

    schema: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    changes = schema["properties"]["rounds"]
    named = {**changes, "properties": {"title": {"type": "string", "minLength": 1}}}
    texts = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/key"}}
    round_ = {
        "type": ["object", "null"],
        "properties": {
            "ruleset": {"type": "string"},
            "checker": {"type": "string"},
            "benchmarks": texts,
            "log_format": {"enum": ["mllog", "mll"]},
            "empty_benchmark_folder": {"enum": ["ignored", "rejected"]},
            "seeds": {"enum": ["unchecked", "optional", "required"]},
            "scaling": {"enum": ["none", "folders"]},
        },
    }
    schema["required"] = ["title"]
    schema["properties"] = {
        "title": {"type": "string", "minLength": 1},
        "usage": {"type": "string"},
        "common": changes,
        "benchmarks": {"type": "object", "additionalProperties": named},
        "rounds": {"type": "object", "patternProperties": {r"^\d+\.\d+$": round_}, "additionalProperties": False},
    }
    return schema


def _unusable(path: Path, content: dict[str, Any]) -> Iterator[str]:
    """What only shows when the rules are put together: a benchmark without a run count or rules, say."""
    overlay = str(path.resolve())
    usage = content.get("usage", "training")
    for name in content.get("rounds") or {}:
        round_ = get_round(usage, name, overlay)
        for benchmark in round_.benchmarks:
            yield from _incomplete(overlay, usage, name, benchmark)


def _incomplete(overlay: str, usage: str, round_name: str, benchmark: str) -> Iterator[str]:
    from mlsub.rules.load import benchmark as needs

    try:
        needs(usage, round_name, benchmark, overlay)
        rules = rules_for(usage, round_name, "closed", benchmark, overlay)
    except (KeyError, TypeError) as error:
        lacking = error.args[0] if isinstance(error, KeyError) else "a title or run count"
        yield f"round {round_name}, benchmark {benchmark}: {lacking} is missing under benchmarks"
        return
    if not any(rule.reaches for rule in rules.rules):
        yield f"round {round_name}, benchmark {benchmark}: no key has a quality target (reaches)"
