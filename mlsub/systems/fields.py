"""The fields of a system description: what a meaningful value of each looks like, and what they say.

Patterns have ``[0-9]`` and not the class of digits, which Python takes for those of every script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from typing import Annotated, Any, Literal

import msgspec

from mlsub.findings import Says
from mlsub.io.data import convert, shipped
from mlsub.io.show import shortened, show
from mlsub.rounds import Statuses


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One required field; what its parts mean stands in fields.yaml."""

    title: str
    about: str
    example: str
    text: bool = False
    may_be_empty: bool = False
    kind: Literal["count", "capacity", "clock"] | None = None
    least: int = 0
    must: bool = False
    suggest: tuple[str, ...] = ()


class Fields(msgspec.Struct, frozen=True, dict=True):
    """Which fields a description must have, and how."""

    fields: dict[str, Field]
    placeholders: tuple[str, ...]
    not_applicable: tuple[str, ...]

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Every field that must be there, in the official order."""
        return tuple(self.fields)

    @cached_property
    def text(self) -> tuple[str, ...]:
        """Those that must be text."""
        return tuple(name for name, field in self.fields.items() if field.text)


@cache
def fields() -> Fields:
    """Return the table of fields."""
    return shipped(__file__, "fields.yaml", Fields)


_NUMBER = r"[0-9]"
_PATTERNS = {
    "capacity": _NUMBER + r" *([KkMmGgTtPp][Ii]?[Bb]?|[A-Za-z]{0,5}[Bb]ytes?)([^A-Za-z]|$)",
    "clock": _NUMBER + r" *[KkMmGg][Hh][Zz]",
}
_WORDS = {
    "capacity": "a number with a unit of bytes, such as",
    "clock": "a clock with its unit, such as",
}


def insensitive(text: str) -> str:
    """Return a pattern for a text in whatever case; blanks and punctuation stand for themselves."""
    parts = []
    for char in text:
        if char.isascii() and char.isalpha():
            parts.append(f"[{char.upper()}{char.lower()}]")
        else:
            parts.append(char if char.isalnum() or char in " -,/" else f"[{char}]")
    return "".join(parts)


_BLANKS = r"[ \t\r\n]*"
#: What mlsub redact puts in the place of private texts.
_REDACTED = r"<([a-z]+-[0-9]+|env)>"
#: Longer texts are no placeholders.
_LONGEST_PLACEHOLDER = 200


def is_empty(value: Any) -> bool:
    """Return whether a value says nothing at all."""
    return value is None or (isinstance(value, str) and not value.strip(" \t\r\n"))


@lru_cache(maxsize=1)
def _placeholder_pattern() -> re.Pattern[str]:
    """Return a pattern for a text that stands for an answer nobody gave; what mlsub redact writes is an answer."""
    words, nothing = ("|".join(map(insensitive, each)) for each in (fields().placeholders, fields().not_applicable))
    word = rf"[\(\[]?({words})[\)\].]{{0,2}}{_BLANKS}(:|$)"
    # An address, a figure, or that there is nothing: an answer that somebody put in brackets.
    answer = rf"{_BLANKS}([0-9]|({nothing}){_BLANKS}>)"
    bracketed = rf"(?!{_REDACTED})<(?!{answer})[^<>@]*>"
    named = rf"([^<> \t\r\n][^<>]*)?[_-]{insensitive('placeholder')}"
    return re.compile(f"^{_BLANKS}({word}|({bracketed}|{named}){_BLANKS}$)")


def is_placeholder(value: Any) -> bool:
    """Return whether a value stands for an answer nobody gave."""
    return isinstance(value, str) and len(value) <= _LONGEST_PLACEHOLDER and _says_nothing(value)


@lru_cache(maxsize=4096)
def _says_nothing(text: str) -> bool:
    """Search a text: the logs of a package say the same again and again."""
    return _placeholder_pattern().search(text) is not None


def placeholders_in(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the placeholders at whatever depth: of each the field, and its place with dots between names."""
    for field, whole in content.items():
        inside: list[tuple[str, Iterator[tuple[Any, Any]]]] = [("", iter([(field, whole)]))]
        while inside:
            above, rest = inside[-1]
            for name, value in rest:
                if isinstance(value, dict | list):
                    below = iter(value.items() if isinstance(value, dict) else enumerate(value))
                    inside.append((f"{above}{str(name)[:60]}."[:200], below))
                    break
                if is_placeholder(value):
                    yield field, f"{above}{str(name)[:60]}"
            else:
                inside.pop()


def is_not_applicable(value: Any) -> bool:
    """Return whether a value says plainly that there is nothing, or that it is not known."""
    return isinstance(value, str) and value.strip().lower() in fields().not_applicable


@lru_cache(maxsize=64)
def pattern_of(field: Field) -> str | None:
    """Return what the text of a field must match to mean something; None where anything does."""
    if field.kind is None:
        return None
    pattern = _PATTERNS.get(field.kind, r"^ *0*[1-9][0-9]* *$" if field.least else r"^ *[0-9]+ *$")
    if field.kind == "count" and field.must:
        return pattern
    nothing = "|".join(map(insensitive, fields().not_applicable))
    return f"{pattern}|^{_BLANKS}({nothing}){_BLANKS}$"


def expected_of(field: Field) -> str:
    """Return the same in words."""
    if field.kind != "count":
        return f"{_WORDS[field.kind or 'capacity']} {field.example}"
    return f"a whole number of at least {field.least}" if field.least else "a whole number"


def required_answer(name: str, content: dict[str, Any]) -> str | None:
    """Return what a field has to say even where there is nothing to say elsewhere; None where "N/A" is an answer."""
    if name == "accelerator_model_name":
        number = content.get("accelerators_per_node")
        return None if number in ("0", 0) or is_not_applicable(number) else "the model, as there are accelerators"
    if name in _REQUIRED_ANSWERS:
        return _REQUIRED_ANSWERS[name]
    field = fields().fields.get(name)
    return expected_of(field) if field is not None and field.must else None


#: Fields that decide what a result counts for.
_REQUIRED_ANSWERS = {
    "submitter": "the name of the organisation",
    "division": "closed or open",
    "status": "Available on-premise, Available cloud, Preview, or Research, Development, or Internal (RDI)",
}


def is_meaningful(field: Field, value: Any) -> bool:
    """Return whether a value is one of the field's kind.

    Empty texts and placeholders have findings of their own and are meaningful here, as are lists and objects, which may
    say more than a text can; where a field must be text, a number is the official checker's business.
    """
    if isinstance(value, str):
        pattern = pattern_of(field)
        is_gap = is_empty(value) or is_placeholder(value)
        return pattern is None or is_gap or re.search(pattern, value[:2000]) is not None
    if field.text or field.kind != "count" or value is None or isinstance(value, list | dict):
        return True
    if isinstance(value, float):
        return value.is_integer() and value >= field.least
    return isinstance(value, int) and not isinstance(value, bool) and value >= field.least


# ---- What a description says

#: Characters kept of a field; published ones stay below 250.
MAX_TEXT = 2000
#: Counts of nodes, processors and accelerators are smaller, and a product of two fits 64 bits.
MAX_COUNT = 999_999_999
_COUNT = re.compile(r"(\d{1,9})(?:\.0{1,9})?", re.ASCII)
_LONGEST_COUNT = 40
_COUNTS = frozenset(("number_of_nodes", "host_processors_per_node", "accelerators_per_node"))


Text = Annotated[str | None, Says("As written; what is longer ends in an ellipsis.", maxLength=MAX_TEXT)]
Number = Annotated[int | None, Says("A whole number, also where it is written as text.", minimum=0, maximum=MAX_COUNT)]


class SystemFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a system description says of its system, as far as the results table needs it.

    Texts are as written, but bounded; None where the field is missing or null. Numbers are None where the field holds
    no whole number below 10^9.
    """

    submitter: Text = None
    status: Text = None
    system_name: Text = None
    number_of_nodes: Number = None
    host_processor_model_name: Text = None
    host_processors_per_node: Number = None
    accelerator_model_name: Text = None
    accelerators_per_node: Number = None
    framework: Text = None
    hw_notes: Text = None
    sw_notes: Text = None


def facts_of(content: Mapping[str, Any] | None) -> SystemFacts | None:
    """Return the facts of a description's content, None without any; a field of the wrong kind never raises."""
    if content is None:
        return None
    names = SystemFacts.__struct_fields__
    known = {name: (count if name in _COUNTS else shorten_text)(content.get(name)) for name in names}
    return convert(known, SystemFacts)


def shorten_text(value: Any) -> str | None:
    """Return a value as text of at most ``MAX_TEXT`` characters: text as it is, else as JSON has it; None for null."""
    if value is None:
        return None
    return shortened(value, MAX_TEXT) if isinstance(value, str) else show(value, MAX_TEXT)


def count(value: Any) -> int | None:
    """Return a whole number from 0 to ``MAX_COUNT``, written as a number, ``8.0`` or text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if 0 <= value <= MAX_COUNT and value == int(value) else None
    if isinstance(value, str) and len(value) <= _LONGEST_COUNT and (match := _COUNT.fullmatch(value.strip())):
        return int(match[1])
    return None


#: No status is longer; what is cut off could make no difference.
_LONGEST = 80


@lru_cache(maxsize=1)
def aliases() -> dict[str, str]:
    """Return each known spelling, in lower case, and its category."""
    table = shipped(__file__, "availability.yaml", dict[str, dict[str, list[str]]])
    return {
        alias: category for category, groups in table.items() for spellings in groups.values() for alias in spellings
    }


def category(status: str) -> str | None:
    """Return the category of a status, None where it is unknown; case and the number of blanks never count."""
    return aliases().get(_plain(status)) if len(status) <= _LONGEST else None


def status_spelling(status: str, statuses: Statuses) -> str | None:
    """Return the spelling that the round wants of a known status; None where it is right, or unknown."""
    if statuses.allow(status):
        return None
    meant = category(status) or ""
    names = [name for name in statuses.one_of if category(name) == meant]
    return next((name for name in names if name.lower() == meant.lower()), next(iter(names), None))


def show_status(status: str) -> str:
    """Return what the table shows: the category, or the status as written, marked as unknown."""
    return category(status) or f"{status} (unknown)"


def close_category(status: str) -> str | None:
    """Return the category that an unknown status may mean; None without a guess."""
    close = get_close_matches(_plain(status[:_LONGEST]), aliases(), n=1)
    return aliases()[close[0]] if close else None


def _plain(status: str) -> str:
    return " ".join(status.lower().split())
