"""Smaller inputs that fail in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator


def minimised(data: bytes, fails: Callable[[bytes], bool], seconds: float) -> bytes:
    """An input as small as can be found in a time: parts are cut, large ones first, then bytes become plain."""
    until = time.monotonic() + seconds
    for smaller in (_cut, _plain):
        data = smaller(data, lambda candidate: time.monotonic() < until and fails(candidate))
    return data


def _cut(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    size = len(data)
    while size >= 1:
        at, before = 0, len(data)
        while at < len(data):
            candidate = data[:at] + data[at + size :]
            if fails(candidate):
                data = candidate
            else:
                at += size
        if size > 1 or len(data) == before:
            size = min(size, len(data) + 1) // 2
    return data


def _plain(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    for at in range(len(data)):
        for candidate in _plainer(data, at):
            if fails(candidate):
                data = candidate
                break
    return data


def _plainer(data: bytes, at: int) -> Iterator[bytes]:
    plain = b"0a "
    for sign in plain[: plain.find(data[at]) if data[at] in plain else None]:
        yield data[:at] + bytes((sign,)) + data[at + 1 :]
