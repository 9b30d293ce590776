"""Logs through a redactor: first it learns names from all of them, then it lists or replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.commands.fix.put import check_source, fingerprint, prove_same, rewrite, root_of
from mlsub.commands.fix.zones import FREE, zones
from mlsub.commands.redact.model import Kind, Private, Span, Spot
from mlsub.commands.redact.names import Names, learnable, literal, members, spans_of
from mlsub.commands.redact.patterns import find, find_owners, user_of
from mlsub.io.errors import MlsubError
from mlsub.io.plain import plain

#: Places listed of one item, and different items that are kept apart.
MAX_PLACES = 3
MAX_ITEMS = 100_000
_WIDTH = 60
#: Bytes of short texts looked through at a time.
_AT_ONCE = 1 << 19
#: Texts up to this length are remembered, so many of them.
_SHORT = 40
_MAX_CACHED = 4096
_PLACEHOLDER = re.compile(rb"<(secret|text|email|path|host|address|user)-(\d{1,9})>")
_RANK = {kind: rank for rank, kind in enumerate(Kind)}


class Wanted(msgspec.Struct, frozen=True):
    """What the caller asks for beside what is found: users and hosts by name, texts, and whole environment dumps."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    env: bool = False


class Redactor:
    """What is private in some logs, and the placeholder of each: the same thing has the same one in all of them.

    Raises:
        ValueError: a text to look for cannot be looked for.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._texts = tuple(literal(text) for text in wanted.texts)
        self._known: dict[bytes, Kind] = {}
        self._names = Names({})
        self._numbers: dict[str, int] = {}
        self._cached: dict[bytes, list[Span]] = {}
        self._root = Path()
        self.items: dict[tuple[Kind, bytes], Private] = {}

    def learn(self, files: Sequence[Path]) -> list[tuple[Path, MlsubError]]:
        """Read names off the logs, and what placeholders are taken already; gives the logs that cannot be read."""
        given = [(name, Kind.USER) for name in self._wanted.users] + [(name, Kind.HOST) for name in self._wanted.hosts]
        self._known = {name.encode("utf-8", "surrogateescape"): kind for name, kind in given}
        self._root = root_of(files)
        failed = []
        for file in files:
            try:
                self._learn(file)
            except OSError as error:
                failed.append((file, _unreadable(file, error)))
            except MlsubError as error:
                failed.append((file, error))
        self._names = Names(self._known)
        self._cached.clear()
        return failed

    def _learn(self, file: Path) -> None:
        check_source(file)
        texts = _Batch()
        with file.open("rb") as source:
            for mark, text in zones(source):
                # Records too: who is named in one is replaced in what stands around it.
                free = _free(mark, text)
                if texts.add(0, free) or (mark != FREE and texts.add(0, text[mark:])):
                    self._learn_from(_joined(texts.take()))
        self._learn_from(_joined(texts.take()))

    def _learn_from(self, text: bytes) -> None:
        for match in _PLACEHOLDER.finditer(text):
            kind = match[1].decode()
            self._numbers[kind] = max(self._numbers.get(kind, 0), int(match[2]))
        for span in find_owners(text, text.lower()):
            self._remember(span)

    def _remember(self, span: Span) -> None:
        kind = Kind.USER if span.kind is Kind.PATH else span.kind
        for name in [user_of(span.key)] if span.kind is Kind.PATH else members(span.key):
            if learnable(kind, name):
                self._known.setdefault(name, kind)

    def survey(self, file: Path) -> None:
        """List what is private in a log, in records too.

        Raises:
            MlsubError: it cannot be read.
        """
        check_source(file)
        line, texts, records = 1, _Batch(), _Batch()
        try:
            with file.open("rb") as source:
                for mark, text in zones(source):
                    if texts.add(line, _free(mark, text)):
                        self._count_in(texts.take(), file)
                    if mark != FREE and records.add(line, text[mark:]):
                        self._look_through(records.take(), file)
                    line += text.count(b"\n")
        except OSError as error:
            raise _unreadable(file, error) from error
        self._count_in(texts.take(), file)
        self._look_through(records.take(), file)

    def _count_in(self, texts: list[tuple[int, bytes]], file: Path) -> None:
        """Count what is to be replaced in free texts."""
        if self.spans(_joined(texts)):
            for line, text in texts:
                self._count(text, file, line)

    def _look_through(self, records: list[tuple[int, bytes]], file: Path) -> None:
        """Count what stands in records and so is not replaced; most logs have nothing private in any."""
        if not _private(self.spans(_joined(records))):
            return
        for line, text in records:
            for span in _private(self.spans(text)):
                item = self._item(span)
                item.in_records += 1
                self._place(item.record_places, file, line)

    def _count(self, text: bytes, file: Path, line: int) -> None:
        at = 0
        for span in self.spans(text):
            item = self._item(span)
            line += text.count(b"\n", at, span.start)
            at = span.start
            item.count += 1
            self._place(item.places, file, line)

    def spans(self, text: bytes) -> list[Span]:
        """What is replaced in a text, in order. What overlaps is one, of the earlier kind."""
        if len(text) > _SHORT:
            return self._find(text)
        # The same short text, the rank of a process, may stand before each of a million records.
        found = self._cached.get(text)
        if found is None:
            if len(self._cached) >= _MAX_CACHED:
                self._cached.clear()
            found = self._cached[text] = self._find(text)
        return found

    def _find(self, text: bytes) -> list[Span]:
        found = [*find(text, env=self._wanted.env), *self._names.find(text), *spans_of(self._texts, text)]
        found.sort(key=lambda span: (span.start, _RANK[span.kind], -span.end))
        kept: list[Span] = []
        for span in found:
            last = kept[-1] if kept else None
            if last is None or span.start >= last.end:
                kept.append(span)
            elif span.end > last.end:
                kind = min(last.kind, span.kind, key=_RANK.__getitem__)
                kept[-1] = Span(last.start, span.end, kind, text[last.start : span.end])
        return kept

    def _place(self, places: list[Spot], file: Path, line: int) -> None:
        if len(places) < MAX_PLACES:
            spot = Spot(plain(file.relative_to(self._root).as_posix()), line)
            places += [spot] if spot not in places else []

    def _item(self, span: Span) -> Private:
        key = (span.kind, b"" if span.kind is Kind.ENV else span.key)
        item = self.items.get(key)
        if item is None:
            if len(self.items) >= MAX_ITEMS:
                raise MlsubError(f"There are more than {MAX_ITEMS} different things to replace. Name fewer logs.")
            placeholder, text = self._placeholder(span.kind), _shown(*key)
            item = self.items[key] = Private(
                kind=span.kind, text=text, placeholder=placeholder, count=0, in_records=0, places=[], record_places=[]
            )
        return item

    def _placeholder(self, kind: Kind) -> str:
        if kind is Kind.ENV:
            return "<env>"
        self._numbers[kind.value] = number = self._numbers.get(kind.value, 0) + 1
        return f"<{kind.value}-{number}>"

    def replace(self, text: bytes) -> bytes:
        """Free text with placeholders for what is private."""
        parts, at = [], 0
        for span in self.spans(text):
            parts += [text[at : span.start], self._item(span).placeholder.encode()]
            at = span.end
        return b"".join([*parts, text[at:]]) if parts else text

    def write(self, file: Path, target: Path | None = None) -> None:
        """Redact a log in place, or into another file, once its records are proven the same, each on its line.

        Raises:
            MlsubError: it cannot be read or written, or the proof fails.
        """
        before = fingerprint(file)
        rewrite(
            file,
            self._copy,
            lambda part: prove_same(before, fingerprint(part), file, placed=True),
            target,
        )

    def _copy(self, source: BinaryIO, sink: BinaryIO) -> None:
        held: list[tuple[bytes, bytes]] = []
        size = 0
        for mark, text in zones(source):
            free = _free(mark, text)
            held.append((free, text[len(free) :]))
            size += len(text)
            if size >= _AT_ONCE:
                self._put(held, sink)
                held, size = [], 0
        self._put(held, sink)

    def _put(self, held: list[tuple[bytes, bytes]], sink: BinaryIO) -> None:
        """Write pairs of free text and records."""
        something = bool(self.spans(b"\n".join(free for free, _ in held)))
        for free, records in held:
            sink.write(self.replace(free) if something else free)
            sink.write(records)


class _Batch:
    """Texts that are looked through many at a time, with their lines."""

    def __init__(self) -> None:
        self._held: list[tuple[int, bytes]] = []
        self._size = 0

    def add(self, line: int, text: bytes) -> bool:
        """Take the next text; whether it is time to look through them."""
        if text:
            self._held.append((line, text))
            self._size += len(text)
        return self._size >= _AT_ONCE

    def take(self) -> list[tuple[int, bytes]]:
        """Those held; from here on none is."""
        held, self._held, self._size = self._held, [], 0
        return held


def _joined(texts: list[tuple[int, bytes]]) -> bytes:
    """Texts as one, each on lines of its own: nothing private is seen or hidden where two meet."""
    return b"\n".join(text for _, text in texts)


def _private(spans: Iterable[Span]) -> list[Span]:
    """Those that say something: the home of root is the same everywhere, and an environment is not a record."""
    return [span for span in spans if span.kind is not Kind.ENV and not span.key.endswith(b"/root")]


def _free(mark: int, text: bytes) -> bytes:
    """What of a zone is not a record: all of it, or what stands before the first record of the line."""
    return text if mark == FREE else text[:mark]


def _unreadable(file: Path, error: OSError) -> MlsubError:
    return MlsubError(f"{file} cannot be read: {error.strerror or error}. Make it readable, or leave it out.")


def _shown(kind: Kind, key: bytes) -> str:
    """What is replaced, as text that is safe to print; of a secret no more than its beginning."""
    if kind is Kind.ENV:
        return "values of variables"
    text = plain(key.decode("utf-8", "backslashreplace"))
    if kind is Kind.SECRET:
        return f"{text[:4]}..."
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
