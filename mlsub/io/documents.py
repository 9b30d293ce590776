"""Read a document that people write: YAML or JSON with lines, checked against a schema made of its type.

Each kind of document has its types, its cross checks, and one call of :func:`read_document`. What is wrong is collected
in the :class:`Tree`, by the path of keys and positions, and raised at once with the line of each place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import yaml

from mlsub.io.jsontext import loads
from mlsub.io.problems import FileProblemsError, Flaw, Problem, flaws_of
from mlsub.io.read import content_of, read, text_of, twice

T = TypeVar("T", bound=msgspec.Struct)


class Form(msgspec.Struct, Generic[T], frozen=True):
    """A kind of document: its type, how messages call such files (in the plural), and the title of its schema.

    With ``as_written`` a number is the text that the file has, with all its digits.
    """

    type: type[T]
    kind: str
    title: str
    as_written: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of such documents, for editors as well."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_of(self.type), "title": self.title}


class Tree:
    """The nodes of a document by their paths, and what is wrong with them."""

    def __init__(self, shown: str, node: yaml.Node) -> None:
        self.node = node
        self.found: list[Problem] = []
        self._shown = shown
        self._keys: dict[int, dict[str, tuple[yaml.Node, yaml.Node]]] = {}
        for where, message in twice(node):
            self.found.append(Problem(shown, where.start_mark.line + 1, message))

    def line(self, *path: str | int) -> int:
        """The 1-based line of a place: of its key, or of the last place on the way that there is."""
        return self._follow(path)[0]

    def text(self, *path: str | int) -> str | None:
        """A scalar as the file has it; None where there is none."""
        node = self._follow(path)[1]
        return str(node.value) if isinstance(node, yaml.ScalarNode) else None

    def is_truth(self, *path: str | int) -> bool:
        """Whether the file has true or false at a place, in any spelling of YAML."""
        node = self._follow(path)[1]
        return node is not None and node.tag == "tag:yaml.org,2002:bool"

    def flaw(self, message: str, *path: str | int) -> None:
        """Note what is wrong at a place."""
        steps = [self._shown_step(path[:at], step) for at, step in enumerate(path)]
        self.found.append(Problem(self._shown, self.line(*path), placed(steps, message)))

    def _shown_step(self, before: tuple[str | int, ...], step: str | int) -> str:
        """A key; of a list the id or name that an item has, else its position."""
        own = (self.text(*before, step, word) for word in ("id", "name") if isinstance(step, int))
        return next((text for text in own if text), str(step))

    def check(self, schema: dict[str, Any]) -> None:
        """Note where the document does not fit a schema."""
        for path, message in flaws_of(content_of(self.node), schema):
            self.flaw(message, *path)

    def read(self, kind: type[T], *path: str | int, as_written: bool = False) -> T | None:
        """What stands at a place as a type; None, with the reasons noted, where it does not fit."""
        node = self._follow(path)[1]
        if node is None:
            return None
        written = content_of(node, as_written=True) if as_written else None
        found, flaws = read_as(content_of(node), kind, written)
        for steps, message in flaws:
            self.flaw(message, *path, *steps)
        return found

    def settle(self) -> None:
        """End here if anything is wrong.

        Raises:
            FileProblemsError: something is; the problems are in the order of their lines.
        """
        if self.found:
            raise FileProblemsError(sorted(dict.fromkeys(self.found), key=lambda problem: problem.line or 0))

    def _follow(self, path: Iterable[str | int]) -> tuple[int, yaml.Node | None]:
        """The line of a place, or of the last one on the way to it, and its node if there is one."""
        node, line = self.node, self.node.start_mark.line + 1
        for step in path:
            if isinstance(node, yaml.MappingNode):
                if id(node) not in self._keys:
                    self._keys[id(node)] = {str(key.value): (key, value) for key, value in reversed(node.value)}
                pair = self._keys[id(node)].get(str(step))
                if pair is None:
                    return line, None
                line, node = pair[0].start_mark.line + 1, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                return line, None
        return line, node


def open_tree(file: Path, *, kind: str, top: str, name: str | None = None) -> Tree:
    """The nodes of a file.

    Args:
        file: a YAML file.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.
        name: how messages call the file.

    Raises:
        FileProblemsError: it cannot be read.
    """
    return Tree(name or str(file), read(file, name, kind=kind, top=top))


def read_document(file: Path, form: Form[T]) -> tuple[T, Tree]:
    """A document as its type, and its tree for cross checks.

    Raises:
        FileProblemsError: it cannot be read, or does not fit the schema.
    """
    *first, last = schema_of(form.type)["required"]
    tree = open_tree(file, kind=form.kind, top=" and ".join(filter(None, (", ".join(first), last))))
    content = tree.read(form.type, as_written=form.as_written)
    tree.settle()
    assert content is not None  # noqa: S101  (nothing is wrong with it)
    return content, tree


def placed(place: Iterable[str | int], message: str) -> str:
    """Return a message with the keys and positions that lead to its place before it."""
    path = ".".join(str(step)[:80] for step in place)
    return f"{path}: {message}" if path else message


def read_as(content: Any, kind: type[T], as_written: Any = None) -> tuple[T | None, list[Flaw]]:
    """Return plain data as a type, or None and what does not fit.

    Args:
        content: the data, which the schema of the type is asked about.
        kind: the type.
        as_written: what is made into the type in its place, such as the data with all digits of its numbers.
    """
    flaws = flaws_of(content, schema_of(kind))
    if flaws:
        return None, flaws
    try:
        return msgspec.convert(content if as_written is None else as_written, kind), []
    except msgspec.ValidationError as error:
        return None, [_refused(str(error))]


@cache
def schema_of(kind: type[Any]) -> dict[str, Any]:
    """The JSON Schema of a type. A field that is None by default may be left out, not be null."""
    [_], parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    parts = {name: _plain(part) for name, part in parts.items()}
    top: dict[str, Any] = parts.pop(kind.__name__)
    # As JSON, so that defaults are lists and not tuples.
    schema: dict[str, Any] = json.loads(json.dumps({**top, "$defs": parts} if parts else top))
    return schema


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of one Struct: one line of description, and no null where a word is optional."""
    fields = part.get("properties", {}).items()
    # What is read-only was added by whoever read the document, and stands in none.
    made = {**part, "properties": {name: _optional(one) for name, one in fields if not one.get("readOnly")}}
    if text := part.get("description"):
        made["description"] = re.sub(r"\s+", " ", text.partition("\n\n")[0]).replace("``", "")
    return made


def _optional(field: dict[str, Any]) -> dict[str, Any]:
    if field.get("default", ...) is not None:
        return field
    rest = {name: value for name, value in field.items() if name not in ("anyOf", "default")}
    choices = [choice for choice in field["anyOf"] if choice != {"type": "null"}]
    return {**rest, **choices[0]} if len(choices) == 1 else {**rest, "anyOf": choices}


def _refused(message: str) -> Flaw:
    """The path that a message of msgspec ends with, such as ``$.entries[0].system``, and the message."""
    place = re.search(r" - at `\$([^`]*)`$", message)
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]", place[1] if place else "")
    said = message[: place.start()] if place else message
    return tuple(name or int(number) for name, number in steps), said[:300]


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
