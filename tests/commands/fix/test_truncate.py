"""Truncation keeps every record, ends below the limit, and tells what is gone."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.fix.truncate import LIMIT, truncate
from mlsub.io.errors import MlsubError
from mlsub.log.rewrite import records_of
from tests.commands.fix.logs import events, logs

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


def test_records_alone_above_the_limit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(RECORD * 100)
    with pytest.raises(MlsubError, match="records alone are 6700 bytes"):
        truncate(file, 1000, write=True)
    assert file.read_bytes() == RECORD * 100
