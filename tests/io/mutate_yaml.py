"""Seeded damage to YAML that people write: what a slip of the hand, a bad merge or malice makes of a real document."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

#: Values that some step of reading could stumble over: dates no calendar has, numbers of odd kinds, tags, collections.
VALUES = (
    *("2021-02-31", "2021-13-01", "0000-00-00", "2021-02-30T25:61:61Z", "2001-01-01 00:00:00 +99:99", "!!timestamp x"),
    *("null", "~", "''", "true", "no", "0", "-1", "1.5", ".inf", "-.inf", ".nan", "1e999", "1.0e+999", "0x", "0b2"),
    *("0o8", "08", "1:99:99", "1_000", "9" * 5000, "9" * 350, "1" + ":1" * 300, "0x" + "f" * 2000, "!!int x"),
    *(
        "!!bool x",
        "!!float x",
        "!!null x",
        "!!binary x",
        "!!set {a}",
        "!!omap [a: 1]",
        "!!python/name:os.system",
        "!x y",
    ),
    *("!!str 1", "!!str {a: 1}", "!!map x", "!!int 1.5", "!!float 1", "=", "=1+", "'=1+'", '"=1/0"', "=unknown_key"),
    *(
        "[]",
        "{}",
        "[[]]",
        "[1, [2, {a: b}]]",
        "{a: {b: [c]}}",
        "{[a]: b}",
        "{? {a: b} : c}",
        "{<<: {a: b}}",
        "&a x",
        "*a",
    ),
    *(
        "a" * 300,
        "x" * 5000,
        "../../etc",
        "/dev/zero",
        '"\\0"',
        '"\\ud800"',
        '"\\U99999999"',
        "'\u2028'",
        "\u202e",
        "\x07",
    ),
    *("${x}", "${", "$${", "${x:-}", "{0..999999999}", "'{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}'", "'{a..b}'"),
    *(
        "|",
        ">-",
        "- x",
        "? x",
        "%TAG",
        "---",
        "...",
        "@x",
        "`x",
        "'",
        '"',
        "# x",
        "[",
        "}",
        ": ",
        "v1.0",
        '"1.0"',
        "1.0",
    ),
)
KEYS = (
    "[a]",
    "{a: b}",
    "? [a, b]\n ",
    "null",
    "1",
    "1.0",
    "2021-02-31",
    "<<",
    "=",
    "yes",
    "''",
    "&b k",
    "*b",
    "!!int k",
    "k" * 400,
)
WORDS = (
    *(
        "multiple_of",
        "any_of",
        "item",
        "index",
        "where",
        "length",
        "satisfies",
        "near",
        "within",
        "reaches",
        "whole_part",
    ),
    *("counts_up", "tensors", "occurs", "metadata", "equals", "one_of", "variants", "common", "expr", "stated", "from"),
)
_PAIR = re.compile(r"([A-Za-z0-9_\"'.-]+):(?: +([^\s,{}\[\]#][^,{}\[\]#\n]*|\{[^{}\n]*\}|\[[^\[\]\n]*\]))?")


def mutated(text: str, others: Sequence[str], dice: random.Random) -> str:
    """The document with one to four pieces of damage.

    Args:
        text: a document that can be read.
        others: documents to take lines from.
        dice: all chance comes from here.
    """
    for _ in range(dice.choice((1, 1, 1, 1, 2, 3))):
        text = dice.choice((_value, _value, _value, _key, _key, _word, _line, _line, _indent, _character))(
            text, others, dice
        )
    return text


def _pick(text: str, dice: random.Random) -> re.Match[str] | None:
    found = list(_PAIR.finditer(text))
    return dice.choice(found) if found else None


def _value(text: str, others: Sequence[str], dice: random.Random) -> str:
    pair = _pick(text, dice)
    if pair is None:
        return text
    start, end = pair.span(2) if pair[2] is not None else (pair.end(), pair.end())
    return f"{text[:start]} {dice.choice(VALUES)}{text[end:]}"


def _key(text: str, others: Sequence[str], dice: random.Random) -> str:
    pair = _pick(text, dice)
    return text if pair is None else text[: pair.start(1)] + dice.choice((*KEYS, *WORDS)) + text[pair.end(1) :]


def _word(text: str, others: Sequence[str], dice: random.Random) -> str:
    """An operator or a section where it does not belong, with a value of any kind."""
    pair = _pick(text, dice)
    if pair is None:
        return text
    start, end = pair.span(2) if pair[2] is not None else (pair.end(), pair.end())
    made = dice.choice(
        ("{{{0}: {1}}}", "[{{{0}: {1}}}, {{{0}: {1}}}]", "{{index: 0, {0}: {1}}}", "{{{0}: {{{0}: {1}}}}}", "{1}")
    )
    return f"{text[:start]} {made.format(dice.choice(WORDS), dice.choice(VALUES))}{text[end:]}"


def _line(text: str, others: Sequence[str], dice: random.Random) -> str:
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    how = dice.randrange(4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(at, lines[at])
    elif how == 2:
        lines.insert(at, dice.choice(dice.choice(others).split("\n")))
    else:
        other = dice.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def _indent(text: str, others: Sequence[str], dice: random.Random) -> str:
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    lines[at] = dice.choice(("", " ", "   ", "\t", "- ", "? ")) + lines[at].lstrip(dice.choice((" ", " -")))
    return "\n".join(lines)


def _character(text: str, others: Sequence[str], dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    return (
        text[:at]
        + dice.choice("\0\x07\t\r\n '\"&*!|>%@`{}[]:,#-?=~é\u2028\ud7ff\U0001f600")
        + text[at + dice.randrange(2) :]
    )
