"""Quoting results: what the rules look at (sentences, results, documents), the rules themselves, and what they find."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.commands.audit.claims import SAYS, Input
from mlsub.commands.audit.facts import ResultFacts
from mlsub.findings import Finding, Severity
from mlsub.io.data import shipped
from mlsub.io.show import flat, plain

#: A quotation is no longer.
_LONGEST = 60


class Names(msgspec.Struct, frozen=True):
    """How a benchmark is called: ``task`` is its name, ``model`` what may stand for it in the Closed division."""

    task: tuple[str, ...]
    model: tuple[str, ...]


def names() -> dict[str, Names]:
    """Return the names of every benchmark, by the name of its folder."""
    return shipped(__file__, "names.yaml", dict[str, Names])


#: A whole document, flat; kept, as every claim in it asks for it again.
flat_document = lru_cache(maxsize=8)(flat)


@lru_cache(maxsize=4096)
def document_mentions(text: str | None, wanted: tuple[str, ...]) -> bool:
    """Return whether a whole document has one of some names."""
    return mentions(flat_document(text or ""), wanted)


#: The words that both texts want in the footnote of an unreviewed result.
NOT_VERIFIED = "Result not verified by MLCommons Association."
#: The sentence that the text of 2025 wants beside verified results, section 5.
UNVERIFIED_BESIDE_VERIFIED = (
    "Unverified results have not been through an MLPerf® review and may use measurement methodologies and/or workload "
    "implementations that are inconsistent with the MLPerf® specification for verified results."
)
#: A line of a document that is a footnote of results.
FOOTNOTE_LINE = re.compile(
    r"mlperf\W{0,4}(result\s+)?ids?\s*[:#]|\bentr(?:y|ies)\s*+(?:[:#]\s*+)?\d|(?<![\w.-])\d+\.\d+-\d{3,5}\b|\bretrieved\b|"
    r"name and logo are|unauthorized use|not verified by|\bverified by (the )?mlcommons|"
    r"^\s*\[\d+\]\s*(\S+\s+)?mlperf|^\s*\[?footnotes?\b",
    re.I,
)


@lru_cache(maxsize=8)
def find_footnote(text: str) -> str | None:
    """Return the lines of a document that are footnotes of results, as one text; None where there are none."""
    lines = [line.strip() for line in text.splitlines() if FOOTNOTE_LINE.search(line) and "mlperf" in line.lower()]
    lines += [
        line.strip() for line in text.splitlines() if "unauthorized use" in line.lower() and line.strip() not in lines
    ]
    return "\n".join(lines) or None


def squashed(text: str) -> str:
    """Letters and digits alone, small: ``DGX A100`` and ``dgxa100_`` alike."""
    return "".join(c for c in text.lower() if c.isalnum())


#: A whole document, squashed; kept as well.
squashed_document = lru_cache(maxsize=8)(squashed)


def mentions(text: str, wanted: Iterable[str]) -> bool:
    """Return whether a text that is flat already has one of some names, as words of their own."""
    return any(re.search(rf"(?<!\w){re.escape(flat(name))}(?!\w)", text) for name in wanted)


def benchmark_words(benchmark: str) -> tuple[str, ...]:
    """Return all names of a benchmark, the folder's among them."""
    known = names().get(benchmark)
    return (*known.task, *known.model, benchmark) if known else (benchmark,)


def quote(text: str) -> str:
    """Return a short quotation, safe to print."""
    text = plain(" ".join(text.split()))
    return f"“{text}”" if len(text) <= _LONGEST else f"“{text[:_LONGEST].rstrip()}…”"


def enumerated(things: Iterable[str], last: str = "and") -> str:
    """``a, b and c``."""
    *first, end = list(things)
    return f"{', '.join(first)} {last} {end}" if first else end


class Text(msgspec.Struct, frozen=True, kw_only=True, rename={"since": "from"}):
    """A text of the rules on quoting results.

    ``from`` is the day from which it binds; ``symbols`` are the signs that may stand behind the name MLPerf; ``wants``
    is what it asks for and an older one does not, see guidelines.yaml.
    """

    name: str = ""
    title: str
    since: date
    source: str
    symbol: str
    symbols: tuple[str, ...]
    legend: str
    wants: tuple[str, ...] = ()
    note: str | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, by its id in the catalogue, ``claim.r05``.

    ``how`` says who can check it, see guidelines.yaml; ``sections`` maps a text to the place in it, and a text that is
    not there lacks the rule.
    """

    rule: str = ""
    title: str
    how: str
    sections: dict[str, str]
    levels: dict[str, Severity] = {}

    @property
    def number(self) -> str:
        """Its number, ``R05``."""
        return self.rule.removeprefix("claim.").upper()


class Remark(Finding, frozen=True, kw_only=True):
    """A finding on how results are quoted, with the claim (null for a document's own) and the document."""

    claim: str | None
    document: str


class Unchecked(msgspec.Struct, frozen=True):
    """What a rule could not check, and how that is fixed; ``claim`` is the claim's id, null for a document's."""

    rule: str
    reason: str
    claim: str | None = None


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The footnote that a claim needs. ``missing`` names what stands in brackets in it, to be filled in."""

    claim: str
    rules: str
    footnote: str
    missing: tuple[str, ...]


class Quoting(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules on quoting results found, in the order of claims, then of documents.

    ``rules`` is the text that binds each document, ``not_looked_at`` what could not be checked, ``by_hand`` what only a
    person can check; ``footnotes`` are those that claims need.
    """

    findings: tuple[Remark, ...] = ()
    rules: dict[str, Text] = {}
    not_looked_at: tuple[Unchecked, ...] = ()
    by_hand: tuple[Rule, ...] = ()
    footnotes: tuple[Written, ...] = ()

    @property
    def warns(self) -> bool:
        """Whether there is more than information."""
        return any(finding.severity is not Severity.NOTE for finding in self.findings)


#: What ``--guidelines`` takes besides the texts by name.
AUTO = "auto"


class Guidelines(msgspec.Struct, frozen=True):
    """All texts, oldest first, and all rules."""

    texts: dict[str, Text]
    rules: dict[str, Rule]


@lru_cache(maxsize=1)
def guidelines() -> Guidelines:
    """Return the table, guidelines.yaml."""
    table = shipped(__file__, "guidelines.yaml", Guidelines)
    texts = {name: replace(text, name=name) for name, text in table.texts.items()}
    rules = {number: replace(rule, rule=f"claim.{number.lower()}") for number, rule in table.rules.items()}
    return Guidelines(texts, rules)


def text_for(day: date | None, wanted: str = AUTO) -> Text:
    """Return the text that binds a document: the one wanted, or the last that was in force on its day.

    A document older than the oldest text is checked against that one, a document without a date against the newest.
    """
    if wanted != AUTO:
        return guidelines().texts[wanted]
    first, *others = guidelines().texts.values()
    return next((text for text in reversed(others) if day is None or text.since <= day), first)


def by_hand(text: Text) -> tuple[Rule, ...]:
    """Return the rules of a text that only a person can look at."""
    return tuple(rule for rule in guidelines().rules.values() if rule.how == "human" and text.name in rule.sections)


#: The names under which a claims file may note a thing.
_ALSO = {
    "version": ("version", "round"),
    "category": ("category", "availability", "status"),
    "chips": ("chips", "chip_count", "accelerators"),
    "verified": ("verified", "reviewed"),
    "submitter": ("submitter", "organisation", "organization"),
}


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What sentences stand in. ``text`` is the whole of it, None where it is not at hand."""

    name: str
    publisher: str | None = None
    date: date | None = None
    text: str | None = None
    footnote: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence that quotes results.

    ``operands`` are all results it rests on, and ``scored`` the names of those whose scores it uses; ``together`` are
    groups of them where it makes several comparisons. ``submitters`` are organisations that are known to have submitted
    in their rounds. ``derived`` says that it is more than a score or a ratio of scores. ``says`` is what the sentence
    discloses, by the names of the claims file; an entry that is None says that the sentence does not say it. ``untrue``
    is why the numbers do not bear it out, None where they do.
    """

    id: str
    text: str
    line: int | None = None
    document: Document
    operands: tuple[ResultFacts, ...] = ()
    scored: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    submitters: tuple[str, ...] = ()
    figures: tuple[Input, ...] = ()
    derived: bool = False
    says: dict[str, Any] = {}
    footnote: str | None = None
    untrue: str | None = None

    @property
    def parts(self) -> tuple[Message, ...]:
        """The sentence once for each comparison it makes."""
        return tuple(replace(self, scored=group, together=()) for group in self.together) or (self,)

    @property
    def compared(self) -> tuple[ResultFacts, ...]:
        """The results whose scores it uses."""
        return tuple(operand for operand in self.operands if operand.name in self.scored)

    @property
    def is_composite(self) -> bool:
        """Whether it combines benchmarks: every side (a submitter in a round) has the same ones, and several."""
        sides: dict[tuple[str, str | None], set[str | None]] = {}
        for operand in self.compared:
            sides.setdefault((operand.round, operand.submitter), set()).add(operand.benchmark)
        found = set(map(frozenset, sides.values()))
        return len(found) == 1 and len(found.pop()) > 1

    @property
    def reach(self) -> str | None:
        """The footnote in its reach: its own and the document's, else what its text has; None where none is at hand."""
        noted = "\n".join(note for note in (self.footnote, self.document.footnote) if note)
        return noted or (find_footnote(self.document.text) if self.document.text else None)

    def noted(self, what: str) -> tuple[str, ...] | None:
        """Return what is noted of a thing, as texts: empty where it is noted as not said, None without a note."""
        name = next((name for name in names_of(what) if name in self.says), None)
        return None if name is None else texts(self.says[name])

    def states(self, what: str, values: Iterable[str]) -> bool:
        """Return whether the sentence states every one of some values: disclosed, noted, or in its own words."""
        disclosed = {flat(name) for name in self.noted("discloses") or ()}
        if disclosed & {*names_of(what), what, f"{what}s"}:
            return True
        said = flat(" ".join((self.text, *(self.noted(what) or ()))))
        # A round is written with and without a v.
        return all(mentions(said, (value, value.removeprefix("v"), f"v{value}")) for value in values)


def names_of(what: str) -> tuple[str, ...]:
    """Return the names under which a claims file may note a thing."""
    return _ALSO.get(what, (what,))


def noted_as(what: str) -> str:
    """Return the word under which a claims file notes a thing: the one of its names that the format has."""
    return next(name for name in names_of(what) if name in SAYS)


def texts(value: Any) -> tuple[str, ...]:
    """Return a noted value as texts: a list's members, or the one there is."""
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(one) for one in values if one is not None)


class Hit(msgspec.Struct, frozen=True):
    """What a rule found, before it is known whether the text that binds has it; ``line`` is one of the document's."""

    rule: str
    message: str
    line: int | None = None
    expected: str | None = None
    actual: str | None = None
    level: Severity | None = None


def lacking(
    rule: str, message: str, demands: Iterable[tuple[object, str]], *, last: str = "and", expected: str | None = None
) -> Iterator[Hit]:
    """A hit that names in its message (``{}``) what of the demands is not met; each is whether it is, and its words."""
    missing = dict.fromkeys(words for met, words in demands if not met)
    if missing:
        yield Hit(rule, message.format(enumerated(missing, last)), expected=expected)
