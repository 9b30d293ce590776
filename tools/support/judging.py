"""One log judged by the rules of a round, and reports compared with the types of all that is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.judge.log import judge_log
from mlsub.rounds import get_round
from mlsub.submission.model import Entry, LogReport


def report_on(
    file: Path, usage: str, round_name: str, path: str | None = None, *, trace: bool = False, intervals: bool = False
) -> LogReport:
    """The report on a log, which it calls by the name of its file unless it is given another ``path``."""
    return judge_log(str(file), path or file.name, get_round(usage, round_name), trace=trace, intervals=intervals)


def entry_of(folder: Path, results: Sequence[Path], logs: Iterable[LogReport], **more: Any) -> Entry:
    """The entry in a benchmark's folder, which is named like the benchmark, with the reports on its logs."""
    return Entry(
        path=".",
        organisation="",
        system="",
        benchmark=folder.name,
        folder=folder,
        results=tuple(results),
        logs=tuple(logs),
        **more,
    )


def deep(value: Any) -> Any:
    """A value with the type of everything in it, such that NaN is equal to NaN."""
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, [deep(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return "dict", [(deep(key), deep(of)) for key, of in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [deep(of) for of in value]
    return type(value).__name__, repr(value)
