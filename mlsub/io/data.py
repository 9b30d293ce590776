"""Read the YAML files that ship with the package, and JSON from outside; pickles and digests, as fast as they can be.

Reading YAML, and importing what reads it, would be a fifth of a small check. So what a file holds is kept as Python
keeps bytecode: in ``__pycache__``, where the interpreter may write that. It counts for the very text it was made of and
for no other, so that an edited file counts at once. ``python -m mlsub.io.data`` keeps all files, for users who may not
write there.

JSON is read to a fixed depth: how deep :mod:`json` itself goes depends on Python and on who calls it.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import msgspec

from mlsub.io.write import replace_whole

# hashlib itself loads OpenSSL first, which takes as long as reading ten logs.
try:
    from _blake2 import blake2b as blake2b
except ImportError:  # Another Python than CPython.
    from hashlib import blake2b as blake2b

K = TypeVar("K")
T = TypeVar("T")
#: Encodes a value as MessagePack.
encode = msgspec.msgpack.Encoder().encode
#: What encoding and decoding raise for values that do not fit, and for damage.
FAILURES = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
#: The first use of a type prepares it. Another thread that decodes with it before that is done crashes the process.
_PREPARING = RLock()


def reduce_struct(self: msgspec.Struct) -> str | tuple[Any, ...]:
    """Return what pickles a struct whose types say all that it holds: it is its ``__reduce__``.

    It is pickled part by part where it has text that is not Unicode or numbers beyond 64 bits, from odd logs.
    """
    try:
        return _from_pickle, (type(self), encode(self))
    except FAILURES:
        return msgspec.Struct.__reduce__(self)


def _from_pickle(kind: type[msgspec.Struct], content: bytes) -> Any:
    return decoder(kind).decode(content)


def decoder(type_: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Return what reads a type from MessagePack."""
    with _PREPARING:
        return _make_decoder(cast(Hashable, type_))


@cache
def _make_decoder(type_: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(type_)


def convert(content: Any, kind: type[T]) -> T:
    """Return plain data as a type.

    Raises:
        msgspec.ValidationError: it is none.
    """
    with _PREPARING:
        return msgspec.convert(content, kind)


class _CachedYaml(msgspec.Struct, frozen=True, array_like=True):
    """The text of a file, and what it holds."""

    text: bytes
    content: msgspec.Raw


def load_yaml(path: Path) -> Any:
    """The content of a YAML file as plain data."""
    text, file = path.read_bytes(), _cache_file(path)
    try:
        cached = msgspec.msgpack.decode(file.read_bytes(), type=_CachedYaml) if file else None
        if cached is not None and cached.text == text:
            return msgspec.msgpack.decode(cached.content)
    except (OSError, msgspec.DecodeError):
        pass  # Not kept yet, or damaged.
    content = _parse(text)
    if file and not sys.dont_write_bytecode:
        _write_cache(file, text, content)
    return content


def _parse(text: bytes) -> Any:
    import yaml

    # The loader in C where PyYAML has it: six times faster, and both build nothing but plain data.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader, see above)


def _cache_file(path: Path) -> Path | None:
    """Where the content of a file is kept; None where the interpreter keeps no bytecode."""
    try:
        return Path(importlib.util.cache_from_source(str(path))).with_name(f"{path.name}.msgpack")
    except NotImplementedError:
        return None


def _write_cache(file: Path, text: bytes, content: Any) -> None:
    """Put the content in place whole; where that cannot be, the next one to ask reads YAML again."""
    with suppress(OSError, OverflowError, TypeError):
        packed = msgspec.msgpack.encode(content)
        if repr(msgspec.msgpack.decode(packed)) == repr(content):  # Dates, say, come out as text.
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_whole(file, msgspec.msgpack.encode(_CachedYaml(text, msgspec.Raw(packed))))


@cache
def _shipped(module: str, name: str, kind: Hashable) -> Any:
    return convert(load_yaml(Path(module).parent / name), cast(Any, kind))


def shipped(module: str, name: str, kind: type[T]) -> T:
    """The YAML file beside a module as its type, read when first asked for.

    Args:
        module: the module's ``__file__``.
        name: the file's name, or its path from the module's folder.
        kind: what it holds, such as ``dict[str, Rule]``.
    """
    found: T = _shipped(module, name, cast(Hashable, kind))
    return found


def group_by_key(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values beside each key, keys and values in their order."""
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


#: The most objects and arrays within each other, the outermost one included. Real logs and files stay below ten.
MAX_LEVELS = 500
#: No shorter text is deeper: each level has a bracket at either end.
SHALLOW = 2 * MAX_LEVELS

_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[{]|[\]}]")


def loads(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """What :func:`json.loads` reads, if it has no more than `MAX_LEVELS` levels.

    Args:
        text: of bytes the encoding is guessed as :mod:`json` guesses it.
        pairs: makes an object of its members, see ``object_pairs_hook``.

    Raises:
        RecursionError: it is deeper, up to where it is JSON.
        ValueError: it is not JSON, or a number in it has too many digits.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        content = json.loads(text, object_pairs_hook=pairs)
    except ValueError as error:
        if too_deep(text[: getattr(error, "pos", len(text))]):
            raise RecursionError from error
        raise
    if too_deep(text):
        raise RecursionError
    return content


def too_deep(text: str) -> bool:
    """Whether a text, which is JSON or the beginning of it, has more than `MAX_LEVELS` levels."""
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return False
    levels = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub("", text)):
        levels += 1 if bracket[0] in "[{" else -1
        if levels > MAX_LEVELS:
            return True
    return False


if __name__ == "__main__":
    for file in Path(__file__).parents[1].rglob("*.yaml"):
        load_yaml(file)
