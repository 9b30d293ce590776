"""R10, R14, R16, R17: numbers that are no MLPerf scores, and what is made of scores."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.audit.messaging.comparing import is_composite
from mlsub.commands.audit.messaging.model import Case, Hit, Message, Untold
from mlsub.commands.audit.messaging.says import texts
from mlsub.commands.audit.messaging.texts import Text
from mlsub.commands.audit.messaging.words import enumerated, flat, mentions, quote
from mlsub.findings import Severity

_NOT_VERIFIED = re.compile(r"\bunverified\b|\bnot verified by (the )?mlcommons\b")
_OFFICIAL = re.compile(r"(?<!not )(?<!un)\b(official|verified)\b")
_WORD = re.compile(r"[a-z]{4,}")


def metric_hits(case: Case, text: Text) -> Iterator[Hit | Untold]:
    """What a sentence mixes with scores, and how it calls what comes of it."""
    message = case.message
    yield from _foreign(message)
    yield from _power(message)
    if is_composite(message):
        yield from _composite(case, text)
    elif message.derived and message.compared:
        yield from _derived(case, text)


def _foreign(message: Message) -> Iterator[Hit]:
    foreign = [figure for figure in message.figures if figure.kind in ("throughput", "time") and not figure.mlperf]
    if foreign and message.compared:
        named = enumerated(f"{figure.name} ({figure.kind})" for figure in foreign)
        yield Hit(rule="R10", message=f"MLPerf results are set against what is none: {named}")


def _power(message: Message) -> Iterator[Hit | Untold]:
    power = [figure.name for figure in message.figures if figure.kind == "power"]
    if not power or not message.compared:
        return
    without = [operand.name for operand in message.compared if operand.power is False]
    if without:
        yield Hit(
            rule="R14",
            message=f"{enumerated(power)} is power from elsewhere; none was measured for {enumerated(without)}",
        )
    else:
        yield Untold("R14", f"whether {enumerated(power)} is the power that was measured with the result")


def _composite(case: Case, text: Text) -> Iterator[Hit]:
    message, missing = case.message, []
    if not texts(message.says.get("composite_method")):
        missing.append("it is not described how the benchmarks are combined")
    if _OFFICIAL.search(flat(message.text)):
        missing.append("it is called official or verified")
    if text.name != "2021-06" and not _NOT_VERIFIED.search(f"{flat(message.text)} {flat(case.footnote or '')}"):
        missing.append("it is not called unverified")
    if missing:
        yield Hit(rule="R16", message=f"a composite of several benchmarks: {enumerated(missing)}")


def _derived(case: Case, text: Text) -> Iterator[Hit]:
    message, missing = case.message, []
    basis = " ".join(texts(message.says.get("derived_metric_basis")))
    said = flat(case.footnote or "")
    if not basis:
        missing.append("the text does not say what it rests on")
    if case.footnote is not None and not _carries(said, basis):
        missing.append("the footnote does not say what it rests on")
    if found := _OFFICIAL.search(flat(message.text)):
        missing.append(f"it is called {found[0]}")
    if text.name != "2021-06" and not _NOT_VERIFIED.search(f"{flat(message.text)} {said}"):
        missing.append("it is not called unverified")
    if missing:
        yield Hit(rule="R17", message=f"a derived metric: {enumerated(missing)}", expected=basis or None)


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
                rule="R10",
                message=f"what is not MLPerf's bears its name: {quote(line)}",
                line=number,
                level=Severity.INFO,
            )
