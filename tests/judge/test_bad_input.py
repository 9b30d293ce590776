"""Any file at all gets a verdict and findings a person can act on, in flat memory; nothing raises."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.compliance_checker.mlp_parser import ruleset_100 as official

from mlsub.io import MlsubError
from mlsub.io.show import readable
from mlsub.judge import rules
from mlsub.log import events, reader
from mlsub.log.reader import open_log
from mlsub.submission.model import LogReport
from tools.support.effort import HUNG
from tools.support.judging import report_on

MIB = 1 << 20

#: A compliant log of the rehearsal round: what stands before the run, and the run.
IDENTITY = [("submission_benchmark", "digits"), ("submission_division", "closed")]
SETUP = [
    *[
        ("submission_org", "ACME"),
        ("submission_platform", "pod"),
        ("submission_status", "onprem"),
        ("cache_clear", True),
    ],
    *[("global_batch_size", 32), ("opt_name", "sgd"), ("opt_base_learning_rate", 0.1), ("opt_momentum", 0.9)],
    *[("opt_weight_decay", 0.0001), ("model_hidden_units", 64), ("train_samples", 1437), ("eval_samples", 360)],
    *[("gradient_accumulation_steps", 1), ("seed", 17), ("init_start", None), ("init_stop", None), ("run_start", None)],
]
RUN = [("epoch_start", None), ("epoch_stop", None), ("eval_start", None), ("eval_accuracy", 0.97), ("eval_stop", None)]
METADATA = {"epoch_num": 1, "status": "success", "file": "train.py", "lineno": 40}


def record(key: str, value: Any = None, time_ms: Any = 60_000, **changes: Any) -> bytes:
    """One record, without a line end."""
    fields = {"namespace": "", "time_ms": time_ms, "key": key, "value": value, "metadata": METADATA, **changes}
    return b":::MLLOG " + json.dumps(fields).encode()


def lines_of(records: list[tuple[str, Any]]) -> list[bytes]:
    """Records, one a line; an evaluation takes a second."""
    return [record(key, value, 61_000 if key == "eval_stop" else 60_000) for key, value in records]


#: The run takes two minutes: from 60 s to 180 s.
STOP = record("run_stop", time_ms=180_000)
GOOD = [*lines_of([*IDENTITY, *SETUP, *RUN[:-1]]), record("eval_stop", time_ms=61_000), STOP]


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def judged(path: Path) -> LogReport:
    return report_on(path, "rehearsal", "1.0", "shown/result_0.txt")


def judged_bytes(folder: Path, data: bytes) -> LogReport:
    path = folder / "result_0.txt"
    path.write_bytes(data)
    return judged(path)


def rules_of(report: LogReport) -> list[str]:
    return [found.rule for found in report.findings]


def only(report: LogReport, rule: str) -> Any:
    (found,) = [found for found in report.findings if found.rule == rule]
    return found


def test_the_good_log_of_these_tests_is_good(tmp_path: Path) -> None:
    report = judged_bytes(tmp_path, joined(GOOD))
    assert (report.findings, report.compliant, report.undecodable) == ((), True, False)
    assert (report.minutes, report.status, report.benchmark, report.division) == (2.0, "success", "digits", "closed")


# What is no plain log


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail instead of waiting for ever."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"still waiting after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


#: Reading it as root waits for the next message of the kernel.
KERNEL = Path("/proc/kmsg" if os.access("/proc/kmsg", os.R_OK) else "/proc/version")

NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "no such file"),
    "nothing, packed": (lambda path: None, "no such file"),
    "folder": (lambda path: path.mkdir(), "a folder"),
    "dangling link": (lambda path: path.symlink_to(path.parent / "gone"), "a link that leads nowhere"),
    "link to itself": (lambda path: path.symlink_to(path), "link"),
    "link to a folder": (lambda path: path.symlink_to(path.parent), "a folder"),
    "pipe": (os.mkfifo, "not a regular file"),
    "link to a file of the system": (lambda path: path.symlink_to(KERNEL), "made by the system"),
    "link to a pipe": (lambda path: (os.mkfifo(path.parent / "pipe"), path.symlink_to("pipe")), "not a regular file"),
}


@pytest.mark.parametrize("name", ["result_0.txt", "result_0.txt.gz"])
@pytest.mark.parametrize(("make", "reason"), NO_FILES.values(), ids=NO_FILES)
def test_what_is_no_file_is_unreadable_with_the_reason_and_never_blocks(
    tmp_path: Path, make: Callable[[Path], object], reason: str, name: str
) -> None:
    path = tmp_path / name
    make(path)
    if path.is_symlink() and path.readlink() == KERNEL and not KERNEL.exists():
        pytest.skip("there is no /proc here")
    with within(int(HUNG)):
        report = judged(path)
        with pytest.raises(MlsubError, match=reason):
            open_log(path)
    found = only(report, "log.unreadable")
    assert reason in found.message
    assert (found.path, found.line) == ("shown/result_0.txt", None)
    assert (report.compliant, report.undecodable, report.minutes) == (False, True, None)
    assert rules_of(report) == ["log.unreadable"]


@pytest.mark.parametrize("name", ["x" * 5000, "nul\x00byte", "below/a/file/result_0.txt"], ids=["long", "NUL", "below"])
def test_a_name_that_no_file_can_have_is_unreadable(tmp_path: Path, name: str) -> None:
    (tmp_path / "below").write_bytes(b"")
    assert rules_of(judged(tmp_path / name)) == ["log.unreadable"]


class Failing(io.BytesIO):
    """A stream whose disk gives up after the first reading."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > 0:
            raise OSError(5, "Input/output error")
        return super().read(size)


def test_a_disk_that_fails_on_the_way_makes_a_log_unreadable() -> None:
    with patch.object(events, "open_log", lambda path: Failing(b"x" * 4 * MIB)):
        report = judged(Path("result_0.txt"))
    assert (rules_of(report), report.compliant) == (["log.unreadable"], False)


def test_a_log_that_goes_away_before_its_second_reading_is_unreadable(tmp_path: Path) -> None:
    """A log that names itself late, behind the records that are looked at together, is read twice."""
    opened: list[Path] = []

    def open_once(path: Path) -> Any:
        opened.append(path)
        if len(opened) > 1:
            raise MlsubError("Stale file handle")
        return io.BytesIO(joined([*GOOD[2:], *GOOD[:2]]))

    with (
        patch.object(events, "open_log", open_once),
        patch.multiple(rules, MAX_KEPT=10),
        patch.object(reader, "CHUNK", 90),
    ):
        report = judged(tmp_path / "result_0.txt")
    assert len(opened) == 2
    assert "log.unreadable" in rules_of(report)
    assert not report.compliant


PACKED = gzip.compress(joined(GOOD) + random.Random(1).randbytes(3 * MIB))


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def test_a_packed_log_is_judged_like_the_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt.gz"
    path.write_bytes(gzip.compress(joined(GOOD[:10])) + gzip.compress(joined(GOOD[10:])))
    assert judged(path) == judged_bytes(tmp_path, joined(GOOD))


DAMAGED = {
    "text": b"plain text\n",
    "log": joined(GOOD),
    "two bytes": PACKED[:2],
    "head": PACKED[:11],
    "half": PACKED[: len(PACKED) // 2],
    "no size": PACKED[:-4],
    "noise behind the head": PACKED[:10] + random.Random(2).randbytes(5000),
    "text behind": PACKED + b"trailing",
    **{f"byte {at}": flipped(PACKED, at) for at in (0, 2, 10, 11, 12, 20, 2 * MIB, len(PACKED) - 6)},
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_archive_is_unreadable_wherever_the_damage_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "result_0.txt.gz"
    path.write_bytes(data)
    report = judged(path)
    assert rules_of(report)[:1] == ["log.unreadable"]
    assert (report.compliant, report.undecodable) == (False, True)


NO_RECORDS = {
    "empty": (b"", "log.empty"),
    "line end": (b"\n", "log.no-records"),
    "progress bars": (b"Epoch 1: 50%|####\r\nEpoch 2\r", "log.no-records"),
    "near tokens": (b":::MLLOG\t{}\n:::MLLOG\n:::mllog {}", "log.no-records"),
    "noise": (random.Random(3).randbytes(MIB), "log.no-records"),
    "zeros": (b"\x00" * MIB, "log.no-records"),
    "compressed": (gzip.compress(b"text"), "log.no-records"),
    "only a byte order mark": ("\ufeff".encode("utf-16-le"), "log.wide-encoding"),
}


@pytest.mark.parametrize(("data", "rule"), NO_RECORDS.values(), ids=NO_RECORDS)
def test_a_file_without_records_says_so_and_nothing_else(tmp_path: Path, data: bytes, rule: str) -> None:
    report = judged_bytes(tmp_path, data)
    assert (rules_of(report), report.compliant, report.undecodable) == ([rule], False, False)


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_wide_log_is_noncompliant_with_one_finding(tmp_path: Path, encoding: str) -> None:
    text = "\ufeff" + joined(GOOD).decode()
    report = judged_bytes(tmp_path, text.encode(encoding))
    assert rules_of(report) == ["log.wide-encoding"]
    assert encoding[:6].upper() in report.findings[0].message
    assert (report.compliant, report.undecodable, report.minutes) == (False, False, 2.0)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\x00\x00"])
def test_a_byte_order_mark_before_one_byte_text_hides_nothing_from_the_official_parser(
    tmp_path: Path, mark: bytes
) -> None:
    """A file can be started by one tool and continued by another; the official parser never looks at the mark."""
    report = judged_bytes(tmp_path, mark + b"\n" + joined(GOOD))
    assert (rules_of(report), report.compliant) == ([], True)


@pytest.mark.parametrize("org", ["Größe".encode(), "Größe".encode("latin-1"), b"Gr\\u00f6\\u00dfe"])
def test_text_in_any_one_byte_encoding_is_a_value(tmp_path: Path, org: bytes) -> None:
    report = judged_bytes(tmp_path, joined(GOOD).replace(b"ACME", org))
    assert (rules_of(report), readable(report.run.identity["submission_org"])) == ([], "Größe")


# Broken records in a log that is good otherwise

BROKEN = {
    "cut": (STOP[:-9], "log.record-undecodable"),
    "text behind": (STOP + b" Epoch 3", "log.text-after-record"),
    "nested": (STOP[:-1] + b', "x": ' + b"[" * 10_000, "log.record-undecodable"),
    "no value": (STOP.replace(b'"value"', b'"valu"'), "log.record-incomplete"),
    "no time": (STOP.replace(b"180000", b"null"), "log.record-time"),
}


@pytest.mark.parametrize(("stop", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_spoiled_record_is_not_reported_missing_as_well(tmp_path: Path, stop: bytes, rule: str) -> None:
    report = judged_bytes(tmp_path, joined([*GOOD[:-1], stop]))
    assert rules_of(report) == [rule]
    assert only(report, rule).line == len(GOOD)
    assert (report.compliant, report.undecodable) == (False, True)
    assert "key.run_stop.count" in rules_of(judged_bytes(tmp_path, joined(GOOD[:-1])))


@pytest.mark.parametrize("key", ["submission_org", "run_start", "note"])
def test_a_record_that_lacks_its_key_makes_a_log_noncompliant(tmp_path: Path, key: str) -> None:
    """The official checker ends with a traceback there, even where another record of the key is good."""
    nameless = record(key).replace(b'"key": "%s", ' % key.encode(), b"")
    report = judged_bytes(tmp_path, joined([*GOOD[:-1], nameless, STOP]))
    assert rules_of(report) == ["log.record-incomplete"]
    assert (report.compliant, report.undecodable) == (False, True)


def test_minutes_are_recovered_from_a_run_stop_with_text_behind_it(tmp_path: Path) -> None:
    report = judged_bytes(tmp_path, joined([*GOOD[:-1], STOP + b" Epoch 3"]))
    assert (report.minutes, report.run.minutes) == (2.0, None)


@pytest.mark.parametrize("between", [b"", b" ", b" 0: "], ids=["nothing", "space", "rank"])
def test_a_hidden_record_is_an_audit_finding_and_minutes_are_recovered(tmp_path: Path, between: bytes) -> None:
    """Two writers on one line; some launchers put the rank before each record."""
    hiding = STOP + between + record("epoch_stop")
    report = judged_bytes(tmp_path, joined([*GOOD[:-1], hiding]))
    found = only(report, "log.hidden-record")
    assert (found.kind, found.line, found.actual) == ("review", len(GOOD), "key run_stop")
    assert not found.rejects
    assert "key.run_stop.count" in rules_of(report)
    assert (report.compliant, report.undecodable, report.minutes, report.run.minutes) == (False, False, 2.0, None)


@pytest.mark.parametrize("hidden", [record("note"), record("note")[:-5], b":::MLLOG ", b":::MLLOG [] "])
def test_a_hidden_record_does_no_harm_to_the_verdict(tmp_path: Path, hidden: bytes) -> None:
    report = judged_bytes(tmp_path, joined([hidden + GOOD[0], *GOOD[1:]]))
    assert rules_of(report) == ["log.hidden-record"]
    assert (report.compliant, report.undecodable) == (True, False)


def test_a_record_too_long_makes_a_log_noncompliant_unless_it_is_hidden(tmp_path: Path) -> None:
    """The official parser never reads a hidden record, however long it is."""
    long = record("note", "x" * 500)
    with patch.object(reader, "CHUNK", 100), patch.object(reader, "MAX_RECORD", 400):
        seen = judged_bytes(tmp_path, joined([long, *GOOD]))
        hidden = judged_bytes(tmp_path, joined([long + GOOD[0], *GOOD[1:]]))
    found = only(seen, "log.record-too-long")
    assert (rules_of(seen), found.line, seen.compliant, seen.undecodable) == ([found.rule], 1, False, True)
    assert (hidden.compliant, hidden.undecodable) == (True, False)
    assert [found.line for found in hidden.findings] == [1]


@pytest.mark.parametrize("count", [1, 20, 21, 1000])
def test_one_rule_gives_at_most_twenty_findings_and_the_last_tells_how_many_more(tmp_path: Path, count: int) -> None:
    lines = [line for _ in range(count) for line in (b":::MLLOG {", record("note") + record("note"))]
    report = judged_bytes(tmp_path, joined([*lines, *GOOD]))
    for rule, first_line in (("log.record-undecodable", 1), ("log.hidden-record", 2)):
        found = [each for each in report.findings if each.rule == rule]
        assert [each.line for each in found] == list(range(first_line, 2 * min(count, 20) + 1, 2))
        more = [each.actual for each in found if "more like it" in each.actual]
        assert len(more) == (count > 20)
        assert all(f"and {count - 20} more like it after that" in text and text == found[-1].actual for text in more)


LATE = {
    "good": GOOD[2:],
    "nothing else": [],
    "open": [*GOOD[2:-1], b"free text", STOP],
    "wrong value": [line.replace(b"0.9,", b"0.8,") for line in GOOD[2:]],
    "wrong order": [*GOOD[17:], *GOOD[2:17]],
    "broken": [*GOOD[2:], STOP[:-4], record("x", metadata=1), b":::MLLOG "],
    "hidden": [*GOOD[2:-1], STOP + record("note")],
}
NAMES = {
    "both": GOOD[:2],
    "division only": GOOD[1:2],
    "neither": [],
    "twice": [*GOOD[:2], record("submission_division", "open"), record("submission_benchmark", "bert")],
    "no text": [record("submission_division", ["closed"]), record("submission_benchmark", None)],
    "open division": [GOOD[0], record("submission_division", "open")],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("lines", LATE.values(), ids=LATE)
def test_a_log_that_names_itself_too_late_to_be_held_is_judged_the_same(
    tmp_path: Path, lines: list[bytes], names: list[bytes]
) -> None:
    data = joined([*lines, *names])
    held = judged_bytes(tmp_path, data)
    with patch.object(rules, "MAX_KEPT", 10), patch.object(reader, "CHUNK", 90):
        assert judged_bytes(tmp_path, data) == held


def test_what_is_held_is_bounded_in_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the log is read from its beginning again."""
    data, opened = joined([*GOOD[2:], *GOOD[:2]]), []

    def open_log(path: object) -> Any:
        opened.append(path)
        return io.BytesIO(data)

    monkeypatch.setattr(events, "open_log", open_log)
    monkeypatch.setattr(reader, "CHUNK", 90)
    for most, times in ((len(data) // 2, 2), (len(data), 1)):
        opened.clear()
        monkeypatch.setattr(rules, "MAX_KEPT_BYTES", most)
        judged(tmp_path / "result_0.txt")
        assert len(opened) == times


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


NOISE = st.one_of(
    st.binary(min_size=1, max_size=4),
    st.sampled_from([b":::MLLOG ", b"\n", b"\r", b"null", b"NaN", b'"key"', b"[", b"}", b"9" * 400, b'"', b"\\ud800"]),
)


@given(changes=st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 40), NOISE), min_size=1, max_size=3))
def test_a_damaged_log_never_raises_and_is_undecodable_where_the_official_parser_says_so(
    folder: Path, changes: list[tuple[int, int, bytes]]
) -> None:
    data = joined(GOOD)
    for place, length, noise in changes:
        at = place % len(data)
        data = data[:at] + noise + data[at + length :]
    report = judged_bytes(folder, data)
    try:
        _, errors = official.parse_file(folder / "result_0.txt")
    except Exception:
        errors = [("", "crashed")]
    assert report.undecodable == bool(errors)
    assert not (report.compliant and errors)
