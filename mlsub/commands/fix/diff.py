"""A unified diff that ``git apply`` takes, from lines that are known to change; bytes stay what they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

CONTEXT = 3
#: Above so many changed lines in the middle of a file no shortest diff is looked for.
_MAX_LINES = 2000

#: A stretch of lines: from, to in the old file; the new lines in their place.
Stretch = tuple[int, int, Sequence[bytes]]


def stretches(old: Sequence[bytes], new: Sequence[bytes]) -> list[Stretch]:
    """What changes between two lists of lines."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    if len(inner_old) + len(inner_new) > _MAX_LINES:
        return [(start, len(old) - end, inner_new)]
    codes = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes()
    return [(start + i, start + j, inner_new[k:m]) for kind, i, j, k, m in codes if kind != "equal"]


def hunks(old: Sequence[bytes], changes: Sequence[Stretch]) -> bytes:
    """The hunks of a unified diff.

    Args:
        old: the lines of the file, with their ends.
        changes: what changes, in order and apart from each other.
    """
    parts: list[bytes] = []
    shift = 0
    group: list[Stretch] = []
    for change in _merged(changes):
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            shift += _hunk(old, group, shift, parts)
            group = []
        group.append(change)
    if group:
        _hunk(old, group, shift, parts)
    return b"".join(parts)


def _merged(changed: Iterable[Stretch]) -> list[Stretch]:
    """Neighbouring changes as one, so that a diff shows what goes before what comes."""
    merged: list[tuple[int, int, list[bytes]]] = []
    for start, end, new in changed:
        if merged and merged[-1][1] == start:
            start, _, before = merged.pop()
            merged.append((start, end, before))
            before += new
        else:
            merged.append((start, end, list(new)))
    return [*merged]


def _hunk(old: Sequence[bytes], group: list[Stretch], shift: int, parts: list[bytes]) -> int:
    """Add one hunk; gives by how many lines the file grows in it."""
    first, last = max(group[0][0] - CONTEXT, 0), min(group[-1][1] + CONTEXT, len(old))
    grown = sum(len(new) - (end - start) for start, end, new in group)
    body: list[bytes] = []
    at = first
    for start, end, new in group:
        body += [_line(b" ", line) for line in old[at:start]]
        body += [_line(b"-", line) for line in old[start:end]]
        body += [_line(b"+", line) for line in new]
        at = end
    body += [_line(b" ", line) for line in old[at:last]]
    parts.append(b"@@ -%b +%b @@\n" % (_range(first, last - first), _range(first + shift, last - first + grown)))
    parts += body
    return grown


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _range(first: int, count: int) -> bytes:
    start = first + 1 if count else first
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def header(old: str, new: str, *, changed: bool, similarity: int = 100) -> bytes:
    """What stands above the hunks of one file; paths are relative, with slashes."""
    before, after = _quoted(f"a/{old}"), _quoted(f"b/{new}")
    text = b"diff --git %b %b\n" % (before, after)
    if old != new:
        text += b"similarity index %d%%\nrename from %b\nrename to %b\n" % (similarity, _quoted(old), _quoted(new))
    return text + (b"--- %b\n+++ %b\n" % (before, after) if changed else b"")


def _quoted(path: str) -> bytes:
    """A path as git writes it: quoted where it holds anything but plain characters."""
    raw = path.encode("utf-8", "surrogateescape")
    if all(32 < c < 127 and c not in b'"\\' for c in raw):
        return raw
    return b'"' + b"".join(_escaped(c) for c in raw) + b'"'


def _escaped(code: int) -> bytes:
    if code in b'"\\':
        return b"\\%c" % code
    return b"%c" % code if 32 <= code < 127 else b"\\%03o" % code
