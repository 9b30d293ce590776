"""Inputs that are logs: a line that names the round and below it the log, drawn from the rules of both sides."""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from mlsub.rounds import get_round
from tests.campaigns.fuzz.officiallogs import official_records
from tests.differential.generate import ROUNDS, Combination, Record, combinations, compliant_log, usage_and_round
from tests.differential.log import Line, Log, content, line_of_mll
from tests.differential.mutate import mutant, stated_rules
from tests.differential.text_mutations import FILE_CHANGES

#: No generated log is longer, in bytes.
LONGEST = 24_000
#: Stands between two logs of one input.
BETWEEN = b"\n-----\n"
#: Parts of logs.
WORDS: tuple[bytes, ...] = (
    *(b":::MLLOG ", b":::MLL ", b":::MLLOG", b'{"', b'": ', b"null", b"NaN", b"Infinity", b"1e400", b"true", b"{}"),
    *(b"\r", b"\r\n", b"\n", b"\0", b"\x0b", b"\x85", b"\xa0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[2J", b"\\ud800"),
    *(b"\\u0000", b"18446744073709551616", b"[[[[", b'"value"', b'"metadata"', b'"time_ms"', b'"key"', b'"success"'),
    *(b"submission_benchmark", b"submission_division", b"run_start", b"run_stop", b"eval_accuracy", b"seed"),
    *(b"global_batch_size", b"epoch_num", b"samples_count", b"init_stop", b"block_start", b'{"value": 1}', b"\\n"),
)
_FIELDS = ("time_ms", "key", "value", "metadata")


def split(data: bytes) -> tuple[str, bytes]:
    """The round that an input names, and the rest; where it names none, a round that its bytes choose, and all."""
    head, line, rest = data.partition(b"\n")
    name = head.decode("latin-1")
    return (name, rest) if line and name in ROUNDS else (ROUNDS[chance(data, len(ROUNDS))], data)


def joined(round_id: str, log: bytes) -> bytes:
    """An input."""
    return round_id.encode() + b"\n" + log


def chance(data: bytes, most: int) -> int:
    """A number below ``most`` that the bytes alone decide."""
    return zlib.crc32(data) % most


def several(log: bytes) -> list[bytes]:
    """The logs of an input that has several."""
    return log.split(BETWEEN)


@cache
def sources() -> tuple[Combination, ...]:
    """What logs are drawn of."""
    return tuple(one for one in combinations() if len(content(short_log(one))) <= LONGEST)


def short_log(combination: Combination, evaluations: int = 2) -> Log:
    """The compliant log of a combination without what no rule asks for."""
    return lines_of(compliant_log(combination, evaluations), combination.round)


def lines_of(records: list[Record], round_id: str) -> Log:
    """Records as short lines."""
    return [_line(record, old=round_id == "0.6") for record in records]


def _line(record: Record, *, old: bool) -> Line:
    metadata = {name: value for name, value in record["metadata"].items() if name not in ("file", "lineno")}
    record = {**{name: record[name] for name in _FIELDS}, "metadata": metadata}
    return Line(line_of_mll(record) if old else f":::MLLOG {json.dumps(record)}", record, old)


@cache
def _prepared(combination: Combination) -> tuple[Log, dict[str, Any]]:
    log = short_log(combination)
    return log, stated_rules(log, combination)


def drawn(rng: random.Random) -> tuple[str, bytes]:
    """A round and one log: of our rules or of the official ones, as it is or changed."""
    combination = rng.choice(sources())
    log, rules = _prepared(combination)
    if rng.randrange(3) == 0 and (found := official_records(combination, rng)):
        log = lines_of(found, combination.round)
    if rng.randrange(12) == 0:
        return combination.round, content(log)
    changed = mutant(log, rules, str(rng.random())).content
    if rng.randrange(30) == 0:
        changed = rng.choice(FILE_CHANGES)[1](changed)
    # A round reads the logs of every other one.
    return (rng.choice(ROUNDS) if rng.randrange(40) == 0 else combination.round), changed[:LONGEST]


def generate(rng: random.Random) -> bytes:
    """An input of one log."""
    return joined(*drawn(rng))


def seeds() -> Iterator[bytes]:
    """A compliant log of some rounds and benchmarks, without evaluations that repeat."""
    wanted = ("0.6-minigo", "0.7-bert", "1.0-bert", "1.1-rnnt", "2.1-maskrcnn", "3.1-stable_diffusion", "5.1-flux1")
    for one in sources():
        if str(one).startswith((*wanted, "hpc-1.0-cosmoflow", "hpc-3.0-openfold", "6.1-")):
            yield joined(one.round, content(short_log(one, 1)))


def benchmark_of(round_id: str, log: bytes) -> str:
    """The benchmark of the round that a log names first, by a plain search; else the first of the round."""
    known = get_round(*usage_and_round(round_id)).benchmarks
    found = re.search(rb'submission_benchmark"?[:,]\s*.{0,20}"value":\s*"(\w+)"', log)
    name = found[1].decode() if found else ""
    return name if name in known else next(iter(known))
