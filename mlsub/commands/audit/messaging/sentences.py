"""The rules on one sentence alone: what it has to name (R01, R02), and what stands behind its number (from R07 on)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.messaging.comparing import is_composite
from mlsub.commands.audit.quoting import (
    Hit,
    Message,
    Text,
    Unchecked,
    benchmark_words,
    document_mentions,
    enumerated,
    mentions,
    names,
    noted_as,
    quote,
    squashed,
    squashed_document,
)
from mlsub.divisions import OPEN
from mlsub.findings import Severity
from mlsub.io.show import flat
from mlsub.rounds.benchmarks import published


def naming_hits(message: Message, rules: Text) -> Iterator[Hit | Unchecked]:
    """What neither the sentence nor the text around it names; the version where the text demands it.

    Where the document's text is not at hand, only what the claims file notes as not said is missing.
    """
    missing: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for operand in message.compared:
        for what, value, words in _wanted(message, rules, operand):
            named = _system_named(message, operand) if what == "system" else _named(message, what, words)
            if named is False:
                missing[f"the {what} {value}"] = None
            elif named is None:
                unknown[what] = None
    if missing:
        yield Hit("R01", f"the text does not name {enumerated(missing, 'or')}")
    for what in unknown:
        yield Unchecked("R01", f"whether the {what} is named: note it under says: {noted_as(what)}", message.id)
    yield from _model_names(message)


def _wanted(message: Message, rules: Text, operand: ResultFacts) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(what, its name, how it is called) of what a text has to name; who speaks of its own results names itself so."""
    if operand.submitter and squashed(operand.submitter) != squashed(message.document.publisher or ""):
        yield "submitter", operand.submitter, (operand.submitter,)
    if operand.benchmark:
        yield "benchmark", operand.benchmark, benchmark_words(operand.benchmark)
    if "version" in rules.wants:
        yield "version", f"v{operand.round}", (operand.round, f"v{operand.round}")
    yield "system", operand.system_name or operand.system or operand.name, ()


def _named(message: Message, what: str, words: tuple[str, ...]) -> bool | None:
    said = message.noted(what)
    if said == ():
        return False
    if mentions(flat(" ".join((message.text, *(said or ())))), words):
        return True
    if document_mentions(message.document.text, words):
        return True
    return None if message.document.text is None else False


def _system_named(message: Message, operand: ResultFacts) -> bool | None:
    """None where only a person can tell: folders and descriptions call systems otherwise than texts do."""
    said = message.noted("system")
    if said is not None:
        return bool(said)
    around = (squashed(message.text), squashed_document(message.document.text))
    known = [squashed(name) for name in (operand.system_name, (operand.system or "").split("_")[0]) if name]
    return True if any(name and name in text for name in known for text in around) else None


def _as_written(name: str, text: str) -> str:
    """A name in the letters of a text, where it stands there so."""
    found = re.search(re.escape(name), text, re.I)
    return found[0] if found else name


def _model_names(message: Message) -> Iterator[Hit]:
    said = flat(" ".join((message.text, *(message.noted("benchmark") or ()))))
    for operand in message.compared:
        known = names().get(operand.benchmark or "")
        if operand.division != OPEN.name or known is None or mentions(said, known.task):
            continue
        used = next((name for name in known.model if mentions(said, [name])), None)
        if used is not None:
            written = quote(_as_written(used, message.text))
            yield Hit(
                "R02",
                f"the model's name {written} stands for the benchmark's, and the result is Open",
                expected=known.task[0],
                actual=used,
            )
            return


#: The words that both texts want in the footnote of an unreviewed result.
NOT_VERIFIED = "Result not verified by MLCommons Association."
_NOT_VERIFIED = re.compile(r"\bresults? (is |are )?not verified by (the )?mlcommons\b")
#: So long others than submitters wait.
_WAIT = timedelta(days=14)
_UNVERIFIED = re.compile(r"\bunverified\b|\bnot verified by (the )?mlcommons\b")
_OFFICIAL = re.compile(r"(?<!not )(?<!un)\b(official|verified)\b")
_WORD = re.compile(r"[a-z]{4,}")


def standing_hits(message: Message, rules: Text) -> Iterator[Hit | Unchecked]:
    """Review, date and truth of one sentence."""
    if message.compared:
        yield from _unreviewed(message, rules)
        yield from _too_early(message, rules)
    if message.untrue is not None:
        yield Hit("R18", f"the numbers do not bear it out: {message.untrue}")


def _unreviewed(message: Message, rules: Text) -> Iterator[Hit]:
    operands = [operand.name for operand in message.compared if not operand.reviewed]
    if not operands:
        return
    missing = []
    if not mentions(flat(message.text), ["unverified"]):
        missing.append("the sentence does not call it unverified")
    if not _NOT_VERIFIED.search(flat(message.reach or "")):
        missing.append("the footnote does not say so")
    if missing:
        yield Hit(
            "R07",
            f"an unreviewed result ({enumerated(operands)}): {enumerated(missing)}",
            expected=NOT_VERIFIED,
        )


def _too_early(message: Message, rules: Text) -> Iterator[Hit | Unchecked]:
    """Submitters wait for the day; others two weeks longer, under the text of 2021 with results of their own alone."""
    day = message.document.date
    if day is None:
        yield Unchecked("R15", f"whether {message.document.name} came before its rounds: it has no date")
        return
    own = not all(operand.reviewed for operand in message.compared)
    waits = not _submitted(message) and (own or "delay" in rules.wants)
    for usage, name in dict.fromkeys((operand.usage, operand.round) for operand in message.compared):
        out = published(usage, name)
        if out is None or out.date is None:
            when = f"on which day of {out.shown}" if out else "when"
            yield Unchecked("R15", f"{when} {usage} v{name} was published")
            continue
        first = out.date + _WAIT if waits else out.date
        if day < first:
            may = f"who did not submit may quote it from {first} on" if waits else f"it may be quoted from {first} on"
            yield Hit(
                "R15",
                f"v{name} was published on {out.date} ({out.source}), and {may}",
                expected=f"not before {first}",
                actual=str(day),
            )


def _submitted(message: Message) -> bool:
    """Whether the publisher is among the submitters."""
    publisher = flat(message.document.publisher or "")
    known = {*message.submitters, *(operand.submitter for operand in message.operands if operand.submitter)}
    return any(mentions(publisher, [name]) for name in known)


def metric_hits(message: Message, rules: Text) -> Iterator[Hit | Unchecked]:
    """What a sentence mixes with scores, and how it calls what comes of it."""
    yield from _foreign(message)
    yield from _power(message)
    if is_composite(message):
        yield from _composite(message, rules)
    elif message.derived and message.compared:
        yield from _derived(message, rules)


def _foreign(message: Message) -> Iterator[Hit]:
    foreign = [
        figure
        for figure in message.figures
        if figure.kind in ("throughput", "time") and "mlperf" not in figure.source.lower()
    ]
    if foreign and message.compared:
        named = enumerated(f"{figure.name} ({figure.kind})" for figure in foreign)
        yield Hit("R10", f"MLPerf results are compared with figures from elsewhere: {named}")


def _power(message: Message) -> Iterator[Hit | Unchecked]:
    power = [figure.name for figure in message.figures if figure.kind == "power"]
    if not power or not message.compared:
        return
    without = [operand.name for operand in message.compared if operand.power is False]
    if without:
        yield Hit("R14", f"{enumerated(power)} is power from elsewhere; none was measured for {enumerated(without)}")
    else:
        yield Unchecked("R14", f"whether {enumerated(power)} is the power that was measured with the result")


def _composite(message: Message, rules: Text) -> Iterator[Hit]:
    missing = []
    if not message.noted("composite_method"):
        missing.append("it is not described how the benchmarks are combined")
    if _OFFICIAL.search(flat(message.text)):
        missing.append("it is called official or verified")
    if "unverified" in rules.wants and not _UNVERIFIED.search(f"{flat(message.text)} {flat(message.reach or '')}"):
        missing.append("it is not called unverified")
    if missing:
        yield Hit("R16", f"a composite of several benchmarks: {enumerated(missing)}")


def _derived(message: Message, rules: Text) -> Iterator[Hit]:
    missing = []
    basis = " ".join(message.noted("derived_metric_basis") or ())
    said = flat(message.reach or "")
    if not basis:
        missing.append("the text does not say what it rests on")
    if message.reach is not None and not _carries(said, basis):
        missing.append("the footnote does not say what it rests on")
    if found := _OFFICIAL.search(flat(message.text)):
        missing.append(f"it is called {found[0]}")
    if "unverified" in rules.wants and not _UNVERIFIED.search(f"{flat(message.text)} {said}"):
        missing.append("it is not called unverified")
    if missing:
        yield Hit("R17", f"a derived metric: {enumerated(missing)}", expected=basis or None)


def _carries(footnote: str, basis: str) -> bool:
    """Whether a footnote says the basis: half of its longer words, or without a known basis that there is one."""
    wanted = set(_WORD.findall(flat(basis)))
    if not wanted:
        return mentions(footnote, ["derived", "is not the primary metric"])
    return 2 * sum(mentions(footnote, [word]) for word in wanted) >= len(wanted)


def foreign_titles(document: str) -> Iterator[Hit]:
    """A line that calls something MLPerf and not MLPerf at once, as do charts in the manner of MLPerf's."""
    for number, line in enumerate(document.splitlines(), 1):
        rest = re.sub(r"non[- ]mlperf", "", line, flags=re.I)
        if len(rest) < len(line) and "mlperf" in rest.lower():
            yield Hit(
                "R10",
                f"something that is not MLPerf is called MLPerf: {quote(line)}",
                line=number,
                level=Severity.INFO,
            )
