"""Mutants that are each aimed at one rule on logs as files."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tools.oracle.log import Line, Log, Mutant, content, places_of

#: Records that are spoiled, the first that is there; ones that no other record depends on.
_SPOILED = ("submission_platform", "eval_samples", "train_samples")
#: The rules on files that only the format of v0.6 has, and those it does not have.
OLD_ONLY = frozenset({"log.record-format"})
NEW_ONLY = frozenset({"log.text-after-record", "log.record-incomplete"})


def aimed_at_files(log: Log) -> Iterator[tuple[str, Mutant]]:
    """Pairs of a rule and a mutant. A log that cannot be opened is no change of content: see test_mutants."""
    yield _pair("log.empty", "an empty file", b"")
    yield _pair("log.no-records", "free text only", b"Epoch 1\nEpoch 2\n")
    yield _pair("log.no-records", "line feeds only", b"\n\n")
    for encoding in ("utf-16", "utf-32"):
        wide = content(log).decode("latin-1").encode(encoding)
        yield _pair("log.wide-encoding", encoding, wide)
    key = next(key for key in _SPOILED if places_of(log, key))
    place = places_of(log, key)[0]
    spoiled = _spoiled_old if log[place].old else _spoiled_lines
    for rule, description, text in spoiled(log[place]):
        yield _pair(rule, description, content([*log[:place], Line(text), *log[place + 1 :]]))


def _pair(rule: str, description: str, data: bytes) -> tuple[str, Mutant]:
    return rule, Mutant(f"aimed at {rule}: {description}", data)


def _spoiled_lines(line: Line) -> Iterator[tuple[str, str, str]]:
    text, record = line.text, line.record or {}
    yield "log.record-undecodable", "half a record", text[: text.index('"value"')]
    for broken in ("", "[1, 2]", "null", "{'key': 1}", "[" * 5000):
        yield "log.record-undecodable", f"a broken record {broken[:10]!r} more", f"{text}\n:::MLLOG {broken}"
    yield "log.text-after-record", "a progress bar behind a record", f"{text} Epoch 3: 100%|####|"
    yield "log.text-after-record", "a stray brace behind a record", text + "}"
    for field in ("time_ms", "key", "value", "metadata"):
        rest = {name: value for name, value in record.items() if name != field}
        spoiled = f":::MLLOG {json.dumps(rest)}"
        # A record without its key is one more: nobody can tell that it was the one that is missed.
        yield "log.record-incomplete", f"no {field}", f"{text}\n{spoiled}" if field == "key" else spoiled
    for time_ms in ("12:30", None, [1], 10**400):
        bad = {**record, "time_ms": time_ms}
        yield "log.record-time", f"time_ms {str(time_ms)[:20]}", f":::MLLOG {json.dumps(bad)}"


def _spoiled_old(line: Line) -> Iterator[tuple[str, str, str]]:
    """The same for the format of v0.6."""
    text, (_, seconds, rest) = line.text, line.text.split(" ", 2)
    yield "log.record-undecodable", "half a record", text[: text.index('"value"')]
    yield "log.record-undecodable", "text behind a record", text + "}"
    yield "log.record-undecodable", "nested too deeply", f"{text}\n:::MLL {seconds} seed: " + "[" * 100_000
    yield "log.record-time", "two points", f":::MLL 1.2.3 {rest}"
    others = (f"{text}\n:::MLL", f"{text}\n:::MLL 1 a:")
    for bad in (f":::MLLOG {text[7:]}", f":::MLL -{seconds} {rest}", f":::MLL  {seconds} {rest}", *others):
        yield "log.record-format", bad[:20], bad
