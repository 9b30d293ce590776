"""Shorten a log that is too large to submit: framework output goes from the middle, no record ever does.

Source of the limit: training_policies#588; result files hold the whole framework log, and may be truncated only above
100 MiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar

import msgspec

from mlsub.io import MlsubError
from mlsub.io.look import open_regular
from mlsub.log.rewrite import (
    FREE,
    FileEdit,
    check_source,
    common_folder,
    find_logs,
    for_each,
    line_end,
    records_of,
    zones,
)
from mlsub.packing.edits import EditPlan
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress, part_of

#: Bytes above which the rules allow a log to be truncated.
LIMIT = 100 << 20
#: Room for the line that says what was left out.
_MARKER_ROOM = 256

#: Free text is kept up to the first byte and from the second on, counted over the free text alone.
Kept = tuple[int, int]


class Shortened(msgspec.Struct, frozen=True, kw_only=True):
    """How one log is shortened: sizes in bytes, and the lines and bytes of framework output that are left out."""

    path: str
    size: int
    size_after: int
    lines_left_out: int
    bytes_left_out: int
    records: int


class Truncation(Answer, frozen=True, kw_only=True):
    """The logs above a size in bytes, truncated where ``written`` says so; ``read`` counts all logs that were read."""

    SCHEMA: ClassVar[int] = 2

    written: bool
    limit: int
    read: int
    logs: tuple[Shortened, ...]


def plan_truncation(file: Path, limit: int = LIMIT) -> tuple[Shortened, FileEdit] | None:
    """Return what shortens a log to at most ``limit`` bytes, and what becomes of it; None where it is no larger.

    Args:
        file: the log.
        limit: bytes; the rules know :data:`LIMIT` and nothing below.

    Raises:
        OSError: it cannot be read.
        MlsubError: it is no log, or cannot be changed, or its records alone are larger than the limit.
    """
    check_source(file)
    found = file.stat()
    if found.st_size <= limit:
        return None
    records = sum(1 for _ in records_of(file))
    kept = _find_kept(file, limit)
    with open_regular(file) as source:
        marker, lines, left_out = _shorten(source, kept)
    shortened = Shortened(
        path=str(file),
        size=found.st_size,
        size_after=found.st_size - left_out + len(marker),
        lines_left_out=lines,
        bytes_left_out=left_out,
        records=records,
    )
    return shortened, FileEdit(write=lambda source, sink: _shorten(source, kept, marker, sink), read=found)


def _find_kept(file: Path, limit: int) -> Kept:
    with open_regular(file) as source:
        kept = sum(len(text) for mark, text in zones(source) if mark != FREE)
        free = source.tell() - kept
    room = limit - kept - _MARKER_ROOM
    if room < 0:
        raise MlsubError(
            f"{file} cannot be truncated to {limit >> 20} MiB: the lines of its records alone are {kept} bytes. "
            "Log fewer records, or ask the review committee."
        )
    return room // 2, free - room // 2


def _shorten(source: BinaryIO, kept: Kept, marker: bytes = b"", sink: BinaryIO | None = None) -> tuple[bytes, int, int]:
    """Copy what is kept, with the marker in the place of the rest; without a sink only look.

    Returns:
        The marker, which says what is left out, and how many lines and bytes that is.
    """
    seen = lines = size = 0
    mid_line, last = False, b"\n"
    for mark, text in zones(source):
        before, after = text, b""
        if mark == FREE:
            before, after = _kept_ends(text, seen, *kept)
            seen += len(text)
        left_out = text[len(before) : len(text) - len(after)]
        last = before[-1:] or last
        if left_out and not size:
            mid_line = last not in b"\r\n"
        if sink is not None:
            sink.write(before + (marker if left_out and not size else b"") + after)
        lines += left_out.count(b"\n")
        size += len(left_out)
        last = after[-1:] or last
    words = (
        f"[mlsub fix: from here on {lines} lines ({size} bytes) of framework output are left out, "
        "no MLPerf record among them]\n"
    )
    return b"\n" * mid_line + words.encode(), lines, size


def _kept_ends(text: bytes, start: int, head: int, tail: int) -> tuple[bytes, bytes]:
    """Return what is kept of a piece of free text, at its beginning and at its end; it is cut between lines."""
    end = start + len(text)
    if end <= head or start >= tail:
        return text, b""
    before = b""
    if start < head:
        first = text[: head - start]
        before = first[: max(first.rfind(b"\n"), first.rfind(b"\r")) + 1]
        if text[len(before) - 1 : len(before) + 1] == b"\r\n":
            before += b"\n"
    after = b""
    if end > tail:
        at = tail - start
        after = text[max(line_end(text, at - 1) if at > 0 else 0, len(before)) :]
    return before, after


def truncate_logs(
    paths: Sequence[str], limit: int, *, write: bool, progress: Progress | None = None
) -> tuple[Truncation | None, list[MlsubError]]:
    """Shorten the logs that some paths name and that are larger than a limit in bytes.

    Returns:
        What became of them, None where no log could be read, and why logs could not be read or written.

    Raises:
        MlsubError: a path does not name logs.
    """
    files = find_logs(paths)
    plan = EditPlan(common_folder(files))
    found: dict[Path, Shortened] = {}

    def look_at(file: Path) -> None:
        if (planned := plan_truncation(file, limit)) is not None:
            found[file], plan.edits[file] = planned

    for_each(files, plan.failed, look_at, part_of(progress, 0, 2) if write else progress)
    if write:
        plan.apply(part_of(progress, 1, 2))
    problems = list(plan.failed.values())
    if len(problems) == len(files):
        return None, problems
    logs = tuple(shortened for file, shortened in found.items() if file not in plan.failed)
    return Truncation(written=write, limit=limit, read=len(files) - len(problems), logs=logs), problems
