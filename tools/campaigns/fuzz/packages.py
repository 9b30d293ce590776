"""Whole packages, through the commands: a verdict or one line, nothing written, and answers that keep their schema."""

from __future__ import annotations

import os
import random
import re
import tempfile
import unicodedata
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from tools.campaigns.fuzz.engine import BrokenError, Harness, scratch, words
from tools.campaigns.fuzz.trees import END, change, emptied, lay_out, same_state, state_of, tree_of, writes_only_in
from tools.support.runner import Outcome, answer_schema, run

#: Each input is asked for one of these beside ``check``; {out} is a free name.
_CALLS = (
    *("check {tree}", "check -v --strict {tree}", "check --format html {tree}", "check --format markdown {tree}"),
    *("check --format sarif {tree}", "check --format junit {tree}", "check --format github {tree}"),
    *("check --format gitlab {tree}", "score --format json {tree}", "score {tree}", "score --format csv {tree}"),
    *("score --format html {tree}", "review --format json {tree}", "review {tree}", "review --format html {tree}"),
    *("status --format json {tree}", "fix --format json {tree}", "fix --format diff {tree}"),
    *("merge --format json {tree} {tree} -o {out}", "redact --format json {tree}", "rcp margin --format json {tree}"),
    *("compare --format json {tree}", "compare --format html {tree} {tree}", "verify --format json {tree}"),
)
#: Settings and the cache of whoever runs this are left alone.
_ALONE = {"XDG_CACHE_HOME": os.devnull, "MLSUB_ISOLATED": "1", "COLUMNS": "100"}
#: Where a package begins, as people name it.
_STARTS = ("v1.0/ACME", "v1.0/ACME", "v1.0", "v1.0/ACME/results/rack1/resnet", ".")
#: Controls, formats (which turn and hide text), halves of surrogate pairs, private characters, line ends.
_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Elements that no page of a command has.
_ACTIVE = frozenset({"script", "iframe", "object", "embed", "form", "base", "img", "svg"})


class _Page(HTMLParser):
    """Refuse what could run in a page, and addresses that lead out of it."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ACTIVE:
            raise BrokenError(f"an element: {tag} {attrs}")
        for name, value in attrs:
            address = name in ("href", "src") and not re.match(
                r"#|https://|data:,|[\w.-]+(?:/|$)", value or "", re.ASCII
            )
            if name.startswith("on") or address:
                raise BrokenError(f"{tag} {name}={value!r}")

    def handle_comment(self, data: str) -> None:
        raise BrokenError(f"a comment: {data!r}")


def harmless(shown: str, what: str) -> None:
    """Raise :class:`BrokenError` where something that is shown steers a terminal."""
    for at, sign in enumerate(shown if not shown.isascii() or not shown.replace("\n", "").isprintable() else ""):
        if sign != "\n" and unicodedata.category(sign) in _STEERING:
            raise BrokenError(f"{what}: {sign!r} in {shown[max(0, at - 60) : at + 60]!r}")


def orderly(outcome: Outcome, call: str) -> None:
    """Raise :class:`BrokenError` unless a command ended with an answer or one line that steer no terminal."""
    shown = outcome.stdout + outcome.stderr
    if outcome.status not in (0, 1, 2) or re.search(r"^Traceback \(most recent", shown, re.MULTILINE):
        raise BrokenError(f"{call} ends with {outcome.status}: {shown[-2000:]}")
    if outcome.status == 2 and not outcome.stdout and not outcome.stderr.startswith("mlsub"):
        raise BrokenError(f"{call} ends with 2 and says {outcome.stderr!r}")
    # A diff is of bytes as they are in the file, so that it can be applied.
    harmless(outcome.stderr if "diff" in call else shown.replace("\r\n", "\n"), call)


def _package(data: bytes) -> None:
    above = emptied(scratch("packages") / "package")
    lay_out(tree_of(data[1:]), above)
    start = above / _STARTS[(data[0] if data else 0) % len(_STARTS)]
    before = state_of(above)
    first = _called("check --format json {tree}", start)
    call = _CALLS[sum(data) % len(_CALLS)]
    other = _called(call, start)
    if call.startswith("check") and "--strict" not in call and other.status != first.status:
        raise BrokenError(f"{call} ends with {other.status}, with --format json {first.status}")
    same_state(before, state_of(above))


def _called(call: str, tree: Path) -> Outcome:
    words = [word.format(tree=tree, out=tree.parents[1] / "no-such-folder" / "ACME") for word in call.split()]
    with writes_only_in(Path(tempfile.gettempdir())):
        outcome = run(*words, *(() if words[0] in ("redact", "verify") else ("--jobs", 1)), **_ALONE)
    orderly(outcome, call)
    if "json" in words and outcome.stdout:
        answer_schema(outcome.document["command"]).validate(outcome.document)
    if "html" in words:
        page = _Page()
        page.feed(outcome.stdout)
        page.close()
    return outcome


_MARKUP, _NAMES, _VALUES = words("markup"), words("names"), words("values")


def _generate(rng: random.Random) -> bytes:
    """Draw up to five changes with names that mean something, or with markup."""
    found = bytes([rng.randrange(5), rng.choice((0, 1, 1, 1, 1, 1, 1, 1))])
    for _ in range(rng.randrange(1, 6)):
        what, at = rng.choice((0, 1, 2, 3, 4, 4, 5, 5, 5, 5, 7, 8, 9)), rng.randrange(1 << 16)
        name = rng.choice(_NAMES if rng.random() < 0.6 else _MARKUP).replace(END, b"")
        text = rng.choice((*_VALUES, *_NAMES, *_MARKUP)).replace(END, b"")
        if what == 5:
            more = rng.randbytes(3).replace(END, b"\0") + text + END + bytes([rng.randrange(64), rng.randrange(2)])
            found += change(what, at, more=more)
        else:
            found += change(what, at, name, *((text,) if what < 2 else ()))
    return found


@cache
def _seeds() -> tuple[bytes, ...]:
    return (b"\0\1", b"\0\1" + change(4, 0, b"v4.1"), b"\2\1" + change(9, 5, b"result_9.txt"), b"\4\0")


HARNESSES = (Harness("packages", _package, _seeds, (*_MARKUP, *_NAMES), _generate, 4_000, 20.0),)
