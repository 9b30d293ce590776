"""Read a document that people write as its type: YAML or JSON, checked against a schema made of the type.

Each kind of document has its types, its cross checks, and one call of :func:`read_document`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import yaml

from mlsub.io.data import loads
from mlsub.io.problems import FileProblemsError, Flaw, Problem, find_flaws, refusal
from mlsub.io.read import YamlTree, read_text, read_tree
from mlsub.io.show import join_words

T = TypeVar("T", bound=msgspec.Struct)


class DocumentType(msgspec.Struct, Generic[T], frozen=True):
    """A kind of document: its type, how messages call such files (in the plural), and the title of its schema.

    With ``as_written`` a number is the text that the file has, with all its digits.
    """

    type: type[T]
    kind: str
    title: str
    as_written: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of such documents, for editors as well."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **type_schema(self.type),
            "title": self.title,
        }


def read_document(file: Path, document: DocumentType[T]) -> tuple[T, YamlTree]:
    """Return a document as its type, and its tree for cross checks.

    Raises:
        FileProblemsError: it cannot be read, or does not fit the schema.
    """
    tree = read_tree(file, kind=document.kind, top=join_words(type_schema(document.type)["required"]))
    found, flaws = read_as(
        tree.content(), document.type, tree.content(as_written=True) if document.as_written else None
    )
    for path, message in flaws:
        tree.report(message, *path)
    tree.raise_problems()
    assert found is not None  # noqa: S101  (nothing is wrong with it)
    return found, tree


def read_as(content: Any, kind: type[T], as_written: Any = None) -> tuple[T | None, list[Flaw]]:
    """Return plain data as a type, or None and what does not fit.

    Args:
        content: the data, which the schema of the type is asked about.
        kind: the type.
        as_written: what is made into the type in its place, such as the data with all digits of its numbers.
    """
    flaws = find_flaws(content, type_schema(kind))
    if flaws:
        return None, flaws
    try:
        return msgspec.convert(content if as_written is None else as_written, kind), []
    except msgspec.ValidationError as error:
        return None, [_validation_flaw(str(error))]


@cache
def type_schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type. A field that is None by default may be left out, not be null."""
    [_], parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    parts = {name: _tidy_struct(part) for name, part in parts.items()}
    top: dict[str, Any] = parts.pop(kind.__name__)
    # As JSON, so that defaults are lists and not tuples.
    schema: dict[str, Any] = json.loads(json.dumps({**top, "$defs": parts} if parts else top))
    return schema


def _tidy_struct(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of one Struct: one line of description, and no null where a word is optional."""
    fields = part.get("properties", {}).items()
    # What is read-only was added by whoever read the document, and stands in none.
    made = {**part, "properties": {name: _without_null(one) for name, one in fields if not one.get("readOnly")}}
    if text := part.get("description"):
        made["description"] = re.sub(r"\s+", " ", text.partition("\n\n")[0]).replace("``", "")
    return made


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    if field.get("default", ...) is not None:
        return field
    rest = {name: value for name, value in field.items() if name not in ("anyOf", "default")}
    choices = [choice for choice in field["anyOf"] if choice != {"type": "null"}]
    return {**rest, **choices[0]} if len(choices) == 1 else {**rest, "anyOf": choices}


def _validation_flaw(message: str) -> Flaw:
    """The path that a message of msgspec ends with, such as ``$.entries[0].system``, and the message."""
    place = re.search(r" - at `\$([^`]*)`$", message)
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]", place[1] if place else "")
    reason = message[: place.start()] if place else message
    return tuple(name or int(number) for name, number in steps), reason[:300]


_SPACE = " \t\r\n"
_KINDS = {list: "a list", str: "text", bool: "true or false", type(None): "null"}


class Pair(msgspec.Struct, frozen=True):
    """A key and its value, with the 1-based line of the key, None without a file.

    ``meant`` is the number that was meant where YAML takes an unquoted one for text (1e-4), as YAML writes it.
    """

    key: str
    value: Any
    line: int | None = None
    meant: str | None = None


def read_pairs(file: Path, *, kind: str, top: str) -> tuple[Pair, ...]:
    """Return the keys and values of a file, in its order: JSON where its name ends so, else YAML.

    Args:
        file: the file.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.

    Raises:
        FileProblemsError: it cannot be read, is not a mapping of plain data, or has a key twice.
    """
    if file.suffix.lower() == ".json":
        return _read_json_pairs(file, top)
    tree = read_tree(file, kind=kind, top=top)
    tree.raise_problems()
    return tuple(
        Pair(str(key.value), tree.content(key.value), key.start_mark.line + 1, _suggest_number(value))
        for key, value in tree.node.value
    )


def _suggest_number(node: yaml.Node) -> str | None:
    """How to write a number that YAML 1.1 reads as text, because it has an exponent without a point or a sign."""
    if not isinstance(node, yaml.ScalarNode) or node.style is not None or node.tag != "tag:yaml.org,2002:str":
        return None
    digits, _, exponent = str(node.value).lower().partition("e")
    try:
        float(node.value), int(exponent), float(digits)
    except ValueError:
        return None
    return f"{digits if '.' in digits else f'{digits}.0'}e{exponent if exponent[:1] in '+-' else f'+{exponent}'}"


def _read_json_pairs(file: Path, top: str) -> tuple[Pair, ...]:
    text, shown = read_text(file).removeprefix("\ufeff"), str(file)
    try:
        content = loads(text)
    except json.JSONDecodeError as error:
        raise refusal(shown, error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise refusal(shown, 1, "not JSON: nested too deeply") from None
    except ValueError as error:
        raise refusal(shown, 1, f"not JSON: {str(error)[:200]}") from None
    if not isinstance(content, dict):
        raise refusal(shown, 1, f"expected an object with {top}, found {_KINDS.get(type(content), 'a number')}")
    pairs = tuple(_object_members(text))
    first: dict[str, int] = {}
    repeated = []
    for pair in pairs:
        if pair.key in first:
            repeated.append(Problem(shown, pair.line, f"{pair.key!r} is given twice, first on line {first[pair.key]}"))
        first.setdefault(pair.key, pair.line or 0)
    if repeated:
        raise FileProblemsError(repeated)
    return pairs


def _object_members(text: str) -> Iterator[Pair]:
    """The members of the one object that a text is known to hold."""
    decoder, at, line, seen = json.JSONDecoder(), text.index("{") + 1, 1, 0

    def skip(at: int, over: str) -> int:
        while text[at] in over:
            at += 1
        return at

    while text[at := skip(at, f"{_SPACE},")] != "}":
        line, seen = line + text.count("\n", seen, at), at
        key, at = decoder.raw_decode(text, at)
        value, at = decoder.raw_decode(text, skip(at, f"{_SPACE}:"))
        yield Pair(key, value, line)
