"""Read TOML and YAML files that people write, within bounds, and say of each flaw where it is and what was meant."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NoReturn

import yaml

from mlsub.io.errors import reason_of
from mlsub.io.problems import MAX_BYTES, MAX_DEPTH, FileProblemsError, Problem

Flaws = Iterator[tuple[yaml.Node, str]]


def read(path: Path, name: str | None = None, *, kind: str, top: str) -> yaml.Node:
    """The nodes of a YAML file. They are plain data: :func:`content_of` takes them, and every key is text.

    Args:
        path: the file.
        name: how messages call it.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.

    Raises:
        FileProblemsError: it cannot be read, or holds something else than plain data.
    """
    shown = name or str(path)
    try:
        node = _composed(_text(path), kind)
        if not isinstance(node, yaml.MappingNode):
            raise _Refused(1, f"expected a mapping with {top}")
    except _Refused as refused:
        raise FileProblemsError((Problem(shown, *refused.args),)) from None
    flaws = tuple(Problem(shown, where.start_mark.line + 1, message) for where, message in not_plain(node, kind))
    if flaws:
        raise FileProblemsError(flaws)
    return node


def text_of(path: Path, name: str | None = None) -> str:
    """The text of a file that people write, in whatever form.

    Raises:
        FileProblemsError: it cannot be read, is not UTF-8, or is larger than 4 MiB.
    """
    try:
        return _text(path)
    except _Refused as refused:
        raise FileProblemsError((Problem(name or str(path), *refused.args),)) from None


class _Refused(Exception):  # noqa: N818  (it never leaves this module)
    """Something that YAML allows and such files do not; the arguments are a line and a message."""


def _text(path: Path) -> str:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            # Reading from a pipe may never end.
            raise _Refused(1, "cannot be read: not a regular file")
        if found.st_size > MAX_BYTES:
            raise _Refused(1, f"larger than {MAX_BYTES >> 20} MiB")
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise _Refused(
            1, f"cannot be read: {reason_of(error) if isinstance(error, OSError) else 'not UTF-8 text'}"
        ) from error


#: Keys and values of a file; so many take about four seconds and 120 MB.
_MAX_NODES = 200_000


class _Composer(yaml.SafeLoader):
    """Makes nodes, and stops at once where a file nests too deeply, is too long or refers to another place of it."""

    kind = ""
    _depth = 0
    _nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(line, f"aliases (*name) are not allowed in {self.kind}")
        if self._depth > MAX_DEPTH:
            # Reading itself becomes slow with the depth.
            raise _Refused(line, "not YAML: nested too deeply")
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise _Refused(line, f"more than {_MAX_NODES:,} keys and values")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _composed(text: str, kind: str) -> yaml.Node | None:
    """The nodes of a text; None for an empty one."""
    loader = None
    try:
        loader = _Composer(text)
        loader.kind = kind
        return loader.get_single_node()
    except _Refused:
        raise
    except RecursionError:
        raise _Refused(1, "not YAML: nested too deeply") from None
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        line = mark.line + 1 if mark else 1
        if isinstance(error, yaml.reader.ReaderError):
            line = text.count("\n", 0, int(error.position)) + 1
        raise _Refused(line, f"not YAML: {reason}") from error
    except Exception as error:
        # The scanner trusts numbers in escapes and directives, and stumbles over those that are out of range.
        line = loader.line + 1 if loader is not None else 1
        raise _Refused(line, f"not YAML: {str(error)[:200]}") from error


def not_plain(node: yaml.Node, kind: str) -> Flaws:
    """What is not plain data in a tree of nodes: keys that are not text, tags, values that are not what they claim."""
    if isinstance(node, yaml.ScalarNode):
        try:
            _scalar(node)
        except ValueError as error:
            yield node, str(error)
    elif node.tag != _COLLECTIONS[type(node)]:
        yield node, f"the tag {_tag(node)} is not allowed in {kind}"
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield key, "a key must be text, not a list or a mapping"
            elif key.tag == "tag:yaml.org,2002:merge":
                yield key, f"merge keys (<<) are not allowed in {kind}"
            elif _tag(key) not in _OF_KEYS:
                yield key, f"the tag {_tag(key)} is not allowed in {kind}"
            elif not key.value.isascii() and _unwritable(key.value):
                yield key, _NO_CHARACTER
            yield from not_plain(value, kind)
    else:
        for item in node.value:
            yield from not_plain(item, kind)


#: What YAML takes an untagged key for; to the readers here it is text, as it is written.
_OF_KEYS = ("!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!value")
_COLLECTIONS: dict[type[yaml.Node], str] = {
    yaml.MappingNode: "tag:yaml.org,2002:map",
    yaml.SequenceNode: "tag:yaml.org,2002:seq",
}
#: Longer ones are numbers of no document; some of them take seconds to read, and Python cannot show them.
_MAX_NUMBER = 300
_NO_CHARACTER = "a surrogate (\\ud800 to \\udfff) is not a character"


def _tag(node: yaml.Node) -> str:
    return str(node.tag).replace("tag:yaml.org,2002:", "!!")[:80]


def _unwritable(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _scalar(node: yaml.ScalarNode) -> Any:
    """The value of a scalar: text, a number, a truth or null. Dates stay text: a schema knows them as such.

    Raises:
        ValueError: it is not what its tag says.
    """
    text, kind = str(node.value), _tag(node)
    if kind in ("!!str", "!!timestamp"):
        if not text.isascii() and _unwritable(text):
            raise ValueError(_NO_CHARACTER)
        return text
    if kind not in _READS:
        hint = "; put it in quotes" if kind == "!!value" else ""
        raise ValueError(f"{text[:40]!r} with the tag {kind} is not plain data{hint}")
    if len(text) > _MAX_NUMBER:
        raise ValueError("a number with too many digits")
    try:
        return _READS[kind](_CONSTRUCTOR, node)
    except Exception as error:
        raise ValueError(f"{text[:40]!r} is not a value of the kind {kind}") from error


_CONSTRUCTOR: Any = yaml.SafeLoader("")
_READS: dict[str, Any] = {
    "!!bool": yaml.SafeLoader.construct_yaml_bool,
    "!!int": yaml.SafeLoader.construct_yaml_int,
    "!!float": yaml.SafeLoader.construct_yaml_float,
    "!!null": lambda _, node: None,
}


def twice(node: yaml.Node) -> Flaws:
    """Keys that stand twice in one mapping; YAML lets the later one win without a word."""
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            text = str(key.value)
            if text in first:
                yield key, f"{text!r} is given twice, first on line {first[text]}"
            first.setdefault(text, key.start_mark.line + 1)
            yield from twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from twice(item)


def content_of(node: yaml.Node, *, as_written: bool = False) -> Any:
    """What nodes hold, as plain data; keys are text, as they are written, and the first of two alike counts.

    Args:
        node: the node, from :func:`read`.
        as_written: numbers become the text that the file has, which keeps their digits.

    Raises:
        ValueError: they do not come from :func:`read`, and a tag is not one of plain data.
    """
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, value in node.value:
            if str(key.value) not in found:
                found[str(key.value)] = content_of(value, as_written=as_written)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [content_of(item, as_written=as_written) for item in node.value]
    assert isinstance(node, yaml.ScalarNode)  # noqa: S101  (there is no other node)
    return str(node.value) if as_written and _tag(node) in ("!!int", "!!float") else _scalar(node)


def read_content(path: Path, *, kind: str, top: str) -> dict[str, Any]:
    """What a file holds as plain data, checked by nobody yet.

    Raises:
        FileProblemsError: it cannot be read.
    """
    content: dict[str, Any] = content_of(read(path, kind=kind, top=top))
    return content


#: Such a file is a few kilobytes; the bound keeps a hostile one from being read at all.
MAX_TOML_BYTES = 256 << 10
_BITS = 64
_DEEP = "nested too deeply"
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
    shown = name or str(file)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            _refuse(shown, 1, "cannot be read: not a regular file")
        with file.open("rb") as stream:
            raw = stream.read(MAX_TOML_BYTES + 1)
        if len(raw) > MAX_TOML_BYTES:
            _refuse(shown, 1, f"larger than {MAX_TOML_BYTES >> 10} KiB")
        text = raw.decode("utf-8").replace("\r\n", "\n")
        if long := _LONG_KEY.search(text):
            _refuse(shown, text.count("\n", 0, long.start()) + 1, f"not TOML: {_DEEP}")
        content: dict[str, Any] = _plain_toml(tomllib.loads(text))
        return content
    except OSError as error:
        _refuse(shown, 1, f"cannot be read: {reason_of(error)}")
    except UnicodeDecodeError:
        _refuse(shown, 1, "cannot be read: not UTF-8 text")
    except RecursionError:
        _refuse(shown, 1, f"not TOML: {_DEEP}")
    except ValueError as error:
        # A number of too many digits is one as well, and has no line.
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        _refuse(shown, line, f"not TOML: {str(error)[: place.start() if place else 200][:200]}")


def _refuse(shown: str, line: int, message: str) -> NoReturn:
    raise FileProblemsError((Problem(shown, line, message),))


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
        raise ValueError("a number with too many digits")
    return value.isoformat() if isinstance(value, date | time | datetime) else value
