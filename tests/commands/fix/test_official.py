"""The official checker gives the same answer before and after: on generated logs of every round, and published ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mlsub.commands.fix.repairs import fix_log
from mlsub.io import MlsubError
from mlsub.log.rewrite import rewrite
from mlsub.packing.edits import edited
from mlsub.packing.manifest import Redact
from mlsub.packing.redactor import Redactor
from mlsub.rounds import get_round
from tests.commands.fix.logs import truncate
from tools.oracle.generate import usage_and_round
from tools.oracle.oracle import official
from tools.oracle.phases import Source, generated_sources, published_sources
from tools.oracle.random_changes import mutants

PRIVATE = [
    b"+ cd /home/alice/run && export MASTER_ADDR=node07",
    b"node07: alice@acme.com 10.20.30.40:80",
    b"10%|#\r20%|##\r",
    b"x" * 300,
    b"\x00\xe9 caf\xc3\xa9",
]


def sources() -> list[Source]:
    """One of each round, and some small published logs."""
    by_round = {source.combination.round: source for source in generated_sources()}
    return [*by_round.values(), *published_sources()[::12]]


def among_output(text: bytes, seed: int) -> bytes:
    """A log as real ones are: its records among framework output."""
    chance = random.Random(seed)
    lines = []
    for line in text.split(b"\n"):
        lines += chance.choices(PRIVATE, k=chance.choice((0, 0, 0, 2)))
        lines.append(chance.choice((b"", b"", b"0: ", b"node07: ")) + line if b":::ML" in line else line)
    return b"\n".join(lines)


def logs_of(source: Source) -> list[bytes]:
    """The log, and the log with one thing wrong."""
    log = source.log()
    wrong = [mutant.content for mutant in mutants(log, source.combination, "mend", 6)]
    return [among_output(text, seed) for seed, text in enumerate([log.content(), *wrong])]


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_redaction_and_truncation_change_no_answer(source: Source, tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    for text in logs_of(source):
        file.write_bytes(text)
        before = official(file, source.combination.round)
        redactor = Redactor(Redact(env=True))
        assert redactor.survey([file]) == {}
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            continue
        rewrite(file, redactor.edit())
        assert file.read_bytes() != text
        assert official(file, source.combination.round) == before
        try:
            shortened = truncate(file, file.stat().st_size - 2000, write=True)
        except MlsubError:
            continue
        assert shortened is not None and shortened.records
        assert official(file, source.combination.round).compliant is before.compliant


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_repairs_never_make_an_answer_worse(source: Source, tmp_path: Path) -> None:
    file, round_ = tmp_path / "result_0.txt", get_round(*usage_and_round(source.combination.round))
    for seed, text in enumerate(logs_of(source)):
        chance = random.Random(seed)
        lines = [line + chance.choice((b"\n", b"\r\n", b" \n")) for line in text.split(b"\n")]
        lines += [line for line in lines if b":::MLLOG" in line and chance.random() < 0.2]
        file.write_bytes(b"".join(lines))
        before = official(file, source.combination.round)
        edits, _ = fix_log(lines, round_)
        assert edits
        file.write_bytes(edited(lines, edits))
        assert official(file, source.combination.round).compliant >= before.compliant
