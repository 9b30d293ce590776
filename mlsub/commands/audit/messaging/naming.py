"""R01 and R02: whose result it is, of what, on what; and what may stand for the benchmark's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.canon.spelling import flat
from mlsub.commands.audit.messaging.model import Case, Hit, Message, Operand, noted_as
from mlsub.commands.audit.messaging.words import (
    benchmark_words,
    document_mentions,
    enumerated,
    mentions,
    names,
    quote,
    squashed,
    squashed_document,
)
from mlsub.commands.audit.quoting import Unchecked
from mlsub.divisions import OPEN


def naming_hits(case: Case) -> Iterator[Hit | Unchecked]:
    """What neither the sentence nor the text around it names; the version where the text demands it.

    Where the document's text is not at hand, only what the claims file notes as not said is missing.
    """
    message = case.message
    missing: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for operand in message.compared:
        for what, value, words in _wanted(case, operand):
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


def _wanted(case: Case, operand: Operand) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(what, its name, how it is called) of what a text has to name; who speaks of its own results names itself so."""
    if operand.submitter and squashed(operand.submitter) != squashed(case.message.document.publisher or ""):
        yield "submitter", operand.submitter, (operand.submitter,)
    if operand.benchmark:
        yield "benchmark", operand.benchmark, benchmark_words(operand.benchmark)
    if "version" in case.text.wants:
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


def _system_named(message: Message, operand: Operand) -> bool | None:
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
