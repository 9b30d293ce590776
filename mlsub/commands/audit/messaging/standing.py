"""R07, R15, R18: whether a result was reviewed, whether its round was out, whether the sentence is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from mlsub.commands.audit.messaging.model import Case, Hit, Message, Untold
from mlsub.commands.audit.messaging.rounds import published
from mlsub.commands.audit.messaging.texts import Text
from mlsub.commands.audit.messaging.words import enumerated, flat, mentions

#: The words that both texts want in the footnote of an unreviewed result.
NOT_VERIFIED = "Result not verified by MLCommons Association."
_NOT_VERIFIED = re.compile(r"\bresults? (is |are )?not verified by (the )?mlcommons\b")
#: So long others than submitters wait.
_WAIT = timedelta(days=14)


def standing_hits(case: Case, text: Text) -> Iterator[Hit | Untold]:
    """Review, date and truth of one sentence."""
    message = case.message
    if message.compared:
        yield from _unreviewed(case)
        yield from _too_early(message, text)
    if message.untrue is not None:
        yield Hit(rule="R18", message=f"the numbers do not bear it out: {message.untrue}")


def _unreviewed(case: Case) -> Iterator[Hit]:
    operands = [operand.name for operand in case.message.compared if not operand.verified]
    if not operands:
        return
    missing = []
    if not mentions(flat(case.message.text), ["unverified"]):
        missing.append("the sentence does not call it unverified")
    if not _NOT_VERIFIED.search(flat(case.footnote or "")):
        missing.append("the footnote does not say so")
    if missing:
        yield Hit(
            rule="R07",
            message=f"an unreviewed result ({enumerated(operands)}): {enumerated(missing)}",
            expected=NOT_VERIFIED,
        )


def _too_early(message: Message, text: Text) -> Iterator[Hit | Untold]:
    """Submitters wait for the day; others two weeks longer, under the text of 2021 with results of their own alone."""
    day = message.document.date
    if day is None:
        yield Untold("R15", f"whether {message.document.name} came before its rounds: it has no date")
        return
    own = not all(operand.verified for operand in message.compared)
    waits = not _submitted(message) and (own or text.name != "2021-06")
    for usage, name in dict.fromkeys((operand.usage, operand.round) for operand in message.compared):
        out = published(usage, name)
        if out is None:
            yield Untold("R15", f"when {usage} v{name} was published")
            continue
        first = out.date + _WAIT if waits else out.date
        if day < first:
            may = f"who did not submit may quote it from {first} on" if waits else f"it may be quoted from {first} on"
            yield Hit(
                rule="R15",
                message=f"v{name} was published on {out.date} ({out.source}), and {may}",
                expected=f"not before {first}",
                actual=str(day),
            )


def _submitted(message: Message) -> bool:
    """Whether the publisher is among the submitters."""
    publisher = flat(message.document.publisher or "")
    known = {*message.submitters, *(operand.submitter for operand in message.operands if operand.submitter)}
    return any(mentions(publisher, [name]) for name in known)
