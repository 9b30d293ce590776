"""Files of identifiers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.ids import read_ids
from mlsub.io.errors import MlsubError
from mlsub.score.table import rows_of
from tests.commands.site.sites import checked
from tests.make_tree import make_tree

GOOD = "id,round,organisation,system,benchmark\n1.0-1025,v1.0,ACME,rack1,\n1.0-1026,1.0,ACME,rack1,bert\n"


def test_an_id_is_of_a_whole_system_or_of_one_benchmark(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    file = tmp_path / "ids.csv"
    file.write_text("\ufeff" + GOOD)
    ids = read_ids(file)
    rows = rows_of([one.report for one in checked(tree.folder.parent)])
    assert [(row.benchmark, ids(row)) for row in rows] == [("bert", "1.0-1026"), ("resnet", "1.0-1025")]
    file.write_text("system,ID,round,organisation\nrack2,1.0-1,1.0,ACME\n")
    assert [read_ids(file)(row) for row in rows] == [None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"",
            ":1: a table with the columns id, round, organisation, system and perhaps benchmark is needed, each once",
        ),
        (b"id,round\n", ":1: a table with the columns id, round, organisation, system and perhaps benchmark is needed"),
        (GOOD.encode() + b"x,1.0,ACME,rack2,\n", ":4: 'x' is not an ID like 1.1-2040"),
        (GOOD.encode() + b"1.0-7,one,ACME,rack2,\n", ":4: 'one' is not a round like 1.1"),
        (GOOD.encode() + b"1.0-7,1.0,ACME,rack1,\n", ":4: 1.0/ACME/rack1 has the ID 1.0-1025 already"),
        (GOOD.encode() + b"1.0-7,1.0\n", ":4: 2 cells for 5 columns"),
        (b'id,round,organisation,system\n"1.0-7,1.0,ACME,rack1\n', "unexpected end of data"),
        (b"\xff\xfe", ": not UTF-8 text"),
        (b"x" * (4 << 20) + b"y", ": larger than 4 MiB"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "ids.csv"
    file.write_bytes(content)
    with pytest.raises(MlsubError) as told:
        read_ids(file)
    assert message in str(told.value)
    assert "\n" not in str(told.value)


@given(st.binary(max_size=300))
def test_no_content_ends_in_anything_but_a_reason(content: bytes) -> None:
    file = Path("/dev/shm/mlsub-ids.csv") if Path("/dev/shm").is_dir() else Path("mlsub-ids.csv")
    file = file.with_name(f"mlsub-ids-{os.getpid()}.csv")
    file.write_bytes(b"id,round,organisation,system\n" + content)
    try:
        read_ids(file)
    except MlsubError:
        pass
    finally:
        file.unlink()


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, message in (
        ("pipe", "not a regular file"),
        ("none", "there is no such file"),
        ("nul\0", "there is no such file"),
    ):
        with pytest.raises(MlsubError, match=message):
            read_ids(tmp_path / name)
