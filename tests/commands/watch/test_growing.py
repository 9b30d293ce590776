"""A log fed in pieces is judged as the same bytes in a file are: by the code of ``mlsub check``, to the last field."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.watch.model import Ended, Found
from mlsub.judge import rules
from mlsub.submission.model import LogReport
from tools.support.judging import report_on
from tools.support.make_tree import make_log
from tools.support.scene import Fed, at, lines_of, runs_of

RECORD = (
    b':::MLLOG {"namespace": "", "time_ms": 5, "event_type": "POINT_IN_TIME", "key": "%s", "value": 1, "metadata": {}}'
)
Told = set[tuple[str, int | None, str | None]]


def fed(data: bytes, pieces: list[int], round_name: str) -> tuple[LogReport, Told]:
    """The report on bytes in pieces of these sizes (then the rest), and what was certain before the end."""
    fed, place = Fed(round_name), 0
    for size in [*pieces, len(data)]:
        if place < len(data):
            fed.feed(data[place : place + size])
            place += size
    found = [one.finding for one in fed.news if isinstance(one, Found)]
    return fed.log.report().at("result_0.txt"), {(one.rule, one.line, one.expected) for one in found}


def same(data: bytes, pieces: list[int], tmp_path: Path, round_name: str = "1.0") -> tuple[LogReport, Told]:
    """Both ways lead to the same report."""
    file = tmp_path / "result_0.txt"
    file.write_bytes(data)
    report, told = fed(data, pieces, round_name)
    assert repr(report) == repr(report_on(file, "training", round_name))
    if not report.undecodable:
        assert told <= {(one.rule, one.line, one.expected) for one in report.findings}
    return report, told


LINE = st.sampled_from(
    [
        *lines_of(),
        *(line.replace(b"\n", b"\r\n") for line in lines_of()[:6]),
        RECORD % b"opt_name" + b"\n",
        RECORD % b"submission_division" + b"\r",
        RECORD % b"run_stop" + b" and text behind it\n",
        RECORD[:40] + b"\n",
        b"[rank 3] " + RECORD % b"seed" + RECORD % b"seed" + b"\n",
        b"free text \xff\x00\xe9\n",
        b"progress\rprogress\r",
        b"\n",
        b"\r\n",
        b'::MLLOG :::MLLOG {"key": 1}\n',
        b':::MLLOG {"time_ms": NaN, "key": ["x"], "value": Infinity, "metadata": null}\n',
    ]
)


@pytest.mark.parametrize("data", [b"", b"x", b"\xff", b"\xff\xfe", b"no record\n", make_log().text().encode("utf-16")])
def test_hardly_anything_and_a_wide_encoding(data: bytes, tmp_path: Path) -> None:
    report, told = same(data, [1, 1, 1, 1, 1, 1000], tmp_path)
    assert not report.compliant and not told


@given(
    lines=st.lists(LINE, max_size=40),
    pieces=st.lists(st.integers(1, 400), max_size=60),
    cut=st.integers(0, 300),
)
def test_any_lines_in_any_pieces(lines: list[bytes], pieces: list[int], cut: int, tmp_path: Path) -> None:
    data = b"".join(lines)
    same(data[: max(0, len(data) - cut)] if cut < 150 else data, pieces, tmp_path)


def test_a_log_that_names_itself_after_more_events_than_are_held_is_judged_only_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_HELD", 10)
    lines = lines_of()
    name = lines[at(lines, "submission_benchmark")]
    late = b"".join([*(line for line in lines if line != name), name])
    fed = Fed()
    for start in range(0, len(late), 50):
        assert not any(one.problem for one in runs_of(fed.feed(late[start : start + 50])))
    fed.log.end(0)
    assert isinstance(fed.news[-1], Ended) and fed.news[-1].official == "not-checked"
    [unreadable] = [one.finding for one in fed.news if isinstance(one, Found) and one.finding.rule == "log.unreadable"]
    assert "too late to be judged as it comes; check it as a file" in unreadable.message
    file = tmp_path / "result_0.txt"
    spoiled = late.replace(b'"lars_epsilon", "value": 0.0', b'"lars_epsilon", "value": 0.5')
    for content, compliant in ((late, True), (spoiled, False)):
        file.write_bytes(content)
        assert report_on(file, "training", "1.0").compliant is compliant


def test_an_unfinished_last_line_is_no_record_yet() -> None:
    fed = Fed()
    fed.feed(b"".join(lines_of())[:-1])
    assert fed.log.phase == "run"
    fed.log.end_if_still(60_000, 3)
    stopped = runs_of(fed.news)[-1]
    assert (stopped.phase, stopped.status) == ("stopped", "success")
    assert isinstance(fed.news[-1], Ended) and fed.news[-1].official == "compliant"
    assert fed.feed(b"\n") == []
