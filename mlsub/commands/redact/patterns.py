"""What is private by its look: the tokens of tokens.yaml and the forms of looks.yaml, each searched for where a word says that it may be there."""

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

    parts: dict[str, str]
    forms: tuple[_Form, ...]
    no_secret: str
    not_hosts: str
    public: str
    not_users: str
    common: str


_LOOKS = shipped(__file__, "looks.yaml", _Looks)
_TOKENS = shipped(__file__, "tokens.yaml", tuple[_Token, ...])
KINDS_OF_TOKENS = len(_TOKENS)
_ALPHABETS = {
    **{"digit": r"\d", "hex": "[0-9a-f]", "HEX": "[0-9A-F]", "upper": "[A-Z0-9]", "lower": "[a-z0-9]"},
    **{"letter": "[A-Za-z]", "alnum": "[A-Za-z0-9]", "word": r"[\w-]", "b64": "[A-Za-z0-9+/=]"},
}


class Look(NamedTuple):
    """A compiled form: hints of which one is there where it may be found, the pattern, and what stands how far before it.

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
        parts.append(_ALPHABETS[alphabet] + bounds if length else re.escape(part))
    return "".join(parts)


def _token_look(token: _Token, prefix: str) -> Look:
    begin, kind = re.escape(prefix), "random" if token.mixed else "token"
    bounded = begin if token.before else rf"{begin}(?<![\w-]{begin})"
    left = re.compile(rf"(?<![\w-]){shape(token.before)}\Z".encode()) if token.before else None
    near = prefix.lower().translate(dict.fromkeys(range(49, 58), "0"))
    pattern = re.compile(rf"{bounded}{shape(token.shape)}(?![\w-])".encode())
    return Look((near.encode(),), pattern, left, 84, kind, as_written=True)


def _form_look(form: _Form) -> Look:
    pattern, left = (None if one is None else _filled(one) for one in (form.pattern, form.left))
    assert pattern is not None  # noqa: S101
    return Look(tuple(word.encode() for word in form.near), pattern, left, form.way, form.kind)


def _filled(pattern: str) -> re.Pattern[bytes]:
    """A pattern with its parts, which may have parts themselves."""
    for _ in range(2):
        for name, part in _LOOKS.parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern.encode())


@lru_cache(maxsize=1)
def all_looks() -> tuple[Look, ...]:
    """Return everything that is looked for."""
    tokens = [_token_look(token, prefix) for token in _TOKENS for prefix in token.prefixes]
    return (*tokens, *map(_form_look, _LOOKS.forms))


#: In lower case, with one kind of line end.
_LOWER = bytes(10 if code == 13 else code + 32 if 65 <= code <= 90 else code for code in range(256))
#: The same with 0 for every digit, so that few words differ.
_SKETCH = bytes(48 if 49 <= code <= 57 else lower for code, lower in enumerate(_LOWER))
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


_NO_SECRET = re.compile(_LOOKS.no_secret.encode())
_DIGIT, _LETTER = re.compile(rb"\d"), re.compile(rb"[A-Za-z]")
#: A name made of words, such as gpt2-medium or a path.
_WORDS = re.compile(rb"[A-Za-z]*\d{0,3}(?:[_./:-][A-Za-z]*\d{0,4})+\Z")


def _secret(text: bytes, start: int, end: int) -> Spans:
    return () if _NO_SECRET.match(text[start:end].lower()) else _token(text, start, end)


def _random(text: bytes, start: int, end: int) -> Spans:
    value = text[start:end]
    is_word = len(value) < 12 or not is_mixed(value) or _WORDS.match(value)
    return () if is_word else _secret(text, start, end)


def is_mixed(value: bytes) -> bool:
    """Return whether a text has a digit and a letter."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


_KEY_LINE = re.compile(rb"(?:\A|\n|\\n)" + _LOOKS.parts["rank"].encode() + rb"([^\s\0\\][^\n\0\\]*)")


def _block(text: bytes, start: int, end: int) -> Spans:
    """The lines of a key, all of one placeholder."""
    block = text[start:end].replace(b"\r", b"\n")
    key = b"\n" + hashlib.sha256(block).digest()
    return tuple(
        PrivateSpan(start + line.start(1), start + line.start(1) + len(line[1].rstrip()), Kind.SECRET, key)
        for line in _KEY_LINE.finditer(block)
    )


_NOT_HOST, _PUBLIC = (re.compile(pattern.encode()) for pattern in (_LOOKS.not_hosts, _LOOKS.public))
_FOUR = re.compile(rb"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.])")


@lru_cache(maxsize=1 << 14)
def _host_in(value: bytes, *, numbered: bool) -> bytes:
    """The name of a host, or of a list of them; empty where it is none."""
    name = value.rstrip(b".,-:[")
    lower = name.lower()
    none = _NOT_HOST.match(lower) or _PUBLIC.match(lower) or _FOUR.match(name) or (numbered and not is_mixed(name))
    return b"" if none else name


def _host(text: bytes, start: int, end: int, *, numbered: bool = False) -> Spans:
    name = _host_in(text[start:end], numbered=numbered)
    return (PrivateSpan(start, start + len(name), Kind.HOST, host_key(name)),) if name else ()


def _numbered(text: bytes, start: int, end: int) -> Spans:
    return _host(text, start, end, numbered=True)


def host_key(name: bytes) -> bytes:
    """Return a host without its domain, so that both spellings get one placeholder; a list of hosts as it is."""
    return name if b"[" in name or b"," in name or b":" in name else name.partition(b".")[0]


_NOT_USER = re.compile(_LOOKS.not_users.encode())


def _user(text: bytes, start: int, end: int) -> Spans:
    name = text[start:end].rstrip(b".-")
    is_none = len(name) < 2 or _NOT_USER.match(name.lower())
    return () if is_none else (PrivateSpan(start, start + len(name), Kind.USER, name),)


def _path(text: bytes, start: int, end: int) -> Spans:
    """The home folder of a user: no address in the web, and not part of another word."""
    before = text[max(0, start - 80) : start].rpartition(b"\n")[2].rpartition(b" ")[2]
    value = text[start:end].rstrip(b".-+@")
    if before.endswith(b"/") or b"://" in before or (before[-1:].isalnum() and value[:6].lower() != b"/home/"):
        return ()
    is_none = _NOT_USER.match(user_of(value).lower())
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


#: Addresses that name no machine: loopback, "any", masks, multicast; those of networks of one's own.
_NOBODY = (b"127.", b"0.", b"255.", b"224.", b"239.")
_VALID = re.compile(rb"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|\Z)){4}")
_OWN = re.compile(rb"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.")
_VERSION = re.compile(
    rb"(?:version|release|driver|cuda|cu(?:dnn|blas|sparse|solver|rand|fft)|nccl|nvidia|rocm|lib|\bver|package|wheel|\bv|firmware"
    rb"|tensorrt|ofed|vbios|build|plugin|epoch|step|iter|section)[\w.+-]{0,16}[\"']?[\s:=(v]{0,6}[\"']?\Z"
)
_MACHINE = re.compile(
    rb"(?:from|to|at|on|via|hosts?|addr\w*|ips?|peer|server|client|node|endpoint|bind|inet|gateway|dns|ping|connect\w*|master\w*)"
    rb"[\s=:\"'\[(]{1,4}\Z"
)


def _address(text: bytes, start: int, end: int) -> Spans:
    """Four numbers that are an address and no version, by their size and by what stands around them."""
    four = text[start:end]
    if not _names_machine(four) or text[start - 2 : start] in (b"==", b"!=", b"~=", b"<=", b">="):
        return ()
    if not (text[end : end + 1] in (b":", b"/", b"<") and text[end + 1 : end + 2].isdigit()):
        line = text[max(0, start - _CONTEXT) : start].replace(b"\r", b"\n").rpartition(b"\n")[2]
        before = line.rpartition(b"\0")[2].lower()
        large = sum(int(one) > 31 for one in four.split(b".")) > 2
        if _VERSION.search(before) or not (_OWN.match(four) or large or _MACHINE.search(before)):
            return ()
    return (PrivateSpan(start, end, Kind.ADDRESS, four),)


@lru_cache(maxsize=1 << 16)
def _names_machine(four: bytes) -> bool:
    return _VALID.match(four) is not None and not four.startswith(_NOBODY)


def _groups_of_hex(text: bytes, start: int, end: int) -> Spans:
    """An address of IPv6 or of a network card."""
    digits = text[start:end].replace(b":", b"")
    is_none = digits.isdigit() or not digits.strip(b"0") or not digits.strip(b"fF")
    return () if is_none else (PrivateSpan(start, end, Kind.ADDRESS, text[start:end]),)


_NO_DOMAIN = re.compile(rb"@(?:.*\.)?v?\d+\.(?!(?:com|cn|net|org)\Z)")
_CREDENTIALS = re.compile(rb"://[^\s/:@]{1,80}:\Z")


def _email(text: bytes, start: int, end: int) -> Spans:
    value = text[start:end]
    if value.startswith(b"git@") or _CREDENTIALS.search(text, max(0, start - 84), start):
        return ()
    return () if _NO_DOMAIN.search(value.lower()) else (PrivateSpan(start, end, Kind.EMAIL, value),)


_KINDS = {
    **{"token": _token, "secret": _secret, "random": _random, "block": _block, "host": _host, "numbered": _numbered},
    **{"user": _user, "path": _path, "place": _place, "address": _address, "hex": _groups_of_hex, "email": _email},
}

#: Hosts that one list is taken apart into at most.
MAX_MEMBERS = 4096
_LIST_PART = re.compile(rb"(?<![\w.-])([\w.-]++)(?:\[([\d,-]{1,400})\])?(?::\d{1,5})?(?=,|\Z)")
_COMMON = frozenset(_LOOKS.common.encode().split())


def learnable(kind: Kind, name: bytes) -> bool:
    """Return whether a name stands for its owner wherever it is a word of its own: not short, and no word of logs."""
    lower = name.lower()
    if len(name) < 3 or lower in _COMMON or name.isdigit() or not name[:1].isalnum() or _NOT_HOST.match(lower):
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
