"""Result files hold all that the framework wrote, from the round on whose rules ask for it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mlsub.judge.log import LogJudge
from mlsub.rounds import get_round
from tests.log.test_reader import cut
from tools.support.corpus import SHARED
from tools.support.judging import report_on
from tools.support.runner import check

RULE = "run.records-only"
KEYS = ("submission_benchmark", "seed", "run_start", "block_start", "run_stop")


def record(key: str) -> str:
    content = {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": key, "value": 1, "metadata": {}}
    return f":::MLLOG {json.dumps(content)}"


RECORDS = [record(key) for key in KEYS]


def found(folder: Path, text: str, round_: str = "6.1", usage: str = "training") -> list[str | None]:
    """What is said of a log of this text."""
    file = folder / "result_0.txt"
    file.write_text(text, newline="")
    return [one.actual for one in report_on(file, usage, round_).findings if one.rule == RULE]


@pytest.mark.parametrize(
    ("lines", "actual"),
    [
        (RECORDS, "no other line"),
        ([f"{rank}: {one}" for rank, one in enumerate(RECORDS)], "no other line"),
        ([*RECORDS, "Loading", "Epoch 1"], "2 other lines"),
        ([*RECORDS, "Loading", "Epoch 1", "Epoch 2"], None),
        (["Loading", *RECORDS, "Epoch 1", "Epoch 2"], None),
        ([*RECORDS, ":::MLLOG {"], "no other line"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_log_of_records_has_at_most_two_other_lines(
    tmp_path: Path, lines: list[str], actual: str | None, end: str
) -> None:
    for text in (end.join(lines), end.join([*lines, ""])):
        assert found(tmp_path, text) == ([actual] if actual else [])


def test_the_rules_ask_for_it_from_a_round_on(tmp_path: Path) -> None:
    text = "\n".join(RECORDS)
    assert not any(found(tmp_path, text, round_) for round_ in ("0.7", "3.1", "5.1", "6.0"))
    assert not found(tmp_path, text, "3.0", "hpc")


@pytest.mark.parametrize("text", ["", "Loading\n", ":::MLLOG {\n"])
def test_a_file_that_holds_no_run_has_other_findings(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("sizes", [[1], [7, 300], [1 << 20]])
def test_it_does_not_depend_on_how_a_log_comes(tmp_path: Path, sizes: list[int]) -> None:
    data = "\n".join(["Loading", *RECORDS, "\r 10 %\r 20 %"]).encode()
    judge = LogJudge("result_0.txt", get_round("training", "6.1"))
    for piece in cut(data, sizes):
        judge.feed(piece)
    assert RULE not in {one.rule for one in judge.report().findings}, "more may follow"
    judge.close()
    assert [one.actual for one in judge.report().findings if one.rule == RULE] == ["2 other lines"]
    packed = tmp_path / "result_0.txt.gz"
    packed.write_bytes(gzip.compress(data))
    assert RULE in {one.rule for one in report_on(packed, "training", "6.1").findings}


@pytest.mark.skipif(not (SHARED / "v6.0-sample").is_dir(), reason="the published sample of v6.0 is not here")
def test_a_published_package_is_asked_about_once_whether_it_was_checked_before_or_not(tmp_path: Path) -> None:
    def asked(round_: str) -> list[dict[str, str]]:
        return check("--round", round_, SHARED / "v6.0-sample" / "AMD", "--cache-dir", tmp_path / "cache").of(RULE)

    fresh = asked("6.1")
    assert {(one["severity"], one["kind"]) for one in fresh} == {("warning", "review")}
    assert asked("6.1") == fresh
    assert asked("6.0") == []
