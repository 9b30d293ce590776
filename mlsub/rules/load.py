"""Turn the rule files into rule sets: inheritance from round to round, and from common to benchmark."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.data import load_yaml
from mlsub.divisions import rule_families
from mlsub.findings import Blocks
from mlsub.rounds import Round, get_round, known_rounds
from mlsub.rules.constraints import OPERATORS, Constraint
from mlsub.rules.expand import expand
from mlsub.rules.model import KeyRule, Occurs, Reach, RuleSet, Variant, Within

FOLDER = Path(__file__).parent
_FAMILY_BLOCKS = {"both": Blocks.BOTH, "closed": Blocks.CLOSED, "open": Blocks.BOTH}


class Benchmark(msgspec.Struct, frozen=True):
    """What a benchmark's entries need in a round: result files, and how many of them may be noncompliant."""

    name: str
    title: str
    runs: int
    forgiven: int


@lru_cache(maxsize=64)
def _file(name: str) -> dict[str, Any]:
    content = load_yaml(FOLDER / f"{name}.yaml")
    if not isinstance(content, dict):
        raise TypeError(f"{name}.yaml: a mapping is needed")
    return content


def _inherited(name: str, usage: str, round_name: str) -> dict[str, Any]:
    """What a rule file says of a round, changes of the earlier rounds included."""
    file = _file(name)
    order = known_rounds(usage)
    merged: dict[str, Any] = {}
    for earlier in order[: order.index(round_name) + 1]:
        merged = _merge(merged, file["rounds"].get(earlier) or {})
    return merged


def _merge(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Families merge key by key, a key's demands are replaced as a whole, and null takes a key away."""
    merged = dict(base)
    for name, value in change.items():
        if name in ("both", "closed", "open") and isinstance(merged.get(name), dict):
            kept = {**merged[name], **value}
            merged[name] = {key: rule for key, rule in kept.items() if rule is not None}
        else:
            merged[name] = value
    return merged


@lru_cache(maxsize=256)
def benchmark(usage: str, round_name: str, name: str) -> Benchmark:
    """What an entry of this benchmark needs.

    Raises:
        KeyError: the round has no such benchmark.
    """
    if name not in get_round(usage, round_name).benchmarks:
        raise KeyError(name)
    content = _inherited(name, usage, round_name)
    return Benchmark(name, _file(name)["title"], content["runs"], content.get("forgiven", 1))


@lru_cache(maxsize=256)
def rules_for(usage: str, round_name: str, division: str | None, benchmark_name: str | None) -> RuleSet:
    """The rules for a log that says it is of this division and benchmark.

    An unknown division or benchmark leaves the rules that hold for every log; the common rules then report the
    unknown name itself.
    """
    round_ = get_round(usage, round_name)
    families = rule_families(division)
    rules: dict[str, KeyRule] = {}
    common = _inherited("common", *round_.common)
    for family in families:
        _add(
            rules,
            common.get(family),
            family,
            f"{'' if family == 'both' else family + '_'}common.yaml",
            round_,
        )
    variants: list[Variant] = []
    if benchmark_name in round_.benchmarks and len(families) > 1:
        content = _inherited(benchmark_name, usage, round_name)
        for family in families[1:]:
            section = dict(content.get(family) or {})
            for key, choices in (section.pop("variants", None) or {}).items():
                variants.extend(_variants(key, choices, family, benchmark_name, round_))
            _add(rules, section, family, f"{family}_{benchmark_name}.yaml", round_)
    return RuleSet(
        usage=usage,
        round=round_name,
        division=division if len(families) > 1 else None,
        benchmark=benchmark_name if benchmark_name in round_.benchmarks else None,
        rules=tuple(rules.values()),
        variants=tuple(variants),
        alternatives=tuple(tuple(group) for group in common.get("at_least_one_of", ())),
        checker=round_.checker,
    )


def _variants(key: str, choices: dict[str, Any], family: str, benchmark_name: str, round_: Round) -> list[Variant]:
    found = []
    for value, section in choices.items():
        rules: dict[str, KeyRule] = {}
        _add(rules, section, family, f"{family}_{benchmark_name}_{value}.yaml", round_)
        found.append(Variant(key, value, tuple(rules.values())))
    return found


def _add(rules: dict[str, KeyRule], section: Any, family: str, origin: str, round_: Round) -> None:
    for key, demands in (section or {}).items():
        rules[key] = parse_rule(key, demands, _FAMILY_BLOCKS[family], origin, round_.benchmarks)


def parse_rule(key: str, demands: Any, blocks: Blocks, origin: str, benchmarks: tuple[str, ...]) -> KeyRule:
    """One key's demands as written in a rule file.

    Raises:
        ValueError: a word that is not of the vocabulary.
    """
    fields: dict[str, Any] = {"occurs": demands} if isinstance(demands, str) else dict(demands or {})
    occurs = _occurs(fields.pop("occurs", None))
    metadata = fields.pop("metadata", ())
    if not isinstance(metadata, dict):
        metadata = {name: {} for name in metadata}
    reaches = fields.pop("reaches", None)
    tensors = fields.pop("tensors", None)
    within = fields.pop("within", None)
    after, not_after = fields.pop("after", ()), fields.pop("not_after", ())
    warn_only = fields.pop("warn_only", ())
    if fields.pop("benchmark_of_round", False):
        fields["one_of"] = list(benchmarks)
    return KeyRule(
        key=key,
        blocks=blocks,
        origin=origin,
        occurs=occurs,
        value=_constraints(key, fields),
        metadata=tuple((name, _constraints(key, demand or {})) for name, demand in metadata.items()),
        after=tuple(after),
        not_after=tuple(not_after),
        within=Within(within["of"], within["minutes"]) if within else None,
        reaches=_reaches(key, reaches) if reaches else (),
        tensors=expand(tensors) if tensors else None,
        warn_only=tuple(warn_only),
    )


def _occurs(text: str | dict[str, int] | None) -> Occurs:
    if text is None or text == "any":
        return Occurs()
    if text == "exactly_one":
        return Occurs(exactly_one=True)
    if text == "at_least_one":
        return Occurs(at_least=1)
    if isinstance(text, dict):
        return Occurs(at_least=text["at_least"])
    raise ValueError(f"unknown occurrence {text!r}")


def _constraints(key: str, fields: dict[str, Any]) -> tuple[Constraint, ...]:
    unknown = sorted(set(fields) - OPERATORS)
    if unknown:
        raise ValueError(f"{key}: unknown operator {unknown[0]!r}")
    return tuple(Constraint(name, operand) for name, operand in fields.items())


def _reaches(key: str, target: dict[str, Any]) -> tuple[Reach, ...]:
    if all(name in OPERATORS for name in target):
        return (Reach(None, _constraints(key, target)),)
    return tuple(Reach(field, _constraints(key, demand)) for field, demand in target.items())
