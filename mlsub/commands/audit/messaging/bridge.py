"""From judged claims to what the rules on quoting results look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from msgspec.structs import replace

from mlsub.commands.audit.claims import ClaimsFile, Input, Source
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import Call, Name, Negated, Node, Operation, parse
from mlsub.commands.audit.facts import score_words
from mlsub.commands.audit.functions import FUNCTIONS
from mlsub.commands.audit.quoting import Document, Message
from mlsub.commands.audit.verdict import ClaimVerdict, Judged

#: What an input is where the claims file does not say so, by its unit.
_UNITS = {
    **dict.fromkeys(("w", "kw", "mw", "watt", "watts", "j", "kj", "kwh"), "power"),
    **dict.fromkeys(
        ("images/s", "samples/s", "sequences/s", "seq/s", "tokens/s", "queries/s", "items/s"), "throughput"
    ),
}
#: Units of inputs that leave a score a score: a time to train, given as a number.
_TIMES = ("s", "ms", "min", "minutes", "h", "hours")


def document_of(source: Source, name: str | None, texts: Mapping[str, str]) -> Document:
    """A document by the claims file's name of it, else by file or title; ``texts`` has those at hand."""
    called = name or source.file or source.title or "the document"
    try:
        day = date.fromisoformat(source.date) if source.date else None
    except ValueError:
        day = None
    return Document(name=called, publisher=source.publisher, date=day, text=texts.get(called), footnote=source.footnote)


def message_of(judged: Judged, world: World, texts: Mapping[str, str]) -> Message:
    """A claim as a sentence that quotes results; ``texts`` has those of the documents, by name."""
    claim, file = judged.claim, world.file
    expr = claim.figures[0].expr
    tree = parse(expr).tree if expr else None
    results = world.facts_in(expr) if expr else []
    scored, besides = _used(tree, file) if tree else (frozenset(), False)
    inputs = file.inputs_in(expr) if expr else ()
    reviewed = claim.says.get("reviewed") is not False
    rounds = {(one.usage, one.round) for one in results}
    known = {name for one in world.rounds if (one.usage, one.round) in rounds for name in one.organisations}
    return Message(
        id=claim.id,
        text=claim.text,
        line=claim.line,
        document=document_of(claim.source, claim.document, texts),
        operands=tuple(replace(one.shown, reviewed=reviewed and one.reviewed) for one in results),
        scored=tuple(one.name for one in results if one.name in scored),
        together=_together(tree, file) if tree else (),
        submitters=tuple(sorted(known)),
        figures=tuple(replace(one, kind=_kind(one)) for one in inputs),
        derived=bool(scored) and (besides or any((one.unit or "").lower() not in _TIMES for one in inputs)),
        says=claim.says,
        footnote=claim.footnote,
        untrue=_untrue(judged),
    )


def _kind(given: Input) -> str:
    return _UNITS.get((given.unit or "").lower(), given.kind) if given.kind == "other" else given.kind


def _together(root: Node, file: ClaimsFile) -> tuple[tuple[str, ...], ...]:
    """The results of each number that an expression compares; what ``and`` and ``or`` join are statements apart."""
    todo, found, seen = [root], list[tuple[str, ...]](), set[str]()
    while todo:
        node = todo.pop(0)
        if isinstance(node, Operation) and node.sign in ("and", "or"):
            todo += [node.left, node.right]
        elif isinstance(node, Negated) and node.sign == "not":
            todo.append(node.of)
        elif isinstance(node, Name) and node.name in file.values:
            if node.name not in seen:
                seen.add(node.name)
                todo.append(parse(file.values[node.name]).tree)
        elif used := _used(node, file)[0]:
            found.append(tuple(sorted(used)))
    return tuple(dict.fromkeys(found))


def _used(root: Node, file: ClaimsFile) -> tuple[frozenset[str], bool]:
    """The results whose scores an expression uses, and whether it uses more of them than that."""
    used = [(FUNCTIONS[call.function], call.arguments) for call in calls(root, file)]
    names = {one.name for of, all_ in used if of.scores for one in all_ if isinstance(one, Name)}
    return frozenset(names & file.results.keys()), any(of.besides for of, _ in used)


def calls(root: Node, file: ClaimsFile) -> Iterator[Call]:
    """Every call in an expression, those in the values it names too; without recursion, as values may be many."""
    todo, seen = [root], set[str]()
    while todo:
        node = todo.pop()
        match node:
            case Call():
                yield node
                todo += node.arguments
            case Operation():
                todo += [node.left, node.right]
            case Negated():
                todo.append(node.of)
            case Name() if node.name in file.values and node.name not in seen:
                seen.add(node.name)
                todo.append(parse(file.values[node.name]).tree)


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
