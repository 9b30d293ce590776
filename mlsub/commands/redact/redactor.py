"""Logs through a redactor: it lists what is private, learns names from it, and replaces it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from mlsub.commands.redact import patterns
from mlsub.commands.redact.document import Kind, Private, PrivateSpan, Spot
from mlsub.io.errors import MlsubError
from mlsub.io.show import plain
from mlsub.log.rewrite import FREE, check_source, for_each, prove_same, rewrite, root_of, zones
from mlsub.present.terminal import Progress

#: Places listed of one item, and different items that are kept apart.
MAX_PLACES = 3
MAX_ITEMS = 100_000
_WIDTH = 60
#: Names that are looked at before they are learned, those of lists of hosts included.
MAX_LOOKED_UP = 500_000
#: Bytes of short texts looked through at a time.
_AT_ONCE = 1 << 19
#: Texts up to this length are remembered, so many of them.
_SHORT = 40
_MAX_CACHED = 4096
_PLACEHOLDER = re.compile(rb"<(?:(secret|text|email|path|host|address|user)-(\d{1,9})|env)>")
#: How often a text is looked through: what a placeholder stands beside may only then be seen for what it is.
_LOOKS = 8
_RANK = {kind: rank for rank, kind in enumerate(Kind)}

#: Whose names may stand elsewhere too.
_OWNERS = (Kind.PATH, Kind.HOST, Kind.USER)
#: How often all logs are looked through at most, where each look finds names and secrets that stand elsewhere too.
_SURVEYS = 6

#: The line that a piece of a log begins on, its free text, and behind that what is a record.
Piece = tuple[int, bytes, bytes]


class Redactor:
    """What is private in some logs, and the placeholder of each: the same thing has the same one in all of them.

    Args:
        users: names that are replaced beside what is found.
        hosts: the same of hosts.
        texts: texts that are replaced, see :func:`~mlsub.commands.redact.patterns.literal`.
        env: whether the values of all variables in upper case are replaced.

    Raises:
        MlsubError: a text to look for cannot be looked for.
    """

    def __init__(
        self, users: Sequence[str] = (), hosts: Sequence[str] = (), texts: Sequence[str] = (), *, env: bool = False
    ) -> None:
        given = dict.fromkeys(users, Kind.USER) | dict.fromkeys(hosts, Kind.HOST)
        self._texts = tuple(patterns.literal(text) for text in texts)
        self._env = env
        self._known = {name.encode("utf-8", "surrogateescape"): kind for name, kind in given.items()}
        #: The keys whose names are known, and how many names may still be looked up.
        self._looked_up: set[bytes] = set()
        self._members_left = MAX_LOOKED_UP
        self._forgot = False
        self._secrets: dict[bytes, None] = {}
        #: The highest numbers of placeholders that stand in the logs already.
        self._taken: dict[str, int] = {}
        self._root = Path()
        self.items: dict[tuple[Kind, bytes], Private] = {}
        self._begin()

    def _begin(self) -> None:
        """List anew, with all that is known by now."""
        self._begun_with = len(self._known), len(self._secrets), self._taken.copy()
        self._find_names, self._found_secrets = patterns.names_finder(self._known), patterns.any_of(self._secrets)
        self._numbers = self._taken.copy()
        # The same short text, the rank of a process, may stand before each of a million records.
        self._find_in_short = lru_cache(_MAX_CACHED)(self._find)
        self.items.clear()

    def survey(self, files: Sequence[Path], progress: Progress | None = None) -> dict[Path, MlsubError]:
        """List what is private in logs, in records too; return why logs cannot be read.

        What gives itself away in one place is looked for in all others, until nothing more is learned.
        """
        self._root = root_of(files)
        failed: dict[Path, MlsubError] = {}
        for _ in range(_SURVEYS):
            self._begin()
            for_each(files, failed, self._survey, progress)
            if self._begun_with == (len(self._known), len(self._secrets), self._taken):
                break
        return failed

    @property
    def left_out(self) -> bool:
        """Whether there were more names or secrets than are looked for wherever they stand."""
        return self._forgot or len(self._known) > patterns.MAX_NAMES or len(self._secrets) > patterns.MAX_SECRETS

    def _remember(self, span: PrivateSpan) -> None:
        """Keep the names that stand for the owner of a thing, within bounds: a short list of hosts names thousands."""
        if span.key in self._looked_up:
            return
        if self._members_left <= 0:
            self._forgot = True
            return
        self._looked_up.add(span.key)
        kind = Kind.USER if span.kind is Kind.PATH else span.kind
        names = [patterns.user_of(span.key)] if span.kind is Kind.PATH else patterns.members(span.key)
        self._members_left -= max(1, len(names))
        looked_at = names[: patterns.MAX_MEMBERS]
        new = [name for name in looked_at if patterns.learnable(kind, name) and name not in self._known]
        room = max(0, patterns.MAX_NAMES - len(self._known))
        self._known.update(dict.fromkeys(new[:room], kind))
        self._forgot |= len(names) > patterns.MAX_MEMBERS or len(set(new)) > room

    def _survey(self, file: Path) -> None:
        check_source(file)
        with file.open("rb") as source:
            for batch in _batches(source):
                for match in _PLACEHOLDER.finditer(_joined(free + record for _, free, record in batch)):
                    if match[1] is not None:
                        kind = match[1].decode()
                        self._taken[kind] = max(self._taken.get(kind, 0), int(match[2]))
                self._count_in(batch, file)
                self._look_through(batch, file)

    def _count_in(self, batch: list[Piece], file: Path) -> None:
        """Count what is to be replaced in free texts."""
        if self.spans(_joined(free for _, free, _ in batch)):
            for line, free, _ in batch:
                self._count(free, file, line)

    def _look_through(self, batch: list[Piece], file: Path) -> None:
        """Count what stands in records and so is not replaced; most logs have nothing private in any."""
        if _private(self.spans(_joined(record for _, _, record in batch))):
            for line, _, record in batch:
                for span in _private(self.spans(record)):
                    item = self._item(span)
                    item.in_records += 1
                    self._place(item.record_places, file, line)

    def _count(self, text: bytes, file: Path, first: int) -> None:
        for looked_at, spans in self._looks(text):
            at, line = 0, first
            for span in spans:
                item = self._item(span)
                line += looked_at.count(b"\n", at, span.start)
                at = span.start
                item.count += 1
                self._place(item.places, file, line)

    def spans(self, text: bytes) -> list[PrivateSpan]:
        """Return what is replaced in a text, in order. What overlaps is one, of the earlier kind."""
        return self._find_in_short(text) if len(text) <= _SHORT else self._find(text)

    def _find(self, text: bytes) -> list[PrivateSpan]:
        looks_private = list(patterns.find(text, env=self._env))
        for span in looks_private:
            # In records too: who is named in one is replaced in what stands around it.
            if span.kind in _OWNERS:
                self._remember(span)
        found = [
            *looks_private,
            *self._find_names(text),
            *patterns.spans_of(Kind.SECRET, self._found_secrets, text),
            *patterns.spans_of(Kind.TEXT, self._texts, text),
        ]
        if not found:
            return found
        placeholders = [match.span() for match in _PLACEHOLDER.finditer(text)]
        if placeholders:
            found = [span for span in found if not _is_of_placeholder(span, placeholders)]
        found.sort(key=lambda span: (span.start, _RANK[span.kind], -span.end))
        kept: list[PrivateSpan] = []
        for span in found:
            last = kept[-1] if kept else None
            if last is None or span.start >= last.end:
                kept.append(span)
            elif span.end > last.end:
                kind = min(last.kind, span.kind, key=_RANK.__getitem__)
                kept[-1] = PrivateSpan(last.start, span.end, kind, text[last.start : span.end])
        return kept

    def _place(self, places: list[Spot], file: Path, line: int) -> None:
        if len(places) < MAX_PLACES:
            spot = Spot(plain(file.relative_to(self._root).as_posix()), line)
            places += [spot] if spot not in places else []

    def _item(self, span: PrivateSpan) -> Private:
        key = (span.kind, b"" if span.kind is Kind.ENV else span.key)
        item = self.items.get(key)
        if item is None:
            if span.kind is Kind.SECRET and patterns.is_distinctive(span.key):
                self._secrets[span.key] = None
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
        """Return free text with placeholders for what is private."""
        for looked_at, spans in self._looks(text):
            text = self._replaced(looked_at, spans)
        return text

    def _looks(self, text: bytes) -> Iterator[tuple[bytes, list[PrivateSpan]]]:
        """A text with what is private in it, then what is left of it with what shows only then, until nothing does."""
        for _ in range(_LOOKS):
            spans = self.spans(text)
            if not spans:
                return
            yield text, spans
            text = self._replaced(text, spans)

    def _replaced(self, text: bytes, spans: list[PrivateSpan]) -> bytes:
        parts, at = [], 0
        for span in spans:
            parts += [text[at : span.start], self._item(span).placeholder.encode()]
            at = span.end
        return b"".join([*parts, text[at:]])

    def write(self, file: Path, target: Path | None = None) -> None:
        """Redact a log in place, or into another file, once its records are proven the same, each on its line.

        Raises:
            MlsubError: it cannot be read or written, or the proof fails.
        """
        rewrite(file, self._copy, lambda part: prove_same(file, part, placed=True), target)

    def _copy(self, source: BinaryIO, sink: BinaryIO) -> None:
        for batch in _batches(source):
            something = bool(self.spans(_joined(free for _, free, _ in batch)))
            for _, free, record in batch:
                sink.write(self.replace(free) if something else free)
                sink.write(record)


def _batches(source: BinaryIO) -> Iterator[list[Piece]]:
    """The pieces of a log, as many at a time as are looked through at once."""
    held: list[Piece] = []
    size, line = 0, 1
    for mark, text in zones(source):
        at = len(text) if mark == FREE else mark
        held.append((line, text[:at], text[at:]))
        line += text.count(b"\n")
        size += len(text)
        if size >= _AT_ONCE:
            yield held
            held, size = [], 0
    yield held


def _joined(texts: Iterable[bytes]) -> bytes:
    """Texts as one, each on lines of its own: nothing private is seen or hidden where two meet."""
    return b"\n".join(filter(None, texts))


def _is_of_placeholder(span: PrivateSpan, placeholders: Sequence[tuple[int, int]]) -> bool:
    """Whether a span is a part of a placeholder, or a text of the caller's that takes one for a part of it."""
    for start, end in placeholders:
        if start <= span.start and span.end <= end:
            return True
        if span.kind is Kind.TEXT and span.start < end and start < span.end:
            return True
    return False


def _private(spans: Iterable[PrivateSpan]) -> list[PrivateSpan]:
    """Those that say something: the home of root is the same everywhere, and an environment is not a record."""
    return [span for span in spans if span.kind is not Kind.ENV and not span.key.endswith(b"/root")]


def _shown(kind: Kind, key: bytes) -> str:
    """What is replaced, as text that is safe to print; of a secret no more than its beginning."""
    if kind is Kind.ENV:
        return "values of variables"
    text = plain(key.decode("utf-8", "backslashreplace"))
    if kind is Kind.SECRET:
        return f"{text[:4]}..."
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
