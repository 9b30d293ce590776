"""Who checks each demand of the written rules: what clauses.yaml holds, by rule, by benchmark and by round."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from mlsub.divisions import DIVISIONS
from mlsub.io.data import group_by_key, shipped
from mlsub.rounds import round_age

#: The documents, and what they are called.
DOCUMENTS = {"training_rules": "training rules", "submission_rules": "submission rules"}
_PULLS = "pull_requests"
#: A pattern of all demands on keys: named only where no clause is about one of them.
_EVERY_KEY = "key.*"


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A demand, as clauses.yaml describes it."""

    by: tuple[str, ...]
    since: str
    words: str = ""
    mark: str = ""
    whole: str = ""
    rows: dict[str, str] = {}
    changed: tuple[str, ...] = ()
    until: str | None = None
    differs: str | None = None
    ask: str | None = None

    def rounds(self, row: str = "") -> tuple[str, ...]:
        """Return the first round with it and those in which its words changed; of a row those of its own."""
        return tuple(self.rows.get(row, "").split()[1:]) or (self.since, *self.changed)

    def rules(self) -> Iterator[str]:
        """Yield the ids and patterns of the rules that check it."""
        for of in self.by:
            if "." in of:
                yield from (of.replace("{row}", row) for row in self.rows) if "{row}" in of else (of,)

    def title(self, rule: str = "") -> str:
        """Return its first words; of rows their names, of those of the rule's key if there are any."""
        rows = [row for row in self.rows if f".{row}." in rule] or [*self.rows]
        words = f"{self.words} ..." if self.mark else self.words
        return ": ".join(filter(None, (words, ", ".join(rows)))) or "the section"


class PlacedClause(NamedTuple):
    """A clause and where it stands: ``document`` as people call it, or the number of a pull request."""

    document: str
    section: str
    clause: Clause


class Clauses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What clauses.yaml holds."""

    questions: dict[str, dict[str, str]]
    training_rules: dict[str, tuple[Clause, ...]]
    submission_rules: dict[str, tuple[Clause, ...]]
    pull_requests: dict[str, tuple[Clause, ...]]
    without: dict[str, str]


def clauses() -> Clauses:
    """Return all of them."""
    return shipped(__file__, "clauses.yaml", Clauses)


def every_clause() -> Iterator[PlacedClause]:
    """Yield every clause, in the order of the documents."""
    for name, title in {**DOCUMENTS, _PULLS: "pull requests"}.items():
        for section, some in getattr(clauses(), name).items():
            yield from (PlacedClause(title, section, clause) for clause in some)


def clauses_of(rule: str) -> list[PlacedClause]:
    """Return the clauses that a rule checks."""
    found = [of for of in every_clause() if any(fnmatchcase(rule, pattern) for pattern in of.clause.rules())]
    return [of for of in found if _EVERY_KEY not in of.clause.by] or found


def questions_on(benchmark: str, divisions: Collection[str]) -> tuple[str, ...]:
    """Return what a person has to ask of a benchmark in some divisions, what is of it alone first."""
    asked = [clauses().questions[name] for name in dict.fromkeys(of.clause.ask for of in every_clause()) if name]
    own = (text for texts in asked for names, text in texts.items() if benchmark in names.split())
    texts = dict.fromkeys((*own, *(texts["every"] for texts in asked if "every" in texts)))
    without = set(DIVISIONS).difference(divisions) if set(divisions) <= set(DIVISIONS) else ()
    return tuple(text for text in texts if not text.startswith(tuple(f"{name.capitalize()}:" for name in without)))


def changes_between(old: str, new: str) -> Iterator[tuple[str, PlacedClause]]:
    """Yield the clauses that are new, changed or gone in a round since another; back in time they go as they came."""
    first, last = sorted((round_age(old), round_age(new)))
    come, go = ("new", "gone") if first == round_age(old) else ("gone", "new")
    for of in every_clause():
        found = group_by_key((_change(of.clause, row, first, last), row) for row in of.clause.rows or ("",))
        for how, rows in found.items():
            own = {row: mark for row, mark in of.clause.rows.items() if row in rows}
            if how is not None:
                yield {"new": come, "gone": go}.get(how, how), of._replace(clause=replace(of.clause, rows=own))


def _change(clause: Clause, row: str, first: tuple[int, ...], last: tuple[int, ...]) -> str | None:
    """Return what becomes of a clause, or of a row of it, from one round to a later one."""
    since, *changed = map(round_age, clause.rounds(row))
    until = last if clause.until is None else round_age(clause.until)
    if first < since <= last:
        return "new" if last <= until else None
    if first <= until < last:
        return "gone" if since <= first else None
    return "changed" if any(first < of <= last for of in changed) else None
