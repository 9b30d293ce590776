"""Read a flat file of keys and values that people write, in YAML or JSON, with the line of each key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mlsub.io.documents import open_tree
from mlsub.io.jsontext import loads
from mlsub.io.problems import FileProblemsError, Problem
from mlsub.io.yamlfile import content_of, text_of

_SPACE = " \t\r\n"
_KINDS = {list: "a list", str: "text", bool: "true or false", type(None): "null"}


class Pair(msgspec.Struct, frozen=True):
    """A key and its value, with the 1-based line of the key.

    ``meant`` is the number that was meant where YAML takes an unquoted one for text (1e-4), as YAML writes it.
    """

    key: str
    value: Any
    line: int
    meant: str | None = None


def read_pairs(file: Path, *, kind: str, top: str) -> tuple[Pair, ...]:
    """The keys and values of a file, in its order: JSON where its name ends so, else YAML.

    Args:
        file: the file.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.

    Raises:
        FileProblemsError: it cannot be read, is not a mapping of plain data, or has a key twice.
    """
    if file.suffix.lower() == ".json":
        return _of_json(file, top)
    tree = open_tree(file, kind=kind, top=top)
    tree.settle()
    assert isinstance(tree.node, yaml.MappingNode)  # noqa: S101  (nothing else is opened)
    return tuple(
        Pair(str(key.value), content_of(value), key.start_mark.line + 1, _number_meant(value))
        for key, value in tree.node.value
    )


def _number_meant(node: yaml.Node) -> str | None:
    """How to write a number that YAML 1.1 reads as text, because it has an exponent without a point or a sign."""
    if not isinstance(node, yaml.ScalarNode) or node.style is not None or node.tag != "tag:yaml.org,2002:str":
        return None
    digits, _, exponent = str(node.value).lower().partition("e")
    try:
        float(node.value), int(exponent), float(digits)
    except ValueError:
        return None
    return f"{digits if '.' in digits else f'{digits}.0'}e{exponent if exponent[:1] in '+-' else f'+{exponent}'}"


def _of_json(file: Path, top: str) -> tuple[Pair, ...]:
    text, shown = text_of(file).removeprefix("\ufeff"), str(file)
    try:
        content = loads(text)
    except json.JSONDecodeError as error:
        raise _broken(shown, error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise _broken(shown, 1, "not JSON: nested too deeply") from None
    except ValueError as error:
        raise _broken(shown, 1, f"not JSON: {str(error)[:200]}") from None
    if not isinstance(content, dict):
        raise _broken(shown, 1, f"expected an object with {top}, found {_KINDS.get(type(content), 'a number')}")
    pairs = tuple(_members(text))
    first: dict[str, int] = {}
    twice = []
    for pair in pairs:
        if pair.key in first:
            twice.append(Problem(shown, pair.line, f"{pair.key!r} is given twice, first on line {first[pair.key]}"))
        first.setdefault(pair.key, pair.line)
    if twice:
        raise FileProblemsError(twice)
    return pairs


def _broken(shown: str, line: int, message: str) -> FileProblemsError:
    return FileProblemsError((Problem(shown, line, message),))


def _members(text: str) -> Iterator[Pair]:
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
