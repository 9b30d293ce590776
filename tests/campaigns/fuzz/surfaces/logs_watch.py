"""A log that is watched while it grows, is cut, replaced and taken away: in the end the answer is that on the file."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from mlsub.commands.watch.document import JsonlOutlet, TextOutlet
from mlsub.commands.watch.logs import WatchedLog
from mlsub.commands.watch.news import News
from mlsub.commands.watch.source import FileSource, Look
from mlsub.commands.watch.view import picture
from mlsub.judge.log import LogTask
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import judge, round_of, same
from tests.campaigns.fuzz.loggrammar import LONGEST, WORDS, drawn, joined, split
from tests.campaigns.fuzz.scratch import scratch
from tests.differential.generate import usage_and_round

#: Behind the log stand the operations, one a line.
_OPERATIONS = b"\n%%\n"
_MOST_OPERATIONS = 60
#: How much of both ends of what was read a source compares; see source.py.
_MARK = 1024
_BEGAN_S = 1_620_100_000.0
#: Looks that a file of one input may take until there is nothing more to read.
_MOST_LOOKS = 20


class _Counted(FileSource):
    """A source that counts the bytes it gives."""

    fed = 0

    def look(self) -> Look:
        look = super().look()
        self.fed += len(look.data)
        return look


@dataclass
class _Scene:
    """A file that something is done to, the run that watches it, and what it has read of the file."""

    file: Path
    run: WatchedLog
    text: bytes
    content: bytes | None = None
    #: What the source has read, and the file that it was; None before the first time.
    seen: bytes | None = None
    seen_inode: int | None = None
    taken: int = 0
    clock: int = 0
    #: The lines with which the log was certain to be rejected.
    doomed: list[bytes] = field(default_factory=list)
    news: list[News] = field(default_factory=list)

    def append(self, size: int) -> None:
        """The log grows by its next bytes."""
        self.write((self.content or b"") + self.text[self.taken : self.taken + size])
        self.taken += size

    def write(self, content: bytes) -> None:
        """The file has this content from now on."""
        with self.file.open("r+b" if self.content is not None else "wb") as stream:
            stream.truncate(0 if self.content is None or not content.startswith(self.content) else len(self.content))
            stream.seek(0, os.SEEK_END)
            stream.write(content[stream.tell() :])
        self._dated(content)

    def replace(self, content: bytes) -> None:
        """Another file takes the place."""
        beside = self.file.with_suffix(".new")
        beside.write_bytes(content)
        beside.replace(self.file)
        self._dated(content)

    def remove(self) -> None:
        """The file is gone."""
        self.file.unlink(missing_ok=True)
        self.content = None

    def _dated(self, content: bytes) -> None:
        """A time of its own for each state of the file, whatever the clock of the system can tell apart."""
        self.clock += 1
        self.content = content
        os.utime(self.file, (_BEGAN_S, _BEGAN_S + self.clock))

    def poll(self) -> None:
        """Look until there is nothing more."""
        for _ in range(_MOST_LOOKS):
            self.clock += 1
            at_ms = int(_BEGAN_S + self.clock) * 1000
            self.news += self.run.look(at_ms)
            self.news += self.run.end_if_still(at_ms, 3.0)
            picture([self.run], at_ms)
            if not self.run.more:
                break
        else:
            raise BrokenError("there is always more to read")
        if self.content is not None:
            self.seen, self.seen_inode = self.content, self.file.stat().st_ino
            if any(found.rejects for found in self.run.sofar._certain()):
                self.doomed.append(self.content[: self.content.rfind(b"\n") + 1])

    def is_recognisable(self) -> bool:
        """Whether a source can tell that what it read is no longer there: by length, or by both ends of it."""
        seen, content = self.seen or b"", self.content
        if content is None or content.startswith(seen):
            return True
        whole = max(seen.rfind(b"\n"), seen.rfind(b"\r")) + 1
        same_file = self.file.stat().st_ino == self.seen_inode
        if whole and same_file and content[:whole] != seen[:whole] and not _ends_differ(seen[:whole], content):
            return False
        return len(content) < len(seen) or _ends_differ(seen, content)


def _ends_differ(seen: bytes, content: bytes) -> bool:
    """Whether a file differs from what was read at the beginning of that, or at its end."""
    ends = slice(0, min(_MARK, len(seen))), slice(max(len(seen) - _MARK, 0), len(seen))
    return any(content[end] != seen[end] for end in ends)


def _read(data: bytes) -> None:
    round_id, rest = split(data)
    log, _, operations = rest.rpartition(_OPERATIONS)
    file = scratch("watch") / "result_0.txt"
    file.unlink(missing_ok=True)
    task = LogTask(str(file), file.name, *usage_and_round(round_id))
    source = _Counted(str(file))
    scene = _Scene(file, WatchedLog(source, task, round_of(round_id)), log)
    scene.news += scene.run.begin(int(_BEGAN_S * 1000))
    written = 0
    for operation in (*operations.split(b"\n")[:_MOST_OPERATIONS], b"p"):
        if operation[:1] == b"p" and not scene.is_recognisable():
            return  # a log that is rewritten in its middle alone looks like the one before
        before = scene.content
        _do(scene, operation)
        written += len(scene.content or b"") if scene.content != before else 0
    _told(scene.news)
    if source.fed > written + len(scene.content or b""):
        raise BrokenError(f"{source.fed} bytes were read of {written} that were written")
    _at_the_end(scene, round_id)


def _told(news: list[News]) -> None:
    """What is reported is safe for a terminal, and one line of JSON each."""
    lines, objects = StringIO(), StringIO()
    for outlet in (TextOutlet(lines), JsonlOutlet(objects)):
        for one in news:
            outlet.show(one)
    if not lines.getvalue().replace("\n", "").isprintable():
        raise BrokenError(f"the watch says {lines.getvalue()!r}")
    if not objects.getvalue().isascii():
        raise BrokenError("an event is not ASCII")
    for line in objects.getvalue().splitlines():
        json.loads(line, parse_constant=_no_number)


def _no_number(text: str) -> None:
    raise BrokenError(f"{text} stands in JSON")


def _do(scene: _Scene, operation: bytes) -> None:
    """One operation: a letter, and a number that says how much."""
    digits = bytes(c for c in operation[1:6] if 48 <= c <= 57)
    size = int(digits or b"0")
    old = scene.content or b""
    match operation[:1]:
        case b"a":
            scene.append(size)
        case b"l":  # whole lines
            end = scene.text.find(b"\n", scene.taken + size)
            scene.append((end + 1 if end >= 0 else len(scene.text)) - scene.taken)
        case b"t":
            scene.write(old[: max(len(old) - size, 0)])
            scene.taken = max(scene.taken - size, 0)
        case b"c":  # torn: cut back to the last end of a line
            scene.write(old[: old.rfind(b"\n") + 1])
        case b"r":
            scene.replace(scene.text[size : 2 * size + 100])
        case b"s":
            scene.replace(old)
        case b"w":
            scene.write(scene.text[size:][: len(old)])
        case b"d":
            scene.remove()
        case b"p":
            scene.poll()


def _at_the_end(scene: _Scene, round_id: str) -> None:
    """What was followed live is what a check says, and so is the end of the watch."""
    run = scene.run
    if scene.content is not None:
        expected = judge(round_id, [scene.content], scene.file.name)
        if expected.compliant and any(scene.content.startswith(doomed) for doomed in scene.doomed):
            raise BrokenError("it was certain to be rejected, and is compliant")
        same(run.sofar.report(), expected, "followed live, the log has another answer")
    list(run.end(int(_BEGAN_S + 1e6) * 1000))
    ended = run.ended
    if ended is None:
        raise BrokenError("the watch has no end")
    official = "not-checked" if scene.content is None else "compliant" if expected.compliant else "noncompliant"
    if ended.official != official:
        raise BrokenError(f"the watch ends with {ended.official}, and a check with {official}")


def _drawn(rng: random.Random) -> bytes:
    round_id, log = drawn(rng)
    log = log[: LONGEST - 1_000]
    sizes = (0, 1, 7, 60, 300, 2_000, 20_000)
    operations = [f"{rng.choice('aaaallllttcrswdppppp')}{rng.choice(sizes)}" for _ in range(rng.randrange(1, 30))]
    return joined(round_id, log + _OPERATIONS + "\n".join(operations).encode())


def _seeds() -> Iterator[bytes]:
    rng = random.Random("watch")
    return (_drawn(rng) for _ in range(12))


HARNESSES = (
    Harness(
        "logs-watch",
        "logs that are watched while they change",
        _read,
        _seeds,
        (*WORDS, b"\np\n", b"\na300\n", b"\nt60\n", b"\nr7\n", b"\nc\n", b"\nd\n", b"\nl60\n"),
        _drawn,
        longest=LONGEST,
        seconds=2.0,
        seconds_per_kb=0.1,
    ),
)
