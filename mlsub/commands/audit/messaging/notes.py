"""R03 to R06: what a footnote has to have. A footnote serves all sentences in its reach, so it is looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlsub.commands.audit.messaging.footnote import Parts, ids_of, parts, round_of
from mlsub.commands.audit.messaging.model import Hit, Message, Operand
from mlsub.commands.audit.messaging.says import noted
from mlsub.commands.audit.messaging.texts import Text
from mlsub.commands.audit.messaging.words import (
    any_benchmark,
    benchmark_words,
    enumerated,
    flat,
    flat_document,
    mentions,
    quote,
)


def no_footnote(text: Text) -> Iterator[Hit]:
    """A document about results without any footnote: one finding, which names all that belongs in it."""
    yield Hit(
        rule="R03",
        message="there is no footnote on the results",
        expected=f"suite, version, division, benchmark, retrieval, result ID, and: {text.legend}",
    )


def footnote_hits(footnote: str, operands: Sequence[Operand], publisher: str | None) -> Iterator[Hit]:
    """R03, R04 and R05 on a footnote that serves some results; none where a document quotes them without claims."""
    said = parts(footnote)
    yield from _identity(said, operands)
    verified = [operand for operand in operands if operand.verified]
    if operands and not verified:
        return  # what was never reviewed has neither an entry nor an ID to retrieve
    yield from _retrieval(said)
    yield from _form(said)
    yield from _ids(footnote, said, verified, publisher)


def noted_hits(message: Message) -> Iterator[Hit]:
    """R04 and R05 where the claims file notes what the footnote has, and gives no footnote itself."""
    verified = [operand for operand in message.compared if operand.verified]
    if not verified:
        return
    if noted(message, "retrieved") == ():
        yield Hit(rule="R04", message="the footnote does not say when and from where the results were retrieved")
    ids = noted(message, "ids")
    if ids is not None:
        footnote = f"MLPerf ID: {', '.join(ids)}"
        said = parts(footnote)
        yield from _form(said)
        yield from _ids(footnote, said, verified, None)


def _identity(said: Parts, operands: Sequence[Operand]) -> Iterator[Hit]:
    missing = [] if said.suite else ["the suite"]
    missing += _missing("version", (f"v{name}" for name in _rounds(operands)), {f"v{name}" for name in said.versions})
    divisions = sorted({operand.division for operand in operands if operand.division})
    missing += _missing("division", divisions, said.divisions)
    benchmarks = dict.fromkeys(operand.benchmark for operand in operands if operand.benchmark)
    lacking = [name for name in benchmarks if not mentions(said.flat, benchmark_words(name))]
    if not (any_benchmark(said.flat) if not benchmarks else len(lacking) < len(benchmarks)):
        missing.append("the benchmark")
    else:
        missing += [f"the benchmark {name}" for name in lacking]
    if missing:
        yield Hit(rule="R03", message=f"the footnote lacks {enumerated(missing)}")


def _missing(what: str, wanted: Iterable[str], said: Iterable[str]) -> list[str]:
    if not (said := set(said)):
        return [f"the {what}"]
    return [f"the {what} {name}" for name in wanted if name not in said]


def _rounds(operands: Iterable[Operand]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(operand.round for operand in operands))


def _retrieval(said: Parts) -> Iterator[Hit]:
    missing = [*([] if said.date else ["when"]), *([] if said.source else ["from where"])]
    if missing:
        yield Hit(rule="R04", message=f"the footnote does not say {enumerated(missing)} the results were retrieved")


def _form(said: Parts) -> Iterator[Hit]:
    for token in dict.fromkeys(said.malformed):
        yield Hit(
            rule="R05",
            message=f"{quote(token)} is not the ID of a result",
            expected="major.minor-entry, with .benchmark behind it if wanted: 1.0-1025",
        )


def _ids(footnote: str, said: Parts, operands: Sequence[Operand], publisher: str | None) -> Iterator[Hit]:
    if not said.ids:
        if not said.malformed:
            yield Hit(rule="R05", message="the footnote has no ID of a result")
        return
    known = [operand for operand in operands if operand.id]
    for operand in known:
        if operand.id not in said.ids:
            yield Hit(rule="R05", message=f"the footnote lacks the ID {operand.id} of {_called([operand])}")
    rest = [operand for operand in operands if not operand.id]
    free = [line for line in footnote.splitlines() if ids_of(line)]
    for name in _rounds(rest):
        of_round = [operand for operand in rest if operand.round == name]
        if not any(round_of(found) == name for found in said.ids):
            rounds = enumerated(sorted({f"v{round_of(found)}" for found in said.ids}))
            yield Hit(rule="R05", message=f"the IDs in the footnote are of {rounds}, and a result is of v{name}")
            continue
        submitters = dict.fromkeys(operand.submitter for operand in of_round if operand.submitter)
        for submitter in submitters:
            theirs = [operand for operand in of_round if operand.submitter == submitter]
            yield from _of_submitter(submitter, theirs, free, list(submitters), publisher)


def _of_submitter(
    submitter: str, theirs: list[Operand], lines: list[str], submitters: list[str], publisher: str | None
) -> Iterator[Hit]:
    """A line of IDs is that of the submitters it names, or of everybody's where it names none."""
    name = theirs[0].round
    everybody = (*submitters, *([publisher] if publisher else []))
    own = [line for line in lines if mentions(flat(line), [submitter])]
    shared = [line for line in lines if not any(mentions(flat(line), [other]) for other in everybody)]
    found = {one for line in (*own, *shared) for one in ids_of(line) if round_of(one) == name}
    wanted = {(operand.system, operand.benchmark, operand.division) for operand in theirs}
    if not found:
        yield Hit(rule="R05", message=f"the footnote has no ID for the results of {submitter}: {_called(theirs)}")
    elif len(found) < len(wanted):
        yield Hit(
            rule="R05",
            message=f"the footnote has too few IDs for the results of {submitter}: {_called(theirs)}",
            expected=str(len(wanted)),
            actual=str(len(found)),
        )


def _called(operands: Iterable[Operand]) -> str:
    return enumerated(dict.fromkeys(f"{o.system or o.name} {o.benchmark or ''}".strip() for o in operands))


def trademark_hits(footnote: str, document: str | None, text: Text) -> Iterator[Hit]:
    """R06: the older text wants a clear reference to the trademark, today's wants its own words."""
    said = (flat(footnote), flat_document(document))
    if any(flat(text.legend) in where for where in said):
        return
    if not any("trademark" in where for where in said):
        yield Hit(rule="R06", message="MLPerf is nowhere called a trademark", expected=text.legend)
    elif "registered" in text.legend:
        yield Hit(
            rule="R06", message="the trademark is attributed in other words than the text's", expected=text.legend
        )
