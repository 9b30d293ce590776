"""Random changes to the bytes of a log: broken lines, foreign text, other encodings, and two logs made one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tools.oracle.values import RAW_VALUES

TOKEN = re.compile(":::MLL(?:OG)? ")
#: The time or the value of a record, and what it is.
_FIELD = re.compile(r'("(?:value|time_ms)": )([^,{}\[\]]+)')
_VALUE = re.compile(r'("value": )([^,{}\[\]]+)')
_ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u00e2\u0080\u00a8")
_BEHIND = ("Epoch 3: 100%|####|", "}", " {}", ",", "\x00", " ", "\t", "\xa0", "\x85", "\x0c", "\x1c", "\xc2\xa0", ":")
_BEFORE = ("[1,0]<stdout>:", "0: ", "\x00", ":::MLLOG", ":::MLLOG :", "\xef\xbb\xbf", "{", ":::MLLOG {} ", "\x1b[0m")
_BEHIND_TOKEN = (" ", "\t", "\xa0", "\x0c", "\xef\xbb\xbf", "\x00", "[", "null ", "1", "\x1b[0m", "{} ", ",")
_TOKENS = (":::MLLOG", ":::MLLOG\t", "::MLLOG ", ":::mllog ", ":::MLLOGv1 ", ":::MLL ", "", ":::MLLOG\xa0")
_NO_OBJECTS = (
    *("null", "[]", '"text"', "1", "true", "{}", "", " ", "NaN"),
    *('["time_ms", "key", "value", "metadata"]', '"time_ms key value metadata"'),
)
_TWICE = ('"value": "x"', '"key": "seed"', '"metadata": {}', '"time_ms": 1', '"metadata": null')

LineChange = Callable[[random.Random, str], str]
FileChange = Callable[[bytes], bytes]


def _token(text: str) -> str:
    found = TOKEN.search(text)
    return found[0] if found else ""


def _behind_the_token(text: str) -> str:
    return TOKEN.split(text, maxsplit=1)[-1]


def _put(choices: str | tuple[str, ...], keep: int) -> LineChange:
    """Puts one of some texts at some place, where so many characters fewer than one are kept."""

    def change(rng: random.Random, text: str) -> str:
        place = rng.randrange(len(text))
        return text[:place] + (rng.choice(choices) if choices else "") + text[place + 1 - keep :]

    return change


def _raw(field: re.Pattern[str], counts: tuple[int, ...]) -> LineChange:
    """Puts a raw text in the place of a field's content."""

    def change(rng: random.Random, text: str) -> str:
        raw = rng.choice(RAW_VALUES)
        return field.sub(lambda match: match[1] + raw, text, count=rng.choice(counts))

    return change


def _twice_the_same_field(rng: random.Random, text: str) -> str:
    field = rng.choice(_TWICE)
    return text.replace("{", f"{{{field}, ", 1) if rng.random() < 0.5 else f"{text[:-1]}, {field}}}"


def _unfold(rng: random.Random, text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if char.isalpha() and rng.random() < 0.1 else char for char in text)


_ANY_RAW, _RAW_VALUE = _raw(_FIELD, (1, 2)), _raw(_VALUE, (1,))
LINE_CHANGES: tuple[tuple[str, LineChange], ...] = (
    ("truncated", lambda rng, text: text[: rng.randrange(len(text))]),
    ("one character lost", _put("", 0)),
    ("another character in it", _put('\x00\x0b\x1c\x7f\x85\xa0\xff"{}[]:,\\ e0-', 0)),
    ("raw text for value or time", _ANY_RAW),
    ("raw text for the value", _RAW_VALUE),
    ("raw text for the value", _RAW_VALUE),
    ("text behind it", lambda rng, text: text + rng.choice(_BEHIND)),
    ("text before it", lambda rng, text: rng.choice(_BEFORE) + text),
    ("text behind the token", lambda rng, text: _token(text) + rng.choice(_BEHIND_TOKEN) + _behind_the_token(text)),
    ("another token", lambda rng, text: rng.choice(_TOKENS) + _behind_the_token(text)),
    ("no object", lambda rng, text: _token(text) + rng.choice((*_NO_OBJECTS, f"[{_behind_the_token(text)}]"))),
    ("broken in two", _put(_ENDS, 1)),
    ("a field twice", _twice_the_same_field),
    ("letters written as escapes", _unfold),
)


def _seconds(rng: random.Random, text: str) -> str:
    """The time of the format of v0.6, which is no JSON."""
    token, seconds, rest = text.split(" ", 2)
    others = ("1.2.3", "", ".", "..", "-1", "1e9", "12", "1_0", "+1", "nan", "inf", "1,5", "\xb2", "0", f"{seconds}.")
    return f"{token} {rng.choice((*others, seconds + ' ', ' ' + seconds, seconds[:-4], '9' * 400))} {rest}"


def _key_and_colon(rng: random.Random, text: str) -> str:
    """What stands between the time and the content in the format of v0.6."""
    token, seconds, rest = text.split(" ", 2)
    key, _, content = rest.partition(": ")
    spoiled = (f"{key}-", f"{key}.", f"{key[:1]} {key[1:]}", "", f" {key}", f"{key}\xe9", f"{key}:", f'"{key}"')
    colons = (":", " : ", "  : ", "", " ", ":  ", ":\t", ":\xa0", "::", ": : ", " :\x0c", "\t: ", "=")
    if rng.randrange(2):
        return f"{token} {seconds} {rng.choice(spoiled)}: {content}"
    return f"{token} {seconds} {key}{rng.choice(colons)}{content}"


def _content(rng: random.Random, text: str) -> str:
    """The content of a record of v0.6, which need not be an object to be read."""
    before, _, content = text.partition(": ")
    others = ("null", "1", '"text"', "[]", "{}", '{"value": 1}', '{"metadata": {}}', "NaN", "true", f"[{content}]")
    return f"{before}: {rng.choice((*others, f'{content} {content}', content + ' ', content[1:], '['))}"


#: Changes to what only a line of v0.6 has.
OLD_LINE_CHANGES: tuple[tuple[str, LineChange], ...] = (
    ("another time", _seconds),
    ("another time", _seconds),
    ("another key or colon", _key_and_colon),
    ("another key or colon", _key_and_colon),
    ("another content", _content),
    ("another content", _content),
)


FILE_CHANGES: tuple[tuple[str, FileChange], ...] = (
    ("lines end in CR LF", lambda content: content.replace(b"\n", b"\r\n")),
    ("lines end in CR", lambda content: content.replace(b"\n", b"\r")),
    ("no end to the last line", lambda content: content.rstrip(b"\n")),
    ("a UTF-8 byte order mark", lambda content: b"\xef\xbb\xbf" + content),
    ("UTF-16", lambda content: content.decode("latin-1").encode("utf-16")),
    ("UTF-16 without a mark", lambda content: content.decode("latin-1").encode("utf-16-le")),
    ("UTF-32", lambda content: content.decode("latin-1").encode("utf-32")),
    ("empty", lambda content: b""),
    ("cut in the middle", lambda content: content[: len(content) // 2]),
    ("twice in one file", lambda content: content * 2),
    ("in reverse order", lambda content: b"\n".join(reversed(content.split(b"\n")))),
    ("no record", lambda content: content.replace(b":::MLLOG", b"MLLOG")),
    ("blank lines between", lambda content: content.replace(b"\n", b"\n\n \n")),
    ("NUL bytes at the end", lambda content: content + b"\x00" * 4096),
)

Lines = list[bytes]
#: Makes one log of the lines of two, each with its line end.
Splice = Callable[[random.Random, Lines, Lines], Lines]
#: What stands before the lines of a rank in a log of several.
_RANKS = ("", "[1,{}]<stdout>:", "{}: ", "node{} | ", " ")
_GLUE = (b"", b"\n", b"\r", b"\r\n", b" ", b"\x00")
_CUTS = (b"init_start", b"init_stop", b"run_start", b"eval_start", b"eval_accuracy", b"run_stop")
_FIELDS = (b'"value": ', b'"metadata": ', b'"key": ', b'"time_ms": ', b", ", b"}")
_KEYS = (b"submission_", b"opt_", b"eval_", b"_samples", b"init_", b"run_", b"global_", b"epoch")


def _joined_at_key(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """From one run into another in the same phase, as where a job starts again and appends."""
    phase = rng.choice(_CUTS)
    first, second = (_line_with(rng, lines, phase) for lines in (one, other))
    return [*one[: first + rng.randrange(2)], *other[second + rng.randrange(2) :]]


def _line_with(rng: random.Random, lines: Lines, text: bytes) -> int:
    places = [place for place, line in enumerate(lines) if text in line]
    return rng.choice(places) if places else rng.randrange(len(lines))


def _joined_within(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """Cut in the middle of a line of each."""
    first, second = rng.randrange(len(one)), rng.randrange(len(other))
    end, begin = rng.randrange(len(one[first]) + 1), rng.randrange(len(other[second]) + 1)
    return [*one[:first], one[first][:end], rng.choice(_GLUE), other[second][begin:], *other[second + 1 :]]


def _crossed(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """The head of one line with the tail of another, cut at the same field."""
    field = rng.choice(_FIELDS)
    first, second = rng.randrange(len(one)), rng.randrange(len(other))
    crossed = b"".join((one[first].partition(field)[0], *other[second].partition(field)[1:]))
    return [*one[:first], crossed, *one[first + 1 :]]


def _inside(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """Some records of one log in the middle of another."""
    begin = rng.randrange(len(other))
    end = min(len(other), begin + rng.choice((1, 1, 2, 5, len(other))))
    to = rng.randrange(len(one) + 1)
    return [*one[:to], *other[begin:end], *one[to:]]


def _inside_a_line(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """A record of one log in the middle of a line of another, as where processes write to one file."""
    place, to = rng.randrange(len(other)), rng.randrange(len(one))
    cut = rng.randrange(len(one[to]) + 1)
    record = rng.choice((other[place], other[place].rstrip(b"\n")))
    return [*one[:to], one[to][:cut], record, one[to][cut:], *one[to + 1 :]]


def _interleaved(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """Lines of two ranks, each in its order; the ranks may say who they are, and write the same."""
    other = one if rng.randrange(2) == 0 else other
    prefix = rng.choice(_RANKS)
    queues = [[prefix.format(rank).encode() + line for line in lines] for rank, lines in enumerate((one, other))]
    how = rng.randrange(3)
    merged: Lines = []
    while queues[0] and queues[1]:
        turn = len(merged) % 2 if how == 0 else rng.randrange(2)
        run = rng.randrange(1, 8) if how == 2 else 1
        merged += queues[turn][:run]
        del queues[turn][:run]
    return [*merged, *queues[0], *queues[1]]


def _records_exchanged(rng: random.Random, one: Lines, other: Lines) -> Lines:
    """Each record from the one or the other log, key by key."""
    keys = rng.sample(_KEYS, 2)
    lines = [line for line in one if not any(key in line for key in keys)]
    to = rng.randrange(len(lines) + 1)
    return [*lines[:to], *(line for key in keys for line in other if key in line), *lines[to:]]


#: Every way to make one log of two, with its weight.
SPLICES: dict[str, tuple[int, Splice]] = {
    "joined": (
        3,
        lambda rng, one, other: [*one[: rng.randrange(len(one) + 1)], *other[rng.randrange(len(other) + 1) :]],
    ),
    "joined at a key": (4, _joined_at_key),
    "joined within lines": (3, _joined_within),
    "lines crossed": (4, _crossed),
    "records inside": (4, _inside),
    "a record inside a line": (3, _inside_a_line),
    "one after the other": (2, lambda rng, one, other: [*one, *(other * rng.choice((1, 1, 2, 3)))]),
    "the first one repeated": (
        2,
        lambda rng, one, other: [*(one if rng.randrange(2) else one[: rng.randrange(len(one))]), *one],
    ),
    "ranks interleaved": (3, _interleaved),
    "records exchanged": (2, _records_exchanged),
}
