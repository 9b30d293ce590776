"""Turn the rule files into rule sets: inheritance from round to round, and from common to benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.divisions import CLOSED, OPEN, rule_families
from mlsub.findings import Blocks
from mlsub.io.data import load_yaml
from mlsub.rounds import Round, get_round, known_rounds, overlay_content, overlay_rounds
from mlsub.rules.model import KeyRule, RuleSet, Variant
from mlsub.rules.parse import parse_rule

FOLDER = Path(__file__).parent
_FAMILY_BLOCKS = {"both": Blocks.BOTH, CLOSED.name: Blocks.CLOSED, OPEN.name: Blocks.BOTH}
_SECTIONS = tuple(_FAMILY_BLOCKS)

#: What each round changes, by round; the content of a rule file below ``rounds``.
Changes = dict[str, dict[str, Any]]


class Benchmark(msgspec.Struct, frozen=True):
    """What a benchmark's entries need in a round: result files, and how many of them may be noncompliant."""

    name: str
    title: str
    runs: int
    forgiven: int


@lru_cache(maxsize=2)
def _shipped(folder: Path) -> dict[str, Path]:
    """The rule files, by name: a name that a user chose is looked up here, and never becomes that of a file."""
    return {path.stem: path for path in folder.glob("*.yaml") if path.stem not in ("catalogue", "keys")}


@lru_cache(maxsize=64)
def _file(name: str) -> dict[str, Any]:
    path = _shipped(FOLDER).get(name)
    content = load_yaml(path) if path is not None else {}
    if not isinstance(content, dict):
        raise TypeError(f"{name}.yaml: a mapping is needed")
    return content


def _overlay_changes(name: str, usage: str, overlay: str | None) -> Changes:
    """What an overlay file says of a benchmark, or of all where the name is that of a common file."""
    content = overlay_content(overlay)
    if not content or content.get("usage", "training") != usage:
        return {}
    part = content.get("common") if name.startswith("common") else (content.get("benchmarks") or {}).get(name)
    return {round_name: change for round_name, change in (part or {}).items() if round_name != "title"}


def _official_changes(name: str, usage: str, overlay: str | None) -> Changes:
    """What a shipped rule file says, and an overlay file of the rounds that it adds itself."""
    added = overlay_rounds(usage, overlay)
    extra = {key: value for key, value in _overlay_changes(name, usage, overlay).items() if key in added}
    return {**(_file(name).get("rounds") or {}), **extra}


def _house_changes(name: str, usage: str, overlay: str | None) -> Changes:
    """What an overlay file says of rounds that exist without it: rules of the house, beside the official ones."""
    added = overlay_rounds(usage, overlay)
    return {key: value for key, value in _overlay_changes(name, usage, overlay).items() if key not in added}


def _inherited(changes: Changes, rounds: tuple[str, ...], round_name: str) -> dict[str, Any]:
    """What holds in a round, changes of the earlier rounds included."""
    merged: dict[str, Any] = {}
    for earlier in rounds[: rounds.index(round_name) + 1]:
        change = changes.get(earlier) or {}
        merged = dict(change) if change.get("replaces") else _merge(merged, change)
    return merged


def _merge(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Families merge key by key, a key's demands are replaced as a whole, and null takes a key away."""
    merged = dict(base)
    for name, value in change.items():
        if name in _SECTIONS:
            kept = {**(merged.get(name) or {}), **(value or {})}
            merged[name] = {key: rule for key, rule in kept.items() if rule is not None}
        else:
            merged[name] = value
    return merged


@lru_cache(maxsize=256)
def benchmark(usage: str, round_name: str, name: str, overlay: str | None = None) -> Benchmark:
    """What an entry of this benchmark needs.

    Raises:
        KeyError: the round has no such benchmark.
        FileProblemsError: a rule file is broken.
    """
    if name not in get_round(usage, round_name, overlay).benchmarks:
        raise KeyError(name)
    with explained(usage, overlay, name):
        rounds = known_rounds(usage, overlay)
        content = _inherited(_official_changes(name, usage, overlay), rounds, round_name)
        title = _file(name).get("title") or overlay_content(overlay)["benchmarks"][name]["title"]
        return Benchmark(name, title, content["runs"], content.get("forgiven", 1))


@lru_cache(maxsize=256)
def rules_for(
    usage: str, round_name: str, division: str | None, benchmark_name: str | None, overlay: str | None = None
) -> RuleSet:
    """The rules for a log that says it is of this division and benchmark.

    An unknown division or benchmark leaves the rules that hold for every log; the common rules then report the
    unknown name itself.

    Raises:
        FileProblemsError: a rule file is broken.
    """
    round_ = get_round(usage, round_name, overlay)
    lender, lent_round = round_.common
    with explained(usage, overlay, round_.common_file, *([benchmark_name] if benchmark_name else [])):
        common = _inherited(
            _official_changes(round_.common_file, lender, overlay), known_rounds(lender, overlay), lent_round
        )
        content: dict[str, Any] = {}
        if benchmark_name in round_.benchmarks:
            changes = _official_changes(benchmark_name, usage, overlay)
            content = _inherited(changes, known_rounds(usage, overlay), round_name)
        return _rule_set(round_, division, benchmark_name, common, content, round_.checker)


@lru_cache(maxsize=256)
def house_rules_for(
    usage: str, round_name: str, division: str | None, benchmark_name: str | None, overlay: str
) -> RuleSet:
    """The rules of an overlay file that bind a log beside the official ones.

    Raises:
        FileProblemsError: the overlay file is broken.
    """
    round_ = get_round(usage, round_name, overlay)
    rounds = known_rounds(usage, overlay)
    with explained(usage, overlay):
        common = _inherited(_house_changes("common", usage, overlay), rounds, round_name)
        content: dict[str, Any] = {}
        if benchmark_name in round_.benchmarks:
            content = _inherited(_house_changes(benchmark_name, usage, overlay), rounds, round_name)
        title = str(overlay_content(overlay)["title"])
        return _rule_set(round_, division, benchmark_name, common, content, title)


def _rule_set(
    round_: Round,
    division: str | None,
    benchmark_name: str | None,
    common: dict[str, Any],
    content: dict[str, Any],
    checker: str,
) -> RuleSet:
    families = rule_families(division)
    rules: dict[str, KeyRule] = {}
    variants: list[Variant] = []
    for family in families:
        _add(rules, common.get(family), family, f"{_prefix(family)}common.yaml", round_)
    for family in families:
        section = dict(content.get(family) or {})
        for key, choices in (section.pop("variants", None) or {}).items():
            variants.extend(_variants(key, choices, family, str(benchmark_name), round_))
        _add(rules, section, family, f"{_prefix(family)}{benchmark_name}.yaml", round_)
    for key, note in (content.get("notes") or {}).items():
        if key in rules:
            rules[key] = msgspec.structs.replace(rules[key], note=note)
    return RuleSet(
        usage=round_.usage,
        round=round_.name,
        division=division if len(families) > 1 else None,
        benchmark=benchmark_name if benchmark_name in round_.benchmarks else None,
        rules=tuple(rules.values()),
        variants=tuple(variants),
        alternatives=tuple(tuple(group) for group in common.get("at_least_one_of", ())),
        checker=checker,
    )


def _prefix(family: str) -> str:
    return "" if family == "both" else f"{family}_"


def _variants(key: str, choices: dict[str, Any], family: str, benchmark_name: str, round_: Round) -> list[Variant]:
    found = []
    for value, section in choices.items():
        rules: dict[str, KeyRule] = {}
        _add(rules, section, family, f"{_prefix(family)}{benchmark_name}_{value.lower()}.yaml", round_)
        found.append(Variant(key, value, tuple(rules.values())))
    return found


def _add(rules: dict[str, KeyRule], section: Any, family: str, origin: str, round_: Round) -> None:
    for key, demands in (section or {}).items():
        rules[key] = parse_rule(key, demands, _FAMILY_BLOCKS[family], origin, round_.benchmarks)


@contextmanager
def explained(usage: str, overlay: str | None, *names: str) -> Iterator[None]:
    """Turn what a broken rule file makes the code stumble over into the file, the line and what was meant.

    Raises:
        FileProblemsError: the file is broken.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        from mlsub.io.yamlfile import FileProblemsError
        from mlsub.rules.problems import rule_file_problems

        if isinstance(error, FileProblemsError):
            raise
        files = [path for path in map(_shipped(FOLDER).get, names) if path is not None]
        rounds = known_rounds(usage, overlay)
        problems = [p for path in files for p in rule_file_problems(path, rounds, path.name)]
        if not problems:
            raise
        raise FileProblemsError(tuple(problems)) from error
