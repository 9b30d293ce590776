"""The one loader of documents: what it makes of a type, and how it words what does not fit."""

from __future__ import annotations

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

from mlsub.io.data import load_yaml
from mlsub.io.documents import Form, read_document
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


FORM = Form(type=Whole, kind="wholes", title="A whole")

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
