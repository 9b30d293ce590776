"""Logs that were read before: those of an organisation lie on one shelf, which is one record.

It is the shelf of the folder two above that of the log (``results``), by whatever way a command came to the log. A file
of the memory for each log, or each folder of them, would take longer to make than what most logs come to.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from typing import Generic, NamedTuple, Optional, TypeVar, get_type_hints

import msgspec

from mlsub.findings import Finding
from mlsub.judge.log import LogTask, NewFold
from mlsub.log.report import LogReport
from mlsub.workspace.memory.memory import Memory, collector_paused, decoder, named
from mlsub.workspace.memory.states import State, file_state
from mlsub.workspace.memory.store import MAX_RECORD
from mlsub.workspace.memory.witness import content_of, is_asked, is_witness, witness

T = TypeVar("T")

_ENCODER = msgspec.msgpack.Encoder()
_FAILURES = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
#: Rules of what may be wrong only here and now, besides all that end in ``.unreadable``: another time the system may
#: let us look, or there is memory. Some are of lasting defects as well, which are then found anew.
_PASSING = frozenset(("layout.not-listed", "review.crashed", "rule.crashed", "score.scaling-file"))
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


class _Fresh(NamedTuple):
    """A log that was read: its task, its state before that, and what is to be remembered."""

    task: LogTask
    before: State
    packed: bytes


_Shelf = dict[bytes, _Log]


class Shelves(Generic[T]):
    """What is known of some logs. First :meth:`recall`, then :meth:`keep` what was not known, then :meth:`close`.

    Args:
        memory: where it lies.
        tasks: the logs.
        form: what is remembered of each.
        tree: the settled state of a tree that they lie in, taken before. All is written by :meth:`close` then, which
            takes another one; without it each shelf is, as soon as it is complete.
    """

    def __init__(self, memory: Memory, tasks: Sequence[LogTask], form: Form[T], tree: State | None = None) -> None:
        self._memory, self._tasks, self._form, self._tree = memory, tasks, form, tree
        self._state_of = tree.of if tree is not None else file_state
        self._places = _places(tasks, tree.files if tree is not None else {})
        self._before: dict[int, tuple[str, State]] = {}
        #: The folder of each shelf, and the digest of the user's own rules.
        self._about: dict[str, tuple[bytes, bytes]] = {}
        #: How many logs of a shelf are still to come, and what has come.
        self._awaited: Counter[str] = Counter()
        self._fresh: dict[str, dict[bytes, _Fresh]] = {}

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
        task, (folder, _) = self._tasks[indices[0]], self._places[indices[0]]
        rules, facts = content_of(task.overlay), [_fact_of(fold) for fold in task.folds]
        if rules is None or None in facts:
            return
        name = named(self._form.name, folder, task.usage, task.round, task.overlay or "", *map(repr, facts))
        self._about[name] = os.fsencode(folder), rules
        shelf = self._read(name)
        for index in indices:
            before = self._state_of(self._tasks[index].file)
            found = self._found(index, before, shelf, name) if before is not None else None
            if found is not None:
                yield index, found
            elif before is not None and before.settled:
                self._before[index] = name, before
                self._awaited[name] += 1

    def _found(self, index: int, before: State, shelf: _Shelf, name: str) -> T | None:
        task = self._tasks[index]
        known = shelf.get(self._places[index][1])
        if known is None or known.state != before.digest or self._memory.deceived:
            return None
        if known.content and is_asked(known.state):
            seen = witness(task.file)
            if seen is None or seen.digest != known.content:
                now = file_state(task.file)
                if now is not None and now.digest == before.digest:
                    self._memory.doubt("logs", name, task.file)
                return None
        try:
            return self._form.unpack(memoryview(known.packed), task)
        except _FAILURES:
            return None

    def keep(self, index: int, value: T) -> None:
        """Remember what came of a log, if it is as it was before it was read."""
        name, before = self._before.pop(index, ("", None))
        if before is None or not self._memory.store.writable:
            return
        task = self._tasks[index]
        if (content := self._form.pack(value, task)) is not None:
            self._fresh.setdefault(name, {})[self._places[index][1]] = _Fresh(task, before, content)
        self._awaited[name] -= 1
        if not self._awaited[name] and self._tree is None:
            self._put(name, file_state)

    def __enter__(self) -> Shelves[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, tree: State | None = None) -> None:
        """Write what has come and is not written yet.

        Args:
            tree: the state of the tree that they lie in, taken now.
        """
        for name in list(self._fresh):
            self._put(name, tree.of if tree is not None else file_state)

    def _read(self, name: str) -> _Shelf:
        payload = self._memory.read("logs", name, self._about[name][1])
        if payload is None:
            return {}
        try:
            shelf: _Shelf = decoder(_Shelf).decode(payload)
            return shelf
        except _FAILURES:
            self._memory.store.drop("logs", name)
            return {}

    def _put(self, name: str, state_of: Callable[[str], State | None]) -> None:
        """Write a shelf: what is new, and what others have put there meanwhile, as far as there is room."""
        folder, rules = self._about[name]
        shelf: _Shelf = {}
        for log, (task, before, content) in self._fresh.pop(name, {}).items():
            seen = witness(task.file) if is_witness(before.digest) else None
            after = state_of(task.file)
            if after is not None and after.digest == before.digest:
                shelf[log] = _Log(before.digest, seen.digest if seen else b"", msgspec.Raw(content))
        if not shelf:
            return
        room = MAX_RECORD - (1 << 10) - sum(map(_size, shelf.items()))
        for log, known in self._read(name).items():
            size = _size((log, known))
            is_there = os.path.lexists(folder + log.removesuffix(_PACKED))
            if log not in shelf and size <= room and is_there:
                shelf[log] = known
                room -= size
        self._memory.write("logs", name, rules, _ENCODER.encode(shelf))


def _size(item: tuple[bytes, _Log]) -> int:
    return len(item[0]) + len(memoryview(item[1].packed)) + 64


def _places(tasks: Sequence[LogTask], files: Container[str]) -> list[tuple[str, bytes]]:
    """The folder of each log's shelf, and its name from there: many ways may lead to one log, such as links to it.

    Args:
        tasks: the logs.
        files: paths that are known not to be links.
    """
    real: dict[str, str] = {}
    shelves: dict[str, tuple[str, str]] = {}
    found = []
    for task in tasks:
        file = task.file
        if file not in files and os.path.islink(file):  # noqa: PTH114
            file = os.path.realpath(file)
        folder, name = os.path.split(file)
        if folder not in shelves:
            place = _real(folder, real)
            shelf = os.path.dirname(os.path.dirname(place))  # noqa: PTH120
            shelves[folder] = shelf, place[len(shelf) :] + "/"
        shelf, below = shelves[folder]
        # Whether a log is unpacked depends on the name that is asked for.
        found.append((shelf, os.fsencode(below + name) + (_PACKED if task.file.endswith(".gz") else b"")))
    return found


def _real(folder: str, known: dict[str, str]) -> str:
    """A folder without links in its path; each folder is looked at once."""
    if folder not in known:
        above, name = os.path.split(folder)
        is_plain = name not in ("", ".", "..") and not os.path.islink(folder)  # noqa: PTH114
        known[folder] = os.path.join(_real(above, known), name) if is_plain else os.path.realpath(folder)  # noqa: PTH118
    return known[folder]


@cache
def _fact_of(fold: NewFold) -> type[msgspec.Struct] | None:
    """The type of what a fold finds out; None where it is not known."""
    finish = getattr(fold, "finish", None)
    kind = get_type_hints(finish).get("return") if isinstance(fold, type) and finish is not None else None
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def passes(rule: str) -> bool:
    """Whether what a rule finds may rest on an error of the moment, so that it is never remembered."""
    return rule.endswith(".unreadable") or rule in _PASSING


def lasts(findings: Iterable[Finding]) -> bool:
    """Whether findings are of the files alone, and would be the same another time."""
    return not any(passes(finding.rule) for finding in findings)


def packed(value: object) -> bytes | None:
    """A value as MessagePack; None where it cannot be written so."""
    try:
        return _ENCODER.encode(value)
    except _FAILURES:
        return None


def _pack(report: LogReport, task: LogTask) -> bytes | None:
    if not lasts(report.findings):
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
