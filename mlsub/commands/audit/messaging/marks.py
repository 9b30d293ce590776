"""R19 and R20: the sign beside the name MLPerf, and what may not be made of the name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from mlsub.commands.audit.messaging.model import Hit
from mlsub.commands.audit.messaging.words import quote
from mlsub.commands.audit.quoting import Text

_SIGN = re.compile(r"\s?(™|®|\(TM\)|\(R\)|&trade;|&reg;)", re.I)
_PLAIN_SIGNS = {"&trade;": "™", "&reg;": "®"}
#: The name, or what was made of it, but not where it is part of an address or a path.
_NAME = re.compile(
    r"(?<![\w./@])(?:(?P<name>MLPerf|MLPERF)|(?P<other>(?i:ml[- ]?perf)))(?=s?\b|ed\b|ing\b)(?![./@]\w|_)"
)
_LEGEND = re.compile(r"\s+name and logo\b", re.I)
_POSSESSIVE = re.compile(r"['’]s\b")
_PLURAL = re.compile(r"(?i:s)\b")
_JOINED = re.compile(r"[-‐‑]\w")
#: Behind a noun stands the end of a clause, or a verb, or what joins clauses; behind an adjective its noun.
_NOUN = re.compile(
    r"\s*(?:$|[.,;:!?)\]])|\s+(?:also|now|has|have|is|was|are|were|will|can|may|shows?|showed|measures?|proves?|continu\w+|"
    r"provides?|offers?|remains?|and|or|but|on|in|for|to|with|by|first|at|as|from|which|that)\b",
    re.I,
)


class Occurrence(msgspec.Struct, frozen=True):
    """The name once in a text: its 1-based line, the sign behind it, what was made of it, what stands around."""

    line: int
    sign: str | None
    legend: bool
    altered: str | None
    noun: bool
    around: str


def occurrences(text: str) -> Iterator[Occurrence]:
    """Every use of the name in a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _NAME.finditer(line):
            sign = _SIGN.match(line, match.end())
            end = sign.end() if sign else match.end()
            before = line[max(0, match.start() - 4) : match.start()]
            altered = _altered(match, line, end, before)
            yield Occurrence(
                line=number,
                sign=_PLAIN_SIGNS.get(sign[1].lower(), sign[1].upper()) if sign else None,
                legend=bool(_LEGEND.match(line, end)),
                altered=altered,
                noun=altered is None and bool(_NOUN.match(f"{line[end:]} ")),
                around=_around(line, match.start(), end),
            )


def _around(line: str, start: int, end: int) -> str:
    """Some whole words on both sides."""
    left, right = line[max(0, start - 20) : start], line[end : end + 25]
    if start > 20:
        left = left.partition(" ")[2] if " " in left else left
    if len(line) > end + 25:
        right = right.rpartition(" ")[0] if " " in right else right
    return left + line[start:end] + right


def _altered(match: re.Match[str], line: str, end: int, before: str) -> str | None:
    if match["other"]:
        return "in another spelling"
    if _POSSESSIVE.match(line, end):
        return "in the possessive"
    if _PLURAL.match(line, end):
        return "in the plural"
    if line[end : end + 1].isalpha():
        return "as a verb"
    if _JOINED.match(line, end) or re.search(r"\w[-‐‑]$", before):
        return "with a hyphen"
    return None


def sign_hits(text: str, rules: Text) -> Iterator[Hit]:
    """R19: uses of the name without a sign that the text allows; the legend's own words go without."""
    uses = [use for use in occurrences(text) if not use.legend]
    bare = [use for use in uses if use.sign not in rules.symbols]
    if not bare:
        return
    yield Hit(
        "R19",
        f"{len(bare)} of {len(uses)} uses of the name lack {rules.symbol}; first {quote(bare[0].around)}",
        line=bare[0].line,
        expected=f"MLPerf{rules.symbol}",
    )


def alteration_hits(text: str) -> Iterator[Hit]:
    """R20: one finding for each way in which the name is altered or misused."""
    kinds: dict[str, list[Occurrence]] = {}
    for use in occurrences(text):
        if use.legend:
            continue
        if use.altered is not None:
            kinds.setdefault(use.altered, []).append(use)
        elif use.noun:
            kinds.setdefault("as a noun", []).append(use)
    for kind, uses in kinds.items():
        often = "once" if len(uses) == 1 else f"{len(uses)} times"
        yield Hit("R20", f"the name MLPerf is used {kind} {often}; first {quote(uses[0].around)}", line=uses[0].line)
