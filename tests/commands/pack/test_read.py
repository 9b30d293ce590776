"""A manifest is read whole, its variables replaced, or everything wrong with it is told by its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.init.run import manifest_text, path
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.packing.read import FORM, expand, read_manifest

GOOD = """\
organisation: ACME
round: "1.0"
usage: training
systems:
  rack1: systems/rack1.json
entries:
  - system: rack1
    benchmark: resnet
    division: closed
    runs: runs/resnet
waivers:
  - rule: rcp.too-fast
    entry: rack1/resnet
    reason: It is known and was told to all.
    expires: never
"""
BROKEN = yaml.safe_load(Path(__file__).with_name("cases").joinpath("broken_manifests.yaml").read_text())
EXAMPLES = sorted((Path(__file__).parents[3] / "submissions").rglob("submission.yaml"))


def write(folder: Path, text: str) -> Path:
    file = folder / "submission.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["name"])
def test_what_is_wrong_is_told_with_its_line(case: dict[str, Any], tmp_path: Path) -> None:
    text = case.get("text", GOOD)
    for old, new in case.get("replace", {}).items():
        assert old in text
        text = text.replace(old, new)
    file = write(tmp_path, text)
    with pytest.raises(FileProblemsError) as raised:
        read_manifest(file, {})
    assert [f"{problem.line}: {problem.message}" for problem in raised.value.problems] == [case["told"]]
    assert str(raised.value) == f"{file}:{case['told']}"


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = GOOD.replace("system: rack1", "system: other").replace("benchmark: resnet", "benchmark: rnt")
    text = text.replace("expires: never", "expires: 2026-13-01")
    with pytest.raises(FileProblemsError) as raised:
        read_manifest(write(tmp_path, text), {})
    assert [problem.line for problem in raised.value.problems] == [7, 8, 15]


def test_a_manifest_is_read_with_its_paths_beside_it(tmp_path: Path) -> None:
    text = GOOD.replace("runs/resnet", "['${RUNS}/a.txt', '${MISSING:-../b}/b.txt', /c.txt]").replace(
        "never", "2026-12-31"
    )
    (tmp_path / "deep").mkdir()
    manifest = read_manifest(write(tmp_path / "deep", text), {"RUNS": "/data"})
    [entry] = manifest.entries
    assert entry.runs == ("/data/a.txt", f"{tmp_path}/b/b.txt", "/c.txt")
    assert manifest.systems[0].file == tmp_path / "deep/systems/rack1.json"
    assert manifest.round.title == "MLPerf Training v1.0"
    assert (entry.name, entry.division, entry.choose, entry.line) == ("rack1/resnet", "closed", "all", 7)
    assert manifest.waivers[0].expires == "2026-12-31"


@pytest.mark.parametrize("written", ['"1.0"', "1.0", "v1.0", "1.0.0"])
def test_a_round_may_be_written_in_several_ways(written: str, tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, GOOD.replace('"1.0"', written)), {})
    assert manifest.round.name == "1.0"


def test_the_division_of_the_manifest_is_that_of_entries_without_one(tmp_path: Path) -> None:
    text = GOOD.replace("    division: closed\n", "").replace("usage:", "division: open\nusage:")
    assert read_manifest(write(tmp_path, text), {}).entries[0].division == "open"


def test_no_such_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileProblemsError, match=r"absent\.yaml:1: cannot be read: No such file or directory"):
        read_manifest(tmp_path / "absent.yaml")


def test_every_word_of_the_schema_says_what_it_means() -> None:
    schema = FORM.schema()
    for name, words in (
        ("", schema["properties"]),
        *((k, v.get("properties", {})) for k, v in schema["$defs"].items()),
    ):
        for word, meaning in words.items():
            assert "description" in meaning or "$ref" in meaning or meaning["type"] == "string", (name, word)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_examples_are_manifests(example: Path) -> None:
    assert read_manifest(example).entries


@given(st.binary(max_size=200))
def test_no_bytes_make_it_stumble(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "hostile.yaml"
    file.write_bytes(content)
    with pytest.raises(FileProblemsError):
        read_manifest(file, {})


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()


@pytest.mark.slow
@given(
    st.recursive(
        _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    )
)
def test_no_value_in_any_place_makes_it_stumble(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "odd.yaml"
    good = yaml.safe_load(GOOD)
    for word in good:
        for content in (good | {word: value}, good | {word: [value]}, good | {word: {"rack1": value}}):
            file.write_text(yaml.safe_dump(content))
            try:
                read_manifest(file, {})
            except FileProblemsError as error:
                assert error.problems


ENVIRONMENT = {"RUNS": "/data/runs", "EMPTY": "", "NESTED": "${RUNS}", "_x1": "y"}
VARIABLES = {
    "plain": "plain",
    "${RUNS}/a": "/data/runs/a",
    "${RUNS:-elsewhere}/a": "/data/runs/a",
    "${MISSING:-../shared}/a": "../shared/a",
    "${MISSING:-}/a": "/a",
    "${EMPTY:-default}": "default",
    "${NESTED}": "${RUNS}",
    "${MISSING:-${RUNS}}": "${RUNS}",
    "${_x1}${_x1}": "yy",
    "$RUNS": "$RUNS",
    "cost: 5$": "cost: 5$",
    "$${RUNS}": "${RUNS}",
    "$$$${RUNS}": "$${RUNS}",
}
BROKEN_VARIABLES = {
    "${MISSING}": r"MISSING is not set; set it, or write \$\{MISSING:-default\}",
    "${EMPTY}": "EMPTY is empty",
    "${RUNS": "begins no variable",
    "${1}": "begins no variable",
    "${RUNS-x}": "begins no variable",
    "${}": "begins no variable",
}


@pytest.mark.parametrize(("text", "expanded"), VARIABLES.items())
def test_variables_are_replaced(text: str, expanded: str) -> None:
    assert expand(text, ENVIRONMENT) == expanded


@pytest.mark.parametrize(("text", "message"), BROKEN_VARIABLES.items())
def test_what_cannot_be_replaced_is_an_error(text: str, message: str) -> None:
    with pytest.raises(MlsubError, match=message):
        expand(text, ENVIRONMENT)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_path_that_is_written_into_a_manifest_is_read_back_as_it_was(text: str) -> None:
    import yaml

    assert expand(yaml.safe_load(manifest_text({"setup": path(text)}))["setup"], ENVIRONMENT) == text
