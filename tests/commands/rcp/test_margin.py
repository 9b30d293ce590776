"""``mlsub rcp margin`` as a reader sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ExpectedText
from tools.support.entry_logs import log_of, write_logs
from tools.support.make_tree import make_tree
from tools.support.runner import Outcome, run

#: ResNet in v1.0 at batch size 4096: mean 39.875 epochs, accepted from 38.906.
SIZE = 4096


def margin(*arguments: object) -> Outcome:
    return run("rcp", "margin", *arguments)


def resnet(tmp_path: Path, *points: Any, size: Any = SIZE, status: str = "success") -> Path:
    entry = tmp_path / "resnet"
    write_logs(entry, [log_of("resnet", size, point, status=status) for point in points])
    return entry


def entries(outcome: Outcome) -> list[dict[str, Any]]:
    return [entry for report in outcome.document["reports"] for entry in report["entries"]]


@pytest.mark.parametrize(
    ("name", "points", "status"), [("margin.txt", (39, 40, 41, 40, 43), 0), ("margin-early.txt", (37, 38, 41), 1)]
)
def test_an_entry_and_its_first_runs_read_to_the_letter(
    name: str, points: tuple[int, ...], status: int, tmp_path: Path, expected_text: ExpectedText
) -> None:
    found = margin(resnet(tmp_path, *points), "--round", "1.0")
    expected_text(name, found.stdout.replace(str(tmp_path), "ROOT"))
    assert (found.status, found.stderr) == (status, "")


def test_a_tree_reads_to_the_letter(tmp_path: Path, expected_text: ExpectedText) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    for number, epoch in ((0, 36), (1, 44), (2, 44)):
        tree.edit(lambda log, epoch=epoch: log.put("eval_accuracy", metadata={"epoch_num": epoch}), number)  # type: ignore[misc]
    (tree.entry() / "scaling.json").write_text('{"scaling_factor": 1.0123}')
    tree.add_system("rack2", "open")
    tree.add_entry("resnet", "rack2", "open")
    found = margin(tree.folder)
    expected_text("margin-tree.txt", found.stdout.replace(str(tmp_path), "ROOT"))
    assert (found.status, found.stderr) == (0, "")


def test_the_document_says_the_same(tmp_path: Path) -> None:
    found = margin(resnet(tmp_path, 39, 40, 41, 40, 43), "--round", "1.0", "--format", "json")
    document = found.document
    assert (document["schema"], document["command"], document["bootstrap"]["seed"]) == (4, "rcp margin", 0)
    (entry,) = entries(found)
    assert entry["distance"] == pytest.approx(121 / 3 - 38.9062, abs=1e-4)
    assert entry["chance"]["low"] < entry["chance"]["value"] < entry["chance"]["high"]
    assert (entry["chance"]["runs"], entry["verdict"], entry["completion"]) == (5, "pass", None)
    assert document["reports"][0]["untested"] == []


@pytest.mark.parametrize(
    ("points", "size", "status", "line"),
    [
        ((30, 31, 32, 30, 33), SIZE, 1, "resnet: fail, 5 runs"),
        ((90, 91, 92, 90, 93), 100_000, 1, "no reference point is that large"),
        ((30, 31, 32, 30, 33), 256, 1, "resnet: missing, 5 runs"),
        ((42, 43, 44), SIZE, 0, "resnet: open, 3 of 5 runs"),
        ((42,), SIZE, 0, "plain mean, too few runs for an olympic one"),
        ((42, 42, 43, 44, 45), None, 1, "the runs do not agree on batch size"),
        ((42, 43, 44, 45, None), SIZE, 1, "a run says success but does not show where it converged"),
    ],
)
def test_the_exit_status_is_that_of_the_worst(
    points: tuple[Any, ...], size: Any, status: int, line: str, tmp_path: Path
) -> None:
    # To v2.1 a run that logs no evaluation counts as the one before it.
    found = margin(resnet(tmp_path, *points, size=size), "--round", "1.0" if None not in points else "3.0")
    assert found.status == status
    assert line in found.stdout


def test_runs_that_do_not_converge_are_slow_until_they_are_too_many(tmp_path: Path) -> None:
    entry = resnet(tmp_path, 42, 43, 44, 45, 46)
    logs = [log_of("resnet", SIZE, 42 + run, status="aborted" if run < 2 else "success") for run in range(5)]
    write_logs(entry, logs[1:])
    assert "mean:        45.5 epochs" in margin(entry, "--round", "1.0").stdout
    write_logs(entry, logs)
    found = margin(entry, "--round", "1.0")
    assert found.status == 1
    assert "2 runs did not converge; 1 may" in found.stdout
    assert "that 5 further runs pass" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nowhere", "--round", "1.0"), "There is no "),
        (("resnet/result_0.txt", "--round", "1.0"), "a log by itself is not an entry; name its folder"),
        (("resnet", "--round", "9.9"), "There are no rules for training round 9.9"),
        (("resnet", "--round", "0.7"), "no entry can be compared with a reference"),
        (("resnet", "--round", "1.0", "--rules", "none.yaml"), "none.yaml"),
    ],
)
def test_where_nothing_can_be_compared_with_a_reference_one_line_says_why(
    arguments: tuple[str, ...], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resnet(tmp_path, 42, 43, 44, 45, 46)
    monkeypatch.chdir(tmp_path)
    found = margin(*arguments)
    assert found.status == 2
    assert line in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_part_that_cannot_be_checked_is_not_passed_over(tmp_path: Path) -> None:
    found = margin(resnet(tmp_path, 42, 43, 44, 45, 46), tmp_path / "nowhere", "--round", "1.0")
    assert found.status == 1
    assert "There is no" in found.stderr
