"""Whole packages whose verdict depends on how the official tools read their logs, checked against the installed ones.

From v5.1 the installed package checker reads as that of the round's day; what older checkers read is in
tests/log/test_reading.py, and here only what comes of it.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.package_checker import package_checker

import mlsub
from mlsub.findings import Finding, Verdict
from mlsub.judge.log import Defects
from mlsub.log.event import Defect
from mlsub.log.events import EventTally
from mlsub.log.reading import Crash
from mlsub.submission.report import Report
from tests.judge.test_package_rounds import make_round, rejecting
from tools.oracle.log import Line, Log, record_line

Edit = Callable[[Log], Log]


def new(key: str, value: Any = None, **metadata: Any) -> Line:
    fields = {"namespace": "", "time_ms": 1_620_000_005_000, "event_type": "POINT_IN_TIME", "key": key}
    return record_line({**fields, "value": value, "metadata": {"file": "train.py", "lineno": 9, **metadata}})


def before(key: str, *lines: Line) -> Edit:
    return lambda log: log.inserted(log.first(key), *lines)


def behind(key: str, *lines: Line) -> Edit:
    return lambda log: log.inserted(log.places(key)[-1] + 1, *lines)


def without(key: str) -> Edit:
    return lambda log: log.without(key)


def changed(key: str, metadata: Any = None, **fields: Any) -> Edit:
    """Other fields in every record of a key, and other metadata where it is given."""
    fields |= {} if metadata is None else {"metadata": metadata}
    return lambda log: log.altered(log.places(key), **fields)


def told(key: str, **metadata: Any) -> Edit:
    """More metadata in every record of a key."""

    def more(line: Line) -> Line:
        record = line.record or {}
        return record_line({**record, "metadata": {**record["metadata"], **metadata}}) if line.key == key else line

    return lambda log: Log(map(more, log))


def late_name(log: Log) -> Log:
    """The benchmark named behind the evaluations, which count epochs beside samples."""
    return nameless_till_late(told("eval_accuracy", epoch_num=1)(log))


def nameless_till_late(log: Log) -> Log:
    name = log[log.first("submission_benchmark")]
    return behind("eval_accuracy", name)(without("submission_benchmark")(log))


def both(first: Edit, second: Edit) -> Edit:
    return lambda log: second(first(log))


def parsed(file: Path) -> Log:
    lines = file.read_text().splitlines()
    return Log(record_line(json.loads(line.partition(":::MLLOG ")[2])) for line in lines)


def make(folder: Path, round_id: str, benchmark: str, edits: dict[int, Edit], **more: Any) -> Path:
    """An accepted package with some of its logs changed; -1 stands for all."""
    tree = make_round(folder, round_id, benchmark, **more)
    logs = sorted(tree.rglob("result_*.txt"))
    for run, file in enumerate(logs):
        edit = edits.get(run, edits.get(-1))
        if edit is not None:
            file.write_bytes(edit(parsed(file)).content())
    return tree


def official(tree: Path, scratch: Path) -> str:
    """What the installed package checker says by v5.1, of a copy, for it writes into what it checks."""
    copy = scratch / "official"
    shutil.copytree(tree, copy)
    logging.disable(logging.CRITICAL)
    try:
        accepted = package_checker.check_training_result_files(
            str(copy), "training", "5.1.0", False, False, False, False, False
        )
    except Exception as error:
        return f"{type(error).__name__}"
    finally:
        logging.disable(logging.NOTSET)
    return "accepted" if accepted else "rejected"


def checked(tree: Path) -> Report:
    return mlsub.check(tree, jobs=1)


def size_in_start(log: Log) -> Log:
    """The size of the batch in the metadata of a record whose value is null, behind its own record."""
    return both(changed("run_start", value=None), told("run_start", global_batch_size=256))(log)


KEYS = [new(f"config_{n}", n) for n in range(600)]
EARLY = [new("eval_accuracy", 0.1, epoch_num=1, samples_count=1) for _ in range(10_001)]

RETINANET, SIZE = "retinanet", "global_batch_size"
#: Benchmark, the changes by run, what the installed package checker says, the rules that reject; all of v5.1.
CASES: dict[str, tuple[str, dict[int, Edit], str, set[str]]] = {
    "600 keys of configuration before the rest": (RETINANET, {-1: lambda log: Log([*KEYS, *log])}, "accepted", set()),
    "10,001 evaluations before the last": (RETINANET, {-1: before("eval_accuracy", *EARLY)}, "accepted", set()),
    "a second batch size": ("flux1", {-1: behind(SIZE, new(SIZE, 8192))}, "rejected", {"rcp.missing"}),
    "a key that holds the name of the batch size": (
        *(RETINANET, {-1: behind(SIZE, new("eval_global_batch_size", 100_000))}, "rejected", {"rcp.missing"}),
    ),
    "the benchmark named behind the evaluations": ("llama31_8b", {-1: late_name}, "rejected", {"rcp.missing"}),
    "the benchmark named behind evaluations that count no epochs": (
        *("llama31_8b", {-1: nameless_till_late}, "KeyError", {"official.crash"}),
    ),
    "true for an epoch": (RETINANET, {2: told("eval_accuracy", epoch_num=True)}, "accepted", set()),
    "the batch size in the metadata of the start": (RETINANET, {-1: size_in_start}, "TypeError", {"official.crash"}),
    "a key that holds the name of the evaluations": (
        *(RETINANET, {-1: before("run_start", new("eval_accuracy_target", 0.34))}, "KeyError", {"official.crash"}),
    ),
    "a forgiven run with a quality that is text": (
        *(RETINANET, {3: changed("eval_accuracy", value="0.35")}, "TypeError", {"official.crash"}),
    ),
    "a forgiven run of another batch size": (
        *(RETINANET, {3: behind(SIZE, new(SIZE, 512))}, "KeyError", {"rcp.batch-size"}),
    ),
    "a forgiven run that stops without a status": (
        *(RETINANET, {3: changed("run_stop", metadata={})}, "KeyError", {"official.crash"}),
    ),
    "a forgiven run without evaluations": (
        *(RETINANET, {3: without("eval_accuracy")}, "UnboundLocalError", {"rcp.no-point"}),
    ),
    "a forgiven run of a benchmark in other letters": (
        *(RETINANET, {3: changed("submission_benchmark", value="Retinanet")}, "FileNotFoundError", {"rcp.batch-size"}),
    ),
}  # fmt: skip


def against_entry(report: Report) -> set[str]:
    """The rules for which the entry is rejected, leaving out what is wrong with single runs."""
    return {rule for rule in rejecting(report) if not rule.startswith(("key.", "log."))}


#: The official checker takes ten seconds for them.
LONG = ("10,001 evaluations before the last",)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in CASES])
def test_a_closed_package_gets_the_verdict_of_the_installed_checker(name: str, tmp_path: Path) -> None:
    benchmark, edits, answer, rules = CASES[name]
    tree = make(tmp_path, "5.1", benchmark, edits)
    assert official(tree, tmp_path) == answer
    report = checked(tree)
    assert against_entry(report) - {"entry.noncompliant-runs"} == rules
    assert report.official is (Verdict.ACCEPTED if answer == "accepted" else Verdict.REJECTED)
    assert not any(f.rule == "rule.crashed" for f in report.findings)


def test_of_the_records_at_which_the_official_parser_ends_the_first_is_named() -> None:
    defects = Defects("log", EventTally())
    for line, crash in enumerate([None, "TypeError", "KeyError: 'value'"], 1):
        defects.add(Defect("log.record-undecodable", line, "", crash=crash))
    assert defects.crash == Crash(2, "TypeError")


OPEN: dict[str, tuple[Edit, str]] = {
    "text for a quality": (changed("eval_accuracy", value="0.35"), "TypeError"),
    "a quality that is a list": (changed("eval_accuracy", value=[0.35]), "TypeError"),
    "a record without metadata": (before("run_start", record_line({"time_ms": 1, "key": "x", "value": 1})), "KeyError"),
    "a time that is null": (changed("eval_samples", time_ms=None), "TypeError"),
    "a record that is a list": (before("run_start", Line(":::MLLOG []")), "TypeError"),
    "a benchmark in other letters": (changed("submission_benchmark", value="Retinanet"), "FileNotFoundError"),
    "a division in other letters": (changed("submission_division", value="Open"), "FileNotFoundError"),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_forgiven_run_that_the_official_compliance_checker_cannot_read_rejects(name: str, tmp_path: Path) -> None:
    edit, error = OPEN[name]
    tree = make(tmp_path, "5.1", "retinanet", {3: edit}, division="open")
    assert official(tree, tmp_path) == error
    report = checked(tree)
    assert report.official is Verdict.REJECTED
    [crash] = [f for f in report.findings if f.rule == "official.crash"]
    assert against_entry(report) == {"official.crash"}
    assert (crash.path, crash.line is not None) == ("results/rack1/retinanet/result_3.txt", True)
    assert crash.actual and crash.fix and "ends with a traceback" in crash.message


@pytest.mark.parametrize(
    "edit",
    [
        changed("eval_samples", time_ms="noon"),
        before("run_start", Line(":::MLLOG null")),
        before("run_start", Line(":::MLLOG {torn")),
        without("run_stop"),
        without("submission_benchmark"),
    ],
    ids=["a time that is text", "null", "a torn record", "no stop", "no benchmark"],
)
def test_a_forgiven_run_that_it_only_notes_is_forgiven(edit: Edit, tmp_path: Path) -> None:
    tree = make(tmp_path, "5.1", "retinanet", {3: edit}, division="open")
    assert official(tree, tmp_path) == "accepted"
    report = checked(tree)
    assert (report.official, against_entry(report)) == (Verdict.ACCEPTED, set())


def aborted(log: Log) -> Log:
    return changed("run_stop", metadata={"status": "aborted"})(log)


OLD: dict[str, tuple[dict[int, Edit], set[str]]] = {
    "the last run states no batch size": ({4: without("global_batch_size")}, set()),
    "a run says success without an evaluation": ({2: without("eval_accuracy")}, set()),
    "the first run does": ({0: without("eval_accuracy")}, {"rcp.no-point"}),
    "one run does not stop, and one is aborted": ({1: without("run_stop"), 2: aborted}, set()),
    "two runs are aborted": ({1: aborted, 2: aborted}, {"rcp.insufficient-convergence"}),
}


@pytest.mark.parametrize("name", OLD)
def test_to_v21_a_forgiven_run_need_not_tell_all(name: str, tmp_path: Path) -> None:
    edits, rules = OLD[name]
    report = checked(make(tmp_path, "2.0", "resnet", edits, choice="lars"))
    assert against_entry(report) == rules
    assert report.official is (Verdict.REJECTED if rules else Verdict.ACCEPTED)


def test_to_v21_a_run_that_stops_twice_counts_twice(tmp_path: Path) -> None:
    def fast(log: Log) -> Log:
        return told("eval_accuracy", epoch_num=39)(log)

    def twice(log: Log) -> Log:
        return behind("run_stop", log[log.places("run_stop")[-1]])(log)

    plain = checked(make(tmp_path / "plain", "2.0", "resnet", {0: fast, 1: fast}, choice="lars")).entries[0].rcp
    doubled = checked(
        make(tmp_path / "doubled", "2.0", "resnet", {0: both(fast, twice), 1: both(fast, twice)}, choice="lars")
    )
    slow = max(point for point in plain.points if point is not None)
    assert plain.mean == pytest.approx((39 + slow + slow) / 3)
    assert doubled.entries[0].rcp.mean == pytest.approx((39 * 3 + slow + slow) / 5)
    assert len(doubled.entries[0].rcp.points) == 5
    assert doubled.official is Verdict.ACCEPTED


def test_to_v21_an_evaluation_of_the_error_hides_those_of_the_accuracy(tmp_path: Path) -> None:
    early = before("eval_accuracy", new("eval_error", 0.5, epoch_num=1))
    report = checked(make(tmp_path, "hpc-2.0", "deepcam", {-1: early}, below="strong", choice="Adam+multistep"))
    assert (report.official, against_entry(report)) == (Verdict.REJECTED, {"rcp.missing"})
    (entry,) = report.entries
    assert set(entry.rcp.points) == {1}


def findings(report: Report, rule: str) -> list[Finding]:
    return [f for f in report.findings if f.rule == rule]


def test_a_crash_names_the_record_and_what_to_mend(tmp_path: Path) -> None:
    edit = before("run_start", new("eval_accuracy_target", 0.34))
    tree = make(tmp_path, "5.1", "retinanet", {1: edit})
    [crash] = findings(checked(tree), "official.crash")
    lines = (tree / crash.path).read_text().splitlines()
    assert crash.line is not None and "eval_accuracy_target" in lines[crash.line - 1]
    assert crash.actual == "KeyError: 'epoch_num'"
    assert str(crash.fix).startswith("Leave global_batch_size, ")
    (entry,) = checked(tree).entries
    assert (entry.rcp.verdict, entry.rcp.how) == ("fail", "crash")
