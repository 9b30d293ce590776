"""Files of reference points: each defect is told once and clearly, and what is installed passes."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.rcp_checker.rcp_checker import RCP_Checker

from mlsub.commands.rcp.build import against_schema
from mlsub.convergence import newest_algorithm
from mlsub.convergence.filecheck import check_records, check_reference_file, needed_runs
from mlsub.convergence.reference import EPOCHS, SAMPLES, read_points
from mlsub.io import MlsubError

SPEC = find_spec("mlperf_logging")
FILES = (
    sorted(Path(str(SPEC.submodule_search_locations[0])).glob("rcp_checker/*_*/rcps_*.json"))
    if SPEC and SPEC.submodule_search_locations
    else []
)


def record(**changes: Any) -> dict[str, Any]:
    content = {"Benchmark": "resnet", "BS": 4096, "Hyperparams": {}, EPOCHS: [40, 41, 42, 43, 44] * 2, **changes}
    return {key: value for key, value in content.items() if value is not None}


def two(**changes: Any) -> dict[str, Any]:
    return {"resnet_ref_4096": record(), "resnet_ref_8192": record(**{"BS": 8192, **changes})}


GOOD = json.dumps(two())
# Content: what is said, and of which record.
BROKEN: dict[str, tuple[str, str, str | None]] = {
    "nothing": ("", "It is empty", None),
    "blank": (" \n", "It is empty", None),
    "cut off": (GOOD[:100], "It is not JSON (line 1)", None),
    "text": ("not JSON", "It is not JSON (line 1)", None),
    "binary": ("\0\1\2", "It is not JSON (line 1)", None),
    "nested": ("[" * 100_000, "It is not JSON", None),
    "a list": ("[1, 2]", "An object of reference points is needed, each under a name of its own", None),
    "no record": ("{}", "It has no reference points", None),
    "a description of a package": (
        '{"name": "left-pad", "version": "1.0.0"}',
        "A record is not an object; is this a file of reference points?",
        "name",
    ),
    "records of something else": (
        '{"resnet": {"target": 0.759}}',
        "Benchmark, BS, Hyperparams missing; is this a file of reference points?",
        "resnet",
    ),
    "two of a name": (
        f'{{"a": {json.dumps(record())}, "a": {json.dumps(record())}}}',
        "Two records have the same name, of which only one would count",
        "a",
    ),
}
NO_SIZE = "BS, the batch size, is not a number above 0:"
NO_LIST = "'Epochs to converge' is not a list of numbers above 0:"
NO_POINTS = "'Epochs to converge' missing, which the official tool reads for resnet"
# What the second of two good records has instead: what is said of it.
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "no batch size": ({"BS": None}, "BS missing; is this a file of reference points?"),
    "no hyperparameters": ({"Hyperparams": None}, "Hyperparams missing; is this a file of reference points?"),
    "hyperparameters that are none": ({"Hyperparams": [1]}, "Hyperparams is not an object"),
    "a batch size of text": ({"BS": "8192"}, f'{NO_SIZE} "8192"'),
    "a batch size of 0": ({"BS": 0}, f"{NO_SIZE} 0"),
    "a batch size of true": ({"BS": True}, f"{NO_SIZE} true"),
    "an infinite batch size": ({"BS": float("inf")}, f"{NO_SIZE} Infinity"),
    "a benchmark that is no name": ({"Benchmark": 7}, "Benchmark is not a name: 7"),
    "another benchmark": ({"Benchmark": "ssd"}, "The records are of 2 benchmarks: resnet, ssd"),
    "the same batch size": ({"BS": 4096}, "Batch size 4096 has a record already: resnet_ref_4096"),
    "no points": ({EPOCHS: None}, NO_POINTS),
    "points under the other name": ({EPOCHS: None, SAMPLES: [40] * 10}, NO_POINTS),
    "points that are no list": ({EPOCHS: 40}, f"{NO_LIST} 40"),
    "text among the points": ({EPOCHS: [40, "41", 42]}, f'{NO_LIST} "41"'),
    "not a number": ({EPOCHS: [40, float("nan"), 42]}, f"{NO_LIST} NaN"),
    "an infinite point": ({EPOCHS: [40, float("inf"), 42]}, f"{NO_LIST} Infinity"),
    "true among the points": ({EPOCHS: [40, True, 42]}, f"{NO_LIST} true"),
    "a point that overflows": ({EPOCHS: [40, 1e200, 42]}, "'Epochs to converge' contains a number above 1e+15: 1e+200"),
    "a point beyond floating point": (
        {EPOCHS: [40, 10**400, 42]},
        f"'Epochs to converge' contains a number above 1e+15: 1{'0' * 78}…",
    ),
    "a batch size beyond floating point": ({"BS": 10**400}, f"BS, the batch size, is above 1e+15: 1{'0' * 78}…"),
    "nested hyperparameters": (
        {"Hyperparams": {"x": json.loads("[" * 30 + "]" * 30)}},
        "It is nested more than 20 deep",
    ),
    "a negative point": ({EPOCHS: [40, -41, 42]}, f"{NO_LIST} -41"),
    "too few for a mean": ({EPOCHS: [40, 41]}, "2 runs are too few for an olympic mean; at least 3 are needed"),
}


def errors(file: Path) -> list[tuple[str, str | None]]:
    return [(p.message, p.record) for p in check_reference_file(file) if p.severity == "error"]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told(name: str, tmp_path: Path) -> None:
    content, message, where = BROKEN[name]
    file = tmp_path / "rcps_resnet.json"
    file.write_text(content)
    assert (message, where) in errors(file)
    assert name == "a description of a package" or len(errors(file)) == 1


@pytest.mark.parametrize("name", CHANGED)
def test_a_broken_record_is_told(name: str, tmp_path: Path) -> None:
    changes, message = CHANGED[name]
    file = tmp_path / "rcps_resnet.json"
    file.write_text(json.dumps(two(**changes)))
    (found,) = errors(file)
    assert found[0] == message


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert errors(tmp_path / "gone.json") == [("It cannot be read: No such file or directory", None)]
    assert errors(tmp_path) == [("It cannot be read: Is a directory", None)]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as stream:
        stream.truncate(1 << 30)
    assert errors(file) in ([("It is larger than 16 MiB", None)], [("It is empty", None)])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "rcps_resnet.json"
    os.mkfifo(pipe)
    assert errors(pipe) == [("It is not a regular file", None)]


def test_a_name_no_file_can_have_is_told() -> None:
    [(message, line)] = errors(Path("rcps\0.json"))
    assert (message.startswith("It cannot be read: "), "embedded null" in message, line) == (True, True, None)


def test_names_that_stand_twice_are_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "rcps_resnet.json"
    file.write_text("{" + ",".join(f'"{n}":1,"{n}":1' for n in range(5_000)) + "}")
    assert errors(file) == [("It has 5000 records; more than 1000 are not read", None)]


def test_the_same_key_twice_in_a_record_is_told(tmp_path: Path) -> None:
    file = tmp_path / "rcps_resnet.json"
    file.write_text(GOOD.replace('"BS": 8192', '"BS": 2048, "BS": 8192'))
    assert errors(file) == [('"BS" stands in it twice, of which only the last would count', "resnet_ref_8192")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_an_encoding_the_official_tool_does_not_read_is_a_warning(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "rcps_resnet.json"
    file.write_text(GOOD, encoding=encoding)
    (problem,) = check_reference_file(file)
    assert (problem.severity, problem.fix) == ("warning", "Save it as UTF-8 without a byte order mark.")
    with pytest.raises(ValueError), file.open(encoding="utf-8") as stream:
        RCP_Checker("training", "4.0.0", "resnet", False, stream)


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({EPOCHS: [40, 41, 42, 43]}, "4 runs, where the rules ask for 10: twice those of an entry"),
        ({EPOCHS: [40] * 10}, "All runs have the same point, so that nothing faster is accepted"),
    ],
)
def test_what_can_be_used_all_the_same_is_a_warning(changes: dict[str, Any], warning: str) -> None:
    assert [(p.severity, p.message) for p in check_records(two(**changes))] == [("warning", warning)]


def test_a_benchmark_of_no_round_is_a_warning() -> None:
    assert needed_runs("newthing") is None
    records = {"newthing_ref_8": record(Benchmark="newthing")}
    assert [p.message for p in check_records(records)] == ["newthing is not a benchmark of any round"]


def test_a_good_file_has_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "rcps_resnet.json"
    file.write_text(GOOD)
    assert check_reference_file(file) == ()


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_installed_file_can_be_used(file: Path) -> None:
    assert errors(file) == []
    assert against_schema(json.loads(file.read_text())) == []


def test_there_are_installed_files() -> None:
    assert len(FILES) > 60


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10_000) | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "BS", EPOCHS]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["Benchmark", "BS", "Hyperparams", EPOCHS, SAMPLES]), json_values, max_size=5))
def test_what_passes_can_be_computed_with(tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any]) -> None:
    """A file without an error never makes the points fail, and is of the schema; one that fails has an error."""
    records = {"resnet_ref_8192": {**record(BS=8192), **changes}}
    file = tmp_path_factory.mktemp("rcp") / "rcps_resnet.json"
    file.write_text(json.dumps(records))
    found = errors(file)
    try:
        read_points(file, "resnet", 5, newest_algorithm())
    except MlsubError:
        assert found
    if not found:
        assert against_schema(records) == []
