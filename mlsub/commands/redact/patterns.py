"""What is private: by its form (names that own something, paths, addresses, secrets), or as a name that is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from mlsub.commands.redact.document import Kind, PrivateSpan, looks
from mlsub.io.errors import MlsubError


def spans_of(kind: Kind, patterns: Iterable[re.Pattern[bytes]], text: bytes, group: int = 0) -> Iterator[PrivateSpan]:
    """Give what a group of some patterns matches in a text."""
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield PrivateSpan(*match.span(group), kind, match[group])


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
    """Yield IPv4 and IPv6 addresses in a text."""
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
    """Return whether a text begins with four numbers as an address does."""
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
    """Yield secrets in a text; ``lower`` is the same text in lower case."""
    yield from spans_of(Kind.SECRET, _TOKENS, text)
    for name in (*_NAMES, _AUTHORIZATION):
        for match in name.finditer(lower):
            yield from _named(text, *match.span(1))
    for match in _NAMED_TOKEN.finditer(lower):
        if _TOKEN_OWNER.search(text, max(0, match.start() - 8), match.start() + 1):
            yield from _named(text, *match.span(1))
    yield from spans_of(Kind.SECRET, (_IN_URL,), text, group=1)


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
    """Yield private things by their look, in no order; they may overlap.

    Args:
        text: whole lines.
        env: whether all that is assigned to variables in upper case counts.
    """
    lower = text.lower()
    yield from find_secrets(text, lower)
    yield from find_addresses(text)
    yield from _owners(text, lower)
    if env:
        yield from (span._replace(key=b"") for span in spans_of(Kind.ENV, (_ENV,), text, group=1))
    if b"@" in text:
        for match in _DOMAIN.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git" and not _left_of(_CREDENTIALS, text, local.start()):
                yield PrivateSpan(local.start(), match.end(), Kind.EMAIL, local[0] + match[0])


def _owners(text: bytes, lower: bytes) -> Iterator[PrivateSpan]:
    """Home folders, hosts and users: those whose names may stand elsewhere too."""
    yield from _paths(text)
    yield from _hosts(text, lower)
    yield from spans_of(Kind.USER, _USERS, text, group=1)
    if b"@" in text:
        for match in _PROMPT.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git":
                yield PrivateSpan(*local.span(), Kind.USER, local[0])
                yield PrivateSpan(*match.span(1), Kind.HOST, host_key(match[1]))


def user_of(path: bytes) -> bytes:
    """Return the user that a home folder is of; empty for that of root."""
    name = path.rpartition(b"/")[2]
    return b"" if name == b"root" else name


def host_key(name: bytes) -> bytes:
    """Return a host without its domain, so that both spellings get one placeholder; a list of hosts as it is."""
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
    """Return whether a name stands for its owner wherever it is a word of its own."""
    if len(name) < 3 or name.lower() in _COMMON or name.isdigit() or not name[:1].isalnum():
        return False
    return len(name) >= 4 or (kind is Kind.HOST and any(48 <= c <= 57 for c in name))


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


def names_finder(known: dict[bytes, Kind]) -> Callable[[bytes], Iterator[PrivateSpan]]:
    """Return what finds known names as whole words: hosts with their domain, where it has two parts or more."""
    known = dict(islice(known.items(), MAX_NAMES))
    stems = sorted({name.rstrip(b"0123456789") or name for name in known}, key=lambda stem: (-len(stem), stem))
    words = any_stem(stems)

    def find_names(text: bytes) -> Iterator[PrivateSpan]:
        if not any(stem in text for stem in stems):
            return
        for match in words.finditer(text):
            kind = known.get(match[0])
            before = text[max(0, match.start() - 1) : match.start()]
            if kind is None or before.isalnum() or before == b"_":
                continue
            domain = _HOST_DOMAIN.match(text, match.end()) if kind is Kind.HOST else None
            yield PrivateSpan(match.start(), domain.end() if domain else match.end(), kind, match[0])

    return find_names


def any_stem(stems: Iterable[bytes]) -> re.Pattern[bytes]:
    """Return what finds names that end in any number, by what comes before that."""
    return re.compile(rb"(?:" + b"|".join(map(re.escape, stems)) + rb")\d*(?!\w)")


def is_distinctive(secret: bytes) -> bool:
    """Return whether a secret is one wherever it stands: a long text of letters and digits, and not a word."""
    return len(secret) >= _DISTINCTIVE and _DIGIT.search(secret) is not None and _LETTER.search(secret) is not None


def any_of(secrets: Iterable[bytes]) -> tuple[re.Pattern[bytes], ...]:
    """Return what finds secrets wherever they stand, the first so many of them; nothing where there are none."""
    longest_first = sorted(islice(secrets, MAX_SECRETS), key=lambda secret: (-len(secret), secret))
    return (re.compile(b"|".join(map(re.escape, longest_first))),) if longest_first else ()


_HOST_DOMAIN = re.compile(rb"(?:\.[A-Za-z][\w-]{0,62}){2,6}(?![\w-])")


def literal(text: str) -> re.Pattern[bytes]:
    """Return a text to look for, in which ``*`` stands for up to 200 characters other than blanks.

    Raises:
        MlsubError: it is empty, has more than two stars, or nothing between or beside them.
    """
    parts = text.encode("utf-8", "surrogateescape").split(b"*")
    if not text.strip("* ") or len(parts) > 3 or "\n" in text or "\r" in text:
        raise MlsubError(f"cannot look for {text!r}. Give plain text, with at most two * for what varies.")
    return re.compile(rb"[^\s]{0,200}".join(map(re.escape, parts)))
