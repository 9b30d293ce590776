"""The page on the clauses of the written rules: of each section what is demanded and who checks it, with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import groupby

from mlsub.findings import Kind
from mlsub.io.data import group_by_key
from mlsub.present.document import Block, Cell, Column, Document, Items, Lines, Span, Table, Text, document, section
from mlsub.rules.catalogue import catalogue
from mlsub.rules.clauses import Clause, PlacedClause, clauses, every_clause

#: Who checks a clause, the first that applies, and what the page says of it.
OWNERS = {
    "official rule": "rules of ours that the official checker has as well",
    "review rule": "rules of ours that no official tool has",
    "official tool": "an official tool, and no rule of ours",
    "person": "a person, who has something to ask",
    "committee": "the people who run the round",
    "nobody": "nobody can, or there is nothing to check",
    "inference": "not for Training",
}


def owner_of(clause: Clause) -> str:
    """Return who checks a clause: of several the first in the order of the page."""
    found = {_owner(of) for of in clause.by}
    return next(owner for owner in OWNERS if owner in found)


def _owner(of: str) -> str:
    if "." in of:
        official = of.startswith("key.") or any(
            info.kind is Kind.OFFICIAL for rule, info in catalogue().items() if fnmatchcase(rule, of)
        )
        return "official rule" if official else "review rule"
    return "official tool" if of.startswith("official ") else of


def clauses_page() -> Document:
    """Return the page."""
    places = list(every_clause())
    documents = groupby(places, key=lambda of: of.document)
    tables = [(title, list(some)) for title, some in documents]
    return document(
        "Who checks each clause",
        Text(
            "Each demand of the written rules, by its first words, and who checks it: rules of mlsub, an official tool,"
            " a person or nobody. Rows of a table stand by the cells that name them; {row} in a rule stands for each."
        ),
        Items(
            (
                ("A person's questions: ", Span("mlsub review PATH -v", "code")),
                ("The clauses of a rule: ", Span("mlsub explain RULE", "code")),
                ("What a round changes: ", Span("mlsub rules diff OLD NEW", "code")),
                ("With a newer text: ", Span("make clauses RULES=DIR", "code")),
            )
        ),
        section("Counts", _counts(tables)),
        *(section(title.capitalize(), *_sections(some)) for title, some in tables),
        section("What a person asks", Items(tuple(_questions()))),
        section(
            "Official rules without a clause",
            Items(tuple((Span(pattern, "code"), f": {why}") for pattern, why in clauses().without.items())),
        ),
    )


def _counts(tables: list[tuple[str, list[PlacedClause]]]) -> Table:
    """How many clauses each has by document, a row of a table as one, and of how many a person asks as well."""
    counts = {title: Counter(owner_of(of.clause) for of in some for _ in _units(of.clause)) for title, some in tables}
    too = [sum(len(_units(of.clause)) for of in some if "person" in of.clause.by) for _, some in tables]
    rows = [
        (f"{owner}: {words}", *(f"{counts[title][owner]:,}" for title in counts)) for owner, words in OWNERS.items()
    ]
    rows.append(("all", *(f"{of.total():,}" for of in counts.values())))
    rows.append(("of which a person asks, alone or besides", *(f"{count:,}" for count in too)))
    return Table((Column("who"), *(Column(title, number=True) for title in counts)), tuple(rows))


def _units(clause: Clause) -> list[str]:
    return [*clause.rows] or [clause.words]


def _sections(places: list[PlacedClause]) -> Iterator[Block | None]:
    columns = Column("clause"), Column("checked by"), Column("since"), Column("text and checker differ")
    for title, group in groupby(places, key=lambda of: of.section):
        some = [of.clause for of in group]
        counts = Counter(owner_of(of) for of in some for _ in _units(of))
        said = Text(f"{', '.join(f'{owner} {counts[owner]}' for owner in OWNERS if counts[owner])}.")
        yield section(title, said, Table(columns, tuple(map(_row, some))))


def _questions() -> Iterator[str]:
    for texts in clauses().questions.values():
        for names, text in texts.items():
            yield text if names == "every" else f"{', '.join(names.split())}: {text}"


def _row(clause: Clause) -> tuple[Cell, ...]:
    by = Lines(tuple((Span(of, "name" if of in catalogue() else "code") if "." in of else of,) for of in clause.by))
    lines = group_by_key((_rounds(clause.rounds(row), clause.until), row) for row in clause.rows or ("",))
    since = (f"{words}: {', '.join(rows)}" if len(lines) > 1 else words for words, rows in lines.items())
    return clause.title(), by, Lines(tuple(since)), clause.differs or ""


def _rounds(rounds: tuple[str, ...], until: str | None) -> str:
    since, *changed = rounds
    later = f", changed {', '.join(changed)}" if changed else ""
    return f"{since}{f' to {until}' if until else ''}{later}"
