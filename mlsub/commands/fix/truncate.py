"""Shorten a log that is too large to submit: framework output goes from the middle, no record ever does.

Source of the limit: training_policies#588; result files hold the whole framework log, and may be truncated only above
100 MiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.commands.fix.logs import find_logs
from mlsub.commands.fix.model import Shortened, Truncation
from mlsub.commands.fix.proof import fingerprint, prove_same
from mlsub.commands.fix.put import check_source, rewrite
from mlsub.commands.fix.zones import FREE, line_end, zones
from mlsub.io.errors import MlsubError

#: Bytes above which the rules allow a log to be truncated.
LIMIT = 100 << 20
#: Room for the line that tells what was left out.
_MARKER_ROOM = 256


class _Plan(msgspec.Struct, frozen=True):
    """Free text is kept up to byte ``head`` and from byte ``tail`` on, counted over the free text alone."""

    head: int
    tail: int


class _Told(msgspec.Struct):
    """What is left out, while it is counted; whether anything is yet, and whether that begins within a line."""

    lines: int = 0
    bytes: int = 0
    begins: bool = False
    mid_line: bool = False


def truncate(file: Path, limit: int = LIMIT, *, write: bool) -> Shortened | None:
    """Shorten a log to at most ``limit`` bytes; None where it is no larger.

    Args:
        file: the log.
        limit: bytes; the rules know :data:`LIMIT` and nothing below.
        write: False to find out what would become of it.

    Raises:
        MlsubError: it cannot be read or written, or its records alone are larger than the limit.
    """
    check_source(file)
    try:
        size = file.stat().st_size
        if size <= limit:
            return None
        before = fingerprint(file)
        plan = _plan(file, limit)
        told = _Told()
        with file.open("rb") as source:
            _copy(source, None, plan, told)
    except OSError as error:
        raise MlsubError(f"{file} cannot be read: {error.strerror}. Make it readable.") from error
    if write:
        rewrite(
            file,
            lambda source, sink: _copy(source, sink, plan, told),
            lambda part: prove_same(before, fingerprint(part), file, placed=False),
        )
    return Shortened(
        path=str(file),
        size=size,
        size_after=size - told.bytes + len(_marker(told)),
        lines_left_out=told.lines,
        bytes_left_out=told.bytes,
        records=before.records,
    )


def _plan(file: Path, limit: int) -> _Plan:
    free = kept = 0
    with file.open("rb") as source:
        for mark, text in zones(source):
            if mark != FREE:
                kept += len(text)
            else:
                free += len(text)
    room = limit - kept - _MARKER_ROOM
    if room < 0:
        raise MlsubError(
            f"{file} cannot be truncated to {limit >> 20} MiB: the lines of its records alone are {kept} bytes. "
            "Log fewer records, or ask the review committee."
        )
    return _Plan(room // 2, free - room // 2)


def _copy(source: BinaryIO, sink: BinaryIO | None, plan: _Plan, told: _Told) -> None:
    """Copy what the plan keeps; without a sink count what is left out, which the marker tells in the second go."""
    seen, marked, last = 0, False, b"\n"
    for mark, text in zones(source):
        before, after = _kept(text, seen, plan) if mark == FREE else (text, b"")
        seen += len(text) if mark == FREE else 0
        left_out = text[len(before) : len(text) - len(after)]
        last = before[-1:] or last
        if sink is None:
            _count(told, left_out, last)
        else:
            sink.write(before)
            if left_out and not marked:
                sink.write(_marker(told))
                marked = True
            sink.write(after)
        last = after[-1:] or last


def _count(told: _Told, left_out: bytes, last: bytes) -> None:
    if left_out and not told.begins:
        told.begins, told.mid_line = True, last not in b"\r\n"
    told.lines += left_out.count(b"\n")
    told.bytes += len(left_out)


def _kept(text: bytes, start: int, plan: _Plan) -> tuple[bytes, bytes]:
    """What is kept of free text, at its beginning and at its end; cut between lines."""
    end = start + len(text)
    if end <= plan.head or start >= plan.tail:
        return text, b""
    before = b""
    if start < plan.head:
        head = text[: plan.head - start]
        before = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
        if text[len(before) - 1 : len(before) + 1] == b"\r\n":
            before += b"\n"
    after = b""
    if end > plan.tail:
        tail = plan.tail - start
        after = text[max(line_end(text, tail - 1) if tail > 0 else 0, len(before)) :]
    return before, after


def _marker(told: _Told) -> bytes:
    words = (
        f"[mlsub fix: from here on {told.lines} lines ({told.bytes} bytes) of framework output are left out, "
        "no MLPerf record among them]\n"
    )
    return b"\n" * told.mid_line + words.encode()


def truncate_logs(paths: Sequence[str], limit: int, *, write: bool) -> tuple[Truncation | None, list[MlsubError]]:
    """Shorten the logs that some paths name and that are larger than a limit in bytes.

    Returns:
        What became of them, None where no log could be read, and why logs could not be read or written.

    Raises:
        MlsubError: a path does not name logs.
    """
    files = find_logs(paths)
    done: list[Shortened] = []
    problems: list[MlsubError] = []
    for file in files:
        try:
            shortened = truncate(file, limit, write=write)
        except MlsubError as error:
            problems.append(error)
            continue
        if shortened is not None:
            done.append(shortened)
    read = len(files) - len(problems)
    return Truncation(written=write, limit=limit, read=read, logs=tuple(done)) if read else None, problems
