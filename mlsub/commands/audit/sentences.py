"""The rules on one sentence: what it names (R01, R02), what it compares and combines, and what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import combinations

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.quoting import (
    NOT_VERIFIED,
    UNVERIFIED_BESIDE_VERIFIED,
    Hit,
    Message,
    Text,
    Unchecked,
    benchmark_words,
    document_mentions,
    enumerated,
    lacking,
    mentions,
    names,
    noted_as,
    quote,
    squashed,
    squashed_document,
)
from mlsub.divisions import CLOSED, OPEN
from mlsub.findings import Severity
from mlsub.io.show import flat
from mlsub.rounds.benchmarks import Compatible, compatible, group_of, published, same_benchmark

#: What a sentence calls the differences that have another name here.
_WORDS = {"verified": "review", "chips": "chip count"}
#: What notes of an Open result say when nobody has written them yet.
_EMPTY_NOTES = ("", "tbd", "todo", "n/a", "none")
#: Fields of a description that tell what a gain may rest on besides; no value of theirs is quoted longer.
_FIELDS = ("accelerator_model_name", "host_processor_model_name", "framework")
_LONGEST = 80
#: So long others than submitters wait.
_WAIT = timedelta(days=14)
_SET_AGAINST = re.compile(r"\b(?:since|over|than|against|from)\b")
_NOT_VERIFIED = re.compile(r"\bresults? (is |are )?not verified by (the )?mlcommons\b")
_UNVERIFIED = re.compile(r"\bunverified\b|\bnot verified by (the )?mlcommons\b")
_OFFICIAL = re.compile(r"(?<!not )(?<!un)\b(official|verified)\b")
_WORD = re.compile(r"[a-z]{4,}")


def sentence_hits(message: Message, neighbours: Sequence[Message], text: Text) -> Iterator[Hit | Unchecked]:
    """Yield what the rules find in one sentence under a text; ``neighbours`` are the others of its document."""
    if message.compared:
        yield from _names(message, text)
        yield from _model_names(message)
    for part in (one for one in message.parts if one.compared):
        if not part.is_composite:
            yield from _comparison(part)
            yield from _unlabelled(part, neighbours)
        if len({operand.reviewed for operand in part.compared}) > 1:
            has = mentions(flat(part.reach or ""), ["have not been through an mlperf review"])
            says = "the footnote does not say that unverified results have not been through an MLPerf review"
            yield from lacking("R13", says, [(has, "")], expected=UNVERIFIED_BESIDE_VERIFIED)
        yield from _figures(part)
        yield from _made(part, text)
    if message.compared:
        yield from _unreviewed(message)
        yield from _too_early(message, text)
    if message.untrue is not None:
        yield Hit("R18", f"the numbers do not bear it out: {message.untrue}")


def _names(message: Message, text: Text) -> Iterator[Hit | Unchecked]:
    """R01: what neither the sentence nor the text around it names; the version where the text demands it.

    Where the document's text is not at hand, only what the claims file notes as not said is missing.
    """
    named = [(what, value, _named(message, what, words)) for what, value, words in _wanted(message, text)]
    yield from lacking(
        "R01",
        "the text does not name {}",
        [(found is not False, f"the {what} {value}") for what, value, found in named],
        last="or",
    )
    for what in dict.fromkeys(what for what, _, found in named if found is None):
        yield Unchecked("R01", f"whether the {what} is named: note it under says: {noted_as(what)}", message.id)


def _wanted(message: Message, text: Text) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(what, its name, how it is called) of what a text has to name; who speaks of its own results names itself so."""
    for operand in message.compared:
        if operand.submitter and squashed(operand.submitter) != squashed(message.document.publisher or ""):
            yield "submitter", operand.submitter, (operand.submitter,)
        if operand.benchmark:
            yield "benchmark", operand.benchmark, benchmark_words(operand.benchmark)
        if "version" in text.wants:
            yield "version", f"v{operand.round}", (operand.round, f"v{operand.round}")
        known = tuple(name for name in (operand.system_name, (operand.system or "").split("_")[0]) if name)
        yield "system", operand.system_name or operand.system or operand.name, known


def _named(message: Message, what: str, words: tuple[str, ...]) -> bool | None:
    """Whether a thing is named; None where only a person can tell: texts call systems otherwise than folders do."""
    said = message.noted(what)
    if what == "system":
        around = (squashed(message.text), squashed_document(message.document.text or ""))
        found = any(name and name in text for name in map(squashed, words) for text in around)
        return bool(said) if said is not None else found or None
    if said == ():
        return False
    sentence = flat(" ".join((message.text, *(said or ()))))
    if mentions(sentence, words) or document_mentions(message.document.text, words):
        return True
    return None if message.document.text is None else False


def _model_names(message: Message) -> Iterator[Hit]:
    """R02: the model's name in the place of the benchmark's, of an Open result."""
    said = flat(" ".join((message.text, *(message.noted("benchmark") or ()))))
    for operand in message.compared:
        known = names().get(operand.benchmark or "")
        if operand.division != OPEN.name or known is None or mentions(said, known.task):
            continue
        used = next((name for name in known.model if mentions(said, [name])), None)
        if used is not None:
            written = re.search(re.escape(used), message.text, re.I)
            shown = quote(written[0] if written else used)
            says = f"the model's name {shown} stands for the benchmark's, and the result is Open"
            yield Hit("R02", says, expected=known.task[0], actual=used)
            return


def _comparison(message: Message) -> Iterator[Hit | Unchecked]:
    """R09, R11 and R12: whether what is compared may be, and whether the sentence says in what it differs."""
    operands = message.compared
    known = [operand for operand in operands if operand.benchmark is not None]
    pairs: dict[frozenset[tuple[str, ...]], tuple[ResultFacts, ResultFacts]] = {}
    for one, other in combinations(known, 2):
        both = frozenset((o.usage, o.benchmark or "", o.round) for o in (one, other))
        pairs.setdefault(both, (one, other))
    for one, other in pairs.values():
        yield from _compatibility(one, other)
    facts: dict[str, list[str | None]] = {
        "version": [f"v{o.round}" for o in operands],
        "division": [o.division for o in operands],
        "category": [o.category for o in operands],
        "verified": ["verified" if o.reviewed else "unverified" for o in operands],
        "chips": [None if o.chips is None else str(o.chips) for o in operands],
    }
    differing = {what: [*dict.fromkeys(value for value in found if value is not None)] for what, found in facts.items()}
    yield from lacking(
        "R11",
        "the comparison does not say that the results differ in {}",
        [
            (
                message.states(what, values) or (what == "version" and _since(message, values)),
                f"{_WORDS.get(what, what)} ({enumerated(values)})",
            )
            for what, values in differing.items()
            if len(values) > 1
        ],
    )
    yield from _other_fields(message)
    if {operand.division for operand in operands} == {OPEN.name, CLOSED.name} and not message.noted("open_difference"):
        is_open = [one for one in operands if one.division == OPEN.name]
        unwritten = [one.name for one in is_open if one.notes is not None and flat(one.notes) in _EMPTY_NOTES]
        also = f"; nor does the system description of {enumerated(unwritten)}" if unwritten else ""
        yield Hit("R12", f"the text does not say why the Open result would not qualify as Closed{also}")


def _compatibility(one: ResultFacts, other: ResultFacts) -> Iterator[Hit | Unchecked]:
    """R09 on two results of known benchmarks."""
    folder, both = one.benchmark or "", f"of v{one.round} and of v{other.round}"
    if one.usage != other.usage or not same_benchmark(one.usage, folder, other.benchmark or ""):
        actual = f"{folder} ({one.usage}) and {other.benchmark} ({other.usage})"
        yield Hit("R09", "results of two benchmarks are compared", actual=actual)
        return
    answer = compatible(one.usage, folder, one.round, other.round)
    if answer is Compatible.NO:
        group = [f"v{name}" for name in group_of(one.usage, folder, one.round) if name != one.round]
        expected = f"beside v{one.round}: {', '.join(group) or 'no other round'}"
        yield Hit("R09", f"{folder} {both} are not compatible", expected=expected)
    elif answer is Compatible.UNKNOWN:
        yield Unchecked("R09", f"whether {folder} {both} are compatible: not in the table")


def _since(message: Message, versions: list[str]) -> bool:
    """Return whether a sentence sets its own version against another: ``since v1.0``."""
    said = flat(message.text)
    before = (part for name in versions for part in re.split(rf"\b{re.escape(name)}\b", said)[:-1])
    # Up to the version, no sign stands behind the word.
    return any(_SET_AGAINST.search(re.split(r"[^\w\s]", part)[-1]) for part in before)


def _other_fields(message: Message) -> Iterator[Hit]:
    """R11: what else is not the same in systems of one submitter: a gain put down to one thing may rest on another.

    The guidelines do not list these, so it is information; between submitters everything differs.
    """
    hidden = []
    for name in _FIELDS if len({operand.submitter for operand in message.compared}) == 1 else ():
        values = {(getattr(operand, name) or "")[:_LONGEST]: None for operand in message.compared}
        if len(values) > 1 and all(values) and not message.states(name, values):
            hidden.append(f"{name} ({enumerated(values)})")
    if hidden:
        yield Hit("R11", f"the systems also differ in {enumerated(hidden)}", level=Severity.NOTE)


def _unlabelled(message: Message, neighbours: Sequence[Message]) -> Iterator[Hit | Unchecked]:
    """R11: results of both divisions side by side in one document are compared by every reader."""
    own = {operand.division for operand in message.compared if operand.division}
    others = {operand.division for other in neighbours for operand in other.compared if operand.division}
    said = message.noted("division")
    if len(own) != 1 or others <= own or said or message.states("division", own):
        return
    if said is None:
        yield Unchecked("R11", f"whether the division is said: note it under says: {noted_as('division')}", message.id)
    else:
        beside = "and the same document has results of the other"
        yield Hit("R11", f"the division is not said ({next(iter(own))}), {beside}")


def _figures(message: Message) -> Iterator[Hit | Unchecked]:
    """R10 and R14: figures from elsewhere beside scores."""
    elsewhere = [one for one in message.figures if one.kind in ("throughput", "time")]
    foreign = [f"{one.name} ({one.kind})" for one in elsewhere if "mlperf" not in one.source.lower()]
    if foreign:
        yield Hit("R10", f"MLPerf results are compared with figures from elsewhere: {enumerated(foreign)}")
    power = [one.name for one in message.figures if one.kind == "power"]
    without = [operand.name for operand in message.compared if operand.power is False]
    if power and without:
        yield Hit("R14", f"{enumerated(power)} is power from elsewhere; none was measured for {enumerated(without)}")
    elif power:
        yield Unchecked("R14", f"whether {enumerated(power)} is the power that was measured with the result")


def _made(message: Message, text: Text) -> Iterator[Hit]:
    """R16 and R17: how a sentence calls what it makes of scores, and whether it says what that rests on."""
    said, reach = flat(message.text), flat(message.reach or "")
    demands: list[tuple[object, str]]
    official = _OFFICIAL.search(said)
    called = "unverified" not in text.wants or _UNVERIFIED.search(f"{said} {reach}"), "it is not called unverified"
    if message.is_composite:
        method = message.noted("composite_method"), "it is not described how the benchmarks are combined"
        demands = [method, (not official, "it is called official or verified"), called]
        yield from lacking("R16", "a composite of several benchmarks: {}", demands)
    elif message.derived:
        basis = " ".join(message.noted("derived_metric_basis") or ())
        carried = message.reach is None or _carries(reach, basis)
        demands = [
            (basis, "the text does not say what it rests on"),
            (carried, "the footnote does not say what it rests on"),
            (not official, f"it is called {official[0] if official else ''}"),
            called,
        ]
        yield from lacking("R17", "a derived metric: {}", demands, expected=basis or None)


def _carries(footnote: str, basis: str) -> bool:
    """Whether a footnote says the basis: half of its longer words, or without a known basis that there is one."""
    wanted = set(_WORD.findall(flat(basis)))
    if not wanted:
        return mentions(footnote, ["derived", "is not the primary metric"])
    return 2 * sum(mentions(footnote, [word]) for word in wanted) >= len(wanted)


def _unreviewed(message: Message) -> Iterator[Hit]:
    """R07: an unreviewed result is called so, in the sentence and in its footnote."""
    operands = [operand.name for operand in message.compared if not operand.reviewed]
    demands = [
        (mentions(flat(message.text), ["unverified"]), "the sentence does not call it unverified"),
        (_NOT_VERIFIED.search(flat(message.reach or "")), "the footnote does not say so"),
    ]
    if operands:
        says = f"an unreviewed result ({enumerated(operands)}): {{}}"
        yield from lacking("R07", says, demands, expected=NOT_VERIFIED)


def _too_early(message: Message, text: Text) -> Iterator[Hit | Unchecked]:
    """R15: submitters wait for the day; others two weeks longer, in 2021 with results of their own alone."""
    day = message.document.date
    if day is None:
        yield Unchecked("R15", f"whether {message.document.name} came before its rounds: it has no date")
        return
    own = not all(operand.reviewed for operand in message.compared)
    publisher = flat(message.document.publisher or "")
    known = {*message.submitters, *(operand.submitter for operand in message.operands if operand.submitter)}
    waits = not any(mentions(publisher, [name]) for name in known) and (own or "delay" in text.wants)
    for usage, name in dict.fromkeys((operand.usage, operand.round) for operand in message.compared):
        out = published(usage, name)
        if out is None or out.date is None:
            when = f"on which day of {out.shown}" if out else "when"
            yield Unchecked("R15", f"{when} {usage} v{name} was published")
            continue
        first = out.date + _WAIT if waits else out.date
        if day < first:
            may = "who did not submit may quote it" if waits else "it may be quoted"
            says = f"v{name} was published on {out.date} ({out.source}), and {may} from {first} on"
            yield Hit("R15", says, expected=f"not before {first}", actual=str(day))
