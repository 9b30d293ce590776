"""The rules on quoting results, applied to the sentences of a claims file and to the documents they stand in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

import msgspec

from mlsub.commands.audit.claims import Source
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.messaging.bridge import document_of, message_of
from mlsub.commands.audit.messaging.comparing import beside_unverified, comparing_hits
from mlsub.commands.audit.messaging.sentences import foreign_titles, metric_hits, naming_hits, standing_hits
from mlsub.commands.audit.messaging.texts import (
    alteration_hits,
    cites_results,
    footnote_hits,
    no_footnote,
    noted_hits,
    sign_hits,
    trademark_hits,
)
from mlsub.commands.audit.messaging.write import footnotes
from mlsub.commands.audit.quoting import (
    AUTO,
    Document,
    Hit,
    Message,
    Quoting,
    Remark,
    Text,
    Unchecked,
    by_hand,
    find_footnote,
    guidelines,
    text_for,
)
from mlsub.commands.audit.verdict import Judged
from mlsub.io.show import plain
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
    neighbours = [m for m in messages if m.document.name == message.document.name and m.id != message.id]
    if message.compared:
        yield from naming_hits(message, text)
    for part in message.parts:
        if part.compared:
            yield from comparing_hits(part, neighbours)
            yield from beside_unverified(part)
        yield from metric_hits(part, text)
    yield from standing_hits(message, text)
    if message.footnote and message.compared:
        yield from _of_footnote(message.reach or "", message.compared, message.document, text)
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


def _of_footnote(footnote: str, operands: Sequence[ResultFacts], document: Document, text: Text) -> Iterator[Hit]:
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


#: A text that people read is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20


def judge_messaging(
    judged: Sequence[Judged], world: World, *, folders: Iterable[str] = (), wanted: str = AUTO
) -> Quoting:
    """Check the claims of a file, and the documents it names, against the rules in force.

    Args:
        judged: the claims and the verdicts on their numbers.
        world: the file and the facts.
        folders: where the documents' texts lie, besides the folder of the file.
        wanted: the text to apply, by name, or ``auto`` for the one in force on each document's day.
    """
    file = world.file
    places = (*(Path(folder) for folder in folders), Path(file.file).parent)
    sources = {document_of(one.claim.source, one.claim.document, {}).name: one.claim.source for one in judged}
    texts: dict[str, str] = {}
    unread = []
    for name, source in {**sources, **file.documents}.items():
        text, reason = text_of(source, places)
        if text is not None:
            texts[name] = text
        elif reason is not None:
            unread.append(Unchecked("text", reason))
    sentences = tuple(message_of(one, world, texts) for one in judged)
    # A source that no claim stands in is checked as well where its text is at hand.
    named = [(None, file.source), *file.documents.items()]
    others = [one for name, source in named if (one := document_of(source, name, texts)).text is not None]
    found = check(sentences, others, wanted=wanted, file=file.file)
    return msgspec.structs.replace(
        found, not_looked_at=(*unread, *found.not_looked_at), footnotes=footnotes(sentences, wanted)
    )


def text_of(source: Source, folders: Sequence[Path]) -> tuple[str | None, str | None]:
    """The text of a document, or None and why there is none; (None, None) for one that names no file."""
    if source.file is None:
        return None, None
    shown = plain(source.file)
    path = PurePath(source.file)
    if path.is_absolute() or ".." in path.parts or "\0" in source.file:
        return None, f"{shown}: a document lies beside the claims file or in a folder given with --documents"
    for folder in folders:
        found, reason = _read(folder, folder / path)
        if found is not None or reason is not None:
            return found, f"{shown}: {reason}" if reason else None
    return None, f"{shown} is not there; name its folder with --documents"


def _read(folder: Path, path: Path) -> tuple[str | None, str | None]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None, "not a file"
        if not path.resolve().is_relative_to(folder.resolve()):
            return None, "a link that leads out of its folder"
        if status.st_size > MAX_BYTES:
            return None, f"larger than {MAX_BYTES >> 20} MiB"
        return path.read_bytes().decode("utf-8", "replace"), None
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, f"cannot be read: {error.strerror or os.strerror(error.errno or 0)}"
