"""Logs that were read before: those of a folder lie on one shelf, which is one record.

A file of the memory for each log would take longer to open than to read what most logs come to; one for each package
would be written anew for every run that is added.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Generic, NamedTuple, Optional, TypeVar, get_type_hints

import msgspec

from mlsub.judge.log import LogTask, NewFold
from mlsub.log.report import LogReport
from mlsub.workspace.memory.memory import Memory, collector_paused, decoder, named
from mlsub.workspace.memory.states import State, file_state
from mlsub.workspace.memory.store import MAX_RECORD
from mlsub.workspace.memory.witness import content_of, is_asked, is_witness, witness

T = TypeVar("T")

_ENCODER = msgspec.msgpack.Encoder()
_FAILURES = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
#: What a log breaks only here and now: another time it may be read, or judged.
PASSING = frozenset(("log.unreadable", "rule.crashed"))
#: Behind the name of a log that is unpacked.
_PACKED = b"\0gz"


class Form(NamedTuple, Generic[T]):
    """What is remembered of a log: a name for it, and how it is written and read.

    ``pack`` gives None for what is not to be remembered, ``unpack`` raises for what is damaged; both know the task.
    """

    name: str
    pack: Callable[[T, LogTask], bytes | None]
    unpack: Callable[[bytes | memoryview, LogTask], T]


class _Log(msgspec.Struct, frozen=True, array_like=True):
    """One log of a shelf: its state, the digest of its content where it is of the sample, and what is remembered."""

    state: bytes
    content: bytes
    packed: msgspec.Raw


_Shelf = dict[bytes, _Log]


class Shelves(Generic[T]):
    """What is known of some logs. First :meth:`recall`, then :meth:`keep` what was not known, then :meth:`close`.

    Args:
        memory: where it lies.
        tasks: the logs.
        form: what is remembered of each.
    """

    def __init__(self, memory: Memory, tasks: Sequence[LogTask], form: Form[T]) -> None:
        self._memory, self._tasks, self._form = memory, tasks, form
        self._places = _places(tasks)
        self._shelf_of: dict[int, str] = {}
        self._before: dict[int, State] = {}
        #: How many logs of a shelf are still to come, and what has come.
        self._awaited: dict[str, int] = {}
        self._fresh: dict[str, _Shelf] = {}

    def recall(self) -> Iterator[tuple[int, T]]:
        """What is remembered, with the index of its task; the rest is to be read."""
        shelves: dict[tuple[object, ...], list[int]] = {}
        for index, task in enumerate(self._tasks):
            key = (self._places[index][0], task.usage, task.round, task.overlay, task.folds)
            shelves.setdefault(key, []).append(index)
        for indices in shelves.values():
            with collector_paused():
                found = list(self._of_shelf(indices))
            self._memory.hits["logs"] += len(found)
            self._memory.misses["logs"] += len(indices) - len(found)
            yield from found

    def _of_shelf(self, indices: Sequence[int]) -> Iterator[tuple[int, T]]:
        task = self._tasks[indices[0]]
        words = _words(task)
        if words is None:
            return
        name = named(self._form.name, self._places[indices[0]][0], *words)
        shelf = self._read(task, name)
        for index in indices:
            before = file_state(self._tasks[index].file)
            found = self._found(index, before, shelf, name) if before is not None else None
            if found is not None:
                yield index, found
            elif before is not None and before.settled:
                self._before[index], self._shelf_of[index] = before, name
                self._awaited[name] = self._awaited.get(name, 0) + 1

    def _found(self, index: int, before: State, shelf: _Shelf, name: str) -> T | None:
        task = self._tasks[index]
        known = shelf.get(self._places[index][1])
        if known is None or known.state != before.digest or self._memory.deceived:
            return None
        if known.content and is_asked(known.state):
            seen = witness(task.file)
            if (seen is None or seen.digest != known.content) and file_state(task.file) == before:
                self._memory.doubt("logs", name, task.file)
                return None
        try:
            return self._form.unpack(memoryview(known.packed), task)
        except _FAILURES:
            return None

    def keep(self, index: int, value: T) -> None:
        """Remember what came of a log, if it is as it was before it was read."""
        before, name = self._before.pop(index, None), self._shelf_of.pop(index, None)
        if before is None or name is None:
            return
        task = self._tasks[index]
        content = self._form.pack(value, task) if self._memory.store.writable else None
        if content is not None:
            seen = witness(task.file) if is_witness(before.digest) else None
            if file_state(task.file) == before:
                log = _Log(before.digest, seen.digest if seen else b"", msgspec.Raw(content))
                self._fresh.setdefault(name, {})[self._places[index][1]] = log
        self._awaited[name] -= 1
        if not self._awaited[name]:
            self._put(name, index)

    def __enter__(self) -> Shelves[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what has come of shelves that are not complete."""
        for index, name in self._shelf_of.items():
            if name in self._fresh:
                self._put(name, index)

    def _read(self, task: LogTask, name: str) -> _Shelf:
        payload = self._memory.read("logs", name, content_of(task.overlay) or b"")
        if payload is None:
            return {}
        try:
            shelf: _Shelf = decoder(_Shelf).decode(payload)
            return shelf
        except _FAILURES:
            self._memory.store.drop("logs", name)
            return {}

    def _put(self, name: str, index: int) -> None:
        """Write a shelf: what is new, and what others have put there meanwhile, as far as there is room."""
        task, folder = self._tasks[index], os.fsencode(self._places[index][0])
        shelf = self._fresh.pop(name, None)
        if not shelf:
            return
        room = MAX_RECORD - (1 << 10) - sum(map(_size, shelf.items()))
        for log, known in self._read(task, name).items():
            size = _size((log, known))
            is_there = os.path.lexists(os.path.join(folder, log.removesuffix(_PACKED)))  # noqa: PTH118
            if log not in shelf and size <= room and is_there:
                shelf[log] = known
                room -= size
        self._memory.write("logs", name, content_of(task.overlay) or b"", _ENCODER.encode(shelf))


def _size(item: tuple[bytes, _Log]) -> int:
    return len(item[0]) + len(memoryview(item[1].packed)) + 64


def _places(tasks: Sequence[LogTask]) -> list[tuple[str, bytes]]:
    """The real folder of each log, and its name there: many ways may lead to one log, such as links to it."""
    folders: dict[str, str] = {}
    found = []
    for task in tasks:
        folder, name = os.path.split(task.file)
        if os.path.islink(task.file):  # noqa: PTH114
            place, name = os.path.split(os.path.realpath(task.file))
        elif (place := folders.get(folder, "")) == "":
            place = folders[folder] = os.path.realpath(folder)
        # Whether a log is unpacked depends on the name that is asked for.
        found.append((place, os.fsencode(name) + (_PACKED if task.file.endswith(".gz") else b"")))
    return found


def _words(task: LogTask) -> tuple[str, ...] | None:
    """What a shelf is for beside its folder: a round, and what is to be found out; None for what has no name."""
    facts = [_fact_of(fold) for fold in task.folds]
    if None in facts or content_of(task.overlay) is None:
        return None
    return task.usage, task.round, task.overlay or "", *map(repr, facts)


@cache
def _fact_of(fold: NewFold) -> type[msgspec.Struct] | None:
    """The type of what a fold finds out; None where it is not known."""
    finish = getattr(fold, "finish", None)
    kind = get_type_hints(finish).get("return") if isinstance(fold, type) and finish is not None else None
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def packed(value: object) -> bytes | None:
    """A value as MessagePack; None where it cannot be written so."""
    try:
        return _ENCODER.encode(value)
    except _FAILURES:
        return None


def _pack(report: LogReport, task: LogTask) -> bytes | None:
    if any(finding.rule in PASSING for finding in report.findings):
        return None
    facts = [report.fact(kind) if (kind := _fact_of(fold)) is not None else None for fold in task.folds]
    bare = msgspec.structs.replace(report, facts=()) if report.facts else report
    return packed((bare, facts) if facts else bare)


def _unpack(content: bytes | memoryview, task: LogTask) -> LogReport:
    if not task.folds:
        report: LogReport = decoder(LogReport).decode(content)
    else:
        raw, raws = decoder(tuple[msgspec.Raw, tuple[msgspec.Raw, ...]]).decode(content)
        report = decoder(LogReport).decode(raw)
        facts = (_fact(raw, fold) for fold, raw in zip(task.folds, raws, strict=True))
        report = msgspec.structs.replace(report, facts=tuple(fact for fact in facts if fact is not None))
    return placed(report, task.path)


def _fact(raw: msgspec.Raw, fold: NewFold) -> object:
    """A fact of a fold, None where the fold found none."""
    return decoder(Optional[_fact_of(fold)]).decode(raw)  # noqa: UP045  (a type that is only known now)


def placed(report: LogReport, path: str) -> LogReport:
    """The report on the same log under another path."""
    if report.path == path:
        return report
    findings = tuple(msgspec.structs.replace(finding, path=path) for finding in report.findings)
    return msgspec.structs.replace(report, path=path, findings=findings)


#: The report on a log, with the facts that were asked for.
REPORTS = Form("report", _pack, _unpack)
