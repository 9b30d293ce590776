"""Audit across documents: what a log says of itself, against its folder and its system description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from mlsub.findings import Finding
from mlsub.io.show import readable, show
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Entry

_WORD = re.compile(r"[a-z]+\d*[a-z]*|\d+[a-z]+\d*")


def audit_entry(entry: Entry) -> Iterator[Finding]:
    """Disagreements of an entry's logs with the folders and the description around them."""
    if not entry.in_tree:
        return
    for log in entry.logs:
        if log.run.timeline.events:
            yield from _organisation(entry, log)
            yield from _division(entry, log)
            yield from _platform(entry, log)
            yield from _benchmark(entry, log)


def audit_same_runs(logs: Iterable[LogReport]) -> Iterator[Finding]:
    """Logs whose records agree in number and times: copies, with or without another seed written in."""
    first: dict[Any, LogReport] = {}
    for log in logs:
        run = log.run
        if not run.timeline.events:
            continue
        times = tuple(evaluation.time_ms for evaluation in run.evaluations)
        values = show([evaluation.value for evaluation in run.evaluations], limit=1000)
        original = first.setdefault((run.timeline, times, values), log)
        if original is not log:
            yield finding(
                "entry.same-log-twice", log.path, actual=f"number and times of all records as in {original.path}"
            )


def _said(log: LogReport, key: str) -> tuple[str | None, int | None]:
    value = log.run.identity.get(key)
    return (readable(value[:200]) if isinstance(value, str) and value else None), log.run.lines.get(key)


def _organisation(entry: Entry, log: LogReport) -> Iterator[Finding]:
    said, line = _said(log, "submission_org")
    submitter = entry.description.text("submitter") if entry.description else ""
    for name, where in (
        (submitter, "the system description's submitter"),
        (entry.files.organisation, "the folder"),
    ):
        if said and name and not _akin(said, name):
            yield finding(
                "cross.org", log.path, f"submission_org is not {where}", line=line, expected=name, actual=show(said)
            )
            return


def _division(entry: Entry, log: LogReport) -> Iterator[Finding]:
    said, line = _said(log, "submission_division")
    stated = entry.division
    if said and stated and said != stated:
        yield finding("cross.division", log.path, line=line, expected=stated, actual=show(said))


def _platform(entry: Entry, log: LogReport) -> Iterator[Finding]:
    said, line = _said(log, "submission_platform")
    if not said or entry.description is None:
        return
    names = [entry.files.system]
    names += [entry.description.text(field) for field in ("system_name", "accelerator_model_name")]
    if not any(name and (_akin(said, name) or _words(said) & _words(name)) for name in names):
        yield finding(
            "cross.platform",
            log.path,
            line=line,
            expected=" / ".join(dict.fromkeys(name for name in names if name)),
            actual=show(said),
        )


def _benchmark(entry: Entry, log: LogReport) -> Iterator[Finding]:
    said, line = _said(log, "submission_benchmark")
    if said and said != entry.files.benchmark:
        yield finding("cross.benchmark", log.path, line=line, expected=entry.files.benchmark, actual=show(said))


def _akin(one: str, other: str) -> bool:
    """Whether one name holds the other, letters and digits only."""
    a, b = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (one, other))
    return bool(a) and bool(b) and (a in b or b in a)


def _words(name: str) -> set[str]:
    """The words of a name that tell machines apart; names are cut, for they come from whoever wrote the file."""
    return {word for word in _WORD.findall(name[:200].lower()) if len(word) > 2}
