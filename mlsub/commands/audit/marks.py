"""The name MLPerf in a document: its sign (R19), what was made of it (R20), and what is called by it (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from mlsub.commands.audit.quoting import Hit, Text, quote
from mlsub.findings import Severity

_SIGN = re.compile(r"\s?(™|®|\(TM\)|\(R\)|&trade;|&reg;)", re.I)
_PLAIN_SIGNS = {"&trade;": "™", "&reg;": "®"}
#: The name, or what was made of it, but not where it is part of an address or a path.
_NAME = re.compile(
    r"(?<![\w./@])(?:(?P<name>MLPerf|MLPERF)|(?P<other>(?i:ml[- ]?perf)))(?=s?\b|ed\b|ing\b)(?![./@]\w|_)"
)
_LEGEND = re.compile(r"\s+name and logo\b", re.I)
_LED = re.compile(r"\w[-‐‑]$")
#: What was made of the name, by what stands behind it, the first that fits.
_MISUSES = {
    "in the possessive": re.compile(r"['’]s\b"),
    "in the plural": re.compile(r"(?i:s)\b"),
    "as a verb": re.compile(r"[^\W\d_]"),
    "with a hyphen": re.compile(r"[-‐‑]\w"),
    # Behind a noun stands the end of a clause, or a verb, or what joins clauses; behind an adjective its noun.
    "as a noun": re.compile(
        r"\s*(?:$|[.,;:!?)\]])|\s+(?:also|now|has|have|is|was|are|were|will|can|may|shows?|showed|measures?|proves?|"
        r"continu\w+|provides?|offers?|remains?|and|or|but|on|in|for|to|with|by|first|at|as|from|which|that)\b",
        re.I,
    ),
}


class Occurrence(msgspec.Struct, frozen=True):
    """The name once in a text: its 1-based line, the sign behind it, how it is misused, what stands around."""

    line: int
    sign: str | None
    misuse: str | None
    around: str


def occurrences(text: str) -> Iterator[Occurrence]:
    """Yield every use of the name in a text, except in the words that attribute the trademark."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _NAME.finditer(line):
            sign = _SIGN.match(line, match.end())
            end = sign.end() if sign else match.end()
            if not _LEGEND.match(line, end):
                shown = _PLAIN_SIGNS.get(sign[1].lower(), sign[1].upper()) if sign else None
                yield Occurrence(number, shown, _misuse(match, line, end), _around(line, match.start(), end))


def _misuse(match: re.Match[str], line: str, end: int) -> str | None:
    if match["other"]:
        return "in another spelling"
    found = next((how for how, behind in _MISUSES.items() if behind.match(f"{line} ", end)), None)
    led = _LED.search(line[max(0, match.start() - 4) : match.start()])
    return "with a hyphen" if led and found in (None, "as a noun") else found


def _around(line: str, start: int, end: int) -> str:
    """Some whole words on both sides."""
    left, right = line[max(0, start - 20) : start], line[end : end + 25]
    if start > 20:
        left = left.partition(" ")[2] if " " in left else left
    if len(line) > end + 25:
        right = right.rpartition(" ")[0] if " " in right else right
    return left + line[start:end] + right


def sign_hits(text: str, rules: Text) -> Iterator[Hit]:
    """R19: uses of the name without a sign that the text allows; the legend's own words go without."""
    uses = list(occurrences(text))
    bare = [use for use in uses if use.sign not in rules.symbols]
    if bare:
        lack = f"{len(bare)} of {len(uses)} uses of the name lack {rules.symbol}; first {quote(bare[0].around)}"
        yield Hit("R19", lack, line=bare[0].line, expected=f"MLPerf{rules.symbol}")


def alteration_hits(text: str) -> Iterator[Hit]:
    """R20: one finding for each way in which the name is altered or misused."""
    kinds: dict[str, list[Occurrence]] = {}
    for use in occurrences(text):
        if use.misuse is not None:
            kinds.setdefault(use.misuse, []).append(use)
    for kind, uses in kinds.items():
        often = "once" if len(uses) == 1 else f"{len(uses)} times"
        yield Hit("R20", f"the name MLPerf is used {kind} {often}; first {quote(uses[0].around)}", line=uses[0].line)


def foreign_titles(text: str) -> Iterator[Hit]:
    """R10: a line that calls something MLPerf and not MLPerf at once, as do charts in the manner of MLPerf's."""
    for number, line in enumerate(text.splitlines(), 1):
        rest = re.sub(r"non[- ]mlperf", "", line, flags=re.I)
        if len(rest) < len(line) and "mlperf" in rest.lower():
            called = f"something that is not MLPerf is called MLPerf: {quote(line)}"
            yield Hit("R10", called, line=number, level=Severity.INFO)
