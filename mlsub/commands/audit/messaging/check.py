"""All rules on sentences and on the documents they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.commands.audit.messaging.comparing import beside_unverified, comparing_hits
from mlsub.commands.audit.messaging.footnote import (
    cites_results,
    find_footnote,
    footnote_hits,
    no_footnote,
    noted_hits,
    trademark_hits,
)
from mlsub.commands.audit.messaging.marks import alteration_hits, sign_hits
from mlsub.commands.audit.messaging.model import Case, Document, Hit, Message, Operand
from mlsub.commands.audit.messaging.naming import naming_hits
from mlsub.commands.audit.messaging.standing import foreign_titles, metric_hits, standing_hits
from mlsub.commands.audit.messaging.tables import AUTO, by_hand, guidelines, text_for
from mlsub.commands.audit.quoting import Quoting, Remark, Text, Unchecked
from mlsub.rules.catalogue import finding


def check(
    messages: Sequence[Message], documents: Iterable[Document] = (), *, wanted: str = AUTO, file: str = ""
) -> Quoting:
    """Check sentences and documents against the rules in force.

    Args:
        messages: the sentences, each with its document.
        documents: further documents, in which no sentence stands.
        wanted: the text to apply, by name, or ``auto`` for the one in force on the document's day.
        file: the claims file, which findings on sentences name.
    """
    known = {message.document.name: message.document for message in messages}
    known |= {document.name: document for document in documents if document.name not in known}
    rules = {name: text_for(document.date, wanted) for name, document in known.items()}
    found: dict[Remark, None] = {}
    unseen: dict[Unchecked, None] = {}

    def note(hits: Iterable[Hit | Unchecked], text: Text, name: str, path: str, message: Message | None) -> None:
        for hit in hits:
            if isinstance(hit, Unchecked):
                unseen[hit] = None
            elif (remark := _remark(hit, text, name, path, message)) is not None:
                found[remark] = None

    for message in messages:
        text = text_for(message.document.date, wanted)
        note(_of_message(message, messages, text), text, message.document.name, file, message)
    for name, document in known.items():
        own = [message for message in messages if message.document.name == name]
        note(_of_document(document, own, rules[name]), rules[name], name, name, None)
    hands = {rule.number: rule for text in rules.values() for rule in by_hand(text)} if found or messages else {}
    return Quoting(findings=tuple(found), rules=rules, not_looked_at=tuple(unseen), by_hand=tuple(hands.values()))


def _of_message(message: Message, messages: Sequence[Message], text: Text) -> Iterator[Hit | Unchecked]:
    noted = "\n".join(note for note in (message.footnote, message.document.footnote) if note)
    # The footnote in its reach: its own and the document's, else those found in the document's text.
    footnote = noted or (find_footnote(message.document.text) if message.document.text else None)
    neighbours = tuple(m for m in messages if m.document.name == message.document.name and m.id != message.id)
    case = Case(message=message, text=text, footnote=footnote, neighbours=neighbours)
    if message.compared:
        yield from naming_hits(case)
    for part in message.parts:
        of_part = msgspec.structs.replace(case, message=part)
        if part.compared:
            yield from comparing_hits(of_part)
            yield from beside_unverified(of_part)
        yield from metric_hits(of_part)
    yield from standing_hits(case)
    if message.footnote and message.compared:
        yield from _of_footnote(footnote or "", message.compared, message.document, text)
    elif message.compared:
        yield from noted_hits(message)


def _of_document(document: Document, messages: Sequence[Message], text: Text) -> Iterator[Hit | Unchecked]:
    """The document's own footnote once for all sentences that have none of their own, and its words."""
    served = [message for message in messages if message.compared and not message.footnote]
    quoted = any(message.compared for message in messages) or bool(document.text and cites_results(document.text))
    footnote = document.footnote or (find_footnote(document.text) if document.text else None)
    if footnote and (served or not messages) and quoted:
        operands = {operand.name: operand for message in served for operand in message.compared}
        yield from _of_footnote(footnote, tuple(operands.values()), document, text)
    elif served and document.text is not None:
        yield no_footnote(text)
    elif served:
        yield Unchecked("R03 to R06", f"in {document.name}: neither its text nor a footnote is given")
    if document.text is None and quoted:
        yield Unchecked("R19, R20", f"in {document.name}: its text is not given")
    if document.text is not None:
        # The older text shows the sign in its examples, which are all of results.
        if quoted or "sign" in text.wants:
            yield from sign_hits(document.text, text)
        yield from alteration_hits(document.text)
        yield from foreign_titles(document.text)


def _of_footnote(footnote: str, operands: Sequence[Operand], document: Document, text: Text) -> Iterator[Hit]:
    yield from footnote_hits(footnote, operands, document.publisher)
    yield from trademark_hits(footnote, document.text, text)


def _remark(hit: Hit, text: Text, document: str, path: str, message: Message | None) -> Remark | None:
    """The hit as a finding, None where the text has no such rule."""
    rule = guidelines().rules[hit.rule]
    if text.name not in rule.sections:
        return None
    made = finding(
        rule.rule,
        path,
        hit.message,
        line=message.line if message else hit.line,
        expected=hit.expected,
        actual=hit.actual,
        source=f"{text.title}, {rule.sections[text.name]} ({text.source})",
    )
    severity = hit.level or rule.levels.get(text.name) or made.severity
    fields = {**msgspec.structs.asdict(made), "severity": severity}
    return Remark(claim=message.id if message else None, document=document, **fields)
