"""Names that are known, learned from where they give themselves away or given by the caller, found as whole words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mlsub.commands.redact.document import Kind, PrivateSpan, looks

#: Names learned at most; the rest is replaced only where it gives itself away.
MAX_NAMES = 5000
#: Secrets that are looked for where nothing says that they are secret, and how long they are at least.
MAX_SECRETS, _DISTINCTIVE = 1000, 12
#: Hosts that one list is taken apart into at most.
MAX_MEMBERS = 4096
_DIGIT, _LETTER = re.compile(rb"\d"), re.compile(rb"[A-Za-z]")
_LIST_PART = re.compile(rb"(?<![\w.-])([\w.-]++)(?:\[([\d,-]{1,400})\])?(?=,|\Z)")
_COMMON = frozenset(looks().common.encode().split())


def learnable(kind: Kind, name: bytes) -> bool:
    """Whether a name stands for its owner wherever it is a word of its own."""
    if len(name) < 3 or name.lower() in _COMMON or name.isdigit() or not name[:1].isalnum():
        return False
    return len(name) >= 4 or (kind is Kind.HOST and any(48 <= c <= 57 for c in name))


def members(hosts: bytes) -> list[bytes]:
    """The hosts of a list such as ``node[01-03,7],login1``; of one that is too long, one more than it may have."""
    found: list[bytes] = []
    for prefix, ranges in _LIST_PART.findall(hosts):
        for suffix in _suffixes(ranges) if ranges else (b"",):
            found.append(prefix.partition(b".")[0] + suffix)
            if len(found) > MAX_MEMBERS:
                return found
    return found


def _suffixes(ranges: bytes) -> Iterator[bytes]:
    for part in ranges.split(b","):
        first, dash, last = part.partition(b"-")
        if not first.isdigit() or len(first) > 9:
            continue
        stop = int(last) if dash and last.isdigit() and len(last) <= 9 else int(first)
        for number in range(int(first), min(stop, int(first) + MAX_MEMBERS) + 1):
            yield b"%0*d" % (len(first), number)


class Names:
    """Known names, found as whole words: hosts with their domain, where it has two parts or more."""

    def __init__(self, known: dict[bytes, Kind]) -> None:
        #: How many names there are, those included that are too many.
        self.given = len(known)
        self._known = dict(list(known.items())[:MAX_NAMES])
        stems = sorted(
            {name.rstrip(b"0123456789") or name for name in self._known}, key=lambda stem: (-len(stem), stem)
        )
        self._stems = tuple(stems)
        each = b"|".join(re.escape(stem) for stem in stems)
        self._words = re.compile(rb"(?:" + each + rb")\d*(?!\w)") if stems else None

    def find(self, text: bytes) -> Iterator[PrivateSpan]:
        """Where they stand in a text."""
        if self._words is None or not any(stem in text for stem in self._stems):
            return
        for match in self._words.finditer(text):
            kind = self._known.get(match[0])
            before = text[max(0, match.start() - 1) : match.start()]
            if kind is None or before.isalnum() or before == b"_":
                continue
            end = match.end()
            if kind is Kind.HOST:
                domain = _DOMAIN.match(text, end)
                end = domain.end() if domain else end
            yield PrivateSpan(match.start(), end, kind, match[0])


def is_distinctive(secret: bytes) -> bool:
    """Whether a secret is one wherever it stands: a long text of letters and digits, and not a word."""
    return len(secret) >= _DISTINCTIVE and _DIGIT.search(secret) is not None and _LETTER.search(secret) is not None


class Secrets:
    """Secrets that were found, wherever they stand."""

    def __init__(self, known: Iterable[bytes]) -> None:
        secrets = list(known)
        #: How many secrets there are, those included that are too many.
        self.given = len(secrets)
        longest_first = sorted(secrets[:MAX_SECRETS], key=lambda secret: (-len(secret), secret))
        self._any = re.compile(b"|".join(map(re.escape, longest_first))) if secrets else None

    def find(self, text: bytes) -> Iterator[PrivateSpan]:
        """Where they stand in a text."""
        if self._any is not None:
            for match in self._any.finditer(text):
                yield PrivateSpan(*match.span(), Kind.SECRET, match[0])


_DOMAIN = re.compile(rb"(?:\.[A-Za-z][\w-]{0,62}){2,6}(?![\w-])")


def literal(text: str) -> re.Pattern[bytes]:
    """A text to look for, in which ``*`` stands for up to 200 characters other than blanks.

    Raises:
        ValueError: it is empty, has more than two stars, or nothing between or beside them.
    """
    parts = text.encode("utf-8", "surrogateescape").split(b"*")
    if not text.strip("* ") or len(parts) > 3 or "\n" in text or "\r" in text:
        raise ValueError(f"cannot look for {text!r}. Give plain text, with at most two * for what varies.")
    return re.compile(rb"[^\s]{0,200}".join(map(re.escape, parts)))


def spans_of(patterns: Iterable[re.Pattern[bytes]], text: bytes) -> Iterator[PrivateSpan]:
    """Where the caller's own texts stand."""
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield PrivateSpan(*match.span(), Kind.TEXT, match[0])
