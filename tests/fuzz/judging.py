"""Logs as bytes through mlsub's judge, and what has to hold of any answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.check.document import document_of
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.judge.log import LogJudge, LogTask, NewFold
from mlsub.judge.package import single_log
from mlsub.log.events import Fold, LogReader
from mlsub.log.report import LogReport
from mlsub.present.document import Document
from mlsub.present.findings import View
from mlsub.present.text import render
from mlsub.rounds import Round, get_round
from mlsub.submission.report import Choice, Report
from mlsub.workspace.cache import exactly
from tests.differential.generate import usage_and_round
from tests.fuzz.harness import BrokenError
from tests.typed import deep

#: The name of a log in a report.
PATH = "bert/result_0.txt"
#: No log leads to more findings: each rule gives twenty at most, and a benchmark has some hundred keys.
MOST_FINDINGS = 1_000
#: No text of a finding has more characters.
LONGEST_TEXT = 4_000
#: Logs up to this length, in bytes, may come byte by byte.
_FINE = 300
#: Findings that say that a rule of ours failed.
CRASHES = frozenset(("review.crashed", "rule.crashed"))


@cache
def round_of(round_id: str) -> Round:
    """The rules of a round."""
    return get_round(*usage_and_round(round_id))


def task_of(round_id: str, path: str = PATH, folds: tuple[NewFold, ...] = ()) -> LogTask:
    """The task of a log that is no file."""
    return LogTask("", path, *usage_and_round(round_id), folds=folds)


def judge(
    round_id: str,
    pieces: Sequence[bytes],
    path: str = PATH,
    folds: tuple[NewFold, ...] = (),
    *,
    twice: bool = True,
) -> LogReport:
    """The report on a log that comes in pieces; ``twice`` says whether it can be read once more."""
    task, round_ = task_of(round_id, path, folds), round_of(round_id)

    def again(fold: Fold) -> None:
        reader = LogReader([fold], log_format=round_.log_format)
        feed(reader, pieces)

    judging = LogJudge(task, round_, again=again if twice else None)
    feed(judging, pieces)
    try:
        return judging.report()
    except MlsubError as error:
        raise BrokenError(f"a log that can be read has no verdict: {error}") from error


def feed(into: Any, pieces: Iterable[bytes]) -> None:
    """Feed pieces to what takes them, to their end."""
    for piece in pieces:
        into.feed(piece)
    into.close()


def cut(log: bytes) -> list[bytes]:
    """The log in pieces whose sizes its bytes decide: from single bytes to halves."""
    digest = zlib.crc32(log)
    sizes = ((1,), (2, 3), (7, 1, 64), (100, 1000, 1), (len(log) // 2 + 1,), (digest % 97 + 1, 1))[digest % 6]
    if len(log) > _FINE:
        sizes = (*sizes, len(log) // 12)
    pieces, at = [], 0
    while at < len(log):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(log[at : at + size])
        at += size
    return pieces


def same(one: object, other: object, what: str) -> None:
    """Two answers have to be one: what a file would hold of them, and where none can, all values and types.

    Raises:
        BrokenError: they are not; it names the first fields that differ.
    """
    written = exactly(one)
    if (written is not None and written == exactly(other)) or deep(one) == deep(other):
        return
    raise BrokenError(f"{what}: {' and '.join(list(_differences(one, other, ''))[:3])}")


def _differences(one: Any, other: Any, at: str) -> Iterator[str]:
    if deep(one) == deep(other):
        return
    if isinstance(one, msgspec.Struct) and type(one) is type(other):
        for name in one.__struct_fields__:
            yield from _differences(getattr(one, name), getattr(other, name), f"{at}.{name}")
    else:
        yield f"{at} is {one!r:.300} and {other!r:.300}"


def sound(findings: Sequence[Finding]) -> None:
    """Findings are few and short, and none says that a rule failed.

    Raises:
        BrokenError: they are not.
    """
    if len(findings) > MOST_FINDINGS:
        raise BrokenError(f"{len(findings)} findings")
    for found in findings:
        if found.rule in CRASHES:
            raise BrokenError(f"{found.rule}: {found.message} ({found.actual})")
        texts = (found.path, found.message, found.expected or "", found.actual or "", found.fix or "", found.source)
        longest = max(map(len, texts))
        if longest > LONGEST_TEXT:
            raise BrokenError(f"{found.rule}: a text of {longest} characters")
        if not found.message or (found.line is not None and found.line < 1):
            raise BrokenError(f"{found.rule}: no message, or line {found.line}")


def bears_out(judged: LogReport) -> None:
    """A log is rejected if and only if a finding of it rejects.

    Raises:
        BrokenError: the verdict and the findings differ.
    """
    if judged.compliant is any(found.rejects for found in judged.findings):
        raise BrokenError(f"compliant: {judged.compliant}, and {sorted({f.rule for f in judged.findings})}")


def report_of(round_id: str, judged: LogReport) -> Report:
    """The report of a check of this log alone."""
    return single_log(Path(judged.path), Path(), judged, round_of(round_id))


def check_document(round_id: str, judged: LogReport) -> Document:
    """What ``mlsub check -v`` shows of this log alone."""
    view = View.of(Choice(), "full", strict=False)
    return document_of([report_of(round_id, judged)], view, verdict_last=True)


def shown(document: Document, width: int) -> str:
    """The text of a document, which has to be safe for a terminal.

    Raises:
        BrokenError: it has a character that is not printable, or a line that is wider than the terminal.
    """
    text = render(document, width)
    if not text.endswith("\n") or not text.replace("\n", "").isprintable():
        odd = next((c for c in text.replace("\n", "") if not c.isprintable()), "")
        raise BrokenError(f"the text of a terminal has {odd!r}")
    text.encode()
    return text
