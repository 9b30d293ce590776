"""Everything about one rule, put together from the catalogue and the rule files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

import msgspec

from mlsub.findings import Blocks, Kind, Severity
from mlsub.present.document import Block, Cell, Column, Document, Facts, Lines, Table, Text, document
from mlsub.present.envelope import Answer
from mlsub.rounds import spans
from mlsub.rules.catalogue import RuleInfo, catalogue
from mlsub.rules.explain import Demand, KeyDemands, all_demands, official_files, rule_ids
from mlsub.rules.load import key_descriptions

_DIVISIONS = {Blocks.NONE: "no division", Blocks.CLOSED: "the Closed division", Blocks.BOTH: "both divisions"}
_EXPECTED = (Column("expected"), Column("of"))


class Expected(msgspec.Struct, frozen=True):
    """What is expected of a key, and of which logs: usage, rounds and logs in words."""

    words: str
    logs: tuple[str, ...]


class CheckedClause(msgspec.Struct, frozen=True):
    """A clause of the written rules: document, section, its first words, and where the official checker differs."""

    document: str
    section: str
    words: str
    differs: str | None

    @property
    def line(self) -> str:
        """The clause in a line."""
        differs = f" (differs: {self.differs})" if self.differs else ""
        return f"{self.document}, {self.section}: {self.words}{differs}"


class Explanation(Answer, frozen=True, kw_only=True):
    """A rule: what it expects, what breaks it (``found``, an example), and the fix.

    ``key`` says what the key stands for; it is null, and ``expected`` empty, where a rule is not about one key.
    ``clauses`` are those of the written rules that it checks.
    """

    SCHEMA: ClassVar[int] = 3

    rule: str
    title: str
    kind: Kind
    severity: Severity
    blocks: Blocks
    key: str | None = None
    why: str
    expected: tuple[Expected, ...] = ()
    found: str
    fix: str
    sources: tuple[str, ...]
    clauses: tuple[CheckedClause, ...] = ()


def explanation(rule: str, *, clauses: bool = False) -> Explanation:
    """The explanation of a rule; with the clauses that it checks, if asked for.

    Raises:
        KeyError: there is no such rule.
    """
    info = catalogue().get(rule)
    found = _of_key(rule, all_demands()[rule]) if info is None else _of_catalogue(info)
    if not clauses:
        return found
    from mlsub.rules.clauses import clauses_of

    places = clauses_of(rule)
    checked = (CheckedClause(of.document, of.section, of.clause.title(rule), of.clause.differs) for of in places)
    return msgspec.structs.replace(found, clauses=tuple(checked))


def _of_catalogue(info: RuleInfo) -> Explanation:
    return Explanation(
        rule=info.id,
        title=info.title,
        kind=info.kind,
        severity=info.severity,
        blocks=info.blocks,
        why=info.why,
        found=info.example,
        fix=info.fix,
        sources=(info.source,),
    )


def _of_key(rule: str, found: KeyDemands) -> Explanation:
    key, texts = found.key, found.aspect.about()
    title = texts.title.format(key=key, words=found.demands[0].rule.occurs.words())
    record = f':::MLLOG {{"time_ms": 1623875750969, "key": "{key}", "value": ..., "metadata": {{...}}}}'
    return Explanation(
        rule=rule,
        title=title if title.startswith(key) else title[0].upper() + title[1:],
        kind=Kind.OFFICIAL,
        severity=Severity.WARNING if found.blocks is Blocks.NONE else Severity.ERROR,
        blocks=found.blocks,
        key=key_descriptions().get(key, "a key of the benchmark"),
        why=texts.why,
        expected=tuple(Expected(demand.words, tuple(_logs(demand))) for demand in found.demands),
        found=texts.example.format(key=key, record=record),
        fix=texts.fix,
        sources=tuple(official_files(found.demands)),
    )


def _logs(demand: Demand) -> Iterator[str]:
    return (f"{usage} {spans(usage, rounds)}: {which}" for usage, which, rounds in demand.places())


def explanations(rules: Iterable[str]) -> dict[str, Explanation]:
    """Everything about some rules, by their ids; a rule of the user's own is left out."""
    known = rule_ids()
    return {rule: explanation(rule) for rule in rules if rule in known}


def explanation_document(explained: Explanation) -> Document:
    """The explanation as a document, named after the rule."""
    return document(explained.rule, *explanation_blocks(explained))


def explanation_blocks(explained: Explanation, *, on_page_of_key: bool = False) -> Iterator[Block]:
    """What a rule is about, then expected, found, fix and source, as a finding of it has them.

    ``on_page_of_key`` leaves out what the page says once, and the official files, which are many.
    """
    yield Text(f"{explained.title}.")
    about: list[tuple[str, Cell]] = []
    if explained.key and not on_page_of_key:
        about.append(("key", explained.key))
    kind = f"{explained.kind.value} {explained.severity.value}; rules out {_DIVISIONS[explained.blocks]}"
    about += [("kind", kind), ("why", explained.why)]
    rest: list[tuple[str, Cell]] = [
        ("found", f"for example {explained.found}"),
        ("fix", explained.fix),
    ]
    if not on_page_of_key:
        rest.append(("source", Lines(explained.sources)))
        rest += [("clause", Lines(tuple(of.line for of in explained.clauses)))] if explained.clauses else []
    if not explained.expected:
        yield Facts((*about, *rest))
        return
    yield Facts(tuple(about))
    yield Table(_EXPECTED, tuple((demand.words, Lines(demand.logs)) for demand in explained.expected))
    yield Facts(tuple(rest))
