"""R09, R11, R12: what may be compared with what, and what has to be said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.quoting import Hit, Message, Unchecked, enumerated, mentions, noted_as
from mlsub.divisions import CLOSED, OPEN
from mlsub.findings import Severity
from mlsub.io.show import flat
from mlsub.rounds.benchmarks import Compatible, compatible, group_of, same_benchmark

#: What a sentence calls the differences that have another name here.
_WORDS = {"verified": "review", "chips": "chip count"}
#: What notes of an Open result say when nobody has written them yet.
_EMPTY_NOTES = ("", "tbd", "todo", "n/a", "none")
#: Fields of a description that tell what a gain may rest on besides; no value of theirs is quoted longer.
_FIELDS = ("accelerator_model_name", "host_processor_model_name", "framework")
_LONGEST = 80
_SET_AGAINST = re.compile(r"\b(?:since|over|than|against|from)\b")


def comparing_hits(message: Message, neighbours: Sequence[Message]) -> Iterator[Hit | Unchecked]:
    """Of one sentence: compatibility, differences stated, what keeps an Open result from being Closed."""
    if is_composite(message):
        return
    if len(message.compared) > 1:
        yield from _compatibility(message.compared)
        yield from _differences(message)
        yield from _other_fields(message)
        yield from _open_beside_closed(message)
    yield from _unlabelled(message, neighbours)


def is_composite(message: Message) -> bool:
    """Whether a sentence combines benchmarks: every side (a submitter in a round) has the same ones, and several."""
    sides: dict[tuple[str, str | None], set[str | None]] = {}
    for operand in message.compared:
        sides.setdefault((operand.round, operand.submitter), set()).add(operand.benchmark)
    return len({frozenset(benchmarks) for benchmarks in sides.values()}) == 1 and any(
        len(b) > 1 for b in sides.values()
    )


def _compatibility(operands: tuple[ResultFacts, ...]) -> Iterator[Hit | Unchecked]:
    seen = set()
    for one, other in combinations(operands, 2):
        if one.benchmark is None or other.benchmark is None:
            continue
        key = frozenset({(one.usage, one.benchmark, one.round), (other.usage, other.benchmark, other.round)})
        if key in seen:
            continue
        seen.add(key)
        if one.usage != other.usage or not same_benchmark(one.usage, one.benchmark, other.benchmark):
            yield Hit(
                "R09",
                "results of two benchmarks are compared",
                actual=f"{one.benchmark} ({one.usage}) and {other.benchmark} ({other.usage})",
            )
            continue
        answer = compatible(one.usage, one.benchmark, one.round, other.round)
        if answer is Compatible.NO:
            group = [name for name in group_of(one.usage, one.benchmark, one.round) if name != one.round]
            yield Hit(
                "R09",
                f"{one.benchmark} of v{one.round} and of v{other.round} are not compatible",
                expected=f"beside v{one.round}: {', '.join(f'v{name}' for name in group) or 'no other round'}",
            )
        elif answer is Compatible.UNKNOWN:
            yield Unchecked(
                "R09", f"whether {one.benchmark} of v{one.round} and of v{other.round} are compatible: not in the table"
            )


def _differences(message: Message) -> Iterator[Hit]:
    """In the order of the guidelines: version, division, category, verified, chips."""
    operands = message.compared
    facts: dict[str, list[str | None]] = {
        "version": [f"v{o.round}" for o in operands],
        "division": [o.division for o in operands],
        "category": [o.category for o in operands],
        "verified": ["verified" if o.reviewed else "unverified" for o in operands],
        "chips": [None if o.chips is None else str(o.chips) for o in operands],
    }
    hidden = []
    for what, found in facts.items():
        values = list(dict.fromkeys(value for value in found if value is not None))
        if len(values) > 1 and not message.states(what, values) and not (what == "version" and _since(message, values)):
            hidden.append(f"{_WORDS.get(what, what)} ({enumerated(values)})")
    if hidden:
        yield Hit("R11", f"the comparison does not say that the results differ in {enumerated(hidden)}")


def _since(message: Message, versions: list[str]) -> bool:
    """Whether a sentence sets its own version against another: ``since v1.0``."""
    said = flat(message.text)
    before = (part for name in versions for part in re.split(rf"\b{re.escape(name)}\b", said)[:-1])
    # Up to the version, no sign stands behind the word.
    return any(_SET_AGAINST.search(re.split(r"[^\w\s]", part)[-1]) for part in before)


def _other_fields(message: Message) -> Iterator[Hit]:
    """What else is not the same in systems of one submitter: a gain that is put down to one thing may rest on another.

    The guidelines do not list these, so it is information; between submitters everything differs.
    """
    operands = message.compared
    if len({operand.submitter for operand in operands}) != 1:
        return
    hidden = []
    for name in _FIELDS:
        found = [getattr(operand, name) for operand in operands]
        values = list(dict.fromkeys(None if one is None else one[:_LONGEST] for one in found))
        known = [value for value in values if value]
        if len(values) == len(known) > 1 and not message.states(name, known):
            hidden.append(f"{name} ({enumerated(known)})")
    if hidden:
        yield Hit("R11", f"the systems also differ in {enumerated(hidden)}", level=Severity.INFO)


def _unlabelled(message: Message, neighbours: Sequence[Message]) -> Iterator[Hit | Unchecked]:
    """Results of both divisions side by side in one document are compared by every reader."""
    own = {operand.division for operand in message.compared if operand.division}
    others = {
        operand.division
        for other in neighbours
        for operand in other.compared
        if operand.division and operand.division not in own
    }
    said = message.noted("division")
    if len(own) != 1 or not others or said or message.states("division", own):
        return
    if said is None:
        yield Unchecked("R11", f"whether the division is said: note it under says: {noted_as('division')}", message.id)
        return
    yield Hit(
        "R11",
        f"the division is not said ({next(iter(own))}), and the same document has results of the other",
    )


def _open_beside_closed(message: Message) -> Iterator[Hit]:
    if {operand.division for operand in message.compared} != {OPEN.name, CLOSED.name}:
        return
    if message.noted("open_difference"):
        return
    unwritten = [
        o.name
        for o in message.compared
        if o.division == OPEN.name and o.notes is not None and flat(o.notes) in _EMPTY_NOTES
    ]
    also = f"; nor does the system description of {enumerated(unwritten)}" if unwritten else ""
    yield Hit("R12", f"the text does not say why the Open result would not qualify as Closed{also}")


def beside_unverified(message: Message) -> Iterator[Hit]:
    """R13: the sentence for a verified beside an unverified result."""
    if len({operand.reviewed for operand in message.compared}) < 2:
        return
    if not mentions(flat(message.reach or ""), ["have not been through an mlperf review"]):
        yield Hit(
            "R13",
            "the footnote does not say that unverified results have not been through an MLPerf review",
            expected=UNVERIFIED_BESIDE_VERIFIED,
        )


#: The sentence that the text of 2025 wants beside verified results, section 5.
UNVERIFIED_BESIDE_VERIFIED = (
    "Unverified results have not been through an MLPerf® review and may use measurement methodologies and/or workload "
    "implementations that are inconsistent with the MLPerf® specification for verified results."
)
