"""The loader of YAML that people write, beside PyYAML itself: what both take has one meaning."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import yaml

from mlsub.io.problems import MAX_DEPTH, FileProblemsError
from mlsub.io.read import read_tree
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.surfaces.documents_shared import check_problems, placed, same
from tests.io.mutate_yaml import KEYS, VALUES, mutated

#: Why a document that PyYAML takes is refused: what such files may not have, by the words of the message.
_DOCUMENTED = re.compile(
    r"aliases \(|nested too deeply|the tag .* is not allowed|a key must be text|merge keys|a surrogate|with the tag"
    r"|is not plain data|too many digits|is not a value of the kind|expected a mapping|not UTF-8|larger than"
)


def _read(data: bytes) -> None:
    file = placed(data, "fuzz.yaml")
    try:
        tree = read_tree(file, kind="documents", top="keys")
    except FileProblemsError as error:
        check_problems(error, data, file)
        if not all(_DOCUMENTED.search(problem.message) for problem in error.problems):
            _refused_by_both(data, error)
        return
    node, content = tree.node, tree.content()
    if not tree.found:
        _compare(node, content, data)
    for canonical in (True, False):
        _written_again(node, content, canonical=canonical)


def _refused_by_both(data: bytes, error: FileProblemsError) -> None:
    """A document that is said not to be YAML is none to PyYAML either."""
    try:
        yaml.safe_load(data.decode("utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError, AttributeError, LookupError):
        return
    raise BrokenError(f"PyYAML takes it: {error}")


def _compare(node: yaml.Node, content: Any, data: bytes) -> None:
    """The values are those of PyYAML; days stay text here, and so does every key."""
    try:
        theirs = yaml.safe_load(data)
    except (ValueError, TypeError, AttributeError, OverflowError):
        if _has_own_reading(node):
            return
        raise
    if not _alike(content, theirs):
        raise BrokenError(f"{content!r:.300} here, {theirs!r:.300} in PyYAML")


def _has_own_reading(node: yaml.Node) -> bool:
    """Whether a document has what this reader leaves as text: a day that no calendar has, or a key of such a kind."""
    if isinstance(node, yaml.ScalarNode):
        return node.tag == "tag:yaml.org,2002:timestamp"
    if isinstance(node, yaml.MappingNode):
        return any(key.tag != "tag:yaml.org,2002:str" or _has_own_reading(value) for key, value in node.value)
    return any(map(_has_own_reading, node.value))


def _alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # Keys of other kinds than text may fall together in PyYAML (1 and 0x1).
        return len(ours) > len(theirs) or all(map(_alike, ours.values(), theirs.values()))
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))
    return same(ours, theirs) or (isinstance(ours, str) and hasattr(theirs, "isoformat"))


def _written_again(node: yaml.Node, content: Any, *, canonical: bool) -> None:
    """Written by PyYAML and read again, the values are the same."""
    text = yaml.serialize(node, Dumper=yaml.SafeDumper, canonical=canonical, allow_unicode=canonical, width=1 << 20)
    file: Path = placed(text.encode("utf-8"), "again.yaml")
    try:
        again = read_tree(file, kind="documents", top="keys").content()
    except FileProblemsError as error:
        raise BrokenError(f"written by PyYAML it is refused: {error}: {text!r:.300}") from error
    if not same(content, again):
        raise BrokenError(f"{content!r:.300} is read as {again!r:.300} when written as {text!r:.300}")


_SEEDS = (
    b"a: 1\n",
    b"a: [1, 2.5, 0x1F, 0o17, 017, 1_000, 1:30, .inf, -.inf, .nan, 1e3, 1.0e+3]\n",
    b"a: {b: yes, c: ~, d: null, e: 'x', f: \"\\u00e9\\n\", 2021-06-30: 2021-06-30}\n",
    b"text: |\n  two\n  lines\nfolded: >-\n  one\n  line\nlist:\n- a\n- - b\n  - c\n-\n  d: e\n",
    b"%YAML 1.1\n--- !!map\n? !!str key\n: !!int '3'\n? other\n: !!float 1\n... # end\n",
    b"\xef\xbb\xbfa: caf\xc3\xa9 \xe2\x80\xa8b\n",
    b"base: &x {a: 1}\nuse: *x\nmore:\n  <<: *x\n",
)
_WORDS = (
    *(text.encode("utf-8", "surrogatepass") for text in (*VALUES, *KEYS) if len(text) < 400),
    *(b"&a [*a", b"!!python/object/apply:os.system [x]", b"? ", b"\n  ", b"\t", b"\r", b"\xc2\x85", b"\xff\xfe"),
    *(b"[" * (MAX_DEPTH + 2), b"- " * (MAX_DEPTH + 2), b"{a: " * 30, b"\\u2028", b"\\x85", b"\\N\\_\\L", b"!<tag:x> "),
)


def _generate(rng: random.Random) -> bytes:
    texts = [seed.decode() for seed in _SEEDS[:-1]]
    return mutated(rng.choice(texts), texts, rng).encode("utf-8", "surrogatepass")


HARNESSES = (
    Harness("yaml", "YAML that people write", _read, lambda: _SEEDS, _WORDS, _generate, longest=8_000, seconds=2.0),
)
