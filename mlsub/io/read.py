"""Read YAML, TOML and text that people write, within bounds, and say of each problem where it is and what was meant.

What is wrong with a YAML document is collected in its :class:`YamlTree`, by the path of keys and positions, and raised
at once with the line of each place.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import yaml

from mlsub.io import reason_of
from mlsub.io.look import open_regular
from mlsub.io.problems import MAX_BYTES, MAX_DEPTH, FileProblemsError, Problem, find_flaws, refusal

Flaws = Iterator[tuple[yaml.Node, str]]
Step = str | int


def read_text(path: Path, name: str | None = None, most: int = MAX_BYTES) -> str:
    """Return the text of a file that people write, in whatever form.

    Args:
        path: the file.
        name: how messages call it.
        most: how many bytes it may have.

    Raises:
        FileProblemsError: it cannot be read, is not UTF-8, or is larger.
    """
    shown = name or str(path)
    try:
        with open_regular(path) as stream:
            raw = stream.read(most + 1)
        if len(raw) > most:
            raise refusal(shown, 1, f"larger than {most >> 20} MiB" if most >> 20 else f"larger than {most >> 10} KiB")
        return raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise refusal(shown, 1, "cannot be read: not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise refusal(shown, 1, f"cannot be read: {reason_of(error)}") from error


class YamlTree:
    """The nodes of a document by their paths, and what is wrong with them."""

    def __init__(self, shown: str, kind: str, node: yaml.MappingNode) -> None:
        self.node = node
        self.problems: list[Problem] = []
        self._shown, self._kind = shown, kind
        #: The keys of a mapping as text, by the id of its node; the first of two alike counts.
        self._keys: dict[int, dict[str, tuple[yaml.Node, yaml.Node]]] = {}
        if flaws := tuple(self._problem(*flaw) for flaw in self._read(node)):
            raise FileProblemsError(flaws)

    def _problem(self, node: yaml.Node, message: str) -> Problem:
        return Problem(self._shown, node.start_mark.line + 1, message)

    def _read(self, node: yaml.Node) -> Flaws:
        """Note the keys of mappings, and yield what is not plain data: keys, tags, values that deny theirs."""
        if isinstance(node, yaml.ScalarNode):
            try:
                _scalar(node)
            except ValueError as error:
                yield node, str(error)
        elif node.tag != _COLLECTIONS[type(node)]:
            yield node, f"the tag {_tag(node)} is not allowed in {self._kind}"
        elif isinstance(node, yaml.MappingNode):
            keys = self._keys[id(node)] = {}
            for key, value in node.value:
                if flaw := _key_flaw(key, self._kind):
                    yield key, flaw
                elif (first := keys.setdefault(str(key.value), (key, value))[0]) is not key:
                    # YAML lets the later one win without a word.
                    message = f"{key.value!r} is given twice, first on line {first.start_mark.line + 1}"
                    self.problems.append(self._problem(key, message))
                yield from self._read(value)
        else:
            for item in node.value:
                yield from self._read(item)

    def line(self, *path: Step) -> int:
        """Return the 1-based line of a place: of its key, or of the last place on the way that there is."""
        return self._follow(path)[0]

    def text(self, *path: Step) -> str | None:
        """Return a scalar as the file has it; None where there is none."""
        node = self._follow(path)[1]
        return str(node.value) if isinstance(node, yaml.ScalarNode) else None

    def content(self, *path: Step, as_written: bool = False) -> Any:
        """Return what stands at a place as plain data; None where nothing does.

        Keys are text, as they are written, and the first of two alike counts.

        Args:
            path: the keys and positions that lead to it.
            as_written: numbers become the text that the file has, which keeps their digits.
        """
        node = self._follow(path)[1]
        return None if node is None else self._content(node, as_written=as_written)

    def _content(self, node: yaml.Node, *, as_written: bool) -> Any:
        if isinstance(node, yaml.MappingNode):
            pairs = self._keys[id(node)].items()
            return {key: self._content(value, as_written=as_written) for key, (_, value) in pairs}
        if isinstance(node, yaml.SequenceNode):
            return [self._content(item, as_written=as_written) for item in node.value]
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101  (there is no other node)
        return str(node.value) if as_written and _tag(node) in ("!!int", "!!float") else _scalar(node)

    def report(self, message: str, *path: Step) -> None:
        """Note what is wrong at a place."""
        steps = [self._step_label(path[:at], step) for at, step in enumerate(path)]
        self.problems.append(Problem(self._shown, self.line(*path), with_place(steps, message)))

    def _step_label(self, before: tuple[Step, ...], step: Step) -> str:
        """A key; of a list the id or name that an item has, else its position."""
        labels = (self.text(*before, step, word) for word in ("id", "name") if isinstance(step, int))
        return next((text for text in labels if text), str(step))

    def check(self, schema: dict[str, Any]) -> None:
        """Note where the document does not fit a schema."""
        for path, message in find_flaws(self.content(), schema):
            self.report(message, *path)

    def raise_problems(self) -> None:
        """End here if anything is wrong.

        Raises:
            FileProblemsError: something is; the problems are in the order of their lines.
        """
        if self.problems:
            raise FileProblemsError(sorted(dict.fromkeys(self.problems), key=lambda problem: problem.line or 0))

    def _follow(self, path: Iterable[Step]) -> tuple[int, yaml.Node | None]:
        """The line of a place, or of the last one on the way to it, and its node if there is one."""
        node: yaml.Node = self.node
        line = node.start_mark.line + 1
        for step in path:
            if isinstance(node, yaml.MappingNode):
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


def with_place(place: Iterable[Step], message: str) -> str:
    """Return a message with the keys and positions that lead to its place before it."""
    path = ".".join(str(step)[:80] for step in place)
    return f"{path}: {message}" if path else message


def read_tree(path: Path, name: str | None = None, *, kind: str, top: str) -> YamlTree:
    """Return the nodes of a YAML file. They are plain data, and every key is text.

    Args:
        path: the file.
        name: how messages call it.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.

    Raises:
        FileProblemsError: it cannot be read, or holds something else than plain data.
    """
    shown = name or str(path)
    node = _compose(read_text(path, name), kind, shown)
    if not isinstance(node, yaml.MappingNode):
        raise refusal(shown, 1, f"expected a mapping with {top}")
    return YamlTree(shown, kind, node)


#: Keys and values of a file; so many take about four seconds and 120 MB.
_MAX_NODES = 200_000


class _Composer(yaml.SafeLoader):
    """Makes nodes, and stops at once where a file nests too deeply, is too long or refers to another place of it."""

    kind = shown = ""
    _depth = _nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise refusal(self.shown, line, f"aliases (*name) are not allowed in {self.kind}")
        if self._depth > MAX_DEPTH:
            # Reading itself becomes slow with the depth.
            raise refusal(self.shown, line, "not YAML: nested too deeply")
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise refusal(self.shown, line, f"more than {_MAX_NODES:,} keys and values")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _compose(text: str, kind: str, shown: str) -> yaml.Node | None:
    """The nodes of a text; None for an empty one."""
    loader = None
    try:
        loader = _Composer(text)
        loader.kind, loader.shown = kind, shown
        return loader.get_single_node()
    except FileProblemsError:
        raise
    except RecursionError:
        raise refusal(shown, 1, "not YAML: nested too deeply") from None
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        line = mark.line + 1 if mark else 1
        if isinstance(error, yaml.reader.ReaderError):
            line = text.count("\n", 0, int(error.position)) + 1
        raise refusal(shown, line, f"not YAML: {reason}") from error
    except Exception as error:
        # The scanner trusts numbers in escapes and directives, and stumbles over those that are out of range.
        raise refusal(shown, loader.line + 1 if loader is not None else 1, f"not YAML: {str(error)[:200]}") from error


def _key_flaw(key: yaml.Node, kind: str) -> str | None:
    """What keeps a node from being a key; None for text."""
    if not isinstance(key, yaml.ScalarNode):
        return "a key must be text, not a list or a mapping"
    if key.tag == "tag:yaml.org,2002:merge":
        return f"merge keys (<<) are not allowed in {kind}"
    if _tag(key) not in _KEY_TAGS:
        return f"the tag {_tag(key)} is not allowed in {kind}"
    return _NO_CHARACTER if _has_surrogate(key.value) else None


#: What YAML takes an untagged key for; to the readers here it is text, as it is written.
_KEY_TAGS = ("!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!value")
_COLLECTIONS: dict[type[yaml.Node], str] = {
    yaml.MappingNode: "tag:yaml.org,2002:map",
    yaml.SequenceNode: "tag:yaml.org,2002:seq",
}
#: Longer ones are numbers of no document; some of them take seconds to read, and Python cannot show them.
_MAX_NUMBER = 300
_TOO_LONG = "a number with too many digits"
_NO_CHARACTER = "a surrogate (\\ud800 to \\udfff) is not a character"


def _tag(node: yaml.Node) -> str:
    return str(node.tag).replace("tag:yaml.org,2002:", "!!")[:80]


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _scalar(node: yaml.ScalarNode) -> Any:
    """The value of a scalar: text, a number, a truth or null. Dates stay text: a schema knows them as such.

    Raises:
        ValueError: it is not what its tag says.
    """
    text, kind = str(node.value), _tag(node)
    if kind in ("!!str", "!!timestamp"):
        if _has_surrogate(text):
            raise ValueError(_NO_CHARACTER)
        return text
    if kind not in _READERS:
        hint = "; put it in quotes" if kind == "!!value" else ""
        raise ValueError(f"{text[:40]!r} with the tag {kind} is not plain data{hint}")
    if len(text) > _MAX_NUMBER:
        raise ValueError(_TOO_LONG)
    try:
        return _READERS[kind](_CONSTRUCTOR, node)
    except Exception as error:
        raise ValueError(f"{text[:40]!r} is not a value of the kind {kind}") from error


_CONSTRUCTOR: Any = yaml.SafeLoader("")
_READERS: dict[str, Any] = {
    "!!bool": yaml.SafeLoader.construct_yaml_bool,
    "!!int": yaml.SafeLoader.construct_yaml_int,
    "!!float": yaml.SafeLoader.construct_yaml_float,
    "!!null": lambda _, node: None,
}


#: Such a file is a few kilobytes; the bound keeps a hostile one from being read at all.
MAX_TOML_BYTES = 256 << 10
_BITS = 64
_TOO_DEEP = "not TOML: nested too deeply"
#: A dotted key of more parts than any document is deep: tomllib needs memory in the square of their number.
_LONG_KEY = re.compile(
    r"(?:(?:(?<![\w-])[\w-]{1,200}|\"(?:[^\"\\\n]|\\.){0,200}\"|'[^'\n]{0,200}')[ \t]{0,20}\.[ \t]{0,20})"
    f"{{{MAX_DEPTH}}}"
)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(file: Path, name: str | None = None) -> dict[str, Any]:
    """Return the content of a TOML file as plain data; days and times are text.

    Args:
        file: the file.
        name: how messages call it.

    Raises:
        FileProblemsError: it cannot be read, or is not TOML; with the line where tomllib knows it.
    """
    shown, text = name or str(file), read_text(file, name, MAX_TOML_BYTES)
    if long := _LONG_KEY.search(text):
        raise refusal(shown, text.count("\n", 0, long.start()) + 1, _TOO_DEEP)
    try:
        content: dict[str, Any] = _plain_toml(tomllib.loads(text))
        return content
    except RecursionError:
        raise refusal(shown, 1, _TOO_DEEP) from None
    except ValueError as error:
        # A number of too many digits is one as well, and has no line.
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        raise refusal(shown, line, f"not TOML: {str(error)[: place.start() if place else 200][:200]}") from None


def _plain_toml(value: Any, depth: int = 0) -> Any:
    """Return the value with text for days and times.

    Raises:
        RecursionError: it is deeper than anything that people write.
        ValueError: a number is larger than those of TOML.
    """
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain_toml(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain_toml(one, depth + 1) for one in value]
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise ValueError(_TOO_LONG)
    return value.isoformat() if isinstance(value, date | time | datetime) else value
