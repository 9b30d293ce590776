"""What the rules on quoting results look at: sentences, the results they rest on, documents; and what they find."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec

from mlsub.canon.spelling import flat
from mlsub.commands.audit.messaging.words import mentions
from mlsub.commands.audit.quoting import Text
from mlsub.commands.audit.written import Says
from mlsub.findings import Severity

#: The names under which a claims file may note a thing.
_ALSO = {
    "version": ("version", "round"),
    "category": ("category", "availability", "status"),
    "chips": ("chips", "chip_count", "accelerators"),
    "verified": ("verified", "reviewed"),
    "submitter": ("submitter", "organisation", "organization"),
}


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

    def noted(self, what: str) -> tuple[str, ...] | None:
        """What is noted of a thing, as texts: empty where it is noted as not said, None without a note."""
        name = next((name for name in names_of(what) if name in self.says), None)
        return None if name is None else texts(self.says[name])

    def states(self, what: str, values: Iterable[str]) -> bool:
        """Whether the sentence states every one of some values: disclosed, noted, or in its own words."""
        disclosed = {flat(name) for name in self.noted("discloses") or ()}
        if disclosed & {*names_of(what), what, f"{what}s"}:
            return True
        said = flat(" ".join((self.text, *(self.noted(what) or ()))))
        # A round is written with and without a v.
        return all(mentions(said, (value, value.removeprefix("v"), f"v{value}")) for value in values)


def names_of(what: str) -> tuple[str, ...]:
    """The names under which a claims file may note a thing."""
    return _ALSO.get(what, (what,))


def noted_as(what: str) -> str:
    """The word under which a claims file notes a thing: the one of its names that the format has."""
    return next(name for name in names_of(what) if name in Says.__struct_fields__)


def texts(value: Any) -> tuple[str, ...]:
    """A noted value as texts: a list's members, or the one there is."""
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(str(one) for one in values if one is not None)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, and the text of the rules that binds it.

    ``footnote`` is the one in its reach, None where none is at hand; ``neighbours`` are the others of its document.
    """

    message: Message
    text: Text
    footnote: str | None = None
    neighbours: tuple[Message, ...] = ()


class Hit(msgspec.Struct, frozen=True):
    """What a rule found, before it is known whether the text that binds has it; ``line`` is one of the document's."""

    rule: str
    message: str
    line: int | None = None
    expected: str | None = None
    actual: str | None = None
    level: Severity | None = None
