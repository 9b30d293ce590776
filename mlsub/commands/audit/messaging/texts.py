"""The texts of the rules: which is in force when, and which rules it has."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.findings import Severity
from mlsub.io.data import shipped

#: What ``--rules`` takes besides the texts by name.
AUTO = "auto"


class Text(msgspec.Struct, frozen=True, kw_only=True, rename={"since": "from"}):
    """One text. ``since`` is the day from which it binds; ``symbols`` are the signs that may stand behind the name."""

    name: str = ""
    title: str
    since: date
    source: str
    symbol: str
    symbols: tuple[str, ...]
    legend: str
    note: str | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule. ``sections`` maps a text to the place in it; a text that is not there lacks the rule."""

    number: str = ""
    title: str
    how: str
    sections: dict[str, str]
    levels: dict[str, Severity] = {}

    @property
    def id(self) -> str:
        """Its id in the catalogue, ``claim.r05``."""
        return f"claim.{self.number.lower()}"


class Guidelines(msgspec.Struct, frozen=True):
    """All texts, oldest first, and all rules."""

    texts: dict[str, Text]
    rules: dict[str, Rule]


@lru_cache(maxsize=1)
def guidelines() -> Guidelines:
    """The table, guidelines.yaml."""
    table = shipped(__file__, "../guidelines.yaml", dict[str, dict[str, Any]])
    texts = {name: msgspec.convert({"name": name, **text}, Text) for name, text in table["texts"].items()}
    rules = {number: msgspec.convert({"number": number, **rule}, Rule) for number, rule in table["rules"].items()}
    return Guidelines(texts, rules)


def text_names() -> tuple[str, ...]:
    """What ``--guidelines`` takes."""
    return (AUTO, *guidelines().texts)


def text_for(day: date | None, wanted: str = AUTO) -> Text:
    """The text that binds a document: the one wanted, or the last that was in force on its day.

    A document older than the oldest text is held against that one, a document without a date against today's.
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
