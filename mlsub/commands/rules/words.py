"""A key's demands in words, cut into the parts that can change one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from mlsub.io.show import show
from mlsub.rules.formula import is_formula, parse
from mlsub.rules.model import KeyRule, Occurs, Within


class Part(msgspec.Struct, frozen=True):
    """One demand of a key: the aspect (last part of its rule id) and its words.

    ``options`` are the values of a closed list, or the names of tensors.
    """

    aspect: str
    words: str
    options: tuple[str, ...] = ()


_JOINED: dict[str, Callable[[list[str]], str]] = {
    "count": " and ".join,
    "value": " and ".join,
    "order": ", ".join,
    "metadata": lambda words: "metadata: " + "; ".join(words),
    "target": lambda words: "one record must reach " + ", ".join(words),
}


def occurs_words(occurs: Occurs) -> str:
    """How often a key must appear, or "optional"."""
    return occurs.words() if is_required(occurs) else "optional"


def is_required(occurs: Occurs) -> bool:
    """Whether a log without the key breaks the rules, at least where another key has a certain value."""
    return bool(occurs.exactly_one or occurs.at_least or occurs.once_where)


def parts(rule: KeyRule, division: str | None) -> tuple[Part, ...]:
    """Everything that is demanded of a key in a division, the number of records first."""
    return (Part("count", occurs_words(rule.occurs)), *_content(rule, division))


def describe(found: Iterable[Part], warn_only: tuple[str, ...] = ()) -> list[str]:
    """Parts as phrases, those of one aspect together."""
    groups: dict[str, list[str]] = {}
    for part in found:
        groups.setdefault(part.aspect, []).append(part.words)
    phrases = [_JOINED.get(aspect, "; ".join)(words) for aspect, words in groups.items()]
    if warn_only:
        phrases.append(f"only a warning: {' and '.join(warn_only)}")
    return phrases


def target_words(rule: KeyRule) -> str | None:
    """The quality target as one phrase, or None for a key without."""
    if not rule.reaches:
        return None
    return f"{_measured(rule)} {', '.join(reach.words() for reach in rule.reaches)}"


def _measured(rule: KeyRule) -> str:
    return rule.gathers.key if rule.gathers else rule.key


def _content(rule: KeyRule, division: str | None) -> Iterator[Part]:
    for constraint in rule.value:
        options = tuple(map(show, constraint.operand)) if constraint.operator == "one_of" else ()
        yield Part("value", constraint.words(), options)
    for entry in rule.metadata:
        yield Part("metadata", entry.words())
    for entry in rule.first_metadata:
        yield Part("metadata", f"on the first record {entry.words()}")
    if rule.gathers is not None:
        of = rule.gathers
        yield Part("metadata", f"{of.field} and {of.by} of the {of.key} records it is put together from")
    for key in rule.after:
        yield Part("order", f"after {key}")
    for key in rule.not_after:
        yield Part("order", f"before {key}")
    if rule.nested is not None:
        yield Part("nesting", "in the sequence of epochs, blocks and evaluations")
    if rule.within is not None:
        yield Part("time", _limit(rule.within, division))
    for reach in rule.reaches:
        yield Part("target", reach.words())
    if rule.tensors is not None:
        yield Part("tensors", f"{len(rule.tensors)} tensors of the reference model, each once", rule.tensors)


def _limit(within: Within, division: str | None) -> str:
    """A time limit; where it hangs on the division alone, what it comes to."""
    minutes = within.minutes
    if division and is_formula(minutes):
        formula = parse(str(minutes)[1:])
        if formula.names == ("submission_division",):
            return Within(within.of, formula.compute({"submission_division": division})).words()
    return within.words()
