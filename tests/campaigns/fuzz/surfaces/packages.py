"""Whole packages, through the commands: a verdict or one line, nothing written, and answers that keep their schema."""

from __future__ import annotations

import os
import random
import re
import tempfile
from pathlib import Path

from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.provider import END, one_in
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.seeds import MARKUP
from tests.campaigns.fuzz.surfaces.terminal import check_harmless
from tests.campaigns.fuzz.trees import change, lay_out, tree_of
from tests.campaigns.fuzz.watched import emptied, same_state, state_of, writes_only_in
from tests.commands.runner import Outcome, answer_schema, run

#: Each input is asked for one of these beside ``check``; {above} is the folder of the package, {out} a free name.
_CALLS = (
    "check {tree}",
    "check -v --strict {tree}",
    "check --format html {tree}",
    "check --format markdown {tree}",
    "check --format sarif {tree}",
    "check --format junit {tree}",
    "check --format github {tree}",
    "check --format gitlab {tree}",
    "score --format json {tree}",
    "score {tree}",
    "score --format csv {tree}",
    "score --format html {tree}",
    "inspect --format json {tree}",
    "inspect {tree}",
    "status --format json {tree}",
    "fix --format json {tree}",
    "fix --format diff {tree}",
    "merge --format json {tree} {tree} -o {out}",
    "redact --format json {tree}",
    "rcp margin --format json {tree}",
    "compare --format json {tree}",
    "verify --format json {tree}",
)
#: What writes a file is asked of few: building a database takes a second.
_DB, _SCHEMA = 300, 6
#: Settings and the cache of whoever runs this are left alone.
_ALONE = {"XDG_CACHE_HOME": os.devnull, "MLSUB_ISOLATED": "1", "COLUMNS": "100"}
#: Where a package begins, as people name it.
_STARTS = ("v1.0/ACME", "v1.0/ACME", "v1.0", "v1.0/ACME/results/rack1/resnet", ".")


def _package(data: bytes) -> None:
    above = emptied(scratch("packages") / "package")
    lay_out(tree_of(data[1:]), above)
    start = above / _STARTS[(data[0] if data else 0) % len(_STARTS)]
    before = state_of(above)
    first = _called("check --format json {tree}", start, data)
    call = _CALLS[sum(data) % len(_CALLS)]
    other = _called(call, start, data)
    if call.startswith("check") and "--strict" not in call and other.status != first.status:
        raise BrokenError(f"{call} ends with {other.status}, with --format json {first.status}")
    same_state(before, state_of(above))
    if one_in(_DB, data, b"db"):
        place = emptied(scratch("packages") / "out")
        _orderly("db build", run("db", "build", above, "-o", place / "results.duckdb", "--jobs", 1, **_ALONE))
        same_state(before, state_of(above))


def _called(call: str, tree: Path, data: bytes) -> Outcome:
    words = [word.format(tree=tree, out=tree.parents[1] / "no-such-folder" / "ACME") for word in call.split()]
    with writes_only_in(Path(tempfile.gettempdir())):
        outcome = run(*words, *(() if words[0] in ("redact", "verify") else ("--jobs", 1)), **_ALONE)
    _orderly(call, outcome)
    if "json" in words and outcome.stdout:
        found = outcome.document
        if one_in(_SCHEMA, data):
            answer_schema(found["command"]).validate(found)
    if outcome.status == 2 and not outcome.stdout and not outcome.stderr.startswith("mlsub"):
        raise BrokenError(f"{call} ends with 2 and says {outcome.stderr!r}")
    return outcome


def _orderly(call: str, outcome: Outcome) -> None:
    """A verdict that is one, no traceback, and nothing that steers a terminal."""
    shown = outcome.stdout + outcome.stderr
    if outcome.status not in (0, 1, 2):
        raise BrokenError(f"{call} ends with {outcome.status}: {shown[-300:]!r}")
    if re.search(r"^Traceback \(most recent", shown, re.MULTILINE):
        raise BrokenError(f"{call}: {shown[-2000:]}")
    # A diff is of bytes as they are in the file, so that it can be applied.
    check_harmless(outcome.stderr if "diff" in call else shown.replace("\r\n", "\n"), call)


_NAMES = (
    *b"results systems benchmarks implementations rack1 rack1.json resnet bert strong weak power scaling.json".split(),
    *b"result_0.txt result_00.txt result_5.txt result_.txt result_\xd9\xa3.txt v1.0 v4.1 training_results_v5.0".split(),
    *b".git ACME acme MANIFEST.sha256 mlsub.toml".split(),
    b"n" * 255,
)
_VALUES = (
    b"null",
    b"NaN",
    b"1e999",
    b'"' + b"9" * 400 + b'"',
    b"9" * 400,
    b"[]",
    b"{}",
    b'{"a":' * 90,
    b"true",
    b'"\\ud800"',
    b"-0.0",
)


def _generated(rng: random.Random) -> bytes:
    """Up to five changes with names that mean something, or with markup."""
    found = bytes([rng.randrange(5), rng.choice((0, 1, 1, 1, 1, 1, 1, 1))])
    for _ in range(rng.randrange(1, 6)):
        what = rng.choice((0, 1, 2, 3, 4, 4, 5, 5, 5, 5, 7, 8, 9))
        name = rng.choice(_NAMES if rng.random() < 0.6 else MARKUP).replace(END, b"")
        text = rng.choice((*_VALUES, *_NAMES, b"../..", b"/dev/zero", b"../rack1", b".", *MARKUP)).replace(END, b"")
        at = rng.randrange(1 << 16)
        if what in (5, 6):
            found += change(
                what,
                at,
                more=rng.randbytes(3).replace(END, b"\0") + text + END + bytes([rng.randrange(64), rng.randrange(2)]),
            )
        else:
            found += change(what, at, name, *((text,) if what < 2 else ()))
    return found


_SEEDS = (
    b"\0\1",
    b"\0\1" + change(4, 0, b"v4.1"),
    b"\0\1" + change(1, 2, b"link", b".."),
    b"\2\1" + change(9, 5, b"result_9.txt"),
    b"\0\1" + change(5, 9, more=b"\1\1\xe9" + b"null" + END + b"\0\1"),
    b"\4\0" + change(0, 0, b"a", b"text"),
)

HARNESSES = (
    Harness(
        "packages",
        "whole packages, by all commands that read them",
        _package,
        lambda: _SEEDS,
        MARKUP,
        _generated,
        4_000,
        20.0,
    ),
)
