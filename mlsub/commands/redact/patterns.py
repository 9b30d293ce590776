"""What is private by its form: names that own something, paths, addresses and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.redact.document import Kind, PrivateSpan, looks

_THREE = re.compile(rb"\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w+-])(?!\.\d)")
_FIRST = re.compile(rb"(?<![\w.+<>~-])\d{1,3}\Z")
_GROUPS = re.compile(rb":[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:")
_SHORT = re.compile(rb"::[0-9A-Fa-f]{0,4}(?!\w)")
_IP6 = re.compile(
    rb"(?<![\w:.])(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    rb"|(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9A-Fa-f]{1,4}){0,6}::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?)"
    rb"(?![\w:])"
)
_VERSION = re.compile(
    rb"version|release|driver|cuda|cudnn|cublas|cusparse|cusolver|curand|cufft|nccl|nvidia|rocm|lib|\bver\b|package|wheel",
    re.IGNORECASE,
)
#: Addresses that name no machine: loopback, "any", masks, multicast.
_NOBODY = (b"127.", b"0.", b"255.", b"224.", b"239.")


def find_addresses(text: bytes) -> Iterator[PrivateSpan]:
    """IPv4 and IPv6 addresses in a text."""
    for match in _THREE.finditer(text):
        first = _FIRST.search(text, max(0, match.start() - 4), match.start())
        if first and _is_address(text, first.start(), match.end()):
            yield PrivateSpan(first.start(), match.end(), Kind.ADDRESS, text[first.start() : match.end()])
    seen = -1
    for hint in (_GROUPS, _SHORT):
        for match in hint.finditer(text):
            found = _IP6.search(text, max(0, match.start() - 34), match.end() + 40)
            if found and found.start() <= match.start() and found.start() != seen:
                seen = found.start()
                yield PrivateSpan(*found.span(), Kind.ADDRESS, found[0])


def is_address(text: bytes) -> bool:
    """Whether a text begins with four numbers as an address does."""
    return re.match(rb"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.])", text) is not None


def _is_address(text: bytes, start: int, end: int) -> bool:
    """Whether four numbers are an address and no version: by their size and by what stands around them."""
    four = text[start:end]
    if four.startswith(_NOBODY):
        return False
    if any(int(part) > 255 or (len(part) > 1 and part[:1] == b"0") for part in four.split(b".")):
        return False
    if text[start - 2 : start] in (b"==", b"!=", b"~=", b"<=", b">="):
        return False
    if text[end : end + 1] in (b":", b"/") and text[end + 1 : end + 2].isdigit():
        return True
    line = max(text.rfind(b"\n", 0, start), text.rfind(b"\r", 0, start)) + 1
    return _VERSION.search(text, max(line, start - 48), start) is None


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


def find_secrets(text: bytes, lower: bytes) -> Iterator[PrivateSpan]:
    """Secrets in a text; ``lower`` is the same text in lower case."""
    for token in _TOKENS:
        for match in token.finditer(text):
            yield PrivateSpan(*match.span(), Kind.SECRET, match[0])
    for name in _NAMES:
        for match in name.finditer(lower):
            yield from _named(text, *match.span(1))
    for match in _NAMED_TOKEN.finditer(lower):
        if _TOKEN_OWNER.search(text, max(0, match.start() - 8), match.start() + 1):
            yield from _named(text, *match.span(1))
    for match in _AUTHORIZATION.finditer(lower):
        yield from _named(text, *match.span(1))
    for match in _IN_URL.finditer(text):
        yield PrivateSpan(*match.span(1), Kind.SECRET, match[1])


def _named(text: bytes, start: int, end: int) -> Iterator[PrivateSpan]:
    if not _NO_SECRET.match(text, start, end):
        yield PrivateSpan(start, end, Kind.SECRET, text[start:end])


_HOMES = looks().patterns("homes")
_ROOT = re.compile(rb"/root(?![\w.-])")
_LEFT_PATH = re.compile(rb"(?:/[\w.+-]{1,80}){1,8}\Z")
_TO_HOST = rb"[\"']?(?:[ \t]{0,20}([=:])[ \t]{0,20}[\"']?|[ \t])([a-z0-9][\w.,\[\]-]{0,2000})"
#: Searched for in lower case.
_HOSTS = looks().patterns("host_words", after=_TO_HOST)
_PROMPT = re.compile(rb"@([A-Za-z0-9][\w.-]{0,80}):[~/][^\r\n]{0,200}?[$#]")
_LOCAL_PART = re.compile(rb"(?<![\w.+-])[\w+-][\w.+-]{0,80}\Z")
_DOMAIN = re.compile(rb"@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}(?![\w-])")
_CREDENTIALS = re.compile(rb"://[^\s/:@]{1,80}:\Z")
_PRIVATE_DOMAIN = re.compile(
    rb"\.(?:local|internal|lan|corp|intra|localdomain|compute\.amazonaws\.com)(?![\w(=])(?!\.\w)"
)
_LEFT_LABELS = re.compile(rb"(?<![\w./-])[A-Za-z][A-Za-z-]{0,40}\d[\w-]{0,60}(?:\.[\w-]{1,60}){0,4}\Z")
_USERS = looks().patterns("user_variables", after=rb"=[\"']?([A-Za-z_][\w.-]{0,80})")
_ENV = re.compile(
    rb"(?:^|(?<=[\r\n]))(?:[ \t]{0,8}\d{1,6}:)?[ \t]{0,8}(?:\+{1,4} )?(?:declare -x |export )?"
    rb"[A-Z_][A-Z0-9_]{1,100}=([\"']?[^\s\"'<][^\r\n]*)"
)
_NOT_HOSTS = frozenset(word.encode() for word in looks().not_hosts)


def find(text: bytes, *, env: bool = False) -> Iterator[PrivateSpan]:
    """Private things by their look, in no order; they may overlap.

    Args:
        text: whole lines.
        env: whether all that is assigned to variables in upper case counts.
    """
    lower = text.lower()
    yield from find_secrets(text, lower)
    yield from find_addresses(text)
    yield from find_owners(text, lower)
    if env:
        for match in _ENV.finditer(text):
            yield PrivateSpan(*match.span(1), Kind.ENV, b"")
    if b"@" in text:
        for match in _DOMAIN.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git" and not _left_of(_CREDENTIALS, text, local.start()):
                yield PrivateSpan(local.start(), match.end(), Kind.EMAIL, local[0] + match[0])


def find_owners(text: bytes, lower: bytes) -> Iterator[PrivateSpan]:
    """Home folders, hosts and users: those whose names may stand elsewhere too."""
    yield from _paths(text)
    yield from _hosts(text, lower)
    for name in _USERS:
        for match in name.finditer(text):
            yield PrivateSpan(*match.span(1), Kind.USER, match[1])
    if b"@" in text:
        for match in _PROMPT.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git":
                yield PrivateSpan(*local.span(), Kind.USER, local[0])
                yield PrivateSpan(*match.span(1), Kind.HOST, host_key(match[1]))


def user_of(path: bytes) -> bytes:
    """The user that a home folder is of; empty for that of root."""
    name = path.rpartition(b"/")[2]
    return b"" if name == b"root" else name


def host_key(name: bytes) -> bytes:
    """A host without its domain, so that both spellings get one placeholder; a list of hosts as it is."""
    return name if b"[" in name or b"," in name else name.partition(b".")[0]


def _left_of(pattern: re.Pattern[bytes], text: bytes, at: int, way: int = 84) -> re.Match[bytes] | None:
    return pattern.search(text, max(0, at - way), at)


def _paths(text: bytes) -> Iterator[PrivateSpan]:
    matches = sorted((match for home in _HOMES for match in home.finditer(text)), key=lambda match: match.start())
    floor = 0
    for match in matches:
        if match.start() < floor:
            continue
        left = _LEFT_PATH.search(text, max(floor, match.start() - 400), match.start())
        start = left.start() if left else match.start()
        before = text[max(0, start - 1) : start]
        if before == b"/" or (start > floor and before.isalnum() and not match[0].startswith(b"/home/")):
            continue  # an address in the web, or part of another word
        floor = match.end() - len(match[1]) + len(match[1].rstrip(b".-+@"))
        yield PrivateSpan(start, floor, Kind.PATH, text[start:floor])
    for match in _ROOT.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if not before.isalnum() and before not in (b"/", b".", b"-", b"_", b">"):
            yield PrivateSpan(*match.span(), Kind.PATH, match[0])


def _hosts(text: bytes, lower: bytes) -> Iterator[PrivateSpan]:
    for word in _HOSTS:
        for match in word.finditer(lower):
            whole = text[match.start(2) : match.end(2)]
            name = whole.rstrip(b".,-")
            if not match[1] and not _is_host_after_blank(name, text[match.end() : match.end() + 1], whole):
                continue
            if name.lower().partition(b".")[0] not in _NOT_HOSTS and not is_address(name) and not name.isdigit():
                yield PrivateSpan(match.start(2), match.start(2) + len(name), Kind.HOST, host_key(name))
    for match in _PRIVATE_DOMAIN.finditer(text):
        left = _left_of(_LEFT_LABELS, text, match.start(), 300)
        if left:
            yield PrivateSpan(left.start(), match.end(), Kind.HOST, host_key(left[0]))


def _is_host_after_blank(name: bytes, behind: bytes, whole: bytes) -> bool:
    """Whether what follows a word and a blank is a host: it has a digit, and a comma or the end of the line follows."""
    return any(48 <= c <= 57 for c in name) and (whole.endswith(b",") or behind in (b"", b"\r", b"\n", b'"', b"'"))
