"""A YAML file that people write: read it as nodes, and say of each flaw on which line it is and what was meant."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
import yaml

#: Such a file is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20
MAX_DEPTH = 100


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a file, at a 1-based line."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class FileProblemsError(ValueError):
    """A file that cannot be used; ``problems`` says why, at least one."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


Flaws = Iterator[tuple[yaml.Node, str]]


def read(path: Path, name: str | None = None, *, kind: str, top: str) -> tuple[yaml.Node | None, tuple[Problem, ...]]:
    """The nodes of a YAML file, and what keeps it from being one.

    Args:
        path: the file.
        name: how messages call it.
        kind: what such files are called, in the plural.
        top: the keys it has, in words.
    """
    shown = name or str(path)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            # Reading from a pipe may never end.
            return None, (Problem(shown, 1, "cannot be read: not a regular file"),)
        if found.st_size > MAX_BYTES:
            return None, (Problem(shown, 1, f"larger than {MAX_BYTES >> 20} MiB"),)
        text = path.read_text("utf-8")
    except (OSError, UnicodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
        return None, (Problem(shown, 1, f"cannot be read: {reason}"),)
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            place: Any = event.start_mark
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                # Told here, for the reading itself becomes slow with the depth.
                return None, (Problem(shown, place.line + 1, "no YAML: nested too deeply"),)
            if isinstance(event, yaml.AliasEvent):
                return None, (Problem(shown, place.line + 1, f"aliases (*name) are not for {kind}"),)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark: Any = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        return None, (Problem(shown, line, f"no YAML: {getattr(error, 'problem', None) or 'nested too deeply'}"),)
    if not isinstance(node, yaml.MappingNode):
        return None, (Problem(shown, 1, f"a mapping is needed, with {top}"),)
    return node, ()


def child(node: yaml.Node, name: str) -> yaml.Node | None:
    """The value of a key of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def twice(node: yaml.Node) -> Flaws:
    """Keys that stand twice in one mapping; YAML lets the later one win without a word."""
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            text = str(key.value)
            if text in first:
                yield key, f"{text!r} is there twice, first on line {first[text]}"
            first.setdefault(text, key.start_mark.line + 1)
            yield from twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from twice(item)


def unknown(node: yaml.Node, words: Iterable[str], kind: str) -> Flaws:
    """Keys of a mapping that are not of the vocabulary."""
    known = tuple(words)
    for key in keys(node):
        if key.value not in known:
            yield key, f"unknown {kind} {key.value!r}{meant(str(key.value), known)}"


def meant(text: str, known: Iterable[str]) -> str:
    """A did-you-mean, or what there is."""
    names = tuple(known)
    longer = [name for name in names if len(text) > 2 and name.startswith(text)]
    close = longer if len(longer) == 1 else get_close_matches(text, names, n=1)
    return f". Did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"


def keys(node: yaml.Node) -> Iterator[yaml.Node]:
    """The keys of a mapping, none of anything else."""
    if isinstance(node, yaml.MappingNode):
        for key, _ in node.value:
            yield key


class _Loader(yaml.SafeLoader):
    """Dates stay text: a schema, and whoever writes a message, knows them as such."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)  # type: ignore[type-var]


def content_of(node: yaml.Node) -> Any:
    """What a file holds, as plain data.

    Raises:
        ValueError: a tag is not one of plain data, or a value not what its tag says.
    """
    try:
        return _Loader("").construct_document(node)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(str(getattr(error, "problem", None) or error)[:200]) from error


def schema_problems(node: yaml.Node, shown: str, schema: dict[str, Any]) -> list[Problem]:
    """What the JSON Schema refuses, where it stands in the file."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        content = content_of(node)
    except ValueError as reason:
        return [Problem(shown, node.start_mark.line + 1, f"not plain data: {reason}")]
    try:
        error = best_match(Draft202012Validator(schema).iter_errors(content))
    except ValueError:
        # Python shows no whole number of thousands of digits, in a message either.
        return [Problem(shown, node.start_mark.line + 1, "a number of too many digits")]
    if error is None:
        return []
    at: yaml.Node = node
    for step in error.absolute_path:
        if isinstance(at, yaml.MappingNode):
            at = next((value for key, value in at.value if str(key.value) == str(step)), at)
        elif isinstance(at, yaml.SequenceNode) and isinstance(step, int):
            at = at.value[step]
    place = ".".join(str(step) for step in error.absolute_path) or "the file"
    message = error.message[:200]
    if error.validator == "pattern" and "patternErrorMessage" in error.schema:
        message = f"{str(error.instance)[:80]!r} {error.schema['patternErrorMessage']}"
    return [Problem(shown, at.start_mark.line + 1, f"{place}: {message}")]
