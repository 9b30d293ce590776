"""Truncation keeps every record, ends below the limit, and tells what is gone."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io import MlsubError
from mlsub.log.rewrite import records_of, rewrite
from mlsub.packing.truncate import LIMIT, plan_truncation
from tests.commands.fix.logs import events, logs, truncate
from tools.support.make_tree import snapshot
from tools.support.runner import answer_schema, run

RECORD = b':::MLLOG {"time_ms": 1, "key": "a", "value": null, "metadata": {}}\n'


@given(logs, st.integers(300, 3000), st.integers(1, 40))
def test_all_records_stay(data: bytes, limit: int, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result_0.txt")
        file.write_bytes((data + b"\n") * times)
        before, content = events(file), file.read_bytes()
        try:
            dry = truncate(file, limit, write=False)
            assert file.read_bytes() == content
            done = truncate(file, limit, write=True)
        except MlsubError as error:
            assert "records alone" in str(error)
            assert file.read_bytes() == content
            return
        assert done == dry
        assert events(file) == before
        assert [name.name for name in Path(folder).iterdir()] == ["result_0.txt"]
        assert file.stat().st_size <= limit
        if done is None:
            assert file.read_bytes() == content
        else:
            assert done.size_after == file.stat().st_size
            assert truncate(file, limit, write=True) is None


def test_head_tail_and_records_stay_and_one_line_tells(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    lines = [b"step %03d\n" % number for number in range(200)]
    lines[100:100] = [b"0: " + RECORD]
    file.write_bytes(b"".join(lines))
    done = truncate(file, 500, write=True)
    assert done is not None
    kept = file.read_text().splitlines()
    marker = [line for line in kept if line.startswith("[mlsub")]
    rest = [line for line in kept if not line.startswith("[mlsub")]
    assert marker == [
        "[mlsub fix: from here on 182 lines (1638 bytes) of framework output are left out, no MLPerf record among them]"
    ]
    assert rest[0] == "step 000" and rest[-1] == "step 199" and len(rest) == 200 - 182 + 1
    assert kept.index(marker[0]) < kept.index("0: " + RECORD.decode().strip())
    assert re.search("step 00[0-9]", kept[kept.index(marker[0]) - 1])


@pytest.mark.slow
def test_a_log_at_the_limit_of_the_rules_stays(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with file.open("wb") as stream:
        stream.write(RECORD)
        stream.truncate(LIMIT)
    assert truncate(file, write=True) is None
    with file.open("ab") as stream:
        stream.write(b"\n")
    done = truncate(file, write=True)
    assert done is not None and done.size == LIMIT + 1 and file.stat().st_size == done.size_after <= LIMIT
    assert len(list(records_of(file))) == 1


def test_a_log_that_grew_since_it_was_read_is_left(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(RECORD + b"step\n" * 200)
    planned = plan_truncation(file, 500)
    assert planned is not None
    with file.open("ab") as stream:
        stream.write(RECORD)
    with pytest.raises(MlsubError, match="changed since it was read, and is left as it is"):
        rewrite(file, planned[1])
    assert file.read_bytes() == RECORD + b"step\n" * 200 + RECORD


def test_records_alone_above_the_limit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(RECORD * 100)
    with pytest.raises(MlsubError, match="records alone are 6700 bytes"):
        truncate(file, 1000, write=True)
    assert file.read_bytes() == RECORD * 100


LINE = "step of the training, told at length so that a log becomes too large soon\n"


def large(folder: Path) -> Path:
    file = folder / "result_0.txt"
    many = LINE * 10_000
    with file.open("w") as stream:
        for _ in range(145):
            stream.write(many + RECORD.decode())
    return file


@pytest.mark.slow
def test_a_large_log_is_told_then_truncated_then_left_alone(tmp_path: Path) -> None:
    file = large(tmp_path)
    (tmp_path / "result_1.txt").write_text(RECORD.decode())
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
    assert file.stat().st_size <= 100 << 20 and file.read_text().count(RECORD.decode()) == 145
    again = run("fix", "--truncate", tmp_path, "--write", "--format", "json")
    answer_schema("fix truncate").validate(again.document)
    document = again.document
    assert (again.status, document["written"], document["limit"], document["logs"]) == (0, True, 104857600, [])


def test_no_limit_below_that_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "result_0.txt").write_text(RECORD.decode())
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
