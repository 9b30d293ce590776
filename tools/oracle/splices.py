"""Two logs made one: cut and joined, within lines too, repeated, interleaved, one in the middle of the other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from tools.oracle.log import Mutant

#: What stands before the lines of a rank in a log of several.
_RANKS = ("", "[1,{}]<stdout>:", "{}: ", "node{} | ", " ")
_GLUE = (b"", b"\n", b"\r", b"\r\n", b" ", b"\x00")


class Part(NamedTuple):
    """A log to be cut, and what it is called."""

    name: str
    content: bytes


Splice = Callable[[random.Random, list[bytes], list[bytes]], tuple[str, list[bytes]]]


def spliced(rng: random.Random, one: Part, other: Part, name: str) -> Mutant:
    """One log of two; lines are split at LF, and what is cut in the middle of a line is joined there."""
    splice = rng.choices(list(SPLICES), list(SPLICES.values()))[0]
    words, lines = splice(rng, one.content.splitlines(keepends=True), other.content.splitlines(keepends=True))
    return Mutant(f"[{name}] {one.name} and {other.name}: {words}", b"".join(lines))


def _joined(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    first, second = rng.randrange(len(one) + 1), rng.randrange(len(other) + 1)
    return f"{first} lines, then from line {second + 1}", [*one[:first], *other[second:]]


def _joined_at_key(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """From one run into another in the same phase, as where a job starts again and appends."""
    phase = rng.choice((b"init_start", b"init_stop", b"run_start", b"eval_start", b"eval_accuracy", b"run_stop"))
    first, second = (_line_with(rng, lines, phase) for lines in (one, other))
    first, second = first + rng.randrange(2), second + rng.randrange(2)
    return f"{first} lines, then from line {second + 1}, at {phase.decode()}", [*one[:first], *other[second:]]


def _line_with(rng: random.Random, lines: list[bytes], text: bytes) -> int:
    places = [place for place, line in enumerate(lines) if text in line]
    return rng.choice(places) if places else rng.randrange(len(lines))


def _joined_within(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """Cut in the middle of a line of each."""
    first, second = rng.randrange(len(one)), rng.randrange(len(other))
    end, begin = rng.randrange(len(one[first]) + 1), rng.randrange(len(other[second]) + 1)
    glue = rng.choice(_GLUE)
    words = f"to character {end} of line {first + 1}, {glue!r}, from character {begin} of line {second + 1}"
    return words, [*one[:first], one[first][:end], glue, other[second][begin:], *other[second + 1 :]]


def _crossed(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """The head of one line with the tail of another, cut at the same field."""
    field = rng.choice((b'"value": ', b'"metadata": ', b'"key": ', b'"time_ms": ', b", ", b"}"))
    first, second = rng.randrange(len(one)), rng.randrange(len(other))
    head, tail = one[first].partition(field)[0], b"".join(other[second].partition(field)[1:])
    return f"line {first + 1} with the rest of {second + 1} from {field!r}", [
        *one[:first],
        head + tail,
        *one[first + 1 :],
    ]


def _inside(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """Some records of one log in the middle of another."""
    begin = rng.randrange(len(other))
    end = min(len(other), begin + rng.choice((1, 1, 2, 5, len(other))))
    to = rng.randrange(len(one) + 1)
    return f"lines {begin + 1} to {end} at line {to + 1}", [*one[:to], *other[begin:end], *one[to:]]


def _inside_a_line(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """A record of one log in the middle of a line of another, as where processes write to one file."""
    place, to = rng.randrange(len(other)), rng.randrange(len(one))
    cut = rng.randrange(len(one[to]) + 1)
    record = rng.choice((other[place], other[place].rstrip(b"\n")))
    words = f"line {place + 1} at character {cut} of line {to + 1}"
    return words, [*one[:to], one[to][:cut], record, one[to][cut:], *one[to + 1 :]]


def _one_after_the_other(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    number = rng.choice((1, 1, 2, 3))
    return f"one after the other, {number} more", [*one, *(other * number)]


def _repeated(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """The same run several times, or its beginning alone before it, as where a job was started again."""
    if rng.randrange(2):
        return "the first one twice", [*one, *one]
    end = rng.randrange(len(one))
    return f"the first {end} lines of the first one, then all of it", [*one[:end], *one]


def _interleaved(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """Lines of two ranks, each in its order; the ranks may say who they are."""
    same = rng.randrange(2) == 0
    other = one if same else other
    prefix = rng.choice(_RANKS)
    queues = [[prefix.format(rank).encode() + line for line in lines] for rank, lines in enumerate((one, other))]
    how = rng.randrange(3)
    merged: list[bytes] = []
    while queues[0] and queues[1]:
        turn = len(merged) % 2 if how == 0 else rng.randrange(2)
        run = rng.randrange(1, 8) if how == 2 else 1
        merged += queues[turn][:run]
        del queues[turn][:run]
    words = f"ranks of {'the first one' if same else 'both'} interleaved, each line with {prefix!r} before it"
    return words, [*merged, *queues[0], *queues[1]]


def _records_exchanged(rng: random.Random, one: list[bytes], other: list[bytes]) -> tuple[str, list[bytes]]:
    """Each record from the one or the other log, key by key."""
    keys = rng.sample((b"submission_", b"opt_", b"eval_", b"_samples", b"init_", b"run_", b"global_", b"epoch"), 2)
    spare = {key: [line for line in other if key in line] for key in keys}
    lines = [line for line in one if not any(key in line for key in keys)]
    to = rng.randrange(len(lines) + 1)
    taken = [line for key in keys for line in spare[key]]
    return f"all with {b' and '.join(keys).decode()} from the second one, at line {to + 1}", [
        *lines[:to],
        *taken,
        *lines[to:],
    ]


#: Every way, with its weight.
SPLICES: dict[Splice, int] = {
    _joined: 3,
    _joined_at_key: 4,
    _joined_within: 3,
    _crossed: 4,
    _inside: 4,
    _inside_a_line: 3,
    _one_after_the_other: 2,
    _repeated: 2,
    _interleaved: 3,
    _records_exchanged: 2,
}
