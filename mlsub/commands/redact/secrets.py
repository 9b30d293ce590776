"""Secrets by their look: keys and tokens of well-known form, and what is assigned to names that say so.

Every pattern begins with plain text, which is searched for at memory speed; what must stand before it is looked at
afterwards. Nothing looks farther than a bounded way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.redact.model import Kind, Span, looks

#: No token begins or ends within a word; where it begins is looked at behind its plain text.
_TOKENS = tuple(
    re.compile(rf"{begin}(?<![\w-]{begin}){rest}(?![\w-])".encode()) for begin, rest in looks().tokens.items()
)
_VALUE = rb"[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?([^\s\"',;&<$*(][^\s\"',;&<]{7,4000})"
#: Searched for in lower case, as are the next two.
_NAMES = looks().patterns("secret_names", after=_VALUE)
_NAMED_TOKEN = re.compile(rb"_token" + _VALUE)
_TOKEN_OWNER = re.compile(rb"[A-Z_]_\Z|(?:access|auth|api|hub|bearer|refresh|id|github|hf)_\Z")
_AUTHORIZATION = re.compile(
    rb"authorization[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?(?:bearer |basic |token )?([^\s\"',<]{8,4000})"
)
_IN_URL = re.compile(rb"://[^\s/:@<>]{1,80}:([^\s/@<>]{1,200})@")
_NO_SECRET = re.compile(rb"(?:none|null|true|false|optional|str)\b|[\d.]+\Z|/|\[|\{", re.IGNORECASE)


def find_secrets(text: bytes, lower: bytes) -> Iterator[Span]:
    """Secrets in a text; ``lower`` is the same text in lower case."""
    for token in _TOKENS:
        for match in token.finditer(text):
            yield Span(*match.span(), Kind.SECRET, match[0])
    for name in _NAMES:
        for match in name.finditer(lower):
            yield from _named(text, *match.span(1))
    for match in _NAMED_TOKEN.finditer(lower):
        if _TOKEN_OWNER.search(text, max(0, match.start() - 8), match.start() + 1):
            yield from _named(text, *match.span(1))
    for match in _AUTHORIZATION.finditer(lower):
        yield from _named(text, *match.span(1))
    for match in _IN_URL.finditer(text):
        yield Span(*match.span(1), Kind.SECRET, match[1])


def _named(text: bytes, start: int, end: int) -> Iterator[Span]:
    if not _NO_SECRET.match(text, start, end):
        yield Span(start, end, Kind.SECRET, text[start:end])
