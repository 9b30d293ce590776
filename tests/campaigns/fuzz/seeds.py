"""Documents as bytes, to begin with, and texts that some format takes for its own."""

from __future__ import annotations

from tests.campaigns.fuzz.provider import END

#: Markup of HTML, Markdown, spreadsheets and CI, characters that steer terminals, and what is no UTF-8.
MARKUP = (
    b"<script>alert(1)</script>",
    b"</script>",
    b"<!--",
    b"]]>",
    b'"><img src=x onerror=alert(1)>',
    b"' onmouseover='x",
    b"&lt;b&gt;",
    b"&#60;",
    b"javascript:alert(1)",
    b"[a](javascript:b)",
    b"<https://a.b>",
    b"| a | b |",
    b"\\|",
    b"```\n",
    b"# a",
    b"1. a",
    b"- a",
    b"    a",
    b"\n\n",
    b"\n::error file=a::b",
    b"%0A::warning::x",
    b"##[error]x",
    b"=1+1",
    b"@SUM(A1)",
    b"+1",
    "＝1".encode(),
    b'","',
    b"\r\n",
    b"_x0041_",
    b"\x1b[2J",
    b"\x1b]8;;http://a\x07",
    b"\xc2\x9b31m",
    "\u202e".encode(),
    "\u2066\u2069".encode(),
    "\u200b\u200d\ufeff".encode(),
    "\u2028".encode(),
    "e\u0301".encode(),
    "漢字".encode(),
    b"\xfe",
    b"\xed\xa0\x80",
    b"\x00",
    b"word " * 30,
    b"w" * 90,
    END,
)


def _document(*blocks: bytes) -> bytes:
    return b"title" + END + b"".join(blocks)


def texts(*some: bytes) -> bytes:
    return b"".join(text + END for text in some)


_TEXT = b"\0\2" + texts(b"a paragraph")
_ITEMS = b"\1\1\2" + texts(b"one") + b"\1\7" + texts(b"two")
_FACTS = (
    b"\2\1"
    + texts(b"name")
    + b"\1\2"
    + texts(b"value")
    + texts(b"other")
    + b"\0\1\2"
    + texts(b"x")
    + b"\2"
    + texts(b"y")
)
_CODE = b"\3" + texts(b"mlsub check\n  two")
_TABLE = b"\4\1\1" + texts(b"a") + b"\2" + texts(b"b") + b"\1" + b"\1\2" + texts(b"c") + b"\1\1\7" + texts(b"d") + b"\0"
_FINDING = (
    b"\0\1\1\1" + texts(b"8", b"4", b"fix it", b"result_0.txt") + b"\7" + texts(b"seed is missing", b"closed.yaml")
)
_FINDINGS = b"\5\0" + _FINDING + b"\0\1"
_TALLY = b"\6\1\2\1\1\3\4" + texts(b"2 claims")
_SECTION = b"\7\1" + _TEXT + b"\1\1\1\2" + texts(b"section")
#: Each block alone, then all of them.
DOCUMENTS = (
    *(_document(block) for block in (_TEXT, _ITEMS, _FACTS, _CODE, _TABLE, _FINDINGS, _TALLY, _SECTION)),
    _document(_TEXT, _ITEMS, _FACTS, _CODE, _TABLE, _FINDINGS, _TALLY, _SECTION),
)
FINDINGS = (_FINDING, _FINDING * 3)
