"""The rules on quoting results (R01 to R22), applied to judged claims and to the documents in which they stand."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path, PurePath

import msgspec
from msgspec.structs import replace

from mlsub.commands.audit.claims import ClaimsFile, Source
from mlsub.commands.audit.documents import document_hits, footnotes, own_footnote_hits
from mlsub.commands.audit.evaluate import World, function_of
from mlsub.commands.audit.expression import Call, Name, Node, parse
from mlsub.commands.audit.facts import score_words
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
    guidelines,
    text_for,
)
from mlsub.commands.audit.sentences import sentence_hits
from mlsub.commands.audit.verdict import ClaimVerdict, Judged
from mlsub.io.errors import reason_of
from mlsub.io.show import plain
from mlsub.rules.catalogue import finding

#: What an input is where the claims file does not say so, by its unit.
_UNITS = {
    **dict.fromkeys(("w", "kw", "mw", "watt", "watts", "j", "kj", "kwh"), "power"),
    **dict.fromkeys(
        ("images/s", "samples/s", "sequences/s", "seq/s", "tokens/s", "queries/s", "items/s"), "throughput"
    ),
}
#: Units of inputs that leave a score a score: a time to train, given as a number.
_TIMES = ("s", "ms", "min", "minutes", "h", "hours")
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
    read = {name: text_of(source, places) for name, source in {**sources, **file.documents}.items()}
    texts = {name: text for name, (text, _) in read.items() if text is not None}
    unread = [Unchecked("text", reason) for text, reason in read.values() if text is None and reason is not None]
    sentences = tuple(message_of(one, world, texts) for one in judged)
    # A source that no claim stands in is checked as well where its text is at hand.
    named = [(None, file.source), *file.documents.items()]
    others = [one for name, source in named if (one := document_of(source, name, texts)).text is not None]
    found = check(sentences, others, wanted=wanted, file=file.file)
    unseen = (*unread, *found.not_looked_at)
    return replace(found, not_looked_at=unseen, footnotes=footnotes(sentences, wanted))


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
    known = {document.name: document for document in (*(message.document for message in messages), *documents)}
    rules = {name: text_for(document.date, wanted) for name, document in known.items()}
    of = {name: [message for message in messages if message.document.name == name] for name in known}
    hits: list[tuple[Hit | Unchecked, str, Message | None]] = []
    for message in messages:
        name = message.document.name
        others = [one for one in of[name] if one.id != message.id]
        hits += [(hit, name, message) for hit in sentence_hits(message, others, rules[name])]
        hits += [(hit, name, message) for hit in own_footnote_hits(message, rules[name])]
    for name, document in known.items():
        hits += [(hit, name, None) for hit in document_hits(document, of[name], rules[name])]
    remarks = [_remark(hit, rules[name], name, file, of_) for hit, name, of_ in hits if isinstance(hit, Hit)]
    hands = {rule.number: rule for text in rules.values() for rule in by_hand(text)}
    found = tuple(dict.fromkeys(remark for remark in remarks if remark is not None))
    return Quoting(
        findings=found,
        rules=rules,
        not_looked_at=tuple(dict.fromkeys(hit for hit, _, _ in hits if isinstance(hit, Unchecked))),
        by_hand=tuple(hands.values()) if found or messages else (),
    )


def _remark(hit: Hit, text: Text, document: str, file: str, message: Message | None) -> Remark | None:
    """Return the hit as a finding, None where the text has no such rule."""
    rule = guidelines().rules[hit.rule]
    if text.name not in rule.sections:
        return None
    made = finding(
        rule.rule,
        file if message else document,
        hit.message,
        line=message.line if message else hit.line,
        expected=hit.expected,
        actual=hit.actual,
        source=f"{text.title}, {rule.sections[text.name]} ({text.source})",
    )
    severity = hit.level or rule.levels.get(text.name) or made.severity
    fields = {**msgspec.structs.asdict(made), "severity": severity}
    return Remark(claim=message.id if message else None, document=document, **fields)


def document_of(source: Source, name: str | None, texts: Mapping[str, str]) -> Document:
    """Return a document by the claims file's name of it, else by file or title; ``texts`` has those at hand."""
    called = name or source.file or source.title or "the document"
    try:
        day = date.fromisoformat(source.date) if source.date else None
    except ValueError:
        day = None
    return Document(name=called, publisher=source.publisher, date=day, text=texts.get(called), footnote=source.footnote)


def message_of(judged: Judged, world: World, texts: Mapping[str, str]) -> Message:
    """Return a claim as a sentence that quotes results; ``texts`` has those of the documents, by name."""
    claim, file = judged.claim, world.file
    expr = claim.figures[0].expr
    tree = parse(expr) if expr else None
    results = world.facts_in(expr) if expr else []
    scored, besides = _used(tree, file) if tree else (frozenset(), False)
    inputs = file.inputs_in(expr) if expr else ()
    reviewed = claim.says.get("reviewed") is not False
    rounds = {(one.usage, one.round) for one in results}
    known = {name for one in world.rounds if (one.usage, one.round) in rounds for name in one.organisations}
    kinds = {one.name: _UNITS.get((one.unit or "").lower(), "other") for one in inputs}
    return Message(
        id=claim.id,
        text=claim.text,
        line=claim.line,
        document=document_of(claim.source, claim.document, texts),
        operands=tuple(replace(one.shown, reviewed=reviewed and one.reviewed) for one in results),
        scored=tuple(one.name for one in results if one.name in scored),
        together=_together(tree, file) if tree else (),
        submitters=tuple(sorted(known)),
        figures=tuple(replace(one, kind=kinds[one.name]) if one.kind == "other" else one for one in inputs),
        derived=bool(scored) and (besides or any((one.unit or "").lower() not in _TIMES for one in inputs)),
        says=claim.says,
        footnote=claim.footnote,
        untrue=_untrue(judged),
    )


def _together(root: Node, file: ClaimsFile) -> tuple[tuple[str, ...], ...]:
    """The results of each number that an expression compares; what ``and`` and ``or`` join are statements apart."""
    todo, found, seen = [root], list[tuple[str, ...]](), set[str]()
    while todo:
        match todo.pop(0):
            case Call("and" | "or" | "not", arguments):
                todo += arguments
            case Name(name) if name in file.values:
                if name not in seen:
                    todo.append(parse(file.values[name]))
                seen.add(name)
            case node if used := _used(node, file)[0]:
                found.append(tuple(sorted(used)))
    return tuple(dict.fromkeys(found))


def _used(root: Node, file: ClaimsFile) -> tuple[frozenset[str], bool]:
    """Return the results whose scores an expression uses, and whether it uses more of them than that."""
    used = [(function_of(node), node.arguments) for node in file.nodes_in(root) if isinstance(node, Call)]
    names = {one.name for of, all_ in used if of.scores for one in all_ if isinstance(one, Name)}
    return frozenset(names & file.results.keys()), any(of.besides for of, _ in used)


def _untrue(judged: Judged) -> str | None:
    if judged.verdict is ClaimVerdict.CONTRADICTION:
        return judged.reason or "its statements contradict each other"
    if judged.verdict is not ClaimVerdict.FAILS:
        return None
    if judged.differences:
        return "the results have no " + ", ".join(f"{one.what} {one.said}" for one in judged.differences)
    if judged.computed is None or isinstance(judged.computed, bool):
        return "the results say otherwise"
    return f"{float(judged.computed):.6g} on the {score_words(judged.basis or 'published')}"


def text_of(source: Source, folders: Sequence[Path]) -> tuple[str | None, str | None]:
    """Return the text of a document, or None and why there is none; (None, None) for one that names no file."""
    if source.file is None:
        return None, None
    shown = plain(source.file)
    path = PurePath(source.file)
    if path.is_absolute() or ".." in path.parts or "\0" in source.file:
        return None, f"{shown}: a document lies beside the claims file or in a folder given with --documents"
    for folder in folders:
        try:
            return _read(folder, folder / path), None
        except FileNotFoundError:
            continue
        except OSError as error:
            return None, f"{shown}: {f'cannot be read: {reason_of(error)}' if error.errno else error}"
    return None, f"{shown} is not there; name its folder with --documents"


def _read(folder: Path, path: Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: it cannot be read, or (without a number) is nothing that is read here.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a file")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OSError("a link that leads out of its folder")
    if status.st_size > MAX_BYTES:
        raise OSError(f"larger than {MAX_BYTES >> 20} MiB")
    return path.read_bytes().decode("utf-8", "replace")
