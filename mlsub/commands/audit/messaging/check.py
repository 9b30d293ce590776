"""All rules on sentences and on the documents they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.commands.audit.messaging.comparing import beside_unverified, comparing_hits
from mlsub.commands.audit.messaging.footnote import cites_results, find_footnote
from mlsub.commands.audit.messaging.marks import alteration_hits, sign_hits
from mlsub.commands.audit.messaging.metrics import foreign_titles, metric_hits
from mlsub.commands.audit.messaging.model import Case, Document, Hit, Message, Operand, Remark, Untold
from mlsub.commands.audit.messaging.naming import naming_hits
from mlsub.commands.audit.messaging.notes import footnote_hits, no_footnote, noted_hits, trademark_hits
from mlsub.commands.audit.messaging.standing import standing_hits
from mlsub.commands.audit.messaging.texts import AUTO, Rule, Text, by_hand, guidelines, text_for
from mlsub.rules.catalogue import finding


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules found: remarks in the order of claims, then of documents.

    ``untold`` is what they could not look at, ``by_hand`` what only a person can; ``texts`` maps each document to the
    text that bound it.
    """

    remarks: tuple[Remark, ...]
    untold: tuple[Untold, ...]
    by_hand: tuple[Rule, ...]
    texts: dict[str, Text]


def check(
    messages: Sequence[Message], documents: Iterable[Document] = (), *, wanted: str = AUTO, file: str = ""
) -> Judged:
    """Hold sentences and documents against the rules in force.

    Args:
        messages: the sentences, each with its document.
        documents: further documents, in which no sentence stands.
        wanted: the text to apply, by name, or ``auto`` for the one in force on the document's day.
        file: the claims file, which findings on sentences name.
    """
    found = {message.document.name: message.document for message in messages}
    found |= {document.name: document for document in documents if document.name not in found}
    texts = {name: text_for(document.date, wanted) for name, document in found.items()}
    remarks: dict[Remark, None] = {}
    untold: dict[Untold, None] = {}
    for message in messages:
        text = text_for(message.document.date, wanted)
        for hit in _of_message(message, messages, text):
            if isinstance(hit, Untold):
                untold[hit] = None
            elif (remark := _remark(hit, text, message.document.name, file, message)) is not None:
                remarks[remark] = None
    for name, document in found.items():
        own = [message for message in messages if message.document.name == name]
        for hit in _of_document(document, own, texts[name]):
            if isinstance(hit, Untold):
                untold[hit] = None
            elif (remark := _remark(hit, texts[name], name, name, None)) is not None:
                remarks[remark] = None
    hands = {rule.number: rule for text in texts.values() for rule in by_hand(text)} if remarks or messages else {}
    return Judged(remarks=tuple(remarks), untold=tuple(untold), by_hand=tuple(hands.values()), texts=texts)


def footnote_for(message: Message) -> str | None:
    """The footnote in a sentence's reach: its own and the document's, else those found in the document's text."""
    noted = "\n".join(note for note in (message.footnote, message.document.footnote) if note)
    return noted or (find_footnote(message.document.text) if message.document.text else None)


def _of_message(message: Message, messages: Sequence[Message], text: Text) -> Iterator[Hit | Untold]:
    neighbours = tuple(m for m in messages if m.document.name == message.document.name and m.id != message.id)
    case = Case(message=message, footnote=footnote_for(message), neighbours=neighbours)
    if message.compared:
        yield from naming_hits(case, text)
    for part in message.parts:
        yield from _of_part(msgspec.structs.replace(case, message=part), text)
    yield from standing_hits(case, text)
    if message.footnote and message.compared:
        yield from _of_footnote(case.footnote or "", message.compared, message.document, text)
    elif message.compared:
        yield from noted_hits(message)


def _of_part(case: Case, text: Text) -> Iterator[Hit | Untold]:
    if case.message.compared:
        yield from comparing_hits(case)
        yield from beside_unverified(case)
    yield from metric_hits(case, text)


def _of_document(document: Document, messages: Sequence[Message], text: Text) -> Iterator[Hit | Untold]:
    """The document's own footnote once for all sentences that have none of their own, and its words."""
    served = [message for message in messages if message.compared and not message.footnote]
    quoted = any(message.compared for message in messages) or bool(document.text and cites_results(document.text))
    footnote = document.footnote or (find_footnote(document.text) if document.text else None)
    if footnote and (served or not messages) and quoted:
        yield from _of_footnote(footnote, _operands(served), document, text)
    elif served and document.text is not None:
        yield from no_footnote(text)
    elif served:
        yield Untold("R03 to R06", f"in {document.name}: neither its text nor a footnote is given")
    if document.text is None and quoted:
        yield Untold("R19, R20", f"in {document.name}: its text is not given")
    if document.text is not None:
        # The older text shows the sign in its examples, which are all of results.
        if quoted or text.name != "2021-06":
            yield from sign_hits(document.text, text)
        yield from alteration_hits(document.text)
        yield from foreign_titles(document.text)


def _of_footnote(footnote: str, operands: Sequence[Operand], document: Document, text: Text) -> Iterator[Hit]:
    yield from footnote_hits(footnote, operands, document.publisher)
    yield from trademark_hits(footnote, document.text, text)


def _operands(messages: Iterable[Message]) -> tuple[Operand, ...]:
    return tuple({operand.name: operand for message in messages for operand in message.compared}.values())


def _remark(hit: Hit, text: Text, document: str, path: str, message: Message | None) -> Remark | None:
    """The hit as a finding, None where the text has no such rule."""
    rule = guidelines().rules[hit.rule]
    if text.name not in rule.sections:
        return None
    made = finding(
        rule.id,
        path,
        hit.message,
        line=message.line if message else hit.line,
        expected=hit.expected,
        actual=hit.actual,
        source=f"{text.title}, {rule.sections[text.name]} ({text.source})",
    )
    level = hit.level or rule.levels.get(text.name)
    if level is not None:
        made = msgspec.structs.replace(made, severity=level)
    return Remark(message.id if message else None, document, made)
