"""Generated logs of every shape that has been seen, the events they hold, and lines with something private."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from mlsub.log.event import decode
from mlsub.log.reader import read_records
from mlsub.log.rewrite import rewrite
from mlsub.packing.truncate import LIMIT, Shortened, plan_truncation

#: Lines of logs with something private in them, by kind, and lines that look as if they had.
LISTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("private.yaml").read_text(encoding="utf-8"))
RECORD = b':::MLLOG {"time_ms": %d, "key": "%b", "value": %b, "metadata": {"file": "/home/alice/t.py"}}'
OLD = b':::MLL %d.5 eval_accuracy: {"value": 0.5, "metadata": {"lineno": 3}}'

keys = st.sampled_from([b"seed", b"eval_accuracy", b"submission_org", b"x"])
values = st.sampled_from([b"1", b"0.25", b"null", b'"a b"', b"NaN", b"[1, 2.50]", b'{"a": 1}', b"1 2"])
records = st.one_of(
    st.builds(lambda time, key, value: RECORD % (time, key, value), st.integers(0, 10**13), keys, values),
    st.builds(lambda time: OLD % time, st.integers(0, 10**9)),
    st.sampled_from([b":::MLPv0.5.0 resnet 1541710635 (train.py:3) run_start", b":::MLLOG", b":::MLLOG {"]),
)
prefixes = st.sampled_from([b"", b"0: ", b"[1,3]<stdout>: ", b"node07: ", b"\xe9\xff ", b"\x00\x00"])
words = st.sampled_from(
    [b"step 3", b"loss 0.5", b"/home/alice/run", b"alice", b"node07", b"HOSTNAME=node07", b"10.20.30.40:80"]
)
free = st.one_of(words, st.binary(max_size=12), st.sampled_from([b"", b"::", b":::", b"::::", b"\xc3\xa9", b"12%|##"]))
texts = st.one_of(
    free,
    st.builds(lambda prefix, record: prefix + record, prefixes, records),
    st.builds(lambda prefix, one, two: prefix + one + b" " + two, prefixes, records, records),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\r\r\n", b" \n", b"\t \r\n", b""])
logs = st.lists(st.builds(lambda text, end: text + end, texts, ends), max_size=30).map(b"".join)


def events(file: Path) -> list[object]:
    """What the official parser's reading of a log comes to: decoded events, defects and hidden records, in order."""
    with file.open("rb") as stream:
        found = list(read_records(stream))
    # repr, for NaN is not equal to itself
    return [(repr(decode(0, text)), hidden, too_long) for _, text, hidden, too_long in found]


def truncate(file: Path, limit: int = LIMIT, *, write: bool) -> Shortened | None:
    """What becomes of a log that is larger than a limit, shortened where ``write`` says so."""
    planned = plan_truncation(file, limit)
    if planned is None:
        return None
    shortened, edit = planned
    if write:
        rewrite(file, edit)
    return shortened


def no_log(kind: str, folder: Path, text: str = "x\r\n") -> Path:
    """The path of something that cannot be changed as a log can, or of a log with a text."""
    file = folder / ("result_0.txt.gz" if kind == "gz" else "result_0.txt")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("elsewhere")
    elif kind == "empty folder":
        file.mkdir()
    elif kind != "missing":
        file.write_text(text)
    return file
