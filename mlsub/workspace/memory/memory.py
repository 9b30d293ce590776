"""What was found out before, for as long as nothing that it rests on has changed.

Whoever has something to remember asks for a :class:`Drawer`: it takes the state of the files before they are read, and
keeps what came of them only if the state is the same afterwards, and old enough for any later change to show.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from mlsub.io.data import blake2b
from mlsub.workspace.memory.code import code_digest
from mlsub.workspace.memory.states import State
from mlsub.workspace.memory.store import Store
from mlsub.workspace.memory.witness import Witness, is_asked, witness

T = TypeVar("T")

#: Bytes of all records together, unless the settings say otherwise.
LIMIT = 500 << 20
_ENCODER = msgspec.msgpack.Encoder()


class Place(msgspec.Struct, frozen=True):
    """Where a memory lies and how large it may become (bytes), fit for another process."""

    folder: str
    limit: int = LIMIT


class Seen(msgspec.Struct, frozen=True):
    """What became of what was asked for, by kind, and files whose content was another than their state said."""

    hits: dict[str, int] = {}
    misses: dict[str, int] = {}
    deceived: tuple[str, ...] = ()


class Memory:
    """The records of one user, for one command. Nothing here raises for what lies in the folder.

    Args:
        folder: where they lie; it is made when there is something to keep.
        limit: bytes that they may have together.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.store = Store(folder)
        self.limit = limit
        #: How often what was asked for was there, by kind, and how often it was not.
        self.hits: Counter[str] = Counter()
        self.misses: Counter[str] = Counter()
        #: Files whose content was another than their state said: nothing is believed from then on.
        self.deceived: list[str] = []
        self._kept = False

    def drawer(self, kind: str, words: tuple[str, ...], look: Callable[[], State | None]) -> Drawer:
        """The place of one thing to remember.

        Args:
            kind: one of :data:`mlsub.workspace.memory.store.KINDS`.
            words: what it is of and for whom: a path, and every setting that has a part in it.
            look: takes the state of all that is read for it, see :func:`mlsub.workspace.memory.states.tree_state`.
        """
        return Drawer(self, kind, named(*words), look)

    def read(self, kind: str, name: str, state: bytes) -> bytes | None:
        """What is kept under a name, of this state and by this code."""
        key = None if self.deceived else sealed(state)
        return None if key is None else self.store.read(kind, name, key)

    def write(self, kind: str, name: str, state: bytes, payload: bytes) -> None:
        """Keep something under a name."""
        key = sealed(state)
        if key is not None:
            self.store.write(kind, name, key, payload)
            self._kept = self._kept or self.store.writable

    def doubt(self, kind: str, name: str, file: str) -> None:
        """A file has changed, and its state has not: forget what rests on it, and believe nothing more."""
        self.store.drop(kind, name)
        self.deceived.append(file)

    @property
    def place(self) -> Place:
        """Where it lies."""
        return Place(str(self.store.folder), self.limit)

    @property
    def seen(self) -> Seen:
        """What became of what was asked for so far."""
        return Seen(dict(self.hits), dict(self.misses), tuple(self.deceived))

    def note(self, seen: Seen, *, kept: bool = True) -> None:
        """Take over what another process has seen."""
        self.hits.update(seen.hits)
        self.misses.update(seen.misses)
        self.deceived += seen.deceived
        self._kept = self._kept or kept

    @property
    def used(self) -> bool:
        """Whether anything was recalled or kept."""
        return self._kept or bool(self.hits.total())

    def close(self) -> None:
        """What was kept stays; what was longest of no use goes where it is too much."""
        if self._kept:
            self.store.shrink(self.limit)


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """What a drawer holds: the value, and one file that it rests on with the digest of its content."""

    witness: Witness | None
    value: msgspec.Raw


class Drawer:
    """One thing to remember, by the state that its files have now."""

    def __init__(self, memory: Memory, kind: str, name: str, look: Callable[[], State | None]) -> None:
        self._memory, self._kind, self._name, self.look = memory, kind, name, look
        #: The state of the files; None where they have none.
        self.before = look()
        #: Whether each later change of the files would show in it.
        self.steady = self.before is not None and self.before.settled

    def of(self, memory: Memory) -> Drawer:
        """The same drawer of a memory in another process."""
        drawer = copy(self)
        drawer._memory = memory
        return drawer

    def recall(self, kind: type[T]) -> T | None:
        """What was kept of files of this state, as its type; None for nothing."""
        found = self._found(kind)
        (self._memory.misses if found is None else self._memory.hits)[self._kind] += 1
        return found

    def _found(self, kind: type[T]) -> T | None:
        if self.before is None:
            return None
        memory, state = self._memory, self.before.digest
        payload = memory.read(self._kind, self._name, state)
        if payload is None:
            return None
        try:
            record = decoder(_Record).decode(payload)
            seen = record.witness
            if seen is not None and is_asked(state) and witness(seen.file) != seen and self.look() == self.before:
                memory.doubt(self._kind, self._name, seen.file)
                return None
            with collector_paused():
                return cast(T, decoder(kind).decode(record.value))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            memory.store.drop(self._kind, self._name)
            return None

    def keep(self, value: Any, after: State | None = None) -> None:
        """Remember what came of the files, if they are as they were, and the value survives being written.

        Args:
            value: what came of them.
            after: their state once all was read; looked at anew where it is not given.
        """
        before = self.before
        if before is None or not self.steady or not self._memory.store.writable:
            return
        text = exact(value)
        if text is None:
            return
        seen = witness(before.file) if before.file is not None else None
        after = after or self.look()
        if after is not None and after.digest == before.digest:
            record = _ENCODER.encode(_Record(seen, msgspec.Raw(text)))
            self._memory.write(self._kind, self._name, before.digest, record)


def exact(value: Any) -> bytes | None:
    """A value as MessagePack; None where it would come back as another one.

    Integers of more than 64 bits, half of a surrogate pair and integers in the place of floats do not survive. Where
    any value may stand, the value is one of JSON.
    """
    try:
        text = _ENCODER.encode(value)
        back = decoder(type(value)).decode(text)
        return text if _ENCODER.encode(back) == text else None
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return None


@contextmanager
def collector_paused() -> Iterator[None]:
    """Spare the collector what is made meanwhile: all of it stays, and looking through it takes twice as long."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def named(*words: str) -> str:
    """The name of a record, made of words."""
    return blake2b(repr(words).encode(), digest_size=16).hexdigest()


def sealed(state: bytes) -> bytes | None:
    """A state together with the code that runs; None where that is not known."""
    code = code_digest()
    return None if code is None else blake2b(code + state, digest_size=16).digest()


def decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """What reads a type from MessagePack."""
    return _decoder(cast(Hashable, kind))


@cache
def _decoder(kind: Hashable) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(cast(Any, kind))
