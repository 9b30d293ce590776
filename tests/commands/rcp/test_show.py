"""``mlsub rcp`` as a reader sees it. The data of rounds that are over does not change any more."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ExpectedText
from tools.support.runner import run

#: The file with the expected text, and what was asked.
TEXTS = {
    "show.txt": ("show", "resnet", "--round", "2.0"),
    "plan.txt": ("plan", "bert", "--round", "4.1", "--batch-size", "4000"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_points_and_a_plan_read_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    done = run("rcp", *TEXTS[name])
    assert (done.status, done.stderr) == (0, "")
    expected_text(name, done.stdout)


def test_the_points_of_a_day_can_be_asked_for() -> None:
    for which, largest in (("published", 65536), ("newest", 67840)):
        show = ("rcp", "show", "resnet", "--round", "2.0", "--rcp-points", which, "--format", "json")
        table = json.loads(run(*show).stdout)["reference"]
        assert [row["batch_size"] for row in table["rows"] if row["kept"]] == [1632, 3264, 49152, largest]


def test_a_batch_size_beyond_every_point_needs_one_of_its_own() -> None:
    answer = run("rcp", "plan", "resnet", "--round", "2.0", "--batch-size", "100000")
    assert answer.status == 1
    assert "a new one has to be submitted" in answer.stdout


def test_the_points_at_the_deadline_are_said_to_be_those() -> None:
    show = ("rcp", "show", "llama31_8b", "--round", "5.1")
    plan = ("rcp", "plan", "llama31_8b", "--round", "5.1", "--batch-size", "16")
    late = ("--rcp-points", "deadline")
    title = "llama31_8b, training 5.1, points merged by the deadline, 2025-10-10: samples to converge, 10 runs an entry"
    assert run(*show, *late).stdout.splitlines()[0] == title
    assert (run(*plan).status, run(*plan, "--rcp-points", "newest").status) == (0, 0)
    answer = run(*plan, *late)
    title = "llama31_8b, training 5.1, points merged by the deadline, 2025-10-10, batch size 16"
    assert answer.stdout.splitlines()[0] == title
    assert "smaller than any reference point" in answer.stdout
    document = json.loads(run(*show, *late, "--format", "json").stdout)["reference"]
    assert document["reference_points"] == "deadline"
    assert [row["batch_size"] for row in document["rows"]] == [32, 64, 96, 128]
    assert json.loads(run(*plan, "--format", "json").stdout)["plan"]["reference_points"] == "published"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("minigo",), "minigo is not compared with a reference in any round"),
        (("bert", "--round", "0.7"), "MLPerf Training v0.7 had no convergence test; it began with v1.0"),
        (("resnt",), "no benchmark 'resnt'. Did you mean resnet"),
    ],
)
def test_where_there_is_no_reference_one_line_says_why(arguments: tuple[str, ...], line: str) -> None:
    answer = run("rcp", "show", *arguments)
    assert (answer.status, answer.stdout) == (2, "")
    assert line in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
