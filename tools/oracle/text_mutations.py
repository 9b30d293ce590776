"""Changes to the bytes of a log: broken lines, foreign text, other encodings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tools.oracle.values import RAW_VALUES

TOKEN = re.compile(":::MLL(?:OG)? ")
_FIELD = re.compile(r'("(?:value|time_ms)": )([^,{}\[\]]+)')

LineChange = Callable[[random.Random, str], str]
FileChange = Callable[[bytes], bytes]


def _token(text: str) -> str:
    found = TOKEN.search(text)
    return found[0] if found else ""


def _behind_the_token(text: str) -> str:
    return TOKEN.split(text, maxsplit=1)[-1]


def _truncate(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def _lose_a_character(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + text[place + 1 :]


def _other_character(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + rng.choice('\x00\x0b\x1c\x7f\x85\xa0\xff"{}[]:,\\ e0-') + text[place + 1 :]


def _raw(rng: random.Random, text: str) -> str:
    raw = rng.choice(RAW_VALUES)
    return _FIELD.sub(lambda match: match[1] + raw, text, count=rng.choice((1, 2)))


def _raw_value(rng: random.Random, text: str) -> str:
    raw = rng.choice(RAW_VALUES)
    return re.sub(r'("value": )([^,{}\[\]]+)', lambda match: match[1] + raw, text, count=1)


def _behind(rng: random.Random, text: str) -> str:
    more = ("Epoch 3: 100%|####|", "}", " {}", ",", "\x00", " ", "\t", "\xa0", "\x85", "\x0c", "\x1c", "\xc2\xa0", ":")
    return text + rng.choice(more)


def _before(rng: random.Random, text: str) -> str:
    more = ("[1,0]<stdout>:", "0: ", "\x00", ":::MLLOG", ":::MLLOG :", "\xef\xbb\xbf", "{", ":::MLLOG {} ", "\x1b[0m")
    return rng.choice(more) + text


def _behind_token(rng: random.Random, text: str) -> str:
    more = (" ", "\t", "\xa0", "\x0c", "\xef\xbb\xbf", "\x00", "[", "null ", "1", "\x1b[0m", "{} ", ",")
    return _token(text) + rng.choice(more) + _behind_the_token(text)


def _other_token(rng: random.Random, text: str) -> str:
    tokens = (":::MLLOG", ":::MLLOG\t", "::MLLOG ", ":::mllog ", ":::MLLOGv1 ", ":::MLL ", "", ":::MLLOG\xa0")
    return rng.choice(tokens) + _behind_the_token(text)


def _not_an_object(rng: random.Random, text: str) -> str:
    others = ("null", "[]", '"text"', "1", "true", "{}", "", " ", "NaN", '["time_ms", "key", "value", "metadata"]')
    return _token(text) + rng.choice((*others, '"time_ms key value metadata"', f"[{_behind_the_token(text)}]"))


def _broken_in_two(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(("\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u00e2\u0080\u00a8")) + text[place:]


def _twice_the_same_field(rng: random.Random, text: str) -> str:
    field = rng.choice(('"value": "x"', '"key": "seed"', '"metadata": {}', '"time_ms": 1', '"metadata": null'))
    return text.replace("{", f"{{{field}, ", 1) if rng.random() < 0.5 else f"{text[:-1]}, {field}}}"


def _unfold(rng: random.Random, text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if char.isalpha() and rng.random() < 0.1 else char for char in text)


LINE_CHANGES: tuple[tuple[str, LineChange], ...] = (
    ("truncated", _truncate),
    ("one character lost", _lose_a_character),
    ("another character in it", _other_character),
    ("raw text for value or time", _raw),
    ("raw text for the value", _raw_value),
    ("raw text for the value", _raw_value),
    ("text behind it", _behind),
    ("text before it", _before),
    ("text behind the token", _behind_token),
    ("another token", _other_token),
    ("no object", _not_an_object),
    ("broken in two", _broken_in_two),
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


def _wide(encoding: str) -> FileChange:
    return lambda content: content.decode("latin-1").encode(encoding)


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
    ("UTF-16", _wide("utf-16")),
    ("UTF-16 without a mark", _wide("utf-16-le")),
    ("UTF-32", _wide("utf-32")),
    ("empty", lambda content: b""),
    ("cut in the middle", lambda content: content[: len(content) // 2]),
    ("twice in one file", lambda content: content * 2),
    ("in reverse order", lambda content: b"\n".join(reversed(content.split(b"\n")))),
    ("no record", lambda content: content.replace(b":::MLLOG", b"MLLOG")),
    ("blank lines between", lambda content: content.replace(b"\n", b"\n\n \n")),
    ("NUL bytes at the end", lambda content: content + b"\x00" * 4096),
)
