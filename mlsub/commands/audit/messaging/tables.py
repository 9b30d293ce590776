"""The texts of the rules on quoting results, and when each is in force."""

from __future__ import annotations

from datetime import date
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
