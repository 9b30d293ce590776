"""Lists of the IDs of results: YAML by round, tables in CSV, and the list that ships."""

from __future__ import annotations

import os
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import mlsub.submission
from mlsub.io.errors import MlsubError
from mlsub.submission.ids import Ids, ids_schema, read_ids, shipped_ids

TABLE = "id,round,organisation,system,benchmark\n1.0-1025,v1.0,ACME,rack1,\n1.0-1026,1.0,ACME,rack1,bert\n"
CASES = yaml.safe_load(Path(__file__).with_name("ids.yaml").read_text("utf-8"))
SHIPPED = Path(mlsub.submission.__file__).with_name("ids.yaml")


def shown(ids: Ids, round_: str, system: str, benchmark: str, division: str | None, of: str = "ACME") -> str | None:
    found = ids.of("training", round_, of, system, benchmark, division)
    return found.shown if found else None


def test_a_list_has_ids_by_round_and_groups_of_them(tmp_path: Path) -> None:
    file = tmp_path / "ids.yaml"
    file.write_text(CASES["list"])
    ids = read_ids(file)
    for case in CASES["found"]:
        assert shown(ids, *case["result"]) == case["id"], case
    found = ids.of("training", "1.1", "ACME", "rack2", "bert", "open")
    assert found is not None and (found.source, found.why) == ("A table", "A chart")
    assert ids.of("hpc", "1.1", "ACME", "rack1", "bert", None) is None


@pytest.mark.parametrize("case", CASES["wrong"], ids=lambda case: case["message"][:40])
def test_what_is_wrong_with_a_list_has_its_line(tmp_path: Path, case: dict[str, str]) -> None:
    file = tmp_path / case.get("name", "ids.yaml")
    file.write_text(case["text"])
    with pytest.raises(MlsubError) as refused:
        read_ids(file)
    assert str(refused.value).replace(f"{tmp_path}/", "").splitlines() == case["message"].splitlines()


def test_a_table_has_an_id_of_a_whole_system_or_of_one_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "ids.csv"
    file.write_text("\ufeff" + TABLE)
    ids = read_ids(file)
    assert [shown(ids, "1.0", "rack1", name, "closed") for name in ("bert", "resnet")] == ["1.0-1026", "1.0-1025"]
    assert shown(ids, "1.0", "rack1", "bert", None, "acme") is None, "a name that is not known is spelled one way"
    file.write_text("system,ID,round,organisation,division,notes\nrack2,1.0-1,1.0,graphcore,open,mine\n\n")
    ids = read_ids(file)
    assert shown(ids, "1.0", "rack2", "bert", "open", "Graphcore") == "1.0-1"
    assert shown(ids, "1.0", "rack2", "bert", "closed", "Graphcore") is None


def test_ids_of_systems_that_are_not_there_are_named(tmp_path: Path) -> None:
    file = tmp_path / "ids.csv"
    file.write_text(TABLE + "1.0-1030,1.0,ACME,rakc2,\n1.0-1031,1.0,Else,rack9,\n1.1-7,1.1,ACME,rack9,\n")
    there = [("training", "1.0", "ACME", "rack1"), ("training", "1.0", "ACME", "rack2")]
    assert list(read_ids(file).astray(there)) == ["1.0-1030: ACME has no rakc2 in v1.0. Did you mean rack2?"]
    assert list(shipped_ids().astray(there)) == []


def test_the_shipped_list_holds_together() -> None:
    assert shown(read_ids(SHIPPED), "1.0", "ipu-pod16-TF1", "resnet", "closed", "Graphcore") == "1.0-1026 or 1.0-1028"
    jsonschema.Draft202012Validator.check_schema(ids_schema())
    jsonschema.validate(yaml.safe_load(SHIPPED.read_text("utf-8")), ids_schema())
    listed = {
        i for one in yaml.safe_load(SHIPPED.read_text())["rounds"] for group in one["groups"] for i in group["ids"]
    }
    assert len(listed) == 13


@pytest.mark.parametrize(
    ("round_", "system", "benchmark", "division", "ids"),
    [
        ("1.0", "ipu-pod16-POPART-closed", "bert", "closed", "1.0-1025 or 1.0-1027"),
        ("1.0", "ipu-pod64-POPART-open", "bert", "open", "1.0-1098 or 1.0-1099"),
        ("1.1", "ipu-pod256-TF1", "resnet", "closed", "1.1-2040, 1.1-2042, 1.1-2044 or 1.1-2045"),
        ("1.1", "ipu-pod16-POPART-open", "bert", "open", "1.1-2087, 1.1-2088 or 1.1-2089"),
        ("1.1", "ipu-pod16-POPART-closed", "bert", "closed", None),
        ("2.0", "ipu-pod16-TF1", "resnet", "closed", None),
    ],
)
def test_graphcore_has_the_ids_that_its_documents_cite(
    round_: str, system: str, benchmark: str, division: str, ids: str | None
) -> None:
    assert shown(shipped_ids(), round_, system, benchmark, division, "Graphcore") == ids


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_table_has_the_lines_of_a_table(end: str, tmp_path: Path) -> None:
    """A text has more ends of lines than a table, and a cell in quotes may have its own."""
    file = tmp_path / "ids.csv"
    file.write_text(f'id,round,organisation,system\n1.0-1,1.0,"AC{end}ME","rack{end}1"\n1.0-2,1.0,"A\nB",rack2\n')
    known = read_ids(file)
    for number, organisation, system in (("1.0-1", f"AC{end}ME", f"rack{end}1"), ("1.0-2", "A\nB", "rack2")):
        found = known.of("training", "1.0", organisation, system, "bert", None)
        assert found is not None and found.shown == number


@pytest.mark.parametrize("name", ["ids.csv", "ids.yaml"])
@given(content=st.binary(max_size=300))
def test_no_content_ends_in_anything_but_a_reason(name: str, content: bytes) -> None:
    file = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path.cwd()
    file = file / f"mlsub-{os.getpid()}-{name}"
    head = b"id,round,organisation,system\n" if name.endswith("csv") else b"rounds:\n"
    file.write_bytes(head + content)
    try:
        read_ids(file)
    except MlsubError:
        pass
    finally:
        file.unlink()


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("pipe", "not a regular file"), ("none", "No such file"), ("nul\0", "cannot be read")):
        with pytest.raises(MlsubError, match=message):
            read_ids(tmp_path / name)
