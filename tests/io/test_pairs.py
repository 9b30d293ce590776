"""A flat file of keys and values: YAML and JSON say the same, with lines, and hostile ones are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.documents import Pair, read_pairs
from mlsub.io.problems import FileProblemsError


def read(file: Path) -> tuple[Pair, ...]:
    return read_pairs(file, kind="files of keys", top="keys")


def written(tmp_path: Path, name: str, text: str) -> Path:
    file = tmp_path / name
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def test_yaml_has_keys_in_order_with_their_lines(tmp_path: Path) -> None:
    text = "# mine\nb: 1\n\na: [1,\n  2]\n'c d': {x: yes}\n"
    pairs = read(written(tmp_path, "hp.yaml", text))
    assert [(pair.key, pair.value, pair.line) for pair in pairs] == [
        ("b", 1, 2),
        ("a", [1, 2], 4),
        ("c d", {"x": True}, 6),
    ]


@pytest.mark.parametrize(
    ("text", "value", "meant"),
    [
        ("1e-4", "1e-4", "1.0e-4"),
        ("1E5", "1E5", "1.0e+5"),
        ("-3.5e4", "-3.5e4", "-3.5e+4"),
        ("1.0e-4", 1e-4, None),
        ("'1e-4'", "1e-4", None),
        ("1e", "1e", None),
        ("e5", "e5", None),
        ("text", "text", None),
        ("0.9", 0.9, None),
        (".inf", float("inf"), None),
        ("nan", "nan", None),
    ],
)
def test_numbers_that_yaml_takes_for_text_are_known(text: str, value: Any, meant: str | None, tmp_path: Path) -> None:
    [pair] = read(written(tmp_path, "hp.yml", f"a: {text}\n"))
    assert (pair.value, pair.meant) == (value, meant)
    if meant is not None:
        [better] = read(written(tmp_path, "hp.yml", f"a: {meant}\n"))
        assert better.value == float(text)


def test_json_has_its_own_numbers_and_lines(tmp_path: Path) -> None:
    text = '\ufeff{\n\t"lr": 1e-4, "x"\n:\n{"lr": [2]},\r\n "\\u0061": NaN}\n'
    pairs = read(written(tmp_path, "hp.JSON", text))
    assert [(pair.key, repr(pair.value), pair.line) for pair in pairs] == [
        ("lr", "0.0001", 2),
        ("x", "{'lr': [2]}", 2),
        ("a", "nan", 5),
    ]
    assert read(written(tmp_path, "none.json", " {\n} ")) == ()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("hp.yaml", "a: 1\nb: 2\na: 3\n", ["3: 'a' is given twice, first on line 1"]),
        ("hp.json", '{"a": 1,\n"b": 1,\n"a": 2}', ["3: 'a' is given twice, first on line 1"]),
        ("hp.json", "[1]", ["1: expected an object with keys, found a list"]),
        ("hp.json", "3", ["1: expected an object with keys, found a number"]),
        ("hp.yaml", "- 1\n", ["1: expected a mapping with keys"]),
        ("hp.json", '{"a": 1\n"b": 2}', ["2: not JSON: "]),
        ("hp.json", "[" * 100_000, ["1: not JSON: nested too deeply"]),
        ("hp.json", '{"a": ' + "9" * 5000 + "}", ["1: not JSON: "]),
        ("hp.yaml", "a: " + "[" * 1000, ["1: not YAML: nested too deeply"]),
        ("hp.yaml", "a: &x 1\nb: *x\n", ["2: aliases (*name) are not allowed in files of keys"]),
        ("hp.yaml", "a: !!python/object:os.system x\n", ["1: "]),
        ("hp.json", "", ["1: not JSON: "]),
        ("hp.yaml", "", ["1: expected a mapping with keys"]),
        ("hp.json", "{" + " " * (5 << 20) + "}", ["1: larger than 4 MiB"]),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(name: str, text: str, said: list[str], tmp_path: Path) -> None:
    file = written(tmp_path, name, text)
    with pytest.raises(FileProblemsError) as refused:
        read(file)
    assert len(refused.value.problems) == len(said)
    for problem, expected in zip(refused.value.problems, said, strict=True):
        assert str(problem).startswith(f"{file}:{expected}")


@pytest.mark.parametrize("name", ["hp.json", "hp.yaml"])
def test_a_pipe_a_folder_and_nothing_at_all_are_refused(name: str, tmp_path: Path) -> None:
    import os

    with pytest.raises(FileProblemsError, match="No such file"):
        read(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FileProblemsError, match="cannot be read"):
        read(tmp_path / name)
    os.mkfifo(tmp_path / f"pipe{name}")
    with pytest.raises(FileProblemsError, match="not a regular file"):
        read(tmp_path / f"pipe{name}")


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)


@given(
    st.dictionaries(st.text(max_size=20), st.recursive(PLAIN, st.lists, max_leaves=4), max_size=6), st.integers(0, 3)
)
def test_json_is_read_as_the_standard_reads_it(tmp_path_factory: Any, content: dict[str, Any], indent: int) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_text(json.dumps(content, indent=indent or None))
    pairs = read(file)
    assert {pair.key: pair.value for pair in pairs} == content
    if indent:
        lines = file.read_text().splitlines()
        assert all(json.dumps(pair.key) in lines[pair.line - 1] for pair in pairs)
