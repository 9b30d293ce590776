"""A key's demands in words, cut into the parts that can change one by one."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.rules.aspects import ASPECTS, aspects_of
from mlsub.rules.aspects.base import Part
from mlsub.rules.aspects.count import Count, Repeated
from mlsub.rules.model import KeyRule, Occurs


def occurs_words(occurs: Occurs) -> str:
    """How often a key must appear, or "optional"."""
    return occurs.words() if occurs.is_required else "optional"


def parts(rule: KeyRule, division: str | None) -> tuple[Part, ...]:
    """Everything that is demanded of a key in a division, the number of records first."""
    others = [aspect for aspect in aspects_of(rule) if not isinstance(aspect, (Count, Repeated))]
    return (
        Part(Count.name, occurs_words(rule.occurs)),
        *(part for aspect in others for part in aspect.parts(division)),
    )


def describe(found: Iterable[Part], warn_only: tuple[str, ...] = ()) -> list[str]:
    """Parts as phrases, those of one aspect together."""
    groups: dict[str, list[str]] = {}
    for part in found:
        groups.setdefault(part.aspect, []).append(part.words)
    phrases = [ASPECTS[aspect].phrase(words) for aspect, words in groups.items()]
    if warn_only:
        phrases.append(f"only a warning: {' and '.join(warn_only)}")
    return phrases


def target_words(rule: KeyRule) -> str | None:
    """The quality target as one phrase, or None for a key without."""
    if not rule.reaches:
        return None
    measured = rule.gathers.key if rule.gathers else rule.key
    return f"{measured} {', '.join(reach.words() for reach in rule.reaches)}"
