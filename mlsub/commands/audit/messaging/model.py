"""What the rules on quoting results look at: sentences, the results they rest on, documents; and what they find."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec

from mlsub.findings import Finding, Severity


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """A result that a sentence rests on, with what its package says of it; None is unknown.

    ``system`` is the folder's name, ``system_name`` the description's; ``chips`` counts accelerators; ``category`` is
    the availability category of the results table; ``verified`` says that MLCommons reviewed the result; ``power`` that
    it has a power measurement; ``notes`` is what the description says of an Open result; ``id`` is its MLPerf ID;
    ``fields`` are further fields of the description that a reader may want to know of, by name.
    """

    name: str
    usage: str = "training"
    round: str
    submitter: str | None = None
    system: str | None = None
    system_name: str | None = None
    benchmark: str | None = None
    division: str | None = None
    category: str | None = None
    chips: int | None = None
    verified: bool = True
    power: bool | None = None
    notes: str | None = None
    id: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


class Figure(msgspec.Struct, frozen=True):
    """A number from outside that a sentence rests on; ``kind`` as in the claims file: price, power, throughput, ...

    ``mlperf`` says that it is itself an MLPerf result, of which the logs are not at hand.
    """

    name: str
    kind: str = "other"
    unit: str | None = None
    mlperf: bool = False


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
    operands: tuple[Operand, ...] = ()
    scored: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    submitters: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    derived: bool = False
    says: dict[str, Any] = {}
    footnote: str | None = None
    untrue: str | None = None

    @property
    def parts(self) -> tuple[Message, ...]:
        """The sentence once for each comparison it makes."""
        return tuple(msgspec.structs.replace(self, scored=group, together=()) for group in self.together) or (self,)

    @property
    def compared(self) -> tuple[Operand, ...]:
        """The results whose scores it uses."""
        return tuple(operand for operand in self.operands if operand.name in self.scored)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence with what stands around it: the footnote in its reach, None where none is at hand, and neighbours."""

    message: Message
    footnote: str | None = None
    neighbours: tuple[Message, ...] = ()


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found, before it is known which text binds; ``line`` is one of the document's."""

    rule: str
    message: str
    line: int | None = None
    expected: str | None = None
    actual: str | None = None
    level: Severity | None = None


class Remark(msgspec.Struct, frozen=True):
    """A finding, and whose it is: a claim's (its id) or its document's (None)."""

    claim: str | None
    document: str
    finding: Finding


class Untold(msgspec.Struct, frozen=True):
    """What a rule could not look at, and how that is mended; ``claim`` is the claim's id, None for a document's."""

    rule: str
    reason: str
    claim: str | None = None
