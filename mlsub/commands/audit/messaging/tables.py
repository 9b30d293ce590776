"""Tables: the texts of the rules and when each is in force, which rounds may be compared, when each was published."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.commands.audit.quoting import Rule, Text
from mlsub.io.data import shipped

#: What ``--guidelines`` takes besides the texts by name.
AUTO = "auto"


class Guidelines(msgspec.Struct, frozen=True):
    """All texts, oldest first, and all rules."""

    texts: dict[str, Text]
    rules: dict[str, Rule]


@lru_cache(maxsize=1)
def guidelines() -> Guidelines:
    """The table, guidelines.yaml."""
    table = shipped(__file__, "../guidelines.yaml", dict[str, dict[str, Any]])
    texts = {name: msgspec.convert({"name": name, **text}, Text) for name, text in table["texts"].items()}
    rules = {
        number: msgspec.convert({"rule": f"claim.{number.lower()}", **rule}, Rule)
        for number, rule in table["rules"].items()
    }
    return Guidelines(texts, rules)


def text_for(day: date | None, wanted: str = AUTO) -> Text:
    """The text that binds a document: the one wanted, or the last that was in force on its day.

    A document older than the oldest text is checked against that one, a document without a date against the newest.
    """
    texts = list(guidelines().texts.values())
    if wanted != AUTO:
        return guidelines().texts[wanted]
    if day is None:
        return texts[-1]
    return next((text for text in reversed(texts) if text.since <= day), texts[0])


def by_hand(text: Text) -> tuple[Rule, ...]:
    """The rules of a text that only a person can look at."""
    return tuple(rule for rule in guidelines().rules.values() if rule.how == "human" and text.name in rule.sections)


class Compatible(StrEnum):
    """Whether results of two rounds of a benchmark may be compared."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class _Usage(msgspec.Struct, frozen=True):
    source: str
    until: str
    benchmarks: dict[str, list[list[str]]]
    aliases: dict[str, str]


class Publication(msgspec.Struct, frozen=True):
    """When the results of a round came out, and who says so."""

    date: date
    source: str


def _compatible() -> dict[str, _Usage]:
    return shipped(__file__, "../compatible.yaml", dict[str, _Usage])


def _published() -> dict[str, dict[str, Publication]]:
    return shipped(__file__, "../published.yaml", dict[str, dict[str, Publication]])


def same_benchmark(usage: str, one: str, other: str) -> bool:
    """Whether two folders of results hold the same benchmark."""
    return _plain(usage, one) == _plain(usage, other)


def compatible(usage: str, benchmark: str, one: str, other: str) -> Compatible:
    """Whether two rounds of a benchmark may be compared, by the table of MLCommons.

    A round that the table does not reach yet, or a benchmark that it does not have, is unknown, except beside itself.
    """
    if one == other:
        return Compatible.YES
    table = _compatible().get(usage)
    groups = table.benchmarks.get(_plain(usage, benchmark)) if table else None
    if table is None or groups is None or max(_order(one), _order(other)) > _order(table.until):
        return Compatible.UNKNOWN
    together = any(one in group and other in group for group in groups)
    return Compatible.YES if together else Compatible.NO


def group_of(usage: str, benchmark: str, name: str) -> tuple[str, ...]:
    """The rounds that a round of a benchmark may be compared with, itself among them; empty without any."""
    table = _compatible().get(usage)
    groups = table.benchmarks.get(_plain(usage, benchmark), []) if table else []
    return next((tuple(group) for group in groups if name in group), ())


def published(usage: str, name: str) -> Publication | None:
    """When the results of a round came out, None where that is not known here."""
    return _published().get(usage, {}).get(name)


def _plain(usage: str, benchmark: str) -> str:
    table = _compatible().get(usage)
    return table.aliases.get(benchmark, benchmark) if table else benchmark


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))
