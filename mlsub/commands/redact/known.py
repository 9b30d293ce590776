"""Names and secrets that one line gives away, found wherever they stand: in time that does not depend on how many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from mlsub.commands.redact.document import Kind, PrivateSpan
from mlsub.commands.redact.patterns import is_mixed

#: Names looked for at most; the rest is replaced only where it gives itself away.
MAX_NAMES = 5000
#: Secrets that are looked for where nothing says that they are secret, and how long they are at least.
MAX_SECRETS, _DISTINCTIVE = 1000, 12
_WORD = re.compile(rb"[\w\x80-\xff]++")
_HOST_DOMAIN = re.compile(rb"(?:\.[A-Za-z][\w-]{0,62}){2,6}(?![\w-])")
#: The length of the word by which a secret is looked for.
_ANCHOR = 6
#: Up to so many words are searched for one after the other.
_FEW = 64


def anchor(secret: bytes) -> bytes:
    """Return the longest word of a secret that is one wherever it stands: long, of letters and digits; else nothing."""
    if len(secret) < _DISTINCTIVE or not is_mixed(secret) or len(secret.split()) != 1:
        return b""
    longest = max(_WORD.findall(secret), key=len)
    return longest if len(longest) >= _ANCHOR else b""


def _whole(word: bytes) -> re.Pattern[bytes]:
    """An expression for a word that is no part of another one; it begins with plain text, which is fast."""
    text = re.escape(word)
    return re.compile(text + rb"(?<![\w\x80-\xff]" + text + rb")(?![\w\x80-\xff])")


class Known:
    """What is looked for: names as whole words, hosts with their domain, and secrets anywhere."""

    def __init__(self, names: Mapping[bytes, Kind], secrets: Iterable[bytes]) -> None:
        self._names = dict(islice(names.items(), MAX_NAMES))
        self._secrets = {secret: anchor(secret) for secret in islice(secrets, MAX_SECRETS)}
        lengths: dict[bytes, set[int]] = {}
        for name in self._names:
            if first := _WORD.search(name):
                lengths.setdefault(first[0], set()).add(len(name) - first.start())
        #: By its first word, how long a name may be from there on, the longest first.
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}

    def find(self, text: bytes) -> Iterator[PrivateSpan]:
        """Yield names and secrets that are known."""
        words = self._words_in(text)
        for secret, word in self._secrets.items():
            if word in words:
                for match in re.finditer(re.escape(secret), text):
                    yield PrivateSpan(*match.span(), Kind.SECRET, secret)
        there = [word for word in self._lengths if word in words]
        expressions = map(_whole, there) if len(there) <= _FEW else [_WORD]
        for match in chain.from_iterable(re.finditer(expression, text) for expression in expressions):
            yield from self._name_at(text, match.start(), self._lengths.get(match[0], ()))

    def _words_in(self, text: bytes) -> bytes:
        """The different words of a text, where many are looked for: a search through them is shorter."""
        few = len(self._lengths) + len(self._secrets) <= _FEW
        return text if few else b"\n".join(set(_WORD.findall(text)))

    def _name_at(self, text: bytes, start: int, lengths: Iterable[int]) -> Iterator[PrivateSpan]:
        for length in lengths:
            name = text[start : start + length]
            kind = self._names.get(name)
            if kind is not None and not _WORD.match(text, start + length):
                domain = _HOST_DOMAIN.match(text, start + length) if kind is Kind.HOST else None
                yield PrivateSpan(start, domain.end() if domain else start + length, kind, name)
                return
