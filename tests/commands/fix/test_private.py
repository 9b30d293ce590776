"""What redact finds of planted private things, by kind, what it misses, and what it damages."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlsub.log.private.known import MAX_SECRET, is_distinctive
from mlsub.log.private.model import PrivateKind, PrivateSpan
from mlsub.log.private.patterns import LOOKS, MAX_NAME, TOKENS, all_forms, compiled, learnable, shape
from mlsub.log.rewrite import rewrite
from mlsub.packing.redactor import Redactor, _merged
from tests.commands.fix.logs import LISTS
from tests.commands.fix.test_redact import redact
from tests.counted import calls, growth
from tools.campaigns.limits.steps import Machine

_LETTERS, _UPPER, _LOWER = string.ascii_letters, string.ascii_uppercase, string.ascii_lowercase
ALPHABETS = {
    **{"digit": string.digits, "hex": "0123456789abcdef", "HEX": "0123456789ABCDEF", "upper": _UPPER + string.digits},
    **{"UPPER": _UPPER + string.digits, "lower": _LOWER + string.digits, "base36": _LOWER + string.digits},
    **{"letter": _LETTERS, "alnum": _LETTERS + string.digits, "word": _LETTERS + string.digits + "_-"},
    "token": _LETTERS + string.digits + "_.-",
    **{"b64": _LETTERS + string.digits + "+/", "BECH": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
}
#: What is found of what is planted, and what is missed.
FOUND = {
    "first": {"key": 14, "token": 66, "option": 40, "url": 16, "network": 50, "user": 14, "path": 14},
    "second": {"secret": 19, "host": 27, "user": 8},
    "third": {
        **{"nccl": 5, "slurm": 7, "torchrun": 7, "ssh": 8, "docker": 7, "git": 5, "pip": 4, "kubernetes": 5, "mpi": 5},
        **{"pbs": 5, "conda": 5},
    },
}
#: How many of the kinds that were once missed are not replaced, but listed.
LISTED = {"token": 3, "identifier": 3, "path": 3, "user": 2, "host": 3, "email": 1, "more": 14}
MISSED = {
    "basic auth admin:",
    "Sharp coll rank",
    "host <<dl-sys-019>> up",
    "command not found",
    "Filesystem 1K-blocks",
    "COMPLETED",
    "pip cache dir",
    "remote rank 12",
    "account",
    "verification failed",
    "unable to access",
}


def made(shaped: str, draw: random.Random) -> str:
    """A text with its parts drawn: plain text, ALPHABET*LENGTH, or ALPHABET*LEAST-MOST."""

    def part(match: re.Match[str]) -> str:
        length = draw.randint(int(match[2]), int(match[3] or match[2]))
        return "".join(draw.choices(ALPHABETS[match[1]], k=length))

    parts = (re.sub(r"(\w+)\*(\d+)(?:-(\d+))?\Z", part, one) for one in shaped.split(" "))
    return ("" if "*" in shaped else " ").join(parts)


def planted(line: str, draw: random.Random) -> tuple[str, list[str]]:
    """A line with its secrets, and what has to be gone."""
    hidden: list[str] = []

    def part(match: re.Match[str]) -> str:
        hidden.append(made(match[1], draw))
        return hidden[-1]

    return re.sub("<<(.*?)>>", part, line), [one for one in hidden if one]


def _left(line: str, draw: random.Random, folder: Path) -> bool:
    text, hidden = planted(line, draw)
    done = redact(folder, text.encode() + b"\n").decode()
    whole = (rf"(?<![A-Za-z0-9]){re.escape(one)}(?![A-Za-z0-9])" for one in hidden)
    return any(re.search(one, done) for one in whole)


@pytest.mark.parametrize("which", FOUND)
def test_what_is_found_of_what_is_planted(which: str, tmp_path: Path) -> None:
    draw = random.Random(28)
    missed = {kind: [line for line in lines if _left(line, draw, tmp_path)] for kind, lines in LISTS[which].items()}
    found = {kind: len(lines) - len(missed[kind]) for kind, lines in LISTS[which].items()}
    assert found == FOUND[which], missed
    named = [line for lines in missed.values() for line in lines]
    assert all(any(part in line for part in MISSED) for line in named)


@pytest.mark.parametrize("kind", LISTS["fourth"])
def test_what_is_not_replaced_is_listed(kind: str, tmp_path: Path) -> None:
    draw = random.Random(41)
    texts, hidden = zip(*(planted(line, draw) for line in LISTS["fourth"][kind]), strict=True)
    log = tmp_path / "result_0.txt"
    log.write_text("\n".join([*texts, ""]))
    redactor = Redactor()
    redactor.survey([log])
    rewrite(log, redactor.edit())
    left = [one for ones in hidden for one in ones if one in log.read_text()]
    listed = [value.decode() for _, value in redactor._unsure]
    assert [one for one in left if not any(value in one or one in value for value in listed)] == []
    assert len(left) == LISTED.get(kind, 0)


def test_nothing_harmless_is_damaged(tmp_path: Path) -> None:
    damaged = {line: redact(tmp_path, line.encode() + b"\n").decode() for line in LISTS["harmless"]}
    assert damaged == {line: line + "\n" for line in LISTS["harmless"]}
    assert (len(LISTS["harmless"]), sum(map(len, LISTS["first"].values()))) == (208, 214)


def _tokens() -> Iterator[tuple[str, str]]:
    draw = random.Random(1)
    for token in TOKENS:
        for prefix in token.prefixes:
            yield token.of, made(token.before, draw) + prefix + made(token.shape, draw)


@pytest.mark.slow
def test_every_token_is_found_by_its_form(tmp_path: Path) -> None:
    for owner, token in _tokens():
        done = redact(tmp_path, f"{owner} gave {token} to me\n".encode())
        assert done == f"{owner} gave <secret-1> to me\n".encode(), owner


def test_each_kind_of_token_has_a_source() -> None:
    assert f"{len(TOKENS)} kinds of tokens by their form" in LOOKS.looked_for
    assert all(token.source.startswith("https://") and re.compile(shape(token.shape)) for token in TOKENS)


def test_no_form_tells_digits_apart() -> None:
    """Lines that differ only in digits are searched once, with 0 for every digit."""
    for look in (look for looks in all_forms() for look in looks):
        form = look.form
        patterns = [compiled(one).pattern for one in (form.pattern, form.left, form.unless) if one is not None]
        without = re.sub(rb"\\[d0]|0-9|\{\d+(?:,\d*)?\}", b"", b"\n".join([*patterns, *look.near]))
        assert not re.search(rb"[1-9A-Y]", re.sub(rb"\\[AZSDW]", b"", without).replace(b"(?P<", b"")), look.near


def test_the_cost_grows_with_the_lines(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"

    def survey(lines: int) -> None:
        text = (
            f"n{n % 64}-a:1:2 [0] NCCL INFO connected to 10.0.{n % 200}.7:80 by /home/u{n % 9}zed\n"
            for n in range(lines)
        )
        file.write_text("".join(text))
        Redactor().survey([file])

    assert growth(survey, 1000, 4000) < 4.4


#: Lines that once took minutes a MB: what begins them, and what is repeated.
LONG_LINES = {
    "homes": (b"", b"/home"),
    "projects": (b"", b"/work7/scratch0/a"),
    "file systems": (b"", b"/fsx/a"),
    "domains": (b"", b".com."),
    "one secret": (b'password="', b"a1"),
    "a known secret": (b'password="a1a1a1a1a1a1" ', b"a1"),
    "secrets of many lengths": (b" ".join(b"password=" + b"a1" * length for length in range(6, 60)) + b" ", b"a1"),
    "secrets that begin alike": (b" ".join(b"password=a1a1a1%da1a1a1" % n for n in range(150)) + b" ", b"a1a1a1"),
    "many secrets": (b" ".join(b"password=%dx%dab12cd" % (n**3, n**5) for n in range(100, 400)) + b" ", b"a1b2"),
    "tokens": (b"", b"eyJ0123456789."),
    "mails": (b"", b"a@b.cd"),
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_line_costs_as_much_as_it_is_long(name: str, tmp_path: Path) -> None:
    first, body = LONG_LINES[name]
    file = tmp_path / "result_0.txt"
    line = (first + body * 10_000)[:20_000] + b"\n"

    def work() -> None:
        file.write_bytes(line)
        redactor = Redactor()
        redactor.survey([file])
        rewrite(file, redactor.edit())

    work()
    assert calls(work) < 16 * len(line)


@pytest.mark.parametrize("name", LONG_LINES)
def test_what_stands_before_is_read_in_few_steps(name: str) -> None:
    text = (LONG_LINES[name][1] * 400)[:400].decode()
    for look in (*all_forms().in_line, *all_forms().unsure):
        form = look.form
        left = form.left and Machine(compiled(form.left), searched=True)
        back = form.back and Machine(compiled(form.back), searched=False)
        assert left is None or left.count(text[: form.way], 1_000_000) < 4000, look.near
        assert back is None or back.count(text[::-1], 1_000_000) < 4000, look.near


def test_what_is_too_long_for_a_name_or_a_secret_is_not_looked_for_elsewhere() -> None:
    assert [learnable(PrivateKind.HOST, b"a1" * half) for half in (MAX_NAME // 2, MAX_NAME // 2 + 1)] == [True, False]
    assert [is_distinctive(b"a1" * half) for half in (MAX_SECRET // 2, MAX_SECRET // 2 + 1)] == [True, False]


def test_what_overlaps_is_cut_out_once() -> None:
    cut = 0

    class Text(bytes):
        def __getitem__(self, key: slice) -> bytes:  # type: ignore[override]
            nonlocal cut
            found = super().__getitem__(key)
            cut += len(found)
            return found

    text = Text(b"a1" * 500)
    spans: list[PrivateSpan] = [(at, at + 12, (PrivateKind.SECRET, b"a1" * 6)) for at in range(0, 980, 2)]
    assert _merged(spans, text) == [(0, 990, (PrivateKind.SECRET, b"a1" * 495))]
    assert cut == 990
