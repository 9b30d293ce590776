"""What all rule files demand by rule id, and which rules there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from itertools import product

import msgspec

from mlsub.divisions import DIVISIONS, OPEN
from mlsub.findings import Blocks
from mlsub.io.data import group_by_key
from mlsub.rounds import Round, all_rounds, usages
from mlsub.rules.aspects import aspects_of
from mlsub.rules.aspects.base import Aspect
from mlsub.rules.aspects.records import AnyOfAspect, RepeatedAspect
from mlsub.rules.catalogue import catalogue
from mlsub.rules.engine import rule_id
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule


def suggestion(text: str, *, whole: bool = False) -> str | None:
    """None if ``text`` is a rule id (or, unless ``whole``, a prefix of one); else a line with a did-you-mean."""
    if text.startswith("house") and not whole:
        return None  # Rules of the user's own; which there are depends on their file.
    if text in catalogue() or (not whole and text and any(name.startswith(text) for name in catalogue())):
        return None  # Without the demands, which take half a second to read.
    ids = rule_ids()
    if text in ids or (not whole and text and any(name.startswith(text) for name in ids)):
        return None
    close = get_close_matches(text, ids, n=3)
    inside = [name for name in ids if text in name][:5]
    hint = ", ".join(close or inside)
    return f"no rule {text!r}." + (f" Did you mean {hint}?" if hint else " mlsub explain log.empty shows one.")


@lru_cache(maxsize=1)
def rule_ids() -> tuple[str, ...]:
    """Every rule id, the catalogue's first."""
    return (*catalogue(), *sorted(all_demands()))


def official_files(demands: Iterable[Demand]) -> Iterator[str]:
    """The official files that demand it, rounds with the same files together."""
    files = group_by_key(sorted({source for demand in demands for source in demand.sources}))
    checkers: dict[tuple[str, str], list[str]] = {}
    for checker, names in files.items():
        place, underscore, version = checker.rpartition("_")
        known = version[:1].isdigit()
        folder = (f"{place}{underscore}" if known else checker, ", ".join(names))
        checkers.setdefault(folder, []).append(version if known else "")
    for (place, listed), versions in checkers.items():
        several = f"{{{','.join(versions)}}}" if len(versions) > 1 else versions[0]
        yield f"{place}{several}: {listed}"


class Demand(msgspec.Struct):
    """What some rounds, benchmarks and divisions demand of a key in one aspect; equal words are one demand."""

    rule: KeyRule
    words: str
    logs: dict[Round, list[tuple[str, str]]] = {}
    sources: set[tuple[str, str]] = set()

    def add(self, round_: Round, benchmark: str, division: str, origin: str) -> None:
        """Note that a round demands this of a benchmark's logs of a division."""
        self.logs.setdefault(round_, []).append((benchmark, division))
        self.sources.add((round_.checker, origin))

    def places(self) -> Iterator[tuple[str, str, list[str]]]:
        """Which logs it binds: usage, logs in words, and the rounds of which this is so."""
        named = (((of.usage, which_logs(of, logs)), of.name) for of, logs in self.logs.items())
        for (usage, which), rounds in group_by_key(named).items():
            yield usage, which, rounds


class KeyDemands(msgspec.Struct):
    """All demands on a key in one aspect, by their words, oldest round first."""

    key: str
    aspect: type[Aspect]
    by_words: dict[str, Demand] = {}

    @property
    def demands(self) -> tuple[Demand, ...]:
        """The demands."""
        return tuple(self.by_words.values())

    @property
    def blocks(self) -> Blocks:
        """The division that breaking a demand rules out, by what the newest rounds say; none where it only warns.

        What Open refuses, Closed would not take either. (v0.6 had no divisions, so there everything rules out both.)
        """
        if self.aspect is RepeatedAspect or all(self.aspect.name in demand.rule.warn_only for demand in self.demands):
            return Blocks.NONE
        newest = self.demands[-1].logs.values()
        return Blocks.BOTH if any(division == OPEN.name for logs in newest for _, division in logs) else Blocks.CLOSED


def which_logs(round_: Round, logs: list[tuple[str, str]]) -> str:
    """The logs in words, as short as can be."""
    parts = []
    for division in dict.fromkeys(division for _, division in logs):
        names = [name for name, of in logs if of == division]
        everyone = len(names) == len(round_.benchmarks)
        parts.append(f"every {division} log" if everyone else f"{division} {', '.join(names)}")
    return "every log" if parts == ["every closed log", "every open log"] else "; ".join(parts)


@lru_cache(maxsize=1)
def all_demands() -> dict[str, KeyDemands]:
    """Every demand of every rule file, by rule id."""
    found: dict[str, KeyDemands] = {}

    def demand(rule: KeyRule, aspect: type[Aspect], words: str) -> Demand:
        name = rule_id(rule.key, aspect.name)
        return found.setdefault(name, KeyDemands(rule.key, aspect)).by_words.setdefault(words, Demand(rule, words))

    rounds = (round_ for usage in usages() for round_ in all_rounds(usage))
    logs = ((round_, *pair) for round_ in rounds for pair in product(round_.benchmarks, DIVISIONS))
    for round_, benchmark, division in logs:
        rules = rules_for(round_.usage, round_.name, division, benchmark)
        for rule in rules.every:
            for aspect in aspects_of(rule):
                words = aspect.join.join(part.words for part in aspect.parts())
                warns = " (only a warning)" if aspect.name in rule.warn_only else ""
                demand(rule, type(aspect), words + warns).add(round_, benchmark, division, rule.origin)
        for group in rules.alternatives:
            rule = next(rule for rule in rules.rules if rule.key == group[0])
            demand(rule, AnyOfAspect, AnyOfAspect.words_of(group)).add(round_, benchmark, division, "common.yaml")
    return found
