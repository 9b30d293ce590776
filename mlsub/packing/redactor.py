"""Logs through a redactor: it lists what is private, learns names from it, and replaces it."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import BinaryIO

from mlsub.io import MlsubError
from mlsub.io.look import open_regular
from mlsub.io.show import plain
from mlsub.log.free_text import SKETCH
from mlsub.log.private import known
from mlsub.log.private.model import Private, PrivateKind, PrivateSpan, Spot, Thing, Where
from mlsub.log.rewrite import FREE, FileEdit, check_source, common_folder, for_each, zones
from mlsub.packing.manifest import Redact
from mlsub.present.terminal import Progress

#: Places listed of one item, and different items that are kept apart.
MAX_PLACES = 3
MAX_ITEMS = 100_000
#: Things listed that a person should look at, and those of a kind beside the same few bytes.
MAX_UNSURE, MAX_ALIKE, _BESIDE = 2000, 10, 12
_HANDLE = re.compile(r"\?[0-9a-f]{8}(?:\s|\Z)")
_WIDTH = 60
#: How much of a file says whether it is text, and the longest file beside logs that is searched.
_HEAD, _MAX_FILE = 1 << 13, 1 << 26
#: Bytes of short texts looked through at a time.
_AT_ONCE = 1 << 19
_PLACEHOLDER = re.compile(rb"<(?:(secret|text|email|path|host|address|id|user)-(\d{1,9})|env)>")
_ENV = re.compile(
    rb"[\r\n](?:[ \t]{0,8}\d{1,6}:)?[ \t]{0,8}(?:\+{1,4} )?(?:declare -x |export )?"
    rb"[A-Z_][A-Z0-9_]{1,100}=([\"']?[^\s\"'<\0][^\r\n\0]*)"
)
#: How often a text is looked through: what stands beside something replaced may only then be seen for what it is.
_LOOKS = 4
_RANK = {kind: rank for rank, kind in enumerate(PrivateKind)}
#: How often all logs are looked through at most, where each look finds names and secrets that stand elsewhere too.
_SURVEYS = 6
_RECORD_KEY = re.compile(rb'"key"[ \t]{0,8}:[ \t]{0,8}"([^"]{1,80})"')


_NO_WORDS = Redact()
#: The line that a piece of a log begins on, its free text, and behind that what is a record.
Piece = tuple[int, bytes, bytes]


class Redactor:
    """What is private in some logs, and the placeholder of each: the same thing has the same one in all of them.

    Args:
        words: what is replaced beside what is found; of texts see :func:`compile_text`.
        also: rows of the list of what is not replaced, each beginning with its handle, or texts that are replaced.

    Raises:
        MlsubError: a text to look for cannot be looked for.
    """

    def __init__(self, words: Redact = _NO_WORDS, also: Sequence[str] = ()) -> None:
        given = dict.fromkeys(words.users, PrivateKind.USER) | dict.fromkeys(words.hosts, PrivateKind.HOST)
        #: The handles of those that nothing has so far.
        self.unknown_handles = {line.split()[0] for line in also if _HANDLE.match(line)}
        plain_texts = sorted({line for line in also if not _HANDLE.match(line)}, key=len, reverse=True)
        self._texts = (*map(compile_text, words.patterns), *(compile_text(line, "\n") for line in plain_texts))
        self._env = words.env
        names = {name.encode("utf-8", "surrogateescape"): kind for name, kind in given.items()}
        self._finder = known.PrivateFinder(names)
        #: The highest numbers of placeholders that stand in the logs already.
        self._taken: dict[str, int] = {}
        self._root = Path()
        #: All that was listed so far.
        self.items: dict[Thing, Private] = {}
        self._begin()

    def _begin(self) -> None:
        """List anew, with all that is known by now."""
        self._finder.begin()
        self._numbers = self._taken.copy()
        self.items.clear()
        #: What is not replaced and may be private, how many of a kind stand beside the same, and places not listed.
        self._unsure: dict[Thing, Private] = {}
        self._alike: Counter[tuple[PrivateKind, bytes]] = Counter()
        self.more_unsure = 0

    @property
    def unsure(self) -> list[Private]:
        """What was not replaced and may be private: by kind, what is rare first."""
        return sorted(self._unsure.values(), key=lambda item: (_RANK[item.kind], item.counts[Where.UNSURE]))

    def survey(
        self, files: Sequence[Path], progress: Progress | None = None, root: Path | None = None
    ) -> dict[Path, MlsubError]:
        """List what is private in logs, in records too; return why logs cannot be read.

        What gives itself away in one place is looked for in all others, until nothing more is learned.
        """
        self._root = root or common_folder(files)
        failed: dict[Path, MlsubError] = {}
        # What the beginning of a log gives away is learned first, so that most logs are read once.
        for_each(files[:1], failed, partial(self._survey, batches=1), None)
        for _ in range(_SURVEYS):
            self._begin()
            begun_with = self._taken.copy()
            for_each(files, failed, self._survey, progress)
            if not self._finder.has_learned and self._taken == begun_with:
                break
        return failed

    @property
    def left_out(self) -> bool:
        """Whether there were more names or secrets than are looked for wherever they stand."""
        return self._finder.left_out

    def _survey(self, file: Path, batches: int | None = None) -> None:
        check_source(file)
        with open_regular(file) as source:
            for batch in islice(_batches(source), batches):
                self._count(file, [(line, free) for line, free, _ in batch if free], Where.FREE)
                self._count(file, [(line, record) for line, _, record in batch if record], Where.RECORD)

    def look_into(self, file: Path) -> None:
        """List what is private in a file that is no log, and is never written.

        Raises:
            MlsubError: it is not text, or too large.
            OSError: it cannot be read.
        """
        with open_regular(file) as source:
            if b"\0" in source.read(_HEAD):
                raise MlsubError("not text")
            if os.fstat(source.fileno()).st_size > _MAX_FILE:
                raise MlsubError("larger than 64 MiB")
            source.seek(0)
            for batch in _batches(source):
                self._count(file, [(line, free + record) for line, free, record in batch], Where.FILE)

    def _count(self, file: Path, pieces: Sequence[tuple[int, bytes]], where: Where) -> None:
        """Count what is private in the free text of a log, its records, or another file; texts come with their line."""
        text = _joined(piece for _, piece in pieces)
        spans, rest = self._look(text)
        if where is Where.FREE:
            self._list(file, pieces, text, list(self._find_unsure(rest)), Where.UNSURE)
        else:
            spans = [span for span in spans if span[2][0] is not PrivateKind.ENV]
        self._list(file, pieces, text, spans, where)

    def _list(
        self, file: Path, pieces: Sequence[tuple[int, bytes]], text: bytes, spans: Sequence[PrivateSpan], where: Where
    ) -> None:
        """Count spans of a text that is joined of pieces, and keep the first places of each thing."""
        name = plain(file.relative_to(self._root).as_posix())
        starts = list(accumulate((len(piece) + 1 for _, piece in pieces), initial=1))
        counts = Counter(thing for _, _, thing in spans)
        listed = {thing: self._unsure[thing] if where is Where.UNSURE else self._item(thing) for thing in counts}
        for thing, times in counts.items():
            listed[thing].counts[where] = listed[thing].counts.get(where, 0) + times
        at = line = number = 0
        for start, _, thing in spans:
            places = listed[thing].places.setdefault(where, [])
            if len(places) == MAX_PLACES:
                continue
            if start >= starts[number]:
                number = bisect(starts, start)
                at, line = starts[number - 1], pieces[number - 1][0]
            line += text.count(b"\n", at, start)
            at = start
            found = _RECORD_KEY.search(pieces[number - 1][1]) if where is Where.RECORD else None
            spot = Spot(name, line, plain(found[1].decode("latin-1")) if found else "")
            places += [spot] if spot not in places else []

    def _find_unsure(self, rest: bytes) -> Iterator[PrivateSpan]:
        """Yield what may be private in a text with NUL for what is replaced; a few of those that stand beside the same.

        What was chosen by its handle is replaced as a word from the next look on.
        """
        for start, end, thing in _merged(self._finder.find_unsure(rest), rest):
            kind, value = thing
            if thing not in self._unsure:
                handle = f"?{hashlib.sha256(value).hexdigest()[:8]}"
                if handle in self.unknown_handles:
                    self.unknown_handles.remove(handle)
                    self._finder.names[value] = kind
                before = rest[max(0, start - _BESIDE) : start].rpartition(b"\n")[2]
                beside = before + b"\n" + rest[end : end + _BESIDE].partition(b"\n")[0]
                alike = kind, beside.translate(SKETCH)
                if self._alike[alike] >= MAX_ALIKE or len(self._unsure) >= MAX_UNSURE:
                    self.more_unsure += 1
                    continue
                self._alike[alike] += 1
                masked = f"{_shown(kind, value)[: min(4, len(value) // 3)]}... ({len(value)})"
                self._unsure[thing] = Private(kind, masked, handle)
            yield start, end, thing

    def _look(self, text: bytes) -> tuple[list[PrivateSpan], bytes]:
        """Return what is replaced in a text that begins with a line end, in order, and the text with NUL for it."""
        text = _PLACEHOLDER.sub(self._taken_away, text)
        found: list[PrivateSpan] = []
        for _ in range(_LOOKS):
            new = _merged(self._find(text), text)
            if not new:
                break
            found += new
            blanked = bytearray(text)
            for start, end, _ in new:
                blanked[start:end] = bytes(end - start)
            text = bytes(blanked)
        return sorted(found), text

    def _taken_away(self, placeholder: re.Match[bytes]) -> bytes:
        if placeholder[1] is not None:
            kind = placeholder[1].decode()
            self._taken[kind] = max(self._taken.get(kind, 0), int(placeholder[2]))
        return bytes(len(placeholder[0]))

    def _find(self, text: bytes) -> list[PrivateSpan]:
        found = self._finder.find(text)
        for pattern in self._texts:
            found += ((*match.span(), (PrivateKind.TEXT, match[0])) for match in pattern.finditer(text))
        if self._env:
            found += ((*match.span(1), (PrivateKind.ENV, b"")) for match in _ENV.finditer(text))
        return found

    def _item(self, thing: Thing) -> Private:
        item = self.items.get(thing)
        if item is None:
            kind, key = thing
            if kind is PrivateKind.SECRET and known.is_distinctive(key):
                self._finder.secrets[key] = None
            if len(self.items) >= MAX_ITEMS:
                raise MlsubError(f"There are more than {MAX_ITEMS} different things to replace. Name fewer logs.")
            self._numbers[kind] = number = self._numbers.get(kind, 0) + 1
            placeholder = "<env>" if kind is PrivateKind.ENV else f"<{kind}-{number}>"
            item = self.items[thing] = Private(kind, _shown(kind, key), placeholder)
        return item

    def edit(self) -> FileEdit:
        """Return what redacts any log: each record stays the same, on its line."""
        return FileEdit(write=self._copy, placed=True)

    def _copy(self, source: BinaryIO, sink: BinaryIO) -> None:
        for batch in _batches(source):
            free = [free for _, free, _ in batch]
            for text, (_, _, record) in zip(self.replace(free), batch, strict=True):
                sink.write(text)
                sink.write(record)

    def replace(self, texts: Sequence[bytes]) -> Iterator[bytes]:
        """Yield free texts with placeholders for what is private."""
        joined = _joined(texts)
        spans, at = deque(self._look(joined)[0]), 1
        for text in texts:
            parts, stop = [], at + len(text)
            while spans and spans[0][0] < stop:
                start, end, thing = spans.popleft()
                parts += [joined[at:start], self._item(thing).placeholder.encode()]
                at = end
            yield b"".join([*parts, joined[at:stop]])
            at = stop + 1


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
    """Texts as one, each behind a line end: nothing private is seen or hidden where two meet."""
    return b"\n" + b"\n".join(texts)


def _merged(found: Iterable[PrivateSpan], text: bytes) -> list[PrivateSpan]:
    """Spans in order; what overlaps is one, of the earlier kind."""
    kept: list[tuple[int, int, PrivateKind, bytes | None]] = []
    first, behind = 0, 0
    for start, end, (kind, key) in sorted(found):
        if start >= behind:
            kept.append((start, end, kind, key))
        elif end > behind or (start == first and _RANK[kind] < _RANK[kept[-1][2]]):
            # What is more than one of them is cut out once, when all is known.
            own = key if (start, end) == (first, behind) else None
            kept[-1] = (first, end, min(kept[-1][2], kind, key=_RANK.__getitem__), own)
        else:
            continue
        first, behind = kept[-1][:2]
    return [(start, end, (kind, text[start:end] if key is None else key)) for start, end, kind, key in kept]


def _shown(kind: PrivateKind, key: bytes) -> str:
    """What is replaced, as text that is safe to print; of a secret no more than its beginning."""
    if kind is PrivateKind.ENV:
        return "values of variables"
    if key.startswith(b"\n"):
        return "a private key"
    text = plain(key.decode("utf-8", "backslashreplace"))
    if kind is PrivateKind.SECRET:
        return f"{text[:4]}..."
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def compile_text(text: str, star: str = "*") -> re.Pattern[bytes]:
    """Return a text to look for, in which ``star`` stands for up to 200 characters other than blanks.

    Raises:
        MlsubError: it is empty, has more than two stars, or nothing between or beside them.
    """
    parts = text.encode("utf-8", "surrogateescape").split(star.encode())
    if not text.strip("* ") or len(parts) > 3 or any(one in text for one in "\n\r\0"):
        raise MlsubError(f"cannot look for {text!r}. Give plain text, with at most two * for what varies.")
    return re.compile(rb"[^\s\0]{0,200}".join(map(re.escape, parts)))
