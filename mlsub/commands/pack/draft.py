"""Write a manifest: text with comments, for people to go on with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./+@=-]*")
#: What YAML reads as something other than text.
_SPECIAL = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan", "~"))


class DraftEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to be; paths as the manifest is to state them."""

    system: str
    benchmark: str
    runs: tuple[str, ...]
    division: str | None = None
    scaling: str | None = None
    implementation: str | None = None
    setup: str | None = None
    power: str | None = None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a manifest.

    ``systems`` are (name, file), ``code`` (benchmark, implementation, folder), ``files`` (source, place); ``notes``
    become comments at the top.
    """

    organisation: str
    usage: str
    round: str
    systems: tuple[tuple[str, str], ...]
    entries: tuple[DraftEntry, ...]
    code: tuple[tuple[str, str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def manifest_text(draft: Draft) -> str:
    """The manifest, ending in a line feed."""
    return "\n".join(_lines(draft)) + "\n"


def _lines(draft: Draft) -> Iterator[str]:
    yield "# What is submitted, for mlsub pack. Paths are relative to this file and may hold ${NAME:-default}."
    for note in draft.notes:
        yield f"# {' '.join(note.split())}"
    yield f"organisation: {scalar(draft.organisation)}"
    yield f"usage: {scalar(draft.usage)}"
    yield f'round: "{draft.round}"'
    yield from ("", "systems:")
    for name, file in draft.systems:
        yield f"  {scalar(name)}: {path(file)}"
    yield from ("", "entries:")
    for entry in draft.entries:
        yield from _entry(entry)
    if draft.code:
        yield from ("", "code:")
    for benchmark, implementation, folder in draft.code:
        yield from _mapping({"benchmark": benchmark, "implementation": implementation}, {"folder": folder})
    if draft.files:
        yield from ("", "files:")
    for source, place in draft.files:
        yield from _mapping({}, {"from": source}, {"to": place})


def _entry(entry: DraftEntry) -> Iterator[str]:
    words = {
        "system": entry.system,
        "scaling": entry.scaling,
        "benchmark": entry.benchmark,
        "division": entry.division,
        "implementation": entry.implementation,
    }
    paths = {"setup": entry.setup, "power": entry.power}
    yield from _mapping(words, paths)
    if len(entry.runs) == 1:
        yield f"    runs: {path(entry.runs[0])}"
        return
    yield "    runs:"
    for run in entry.runs:
        yield f"      - {path(run)}"


def _mapping(
    words: dict[str, str | None], paths: dict[str, str | None], last: dict[str, str] | None = None
) -> Iterator[str]:
    pairs = [f"{key}: {scalar(value)}" for key, value in words.items() if value is not None]
    pairs += [f"{key}: {path(value)}" for key, value in paths.items() if value is not None]
    pairs += [f"{key}: {scalar(value)}" for key, value in (last or {}).items()]
    for number, pair in enumerate(pairs):
        yield f"{'    ' if number else '  - '}{pair}"


def path(text: str) -> str:
    """A path that is to be taken as it is: its dollar signs begin no variable."""
    return scalar(text.replace("$", "$$"))


def scalar(text: str) -> str:
    """A text as YAML, in quotes where it needs them."""
    if _PLAIN.fullmatch(text) and text.lower() not in _SPECIAL:
        return text
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def listing(names: Sequence[str]) -> str:
    """Names for a sentence."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
