"""From judged claims to what the rules on quoting results look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import Call, Name, Negated, Node, Operation
from mlsub.commands.audit.facts import folder_of, product, score_words
from mlsub.commands.audit.lookups import COUNTS
from mlsub.commands.audit.model import ClaimsFile, Input, Result
from mlsub.commands.audit.quoting import Document, Figure, Message, Operand
from mlsub.commands.audit.verdict import ClaimVerdict, Judged
from mlsub.commands.audit.written import Source
from mlsub.io.errors import MlsubError
from mlsub.systems.fields import category

#: Fields of a description that tell what a gain may rest on besides.
_FIELDS = ("accelerator_model_name", "host_processor_model_name", "framework")
#: No value of theirs is quoted longer.
_LONGEST = 80
#: Functions of expressions that use a result's score.
_SCORES = frozenset(("minutes", "ratio", "reduction", "speedup", "per_dollar", "per_chip", "best"))
#: Functions that bring in something besides: what is made of it and a score is a metric of its own.
_BESIDES = frozenset(("per_dollar", "per_chip", "chips", "nodes", "hosts", "cpus"))
#: What an input is where the claims file does not say so, by its unit.
_UNITS = {
    "power": ("w", "kw", "mw", "watt", "watts", "j", "kj", "kwh"),
    "throughput": ("images/s", "samples/s", "sequences/s", "seq/s", "tokens/s", "queries/s", "items/s"),
}
#: Units of inputs that leave a score a score: a time to train, given as a number.
_TIMES = ("s", "ms", "min", "minutes", "h", "hours")


def messages(judged: Sequence[Judged], world: World, texts: Mapping[str, str]) -> tuple[Message, ...]:
    """The claims as sentences; ``texts`` has those of the documents, by name."""
    return tuple(_message(one, world, texts) for one in judged)


def documents(file: ClaimsFile, texts: Mapping[str, str]) -> tuple[Document, ...]:
    """All documents of a claims file, those without claims too."""
    named = [(name_of(source, name), source) for name, source in file.documents.items()]
    return tuple(_document(source, name, texts) for name, source in [(name_of(file.source, None), file.source), *named])


def name_of(source: Source, name: str | None) -> str:
    """How a document is called: by the claims file's name of it, else by file or title."""
    return name or source.file or source.title or "the document"


def _document(source: Source, name: str, texts: Mapping[str, str]) -> Document:
    return Document(
        name=name,
        publisher=source.publisher,
        date=_day(source.date),
        text=texts.get(name),
        footnote=source.footnote,
    )


def _day(written: str | None) -> date | None:
    try:
        return date.fromisoformat(written) if written else None
    except ValueError:
        return None


def _message(judged: Judged, world: World, texts: Mapping[str, str]) -> Message:
    claim = judged.claim
    expr = claim.expr
    results = world.file.results_in(expr) if expr else ()
    scored, besides = _used(expr.tree, world.file) if expr else (frozenset(), False)
    inputs = world.file.inputs_in(expr) if expr else ()
    reviewed = claim.says.get("reviewed") is not False
    return Message(
        id=claim.id,
        text=claim.text,
        line=claim.line,
        document=_document(claim.source, name_of(claim.source, claim.document), texts),
        operands=tuple(operand(world.file.results[name], world, reviewed=reviewed) for name in results),
        scored=tuple(name for name in results if name in scored),
        together=_together(expr.tree, world.file) if expr else (),
        submitters=_submitters([world.file.results[name] for name in results], world),
        figures=tuple(Figure(one.name, _kind(one), one.unit, "mlperf" in one.source.lower()) for one in inputs),
        derived=bool(scored) and (besides or any((one.unit or "").lower() not in _TIMES for one in inputs)),
        says=claim.says,
        footnote=claim.footnote,
        untrue=_untrue(judged),
    )


def _kind(given: Input) -> str:
    unit = (given.unit or "").lower()
    guess = next((kind for kind, units in _UNITS.items() if unit in units), given.kind)
    return guess if given.kind == "other" else given.kind


def _submitters(results: Sequence[Result], world: World) -> tuple[str, ...]:
    """Who has submitted in the rounds of some results, as far as their folders are there."""
    rounds = {(result.usage, result.round) for result in results}
    return tuple(
        sorted({name for one in world.rounds if (one.usage, one.round) in rounds for name in one.organisations})
    )


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
                todo.append(file.values[node.name].tree)
        elif used := _used(node, file)[0]:
            found.append(tuple(sorted(used)))
    return tuple(dict.fromkeys(found))


def _used(root: Node, file: ClaimsFile) -> tuple[frozenset[str], bool]:
    """The results whose scores an expression uses, and whether it uses more of them than that."""
    used = list(calls(root, file))
    scored = {
        argument.name
        for call in used
        if call.function in _SCORES
        for argument in call.arguments
        if isinstance(argument, Name) and argument.name in file.results
    }
    return frozenset(scored), any(call.function in _BESIDES for call in used)


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
                todo.append(file.values[node.name].tree)


def operand(result: Result, world: World, *, reviewed: bool = True) -> Operand:
    """A result with what its files say; what the claims file says stands where they are not there."""
    facts = world.facts.get(result.name)
    description = facts.description if facts else {}
    try:
        folder = folder_of(result, world.rounds)
    except MlsubError:
        folder = None
    below = 3 if result.scaling else 2
    status, notes, called = (description.get(field) for field in ("status", "notes", "system_name"))
    return Operand(
        name=result.name,
        usage=result.usage,
        round=result.round,
        submitter=result.submitter or (folder.parents[below].name if folder else None),
        system=result.system or (folder.parents[below - 2].name if folder else None),
        system_name=called if isinstance(called, str) and called else None,
        benchmark=result.benchmark or (folder.name if folder else None),
        division=(facts.shown.division if facts else None) or result.division,
        category=category(status) if isinstance(status, str) else None,
        # Host processors do the computing where there are no accelerators.
        chips=product(description, *COUNTS["chips"]) or product(description, *COUNTS["cpus"]) or None,
        verified=reviewed and result.reviewed and result.usage != "rehearsal",
        power=(folder / "power").is_dir() if folder else None,
        notes=notes if isinstance(notes, str) else None,
        id=result.id,
        fields=tuple(
            (field, str(description[field])[:_LONGEST]) for field in _FIELDS if isinstance(description.get(field), str)
        ),
    )


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
