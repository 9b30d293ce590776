"""The record of a package in the cache: its answer, and that of each of its logs by the fingerprint of the log."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, Optional, Protocol, Self, TypeVar, get_type_hints

import msgspec

from mlsub.judge.log import LogTask, NewFold
from mlsub.log.report import LogReport
from mlsub.workspace.cache import FAILURES, Cache, content_digest, decoder, file_fingerprint, record_name

_ENCODER = msgspec.msgpack.Encoder()


class LogAnswer(Protocol):
    """What is found out of a log: a struct that the cache can keep."""

    @property
    def lasting(self) -> bool:
        """Whether it rests on the log alone, and not on an error of the moment."""
        ...

    def at(self, path: str) -> Self:
        """The same of the log under another path."""
        ...


T = TypeVar("T")


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """A log of a record: its fingerprint, what was found out, and the facts that were asked for besides."""

    fingerprint: bytes
    answer: msgspec.Raw
    facts: tuple[msgspec.Raw, ...] = ()


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a package: the answer on all of it by its own fingerprint, and its logs by their names."""

    fingerprint: bytes = b""
    answer: msgspec.Raw = msgspec.Raw(b"\xc0")
    logs: msgspec.Raw = msgspec.Raw(b"\x80")


class PackageRecord:
    """The record of a package in the cache.

    Args:
        cache: where it lies.
        folder: of the package, or of logs that lie in none.
        task: any of its logs, for the round and rules.
        type_: of what is found out of a log.
    """

    def __init__(self, cache: Cache, folder: Path, task: LogTask, type_: type[Any]) -> None:
        facts = [_fact_type(fold) for fold in task.folds]
        self._cache, self._type = cache, type_
        self._name = record_name(str(folder), type_.__name__, task.usage, task.round, task.overlay, facts)
        try:
            self._state: bytes | None = content_digest(task.overlay)
        except OSError:
            self._state = None
        self._folder = str(folder)
        self._record = _Record()
        self._logs: dict[bytes, _Known] | None = None
        self._fingerprints: dict[bytes, bytes] = {}
        if self._state is not None:
            self._record = cache.read("packages", self._name, self._state, _Record) or self._record

    def answer(self, fingerprint: bytes, type_: type[T]) -> T | None:
        """The answer on the package as a whole; None where it has none of this fingerprint."""
        if self._record.fingerprint != fingerprint:
            return None
        try:
            found: T = decoder(type_).decode(self._record.answer)
            return found
        except FAILURES:
            return None

    def log(self, task: LogTask) -> Any | None:
        """What is known of a log that has not changed; else its fingerprint is taken, for :meth:`keep`."""
        if self._logs is None:
            self._logs = _logs_of(self._record)
        name, now = self._name_of(task), file_fingerprint(task.file)
        if now is None:
            return None
        known = self._logs.get(name)
        if known is None or known.fingerprint != now:
            self._fingerprints[name] = now
            return None
        return unpack(known.answer, known.facts, self._type, task)

    def keep(self, task: LogTask, found: LogAnswer) -> None:
        """Keep what was found out of a log, as it was when its fingerprint was taken."""
        name = self._name_of(task)
        fingerprint = self._fingerprints.get(name)
        if fingerprint is None or self._logs is None or not found.lasting:
            return
        if (packed := pack(found, task)) is not None:
            self._logs[name] = _Known(fingerprint, *packed)

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Write what is new: logs, without those that are gone, and the answer on the package, if there is one."""
        if self._state is None or (answer is None and not self._fingerprints):
            return
        logs, record = self._logs, self._record
        if self._fingerprints and logs is not None:
            above = os.fsencode(self._folder) + b"/"
            there = {name: one for name, one in logs.items() if os.path.lexists(above + name)}
            record = msgspec.structs.replace(record, logs=msgspec.Raw(_ENCODER.encode(there)))
        if answer is not None:
            record = msgspec.structs.replace(record, fingerprint=fingerprint, answer=answer)
        self._cache.write("packages", self._name, self._state, record)

    def _name_of(self, task: LogTask) -> bytes:
        file = task.file
        if not file.startswith(f"{self._folder}/"):
            real = os.path.realpath(file)
            # Whether a log is unpacked depends on the name that is asked for.
            file = real if real.endswith(".gz") == file.endswith(".gz") else file
        return os.fsencode(file.removeprefix(f"{self._folder}/"))


def _logs_of(record: _Record) -> dict[bytes, _Known]:
    try:
        return dict(decoder(dict[bytes, _Known]).decode(record.logs))
    except FAILURES:
        return {}


def pack(found: LogAnswer, task: LogTask) -> tuple[msgspec.Raw, tuple[msgspec.Raw, ...]] | None:
    """What was found out of a log as MessagePack, and its facts; None where it has a value that does not fit."""
    facts: list[object] = []
    if isinstance(found, LogReport) and task.folds:
        facts = [found.fact(_fact_type(fold)) for fold in task.folds]
        found = msgspec.structs.replace(found, facts=())
    try:
        return msgspec.Raw(_ENCODER.encode(found)), tuple(msgspec.Raw(_ENCODER.encode(fact)) for fact in facts)
    except FAILURES:
        return None


def unpack(answer: msgspec.Raw, facts: tuple[msgspec.Raw, ...], type_: type[Any], task: LogTask) -> Any | None:
    """What :func:`pack` was given, under the path of the task; None for what is damaged."""
    try:
        found = decoder(type_).decode(answer)
        if task.folds:
            types = [Optional[_fact_type(fold)] for fold in task.folds]  # noqa: UP045  (only known now)
            given = [decoder(kind).decode(raw) for kind, raw in zip(types, facts, strict=True)]
            found = msgspec.structs.replace(found, facts=tuple(fact for fact in given if fact is not None))
        return found.at(task.path)
    except FAILURES:
        return None


@cache
def _fact_type(fold: NewFold) -> Any:
    """The type of what a fold finds out."""
    return get_type_hints(fold.finish)["return"]  # type: ignore[attr-defined]
