"""``mlsub rcp`` as a reader sees it. The data of rounds that are over does not change any more."""

from __future__ import annotations

import json

import pytest

from tools.support.runner import run

RESNET = """\
resnet, training 2.0: epochs to converge, 5 runs an entry

batch size  runs     mean   stdev  accepted from  pruned
--------------------------------------------------------------------------------------------
      1632    17       35  0.8944        34.0124
      3264    15  35.1538  0.5329        34.5526
      4096    10   39.875  0.7806        38.9062  between 3264 and 8192
      8192    10   41.875  0.7806        40.9062  between 3264 and 13056
     13056    10     45.5     0.5        44.8794  between 3264 and 32768
     32768    10       56       0             56  between 3264 and 49152, though on the hull
     49152    10       68     0.5        67.3795
     58880    10       80     0.5        79.3795  between 49152 and 65536
     65536    10     84.5  0.7071        83.6225

hull: the lower convex hull of the written rules, from which the official pruning differs

Changed later, which does not count here: 67840 on 2022-10-13 (ddead9b)
"""
BERT = """\
bert, training 4.1, batch size 4000

reference: between two reference points
mean:      2742007 samples, stdev 140673
accepted:  an olympic mean of 2641635 samples or more
faster:    below 2742007 samples the time is scaled up, by 1.0380 at the limit
"""


def test_the_reference_points_read_to_the_letter() -> None:
    assert run("rcp", "show", "resnet", "--round", "2.0") == (0, RESNET, "")


def test_a_plan_reads_to_the_letter() -> None:
    assert run("rcp", "plan", "bert", "--round", "4.1", "--batch-size", "4000") == (0, BERT, "")


def test_the_documents_say_the_same() -> None:
    for which, largest in (("published", 65536), ("newest", 67840)):
        show = ("rcp", "show", "resnet", "--round", "2.0", "--rcp-points", which, "--format", "json")
        table = json.loads(run(*show).stdout)["reference"]
        assert [row["batch_size"] for row in table["rows"] if row["kept"]] == [1632, 3264, 49152, largest]
    assert table["rows"][0]["minimum"] == pytest.approx(34.0124, abs=1e-4)
    answer = run("rcp", "plan", "bert", "--round", "4.1", "--batch-size", "4000", "--format", "json")
    plan = json.loads(answer.stdout)["plan"]
    assert (plan["how"], plan["unit"], plan["normalised"]) == ("interpolated", "samples", True)


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
