"""Addresses of machines, distinguished from versions, which are four numbers as often."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.commands.redact.model import Kind, Span

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


def find_addresses(text: bytes) -> Iterator[Span]:
    """IPv4 and IPv6 addresses in a text."""
    for match in _THREE.finditer(text):
        first = _FIRST.search(text, max(0, match.start() - 4), match.start())
        if first and _is_address(text, first.start(), match.end()):
            yield Span(first.start(), match.end(), Kind.ADDRESS, text[first.start() : match.end()])
    seen = -1
    for hint in (_GROUPS, _SHORT):
        for match in hint.finditer(text):
            found = _IP6.search(text, max(0, match.start() - 34), match.end() + 40)
            if found and found.start() <= match.start() and found.start() != seen:
                seen = found.start()
                yield Span(*found.span(), Kind.ADDRESS, found[0])


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
