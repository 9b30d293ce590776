"""Turn the rule files into rule sets: inheritance from round to round, and from common to benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.divisions import CLOSED, OPEN, rule_families
from mlsub.findings import Blocks
from mlsub.io.data import load_yaml, shipped
from mlsub.rounds import Round, get_round, known_rounds, overlay_content, overlay_rounds, usages
from mlsub.rules.model import KeyRule, RuleSet, parse_rule

FOLDER = Path(__file__).parent
_FAMILY_BLOCKS = {"both": Blocks.BOTH, CLOSED.name: Blocks.CLOSED, OPEN.name: Blocks.BOTH}
_SECTIONS = tuple(_FAMILY_BLOCKS)

#: What each round changes, by round; the content of a rule file below ``rounds``.
Changes = dict[str, dict[str, Any]]


class EntryRequirements(msgspec.Struct, frozen=True):
    """What a benchmark's entries need in a round: result files, and how many of them may be noncompliant."""

    name: str
    title: str
    runs: int
    forgiven: int


def key_descriptions() -> dict[str, str]:
    """Return what each key of a log means, in one line."""
    return shipped(__file__, "keys.yaml", dict[str, str])


@lru_cache(maxsize=2)
def _shipped(folder: Path) -> dict[str, Path]:
    """The rule files, by name: a name that a user chose is looked up here, and never becomes that of a file."""
    return {path.stem: path for path in folder.glob("*.yaml") if path.stem not in ("rules", "keys", "clauses")}


@lru_cache(maxsize=64)
def _rule_file(name: str) -> dict[str, Any]:
    path = _shipped(FOLDER).get(name)
    content = load_yaml(path) if path is not None else {}
    if not isinstance(content, dict):
        raise TypeError(f"{name}.yaml: a mapping is needed")
    return content


def _changes(name: str, usage: str, overlay: str | None, *, house: bool) -> Changes:
    """What a rule file says by round, ``common`` files among them.

    The official rules are those of the shipped file, and of an overlay file those of the rounds that it adds itself.
    What an overlay file says of rounds that exist without it are rules of the ``house``, beside the official ones.
    """
    content = overlay_content(overlay)
    part: Any = {}
    if content.get("usage", "training") == usage:
        part = content.get("common") if name.startswith("common") else (content.get("benchmarks") or {}).get(name)
    added = overlay_rounds(usage, overlay)
    changes = {key: value for key, value in (part or {}).items() if key != "title" and (key in added) is not house}
    return changes if house else {**(_rule_file(name).get("rounds") or {}), **changes}


def _demands_of(name: str, usage: str, round_name: str, overlay: str | None, *, house: bool = False) -> dict[str, Any]:
    """What a rule file demands in a round, changes of the earlier rounds included."""
    changes, rounds = _changes(name, usage, overlay, house=house), known_rounds(usage, overlay)
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
def entry_requirements(usage: str, round_name: str, name: str, overlay: str | None = None) -> EntryRequirements:
    """What an entry of this benchmark needs.

    Raises:
        KeyError: the round has no such benchmark.
        FileProblemsError: a rule file is broken.
    """
    if name not in get_round(usage, round_name, overlay).benchmarks:
        raise KeyError(name)
    with locating_problems(overlay, name):
        content = _demands_of(name, usage, round_name, overlay)
        title = _rule_file(name).get("title") or overlay_content(overlay)["benchmarks"][name]["title"]
        return EntryRequirements(name, title, content["runs"], content.get("forgiven", 1))


def rules_for(
    usage: str,
    round_name: str,
    division: str | None,
    benchmark_name: str | None,
    overlay: str | None = None,
    *,
    house: bool = False,
) -> RuleSet:
    """The rules for a log that says it is of this division and benchmark.

    An unknown division or benchmark leaves the rules that hold for every log; the common rules then report the
    unknown name itself. ``house`` asks for the rules of the overlay file that bind a log beside the official ones.

    Raises:
        FileProblemsError: a rule file is broken.
    """
    # Kept by all of it, however it is asked for.
    return _rules_for(usage, round_name, division, benchmark_name, overlay, house)


@lru_cache(maxsize=512)
def _rules_for(
    usage: str, round_name: str, division: str | None, benchmark_name: str | None, overlay: str | None, house: bool
) -> RuleSet:
    round_ = get_round(usage, round_name, overlay)
    common_file, common_of = ("common", (usage, round_name)) if house else (round_.common_file, round_.common)
    with locating_problems(overlay, *() if house else (common_file, *([benchmark_name] if benchmark_name else []))):
        if benchmark_name in round_.benchmarks:
            common = _rules_for(usage, round_name, division, None, overlay, house)
            content = _demands_of(str(benchmark_name), usage, round_name, overlay, house=house)
            return _add_benchmark_rules(common, content, str(benchmark_name), round_, rule_families(division))
        if benchmark_name is not None:
            return _rules_for(usage, round_name, division, None, overlay, house)
        content = _demands_of(common_file, *common_of, overlay, house=house)
        families = rule_families(division)
        rules: dict[str, KeyRule] = {}
        for family in families:
            rules.update(_section(content.get(family), family, "common", round_))
        return RuleSet(
            division=division if len(families) > 1 else None,
            rules=tuple(rules.values()),
            alternatives=tuple(tuple(group) for group in content.get("at_least_one_of", ())),
            checker=str(overlay_content(overlay)["title"]) if house else round_.checker,
        )


def _add_benchmark_rules(
    common: RuleSet, content: dict[str, Any], benchmark_name: str, round_: Round, families: Iterable[str]
) -> RuleSet:
    """The common rules with those of a benchmark, which replace the ones of the same key."""
    rules = {rule.key: rule for rule in common.rules}
    variants: list[KeyRule] = []
    for family in families:
        section = dict(content.get(family) or {})
        for key, choices in (section.pop("variants", None) or {}).items():
            for value, chosen in choices.items():
                found = _section(chosen, family, f"{benchmark_name}_{value.lower()}", round_)
                variants += [msgspec.structs.replace(rule, where=(key, value)) for rule in found.values()]
        rules.update(_section(section, family, benchmark_name, round_))
    for key, note in (content.get("notes") or {}).items():
        if key in rules:
            rules[key] = msgspec.structs.replace(rules[key], note=note)
    return msgspec.structs.replace(
        common, benchmark=benchmark_name, rules=tuple(rules.values()), variants=tuple(variants)
    )


def _section(demands: dict[str, Any] | None, family: str, name: str, round_: Round) -> dict[str, KeyRule]:
    """The rules of one family, by key; ``name`` is that of the official file they come from."""
    origin, blocks = f"{'' if family == 'both' else f'{family}_'}{name}.yaml", _FAMILY_BLOCKS[family]
    return {key: parse_rule(key, of, blocks, origin, round_.benchmarks) for key, of in (demands or {}).items()}


@contextmanager
def locating_problems(overlay: str | None, *names: str) -> Iterator[None]:
    """Turn what a broken rule file makes the code stumble over into the file, the line and what was meant.

    Raises:
        FileProblemsError: the file is broken.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        from mlsub.rules.problems import error_in

        files = [path for path in map(_shipped(FOLDER).get, names) if path is not None]
        # Files of common rules hold for several usages.
        rounds = {name for usage in usages() for name in known_rounds(usage, overlay)}
        located = error_in(files, rounds)
        if located is None:
            raise
        raise located from error
