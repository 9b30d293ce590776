"""Text from outside, made safe to print."""

from __future__ import annotations


def plain(text: str) -> str:
    """Text from a log or a file name without characters that could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
