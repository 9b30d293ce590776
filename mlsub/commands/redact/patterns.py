"""What is private by its look: the tokens of tokens.yaml, and the forms of looks.yaml."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from mlsub.commands.redact.document import Kind, PrivateSpan
from mlsub.io.data import shipped
from mlsub.io.errors import MlsubError


class _Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of token: see tokens.yaml."""

    of: str
    prefixes: tuple[str, ...]
    shape: str
    source: str
    before: str = ""
    mixed: bool = False


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How something private looks in a line: see looks.yaml."""

    near: tuple[str, ...]
    pattern: str
    left: str | None = None
    way: int = 84
    kind: str | None = None


class _Looks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of looks.yaml."""

    looked_for: tuple[str, ...]
    alphabets: dict[str, str]
    parts: dict[str, str]
    forms: tuple[_Form, ...]
    checks: dict[str, str]
    before: dict[str, str]
    common: str


LOOKS = shipped(__file__, "looks.yaml", _Looks)
TOKENS = shipped(__file__, "tokens.yaml", tuple[_Token, ...])
#: In lower case, with one kind of line end.
_LOWER = bytes(10 if code == 13 else code + 32 if 65 <= code <= 90 else code for code in range(256))
#: The same with 0 for every digit, so that few words differ.
_SKETCH = bytes(48 if 49 <= code <= 57 else lower for code, lower in enumerate(_LOWER))


class Look(NamedTuple):
    """A compiled form: hints of which one has to be there, the pattern, and what stands how far before it.

    Tokens are searched for in the text as it is, the other forms in lower case. Without a kind the groups have theirs.
    """

    near: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    left: re.Pattern[bytes] | None = None
    way: int = 84
    kind: str | None = None
    as_written: bool = False


def shape(text: str) -> str:
    """Return the expression of a shape such as ``digit*8 - word*20-40``."""
    parts = []
    for part in text.split():
        alphabet, _, length = part.partition("*")
        least, _, most = length.partition("-")
        bounds = f"{{{least},{most}}}+" if most else f"{{{least}}}"
        parts.append(LOOKS.alphabets[alphabet] + bounds if length else re.escape(part))
    return "".join(parts)


def _token_look(token: _Token, prefix: str) -> Look:
    begin, near = re.escape(prefix), prefix.encode().translate(_SKETCH)
    bounded = begin if token.before else rf"{begin}(?<![\w-]{begin})"
    pattern = re.compile(rf"{bounded}{shape(token.shape)}(?![\w-])".encode())
    left = re.compile(rf"(?<![\w-]){shape(token.before)}\Z".encode()) if token.before else None
    return Look((near,), pattern, left, kind="random" if token.mixed else "token", as_written=True)


def _filled(pattern: str) -> re.Pattern[bytes]:
    """A pattern with its parts, which may have parts themselves."""
    for name, part in (*LOOKS.parts.items(), *LOOKS.parts.items()):
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern.encode())


@lru_cache(maxsize=1)
def all_looks() -> tuple[Look, ...]:
    """Return everything that is looked for."""
    looks = [_token_look(token, prefix) for token in TOKENS for prefix in token.prefixes]
    for form in LOOKS.forms:
        near, left = tuple(word.encode() for word in form.near), _filled(form.left) if form.left else None
        looks.append(Look(near, _filled(form.pattern), left, form.way, form.kind))
    return tuple(looks)


#: How far before four numbers it is looked for what says what they are.
_CONTEXT = 40


def likely(text: bytes) -> tuple[Look, ...]:
    """Return what may be found in a text, by one search for the words near it among the different words of the text."""
    words = b"\n".join(set(text.translate(_SKETCH).split()))
    there = {word: word in words for word in {word for look in all_looks() for word in look.near}}
    return tuple(look for look in all_looks() if any(there[word] for word in look.near))


def find(text: bytes, looks: Iterable[Look]) -> list[PrivateSpan]:
    """Return private things by their look, in no order; they may overlap.

    Args:
        text: whole lines, with NUL for what is replaced already; it begins with a line end.
        looks: what is looked for, of :func:`likely`.
    """
    lower = text.translate(_LOWER)
    found: list[PrivateSpan] = []
    for look in looks:
        of = text if look.as_written else lower
        kind = _KINDS[look.kind] if look.kind else None
        for match in look.pattern.finditer(of):
            start, end = match.span()
            left = None
            if look.left is not None:
                left = look.left.search(of, start - look.way if start > look.way else 0, start)
                if left is None:
                    continue
                start = left.start()
            if kind:
                found += kind(text, start, end)
                continue
            for one in (match, left) if left else (match,):
                for name, group in one.re.groupindex.items():
                    start, end = one.span(group)
                    if start >= 0:
                        found += _KINDS[name](text, start, end)
    return found


Spans = tuple[PrivateSpan, ...]


def _token(text: bytes, start: int, end: int) -> Spans:
    return (PrivateSpan(start, end, Kind.SECRET, text[start:end]),)


#: What a value is not, matched from its beginning, and what stands before one, searched for in a short text.
_CHECKS, _BEFORE = (
    {name: re.compile(pattern.encode()) for name, pattern in some.items()} for some in (LOOKS.checks, LOOKS.before)
)
_DIGIT, _LETTER = re.compile(rb"\d"), re.compile(rb"[A-Za-z]")


def _secret(text: bytes, start: int, end: int) -> Spans:
    return () if _CHECKS["no_secret"].match(text[start:end].lower()) else _token(text, start, end)


def _random(text: bytes, start: int, end: int) -> Spans:
    value = text[start:end]
    is_word = len(value) < 12 or not is_mixed(value) or _CHECKS["words"].match(value)
    return () if is_word else _secret(text, start, end)


def is_mixed(value: bytes) -> bool:
    """Return whether a text has a digit and a letter."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


_KEY_LINE = re.compile(rb"(?:\A|\n|\\n)" + LOOKS.parts["rank"].encode() + rb"([^\s\0\\][^\n\0\\]*)")


def _block(text: bytes, start: int, end: int) -> Spans:
    """The lines of a key, all of one placeholder."""
    block = text[start:end].replace(b"\r", b"\n")
    key = b"\n" + hashlib.sha256(block).digest()
    return tuple(
        PrivateSpan(start + line.start(1), start + line.start(1) + len(line[1].rstrip()), Kind.SECRET, key)
        for line in _KEY_LINE.finditer(block)
    )


@lru_cache(maxsize=1 << 14)
def _host_in(value: bytes, *, numbered: bool) -> bytes:
    """The name of a host, or of a list of them; empty where it is none."""
    name = value.rstrip(b".,-:[")
    lower = name.lower()
    none = (
        _CHECKS["not_hosts"].match(lower)
        or _CHECKS["public"].match(lower)
        or _CHECKS["four"].match(name)
        or (numbered and not is_mixed(name))
    )
    return b"" if none else name


def _host(text: bytes, start: int, end: int, *, numbered: bool = False) -> Spans:
    name = _host_in(text[start:end], numbered=numbered)
    return (PrivateSpan(start, start + len(name), Kind.HOST, host_key(name)),) if name else ()


def _numbered(text: bytes, start: int, end: int) -> Spans:
    return _host(text, start, end, numbered=True)


def host_key(name: bytes) -> bytes:
    """Return a host without its domain, so that both spellings get one placeholder; a list of hosts as it is."""
    return name if b"[" in name or b"," in name or b":" in name else name.partition(b".")[0]


def _user(text: bytes, start: int, end: int) -> Spans:
    name = text[start:end].rstrip(b".-")
    is_none = len(name) < 2 or _CHECKS["not_users"].match(name.lower())
    return () if is_none else (PrivateSpan(start, start + len(name), Kind.USER, name),)


def _path(text: bytes, start: int, end: int) -> Spans:
    """The home folder of a user: no address in the web, and not part of another word."""
    before = text[max(0, start - 80) : start].rpartition(b"\n")[2].rpartition(b" ")[2]
    value = text[start:end].rstrip(b".-+@")
    if before.endswith(b"/") or b"://" in before or (before[-1:].isalnum() and value[:6].lower() != b"/home/"):
        return ()
    is_none = _CHECKS["not_users"].match(user_of(value).lower())
    return () if is_none else (PrivateSpan(start, start + len(value), Kind.PATH, value),)


def user_of(path: bytes) -> bytes:
    """Return the user that a home folder is of; empty for another folder."""
    above, _, name = path.replace(b"\\", b"/").rpartition(b"/")
    return name if above.lower().endswith((b"/home", b"/users", b":/users", b"//users")) else b""


def _place(text: bytes, start: int, end: int) -> Spans:
    """A folder of a shared file system, unless its name is an everyday one."""
    before, value = text[start - 1 : start], text[start:end].rstrip(b".-+@")
    name = re.split(rb"/(?:scratch|work)\d*/", value)[-1].partition(b"/")[0]
    is_none = before.isalnum() or before in (b"/", b".", b"_", b"-") or name.lower() in _COMMON
    return () if is_none else (PrivateSpan(start, start + len(value), Kind.PATH, value),)


def _address(text: bytes, start: int, end: int) -> Spans:
    """Four numbers that are an address and no version, by their size and by what stands around them."""
    four = text[start:end]
    if not _names_machine(four) or text[start - 2 : start] in (b"==", b"!=", b"~=", b"<=", b">="):
        return ()
    if not (text[end : end + 1] in (b":", b"/", b"<") and text[end + 1 : end + 2].isdigit()):
        line = text[max(0, start - _CONTEXT) : start].replace(b"\r", b"\n").rpartition(b"\n")[2]
        before = line.rpartition(b"\0")[2].lower()
        large = sum(int(one) > 31 for one in four.split(b".")) > 2
        if _BEFORE["version"].search(before) or not (
            _CHECKS["own"].match(four) or large or _BEFORE["machine"].search(before)
        ):
            return ()
    return (PrivateSpan(start, end, Kind.ADDRESS, four),)


@lru_cache(maxsize=1 << 16)
def _names_machine(four: bytes) -> bool:
    return _CHECKS["address"].match(four) is not None


def _groups_of_hex(text: bytes, start: int, end: int) -> Spans:
    """An address of IPv6 or of a network card."""
    digits = text[start:end].replace(b":", b"")
    is_none = digits.isdigit() or not digits.strip(b"0") or not digits.strip(b"fF")
    return () if is_none else (PrivateSpan(start, end, Kind.ADDRESS, text[start:end]),)


def _email(text: bytes, start: int, end: int) -> Spans:
    value = text[start:end]
    if value.startswith(b"git@") or _BEFORE["credentials"].search(text, max(0, start - 84), start):
        return ()
    return (
        ()
        if _CHECKS["no_domain"].match(value.lower().partition(b"@")[2])
        else (PrivateSpan(start, end, Kind.EMAIL, value),)
    )


_KINDS = {
    **{"token": _token, "secret": _secret, "random": _random, "block": _block, "host": _host, "numbered": _numbered},
    **{"user": _user, "path": _path, "place": _place, "address": _address, "hex": _groups_of_hex, "email": _email},
}

#: Hosts that one list is taken apart into at most.
MAX_MEMBERS = 4096
_LIST_PART = re.compile(rb"(?<![\w.-])([\w.-]++)(?:\[([\d,-]{1,400})\])?(?::\d{1,5})?(?=,|\Z)")
_COMMON = frozenset(LOOKS.common.encode().split())


def learnable(kind: Kind, name: bytes) -> bool:
    """Return whether a name stands for its owner wherever it is a word of its own: not short, and no word of logs."""
    lower = name.lower()
    if (
        len(name) < 3
        or lower in _COMMON
        or name.isdigit()
        or not name[:1].isalnum()
        or _CHECKS["not_hosts"].match(lower)
    ):
        return False
    return len(name) >= 4 or (kind is Kind.HOST and is_mixed(name))


def members(hosts: bytes) -> list[bytes]:
    """Return the hosts of a list such as ``node[01-03,7],login1``, at most one more than a list may have."""
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


def literal(text: str) -> re.Pattern[bytes]:
    """Return a text to look for, in which ``*`` stands for up to 200 characters other than blanks.

    Raises:
        MlsubError: it is empty, has more than two stars, or nothing between or beside them.
    """
    parts = text.encode("utf-8", "surrogateescape").split(b"*")
    if not text.strip("* ") or len(parts) > 3 or any(one in text for one in "\n\r\0"):
        raise MlsubError(f"cannot look for {text!r}. Give plain text, with at most two * for what varies.")
    return re.compile(rb"[^\s\0]{0,200}".join(map(re.escape, parts)))
