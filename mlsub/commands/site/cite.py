"""How to cite a result: the footnote that MLCommons' guidelines require, and an entry of a bibliography."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.audit.messaging.write import footnote_of
from mlsub.commands.audit.quoting import Document, Message, Operand, text_for
from mlsub.commands.site.model import Quote, Section, number_of, text_of
from mlsub.commands.site.results import Result
from mlsub.commands.site.tables import division_of
from mlsub.divisions import DIVISIONS

#: Where a script puts the day on which the reader looks; without one it is left to fill in.
DAY = "[date]"
_WORDS = (
    "MLCommons asks that whoever quotes a result names submitter, system, benchmark, round, division and MLPerf ID, "
    "and says when and from where it was retrieved. What stands in brackets is not in the logs: the ID is in the "
    "results table that MLCommons publishes."
)
_UNPUBLISHED = "MLCommons has not published this round, so the result may be quoted only as unverified."


def section_of_citation(result: Result) -> Section:
    """The texts to copy: a sentence with the score, its footnote, and BibTeX."""
    verified = result.named.published is not None
    words = (_WORDS,) if verified else (_UNPUBLISHED,)
    return Section(key="cite", title="Cite this result", words=words, quotes=tuple(_quotes(result, verified)))


def _quotes(result: Result, verified: bool) -> Iterator[Quote]:
    if result.minutes is not None:
        yield Quote("Sentence", f"{_called(result, verified)} in {number_of(result.minutes, 3)} minutes [1].")
    yield Quote("Footnote, by the results messaging guidelines", f"[1] {footnote(result, verified=verified)}")
    if verified:
        yield Quote("BibTeX", bibtex(result))


def _called(result: Result, verified: bool) -> str:
    row, chip = result.row, result.named.accelerator or result.row.accelerator_model_name
    count = f" with {row.accelerators_count:,} {text_of(chip, 100)}" if row.accelerators_count and chip else ""
    start = "In" if verified else "Unverified: in"
    suite = result.round.title
    return (
        f"{start} {suite} {_division(result)}, {submitter_of(result)} {system_of(result)}{count} "
        f"trained {text_of(result.named.title, 60)}"
    )


def submitter_of(result: Result) -> str:
    """Who submitted a result, as its description says or else its folder."""
    return text_of(result.row.submitter or result.entry.organisation, 100)


def system_of(result: Result) -> str:
    """A system by the name that its description gives it, or else its folder's."""
    return text_of(result.row.system or result.entry.system, 100)


def _division(result: Result) -> str:
    name = division_of(result)
    return name.capitalize() if name in DIVISIONS else "[division]"


def footnote(result: Result, *, verified: bool) -> str:
    """The footnote under the guidelines in force.

    Args:
        result: what is quoted.
        verified: MLCommons has reviewed and published it.
    """
    division = division_of(result)
    operand = Operand(
        name=text_of(result.entry.benchmark, 100),
        usage=result.round.usage,
        round=result.round.name,
        submitter=submitter_of(result),
        system=text_of(result.entry.system, 100),
        system_name=system_of(result),
        benchmark=text_of(result.entry.benchmark, 100),
        division=division if division in DIVISIONS else None,
        verified=verified,
        id=_only_id(result),
    )
    message = Message(
        id="result",
        text="",
        document=Document(name="page"),
        operands=(operand,),
        scored=(operand.name,),
        says={"retrieved": f"from {_source(result)} on {DAY}"},
    )
    written = footnote_of(message, text_for(None)).footnote
    # Where no source says which of several IDs it is, the reader chooses.
    return written.replace(f"[ID {result.round.name}-...]", f"[ID {result.id}]") if result.id else written


def _only_id(result: Result) -> str | None:
    return result.ids.ids[0] if result.ids and len(result.ids.ids) == 1 else None


def _source(result: Result) -> str:
    """The repository of the round's results."""
    page = text_of(result.row.details_url, 500) if result.row.details_url else "https://mlcommons.org/benchmarks/"
    return page.partition("/blob/")[0]


#: What TeX takes for a sign of its own.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in text)


def bibtex(result: Result) -> str:
    """An entry of a bibliography."""
    key = re.sub(r"[^a-z0-9]+", "-", f"mlperf-{result.slug}".lower()).strip("-")
    title = f"{result.round.title} {_division(result)}, {text_of(result.named.title, 60)}: {system_of(result)}"
    out = result.named.published
    fields = {
        "title": f"{{{{{_tex(title)}}}}}",
        "author": f"{{{{{_tex(submitter_of(result))}}}}}",
        "year": f"{{{out.year}}}" if out else "",
        "month": f"{out:%b}".lower() if out else "",
        "publisher": "{MLCommons}",
        "number": f"{{{_tex(result.id)}}}" if result.id else "",
        "url": f"{{{_source(result)}}}",
        "note": f"{{MLPerf result, retrieved on {DAY}}}",
    }
    lines = (f"  {name} = {value}," for name, value in fields.items() if value)
    return "\n".join((f"@misc{{{key},", *lines, "}"))
