"""The one loader of documents: what it makes of a type, and how it words what does not fit."""

from __future__ import annotations

import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from mlsub.io import MlsubError, problems
from mlsub.io.data import load_yaml
from mlsub.io.documents import DocumentType, Pair, read_document, read_pairs
from mlsub.io.problems import FileProblemsError, find_flaws

Name = Annotated[
    str, Meta(pattern="^[a-z]+$", max_length=8, extra_json_schema={"patternErrorMessage": "is not a name; use a to z"})
]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part. More of it."""

    id: str
    size: Annotated[int, Meta(ge=1)] | None = None
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0
    colour: Literal["red", "green"] | None = None
    day: date | None = None
    words: Name | Annotated[tuple[Name, ...], Meta(min_length=1)] = ()


class Whole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it."""

    title: str
    parts: tuple[Part, ...] = ()
    named: dict[Name, Part | str] = {}


FORM = DocumentType(type=Whole, kind="wholes", title="A whole")

SAID = load_yaml(Path(__file__).with_name("flaws.yaml"))["parts"]


def said(file: Path, text: str) -> list[str]:
    file.write_text(text)
    with pytest.raises(FileProblemsError) as raised:
        read_document(file, FORM)
    return [f"{problem.line}: {problem.message}" for problem in raised.value.problems]


@pytest.mark.parametrize("parts", SAID, ids=lambda parts: parts)
def test_what_does_not_fit_is_said_with_its_place(parts: str, tmp_path: Path) -> None:
    assert said(tmp_path / "x.yaml", f"title: t\nparts: {parts}\n") == [f"2: {SAID[parts]}"]


def test_everything_is_reported_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = "parts:\n  - {id: a, size: 0}\n  - id: b\n    colour: blue\nnamed:\n  B: x\n  c: {id: c, sise: 3}\n"
    assert said(tmp_path / "x.yaml", text) == [
        "1: title is missing",
        "2: parts.a.size: expected at least 1, found 0",
        "4: parts.b.colour: unknown value 'blue'; there are green, red",
        "6: named.B: 'B' is not a name; use a to z",
        "7: named.c.sise: unknown word. Did you mean size?",
    ]


def test_a_hundred_problems_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    found = said(tmp_path / "x.yaml", "title: t\nparts:\n" + "  - {id: a, size: 0}\n" * 150)
    assert (len(found), found[-1]) == (101, "103: and 50 more problems")


def test_a_document_is_its_type(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("title: t\nparts:\n  - {id: a, day: 2021-06-30, words: [b]}\nnamed:\n  c:\n    id: d\n")
    whole, tree = read_document(file, FORM)
    assert whole == Whole(
        title="t", parts=(Part(id="a", day=date(2021, 6, 30), words=("b",)),), named={"c": Part(id="d")}
    )
    assert [tree.line(*path) for path in (("parts", 0), ("named", "c"), ("named", "c", "id"), ("named", "x"))] == [
        *(3, 5, 6, 4)
    ]
    assert (tree.text("parts", 0, "id"), tree.text("parts", 7, "id"), tree.text("parts")) == ("a", None, None)


def test_the_schema_lets_words_be_left_out_but_not_be_null() -> None:
    schema = FORM.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    part = schema["$defs"]["Part"]
    assert (part["description"], part["required"]) == ("A part. More of it.", ["id"])
    assert part["properties"]["size"] == {"type": "integer", "minimum": 1}


def test_a_choice_that_fits_but_for_something_deeper_is_the_one_that_was_meant() -> None:
    inner = {"type": "object", "additionalProperties": False, "properties": {"above": {"type": "number"}}}
    outer = {"type": "object", "propertyNames": {"pattern": "^[A-Z]+$"}, "additionalProperties": inner}
    schema: dict[str, Any] = {"oneOf": [inner, outer]}
    assert find_flaws({"abov": 1}, schema) == [(("abov",), "unknown word. Did you mean above?")]
    assert find_flaws({"A": {"abov": 1}}, schema) == [(("A", "abov"), "unknown word. Did you mean above?")]
    assert find_flaws({}, {"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}) == [
        ((), "a or b and c is missing")
    ]


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()


@given(
    st.recursive(
        _SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(("id", "size", "words", "day", "x")), inner, max_size=4)
        ),
    )
)
def test_any_content_is_the_type_or_a_list_of_problems(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(yaml.safe_dump({"title": "t", "parts": content, "named": {"a": content}}))
    try:
        whole, _ = read_document(file, FORM)
    except FileProblemsError as error:
        assert error.problems
    else:
        assert isinstance(whole, Whole)


# A flat file of keys and values: YAML and JSON say the same, with lines, and hostile ones are refused.


def read(file: Path) -> tuple[Pair, ...]:
    return read_pairs(file, kind="files of keys", top="keys")


def written(tmp_path: Path, name: str, text: str) -> Path:
    file = tmp_path / name
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def test_yaml_has_keys_in_order_with_their_lines(tmp_path: Path) -> None:
    text = "# mine\nb: 1\n\na: [1,\n  2]\n'c d': {x: yes}\n"
    pairs = read(written(tmp_path, "hp.yaml", text))
    assert pairs == (Pair("b", 1, 2), Pair("a", [1, 2], 4), Pair("c d", {"x": True}, 6))


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


def test_without_jsonschema_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser, which has no rpds."""
    problems._validator.cache_clear()
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MlsubError, match="jsonschema cannot be loaded here"):
        find_flaws({}, {})
