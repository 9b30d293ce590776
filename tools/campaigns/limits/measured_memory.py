"""Memory of what reads large and hostile input does not grow with it; measured, so left to ``make campaigns``."""

from __future__ import annotations

import gc
import io
import json
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from mlsub.judge import rules
from mlsub.log import events, reader
from mlsub.log import run as run_module
from mlsub.log.reader import TOKEN
from mlsub.score.energy import read
from tools.support.judging import report_on
from tools.support.make_workbook import pack
from tools.support.power_folders import node_log
from tools.support.records import MIB, RECORD, Chunks, RawRecord, records
from tools.support.runner import REPOSITORY
from tools.support.scene import Fed

T = TypeVar("T")


def peak_of(work: Callable[[], T]) -> tuple[int, T]:
    """The most memory that Python took for its objects while something was done, in bytes, and what came of it."""
    tracemalloc.start()
    try:
        answer = work()
        return tracemalloc.get_traced_memory()[1], answer
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", [b"x", b":", b"\r"], ids=["letters", "colons", "carriage returns"])
def test_a_gigabyte_without_a_line_feed_is_passed_over_in_flat_memory(text: bytes) -> None:
    block = text * MIB
    behind = [b" " + TOKEN + RECORD + b"\n", TOKEN + b"{}"]
    peak, found = peak_of(lambda: records(Chunks(chain([b"first\n"], repeat(block, 1024), behind))))
    assert found == [RawRecord(2, RECORD, False, False), RawRecord(3, b"{}", False, False)]
    assert peak < 64 * MIB


def test_a_record_without_end_is_not_held() -> None:
    block = b"9" * MIB
    blocks = repeat(block, reader.MAX_RECORD // MIB + 20)
    peak, [found] = peak_of(lambda: records(Chunks(chain([TOKEN + b"["], blocks))))
    assert found.too_long
    assert peak < 4 * reader.MAX_RECORD


def record(key: Any, value: Any = None, **changes: Any) -> bytes:
    """One record and its line end."""
    fields = {"time_ms": 1, "key": key, "value": value, "metadata": {}, **changes}
    return TOKEN + json.dumps(fields).encode() + b"\n"


class Endless(io.RawIOBase):
    """A stream of a start and then as many bytes of numbered lines as asked for; none is held."""

    def __init__(self, start: bytes, line: Callable[[int], bytes], size: int) -> None:
        self._start, self._line, self._size = start, line, size
        self.seek(0)

    def seek(self, _offset: int, _whence: int = 0) -> int:
        self._given, self._number, self._rest = 0, 0, self._start
        return 0

    def read(self, size: int = -1) -> bytes:
        # When the collector happens to run is not what is measured.
        gc.collect()
        parts, length = [self._rest], len(self._rest)
        while length < size and self._given + length < self._size:
            block = self._line(self._number)
            self._number += 1
            parts.append(block)
            length += len(block)
        data = b"".join(parts)
        self._rest = data[size:]
        self._given += len(data[:size])
        return data[:size]


def judging_peak(start: bytes, line: Callable[[int], bytes], size: int) -> int:
    """The most memory that judging such a log takes; the bounds are low, so that small logs reach them."""
    with (
        patch.object(rules, "MAX_KEPT", 50),
        patch.object(reader, "CHUNK", 1 << 16),
        patch.multiple(run_module, MAX_EVALUATIONS=50, MAX_HYPERPARAMETERS=50, MAX_SEEDS=50),
        patch.object(events, "open_log", lambda path: Endless(start, line, size)),
    ):
        # The collections of Endless are to see what the judge makes, not everything that is loaded.
        gc.collect()
        gc.freeze()
        peak, report = peak_of(lambda: report_on(Path("result_0.txt"), "training", "1.0"))
    assert report.run.timeline.last is not None
    return peak


NAMED = record("submission_benchmark", "resnet") + record("submission_division", "closed")
FREE_LINES = b"".join(b"step %d loss 0.25\n" % n for n in range(500)) + record("tracked_stats", {"x": 1})


@pytest.mark.parametrize("start", [NAMED, record("epoch_start")], ids=["named", "nameless"])
def test_memory_does_not_grow_with_the_lines_of_a_log(start: bytes) -> None:
    """Millions of lines; a log that never names itself is read twice."""
    small, large = (judging_peak(start, lambda number: FREE_LINES, size * MIB) for size in (10, 30))
    assert large < small + MIB // 2


LONG = "x" * 80
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "keys": lambda n: record(f"{LONG}{n}"),
    "keys of a submission": lambda n: record(f"submission_{LONG}{n}"),
    "keys that are no text": lambda n: record([LONG, n]),
    "values": lambda n: record("submission_org", f"{LONG}{n}"),
    "values of the optimizer": lambda n: record("opt_name", f"{LONG}{n}"),
    "evaluations": lambda n: record("eval_accuracy", f"{LONG}{n}"),
    "seeds": lambda n: record("seed", n, metadata={"file": f"{LONG}{n}", "lineno": n}),
    "event types": lambda n: record("run_start", event_type=f"{LONG}{n}"),
    "starts": lambda n: record("run_start", time_ms=n),
    "stops": lambda n: record("run_stop", metadata={"status": f"{LONG}{n}"}),
    "unusable keys": lambda n: record(f"{LONG}{n}")[:-1] + b" x\n",
    "unusable times": lambda n: record(f"{LONG}{n}", time_ms=f"{LONG}{n}"),
    "hidden keys": lambda n: record(f"{LONG}{n}")[:-1] + record("note"),
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_memory_does_not_grow_with_what_a_hostile_log_says_anew_on_each_line(line: Callable[[int], bytes]) -> None:
    start = NAMED + record("init_start")
    judging_peak(start, line, MIB // 16)  # What is made once, at the first log, is not growth.
    small, large = (judging_peak(start, line, size) for size in (MIB // 4, MIB))
    assert large < small + MIB // 8


def test_a_watched_log_without_any_line_end_is_not_held() -> None:
    log = Fed()
    log.feed(b"x" * 1000)
    piece = bytes(4 << 20)
    assert peak_of(lambda: [log.feed(piece) for _ in range(32)])[0] < 24 << 20


def test_readings_of_power_are_held_for_one_file_at_a_time(tmp_path: Path) -> None:
    """A package of a hundred nodes must not hold the readings of all of them."""
    text = node_log([1000 + n % 7 for n in range(5000)], stop=5000)

    def peak_for(folder: Path, nodes: int) -> int:
        place = folder / "power" / "result_0"
        place.mkdir(parents=True)
        for node in range(nodes):
            (place / f"node_{node}.txt").write_text(text)
        peak, run = peak_of(lambda: read.read_run(folder / "power", "power", "result_0"))
        assert len(run.nodes) == nodes
        return peak

    assert peak_for(tmp_path / "many", 20) < 1.5 * peak_for(tmp_path / "one", 1)


GIB = 1 << 30
#: Bytes; Python with the libraries alone has about 25 MiB.
MOST_TO_SEAL = 64 << 20
SEAL = """
import re, sys
from pathlib import Path
from mlsub.packing.forms import Form, Key
from mlsub.commands.seal.run import seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed
form, key, public, tree, out = sys.argv[1:]
secret = Key(Form.PASSPHRASE, passphrase=b"correct horse battery", work_factor=10)
seal, open_ = {
    "open": (None, None), "passphrase": (secret, secret),
    "recipient": (Key(Form.RECIPIENTS, (public,)), Key(Form.RECIPIENTS, identities=key.encode())),
}[form]
receipt = seal_tree(Path(tree), Path(out), seal)
assert verify_sealed(Path(out), open_, max_size=1 << 40).findings == ()
print(receipt.files_size, re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no /proc here to read the peak of memory from")
@pytest.mark.parametrize("form", ["open", "passphrase", "recipient"])
def test_memory_does_not_grow_with_the_tree_that_is_sealed(form: str, tmp_path: Path) -> None:
    """A file with a noisy beginning: of 1 GiB for the recipient, else of 128 MiB."""
    pyrage = pytest.importorskip("pyrage")
    size = GIB if form == "recipient" else GIB // 8
    (tmp_path / "T").mkdir()
    with (tmp_path / "T" / "log").open("wb") as stream:
        stream.write(random.Random(1).randbytes(16 << 20))
        stream.truncate(size)
    identity = pyrage.x25519.Identity.generate()
    arguments = [form, str(identity), str(identity.to_public()), str(tmp_path / "T"), str(tmp_path / "sealed")]
    done = subprocess.run(
        [sys.executable, "-c", SEAL, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    sealed, peak = map(int, done.stdout.split())
    assert sealed == size
    assert peak * 1024 < MOST_TO_SEAL


READ_WORKBOOK = """
import re, resource, sys
from pathlib import Path
from mlsub.commands.review.workbook import read_cells
from mlsub.io import MlsubError
try:
    for _ in read_cells(Path(sys.argv[1]).read_bytes(), "table.xlsx"):
        pass
except MlsubError:
    pass
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
"""
#: Workbooks that ask for the most that is allowed, and the one that began it.
WORKBOOKS = {
    "attributes": pack("<row " + " ".join(f'a{n}=""' for n in range(490_000)) + "/>"),
    "elements": pack("".join(f"<a{n}/>" for n in range(490_000))),
    "formats": pack(styles="<cellXfs>" + "<xf/>" * 490_000 + "</cellXfs>"),
    "cells far apart": pack('<row r="1"><c r="A1"><v>1</v></c></row><row r="20000"><c r="Y20000"><v>1</v></c></row>'),
    "a text in many cells": pack('<c r="A1" t="s"><v>0</v></c>' * 60_000, texts=f"<si><t>{'x' * 300}</t></si>"),
    "one long text": pack(f'<c r="A1" t="str"><v>{"x" * 8_300_000}</v></c>'),
    "entities behind a comment": pack(parts={"xl/a.xml": b"<!--" + b"x" * 29_000_000 + b"--><!DOCTYPE a []><a/>"}),
}


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no /proc here to read the peak of memory from")
@pytest.mark.parametrize("what", WORKBOOKS)
def test_a_workbook_takes_two_seconds_and_100_mb_at_most(what: str, tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    (tmp_path / "table.xlsx").write_bytes(WORKBOOKS[what])
    done = subprocess.run(
        [sys.executable, "-c", READ_WORKBOOK, str(tmp_path / "table.xlsx")],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    peak, seconds = map(float, done.stdout.split())
    assert peak * 1024 < 100_000_000
    assert seconds < 2
