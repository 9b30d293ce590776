"""Documents of any shape with any text, from the bytes of an input; the same shape again with harmless text."""

from __future__ import annotations

from collections.abc import Callable

from mlsub.findings import Blocks, Finding, Kind, Severity, Suppression
from mlsub.present.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Findings,
    Items,
    Lines,
    Section,
    Share,
    Span,
    Table,
    Tally,
    Text,
    Words,
)
from tests.campaigns.fuzz.provider import Provider

#: What becomes of each text on its way into the document.
Change = Callable[[str], str]
#: Places are grouped by numbers and folders, so these have to be the same whatever the text.
NO_DIGITS = str.maketrans("0123456789{},", "abcdefghijklm")
_LETTERS = str.maketrans("01", "yz")
#: What was found has a row of its own from this length on, or where it has one of these in it.
_LONG, _ENCLOSING = 31, frozenset(",()")
_MEANINGS = ("plain", "strong", "good", "bad", "note", "number", "path", "code", "name")
_RULES = ("key.seed.count", "package.log-file", "acme.own-rule")
_LINKS = ("", "", "https://example.org/a_b", "javascript:alert(1)", 'https://a.b/"><b>', "https://a.b/)[x](", "//a.b")
_ANCHORS = (None, "a-1", '"><b>', "a b")
_KINDS = ("", "fails", 'a"]', "</style>")


def same(text: str) -> str:
    return text


class Harmless:
    """Gives each text another one of the same shape: the same text the same, nothing nothing, blanks blanks.

    Whether what was found stands behind its place depends on its length, and on brackets and commas, so these stay.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if not text.strip():
            return text
        if text not in self._known:
            word = "x" + f"{len(self._known):b}".translate(_LETTERS)
            word += "w" * (_LONG - len(word)) if len(text) >= _LONG else ""
            self._known[text] = word + (")" if _ENCLOSING & set(text) else "")
        return self._known[text]


class Maker:
    """Makes parts of a document of the bytes of an input."""

    def __init__(self, data: bytes, change: Change = same) -> None:
        self._said = Provider(data)
        self._change = change

    def document(self) -> Document:
        title = self._text()
        blocks = []
        while self._said.left > 1 and len(blocks) < 12:
            blocks.append(self._block(0))
        return Document(title, tuple(blocks), bare=bool(self._said.below(2)))

    def findings(self) -> tuple[Finding, ...]:
        """Findings until the bytes end."""
        found = []
        while self._said.left > 1 and len(found) < 12:
            found.append(self._finding())
        return tuple(found)

    def rows(self, width: int) -> list[list[str | int | float | None]]:
        """Rows of cells: texts, numbers, and nothing."""
        found = []
        while self._said.left > 1 and len(found) < 12:
            found.append([self._value() for _ in range(width)])
        return found

    def _value(self) -> str | int | float | None:
        how = self._said.byte()
        numbers = (0, -1, 10**15, 0.1, -0.0, 1e308, float("inf"), float("nan"))
        return self._text() if how & 3 else (None, *numbers)[how // 4 % 9]

    def _text(self) -> str:
        return self._change(self._said.text())

    def _span(self) -> Span:
        how = self._said.byte()
        link = self._said.one_of(_LINKS) if how & 128 else ""
        return Span(self._text(), _MEANINGS[how % len(_MEANINGS)], link)

    def _words(self) -> Words:
        match self._said.below(4):
            case 0:
                return tuple(self._span() for _ in range(1 + self._said.below(3)))
            case 1:
                return self._span()
        return self._text()

    def _cell(self) -> Cell:
        if self._said.below(4) == 0:
            return Lines(tuple(self._words() for _ in range(1 + self._said.below(3))))
        return self._words()

    def _block(self, depth: int) -> Block:
        match self._said.below(9 if depth < 4 else 7):
            case 0:
                return Text(self._words())
            case 1:
                return Items(tuple(self._words() for _ in range(1 + self._said.below(3))))
            case 2:
                return Facts(tuple((self._text(), self._cell()) for _ in range(1 + self._said.below(3))))
            case 3:
                return Code(self._text())
            case 4:
                return self._table()
            case 5:
                found = tuple(self._finding() for _ in range(1 + self._said.below(3)))
                return Findings(found, self._text() if self._said.below(2) else None, bool(self._said.below(2)))
            case 6:
                shares = tuple(Share(self._said.one_of(_KINDS), self._said.byte(), self._said.below(10)) for _ in "ab")
                return Tally(self._text(), shares)
        inner = tuple(self._block(depth + 1) for _ in range(self._said.below(3)))
        meaning = _MEANINGS[self._said.below(5)]
        anchor, kind = self._said.one_of(_ANCHORS), self._said.one_of(_KINDS)
        return Section(self._words(), inner, meaning, anchor, kind)

    def _table(self) -> Table:
        columns = tuple(
            Column(self._text(), not how % 3, ("fold", "shorten", "keep")[how % 5 % 3], how % 4 % 3)
            for how in (self._said.byte() for _ in range(1 + self._said.below(5)))
        )
        rows = tuple(tuple(self._cell() for _ in columns) for _ in range(self._said.below(4)))
        return Table(columns, rows, self._said.below(len(columns)))

    def _finding(self) -> Finding:
        how = self._said.byte()
        kind, severity = list(Kind)[how % 3], list(Severity)[how // 3 % 3]
        optional = [self._text() if self._said.below(3) else None for _ in range(3)]
        suppressed = None
        if how & 192 == 192:
            suppressed = Suppression(by=("waiver", "baseline")[how % 2], reason=self._text(), source=self._text())
        return Finding(
            rule=_RULES[how // 9 % len(_RULES)],
            severity=severity,
            kind=kind,
            blocks=Blocks.BOTH,
            path="/".join(map(self._change, self._said.text().translate(NO_DIGITS).split("/"))),
            line=self._said.byte() or None,
            message=self._text() or "m",
            expected=optional[0],
            actual=optional[1],
            fix=optional[2],
            source=self._text() or "s",
            suppressed=suppressed,
        )
