"""``mlsub fix --truncate`` as people call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.support.make_tree import snapshot
from tools.support.runner import answer_schema, run

RECORD = ':::MLLOG {"time_ms": 1, "key": "a", "value": null, "metadata": {}}\n'
LINE = "step of the training, told at length so that a log becomes too large soon\n"


def large(folder: Path) -> Path:
    file = folder / "result_0.txt"
    many = LINE * 10_000
    with file.open("w") as stream:
        for _ in range(145):
            stream.write(many + RECORD)
    return file


@pytest.mark.slow
def test_a_large_log_is_told_then_truncated_then_left_alone(tmp_path: Path) -> None:
    file = large(tmp_path)
    (tmp_path / "result_1.txt").write_text(RECORD)
    before = snapshot(tmp_path)
    dry = run("fix", "--truncate", tmp_path)
    assert (dry.status, dry.stderr) == (1, "")
    assert dry.stdout == (
        "Logs larger than 100 MiB\n\n"
        f"{file}\n"
        "  102.3 MiB, would be 100.0 MiB: 33142 lines of framework output left out, all 145 records kept\n\n"
        "1 of 2 logs are no larger than 100 MiB and stay as they are. To truncate the others: --write\n"
    )
    assert snapshot(tmp_path) == before
    done = run("fix", "--truncate", tmp_path, "--write")
    assert done.status == 0
    assert done.stdout == dry.stdout.replace("would be", "now").replace(". To truncate the others: --write", "")
    assert file.stat().st_size <= 100 << 20 and file.read_text().count(RECORD) == 145
    again = run("fix", "--truncate", tmp_path, "--write", "--format", "json")
    answer_schema("fix truncate").validate(again.document)
    document = again.document
    assert (again.status, document["written"], document["limit"], document["logs"]) == (0, True, 104857600, [])


def test_no_limit_below_that_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "result_0.txt").write_text(RECORD)
    assert run("fix", "--truncate", tmp_path, "--limit", 99).status == 2


def test_what_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    done = run("fix", "--truncate", tmp_path / "no\x1bwhere")
    assert done.status == 2
    assert done.stderr == f"mlsub fix: There is no {tmp_path}/no\\x1bwhere. Name logs, or folders of them.\n"
    (tmp_path / "link").symlink_to("elsewhere")
    link = run("fix", "--truncate", tmp_path / "link")
    assert (link.status, link.stdout) == (2, "")
    empty = run("fix", "--truncate", tmp_path)
    assert empty.status == 2 and "holds no log" in empty.stderr
