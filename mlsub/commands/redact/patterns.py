"""What gives a private thing away by its look; text is bytes, as it stands in the file. On speed see secrets.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.redact.addresses import find_addresses, is_address
from mlsub.commands.redact.model import Kind, Span, looks
from mlsub.commands.redact.secrets import find_secrets

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


def find(text: bytes, *, env: bool = False) -> Iterator[Span]:
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
            yield Span(*match.span(1), Kind.ENV, b"")
    if b"@" in text:
        for match in _DOMAIN.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git" and not _left_of(_CREDENTIALS, text, local.start()):
                yield Span(local.start(), match.end(), Kind.EMAIL, local[0] + match[0])


def find_owners(text: bytes, lower: bytes) -> Iterator[Span]:
    """Home folders, hosts and users: those whose names may stand elsewhere too."""
    yield from _paths(text)
    yield from _hosts(text, lower)
    for name in _USERS:
        for match in name.finditer(text):
            yield Span(*match.span(1), Kind.USER, match[1])
    if b"@" in text:
        for match in _PROMPT.finditer(text):
            local = _left_of(_LOCAL_PART, text, match.start())
            if local and local[0] != b"git":
                yield Span(*local.span(), Kind.USER, local[0])
                yield Span(*match.span(1), Kind.HOST, host_key(match[1]))


def user_of(path: bytes) -> bytes:
    """The user that a home folder is of; empty for that of root."""
    name = path.rpartition(b"/")[2]
    return b"" if name == b"root" else name


def host_key(name: bytes) -> bytes:
    """A host without its domain, so that both spellings get one placeholder; a list of hosts as it is."""
    return name if b"[" in name or b"," in name else name.partition(b".")[0]


def _left_of(pattern: re.Pattern[bytes], text: bytes, at: int, way: int = 84) -> re.Match[bytes] | None:
    return pattern.search(text, max(0, at - way), at)


def _paths(text: bytes) -> Iterator[Span]:
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
        yield Span(start, floor, Kind.PATH, text[start:floor])
    for match in _ROOT.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if not before.isalnum() and before not in (b"/", b".", b"-", b"_", b">"):
            yield Span(*match.span(), Kind.PATH, match[0])


def _hosts(text: bytes, lower: bytes) -> Iterator[Span]:
    for word in _HOSTS:
        for match in word.finditer(lower):
            whole = text[match.start(2) : match.end(2)]
            name = whole.rstrip(b".,-")
            if not match[1] and not _is_host_after_blank(name, text[match.end() : match.end() + 1], whole):
                continue
            if name.lower().partition(b".")[0] not in _NOT_HOSTS and not is_address(name) and not name.isdigit():
                yield Span(match.start(2), match.start(2) + len(name), Kind.HOST, host_key(name))
    for match in _PRIVATE_DOMAIN.finditer(text):
        left = _left_of(_LEFT_LABELS, text, match.start(), 300)
        if left:
            yield Span(left.start(), match.end(), Kind.HOST, host_key(left[0]))


def _is_host_after_blank(name: bytes, behind: bytes, whole: bytes) -> bool:
    """Whether what follows a word and a blank is a host: it has a digit, and a comma or the end of the line follows."""
    return any(48 <= c <= 57 for c in name) and (whole.endswith(b",") or behind in (b"", b"\r", b"\n", b'"', b"'"))
