"""Logs: read in any pieces, judged as the official checker does, repaired and redacted."""

from __future__ import annotations

import json
import pickle
import random
import zlib
from collections.abc import Iterator, Sequence
from functools import cache, partial
from io import BytesIO
from itertools import cycle
from typing import Any
from unittest.mock import patch

from mlsub.findings import Finding
from mlsub.judge import rules
from mlsub.judge.log import LogJudge
from mlsub.log import events
from mlsub.log.events import LogReader
from mlsub.rounds import get_round
from mlsub.submission.model import LogReport
from tools.campaigns.fuzz.engine import BrokenError, Harness, scratch, words
from tools.campaigns.fuzz.packages import orderly
from tools.oracle.compare import Both, disagrees, known_deviation
from tools.oracle.generate import ROUNDS, Combination, combinations, compliant_log, line_of_mll, usage_and_round
from tools.oracle.log import ChangedLog, Line, Log
from tools.oracle.oracle import official
from tools.oracle.random_changes import mutant
from tools.oracle.random_text import FILE_CHANGES
from tools.support.judging import deep, report_on
from tools.support.runner import run

_LONGEST = 24_000
#: No log leads to more findings, and no text of a finding has more characters.
_MOST_FINDINGS, _LONGEST_TEXT = 1_000, 4_000
_CRASHES = ("review.crashed", "rule.crashed")
#: Rounds, and the rules by which mlsub alone rejects a log there: see "Where the official tool crashes or skips
#: something" in docs/deviations.yaml.
_STRICTER = {"6.1": {"key.opt_sparse_base_learning_rate.value"}}
_WORDS, _PRIVATE = words("logs"), words("private")
#: A line with it gives it away as a secret, which then is one wherever it stands.
_SECRET = b"hunter2hunter2"


def _split(data: bytes) -> tuple[str, bytes]:
    """Return the round that the first line names, else one that the bytes choose, and the log."""
    head, line, rest = data.partition(b"\n")
    name = head.decode("latin-1")
    return (name, rest) if line and name in ROUNDS else (ROUNDS[_chance(data, len(ROUNDS))], data)


def _chance(data: bytes, most: int) -> int:
    return zlib.crc32(data) % most


def _short(combination: Combination, evaluations: int = 2) -> Log:
    """Return the compliant log of a combination without what no rule asks for."""
    return Log(_line(record, old=combination.round == "0.6") for record in compliant_log(combination, evaluations))


def _line(record: dict[str, Any], *, old: bool) -> Line:
    metadata = {name: value for name, value in record["metadata"].items() if name not in ("file", "lineno")}
    record = {**{name: record[name] for name in ("time_ms", "key", "value")}, "metadata": metadata}
    return Line(line_of_mll(record) if old else f":::MLLOG {json.dumps(record)}", record, old)


@cache
def _sources() -> tuple[Combination, ...]:
    return tuple(one for one in combinations() if len(_short(one).content()) <= _LONGEST)


@cache
def _prepared(combination: Combination) -> tuple[Log, dict[str, Any]]:
    log = _short(combination)
    return log, log.rules(combination)


def _generate(rng: random.Random) -> bytes:
    """Draw a changed log of a round; now and then of another round, or of another encoding."""
    combination = rng.choice(_sources())
    changed = mutant(*_prepared(combination), str(rng.random())).content
    if rng.randrange(30) == 0:
        changed = rng.choice(FILE_CHANGES)[1](changed)
    round_id = rng.choice(ROUNDS) if rng.randrange(40) == 0 else combination.round
    return round_id.encode() + b"\n" + changed[:_LONGEST]


@cache
def _seeds() -> tuple[bytes, ...]:
    wanted = ("0.6-minigo", "0.7-bert", "1.1-rnnt", "3.1-stable_diffusion", "hpc-1.0-cosmoflow", "6.1-")
    chosen = (one for one in _sources() if str(one).startswith(wanted))
    return tuple(one.round.encode() + b"\n" + _short(one, 1).content() for one in chosen)


def _judge(round_id: str, pieces: Sequence[bytes], besides: bool) -> LogReport:
    """Return the report on a log that comes in pieces."""
    usage, name = usage_and_round(round_id)
    round_ = get_round(usage, name)

    def feed(into: Any) -> None:
        for piece in pieces:
            into.feed(piece)
        into.close()

    read = partial(LogReader, log_format=round_.log_format)
    judge = LogJudge("bert/result_0.txt", round_, (), lambda fold: feed(read([fold])), trace=besides, intervals=besides)
    feed(judge)
    return judge.report()


def _cut(log: bytes) -> list[bytes]:
    """Return the log in pieces whose sizes its bytes decide: from single bytes to halves."""
    sizes = ((1,), (2, 3), (7, 1, 64), (100, 1000, 1), (len(log) // 2 + 1,), (_chance(log, 97) + 1, 1))[_chance(log, 6)]
    sizes = (*sizes, len(log) // 12 + 1) if len(log) > 300 else sizes
    stream = BytesIO(log)
    return list(iter(partial(lambda turn: stream.read(next(turn)), cycle(sizes)), b""))


def _same(one: LogReport, other: LogReport, what: str) -> None:
    if deep(one) != deep(other):
        fields = [name for name in one.__struct_fields__ if deep(getattr(one, name)) != deep(getattr(other, name))]
        raise BrokenError(f"{what}: {fields}")


def _sound(found: Sequence[Finding]) -> None:
    """Findings are few and short, and none says that a rule failed."""
    crashed = [one for one in found if one.rule in _CRASHES]
    if crashed or len(found) > _MOST_FINDINGS:
        raise BrokenError(f"{len(found)} findings, {crashed[:1]}")
    for one in found:
        texts = (one.path, one.message, one.expected or "", one.actual or "", one.fix or "", one.source)
        if not one.message or max(map(len, texts)) > _LONGEST_TEXT or (one.line is not None and one.line < 1):
            raise BrokenError(f"{one.rule}: {one.line} {one.message!r:.200}")


def _read(data: bytes) -> None:
    """The answer is the same in any pieces, at its bounds and in another process, and its findings bear it out."""
    round_id, log = _split(data)
    besides = _chance(log, 4) == 0
    judged = _judge(round_id, [log], besides)
    _sound(judged.findings)
    if judged.compliant is any(found.rejects for found in judged.findings) or (judged.trace.keys and not besides):
        raise BrokenError(f"compliant: {judged.compliant}, and {sorted({f.rule for f in judged.findings})}")
    _same(judged, _judge(round_id, _cut(log), besides), "in pieces another answer")
    if _chance(log, 6) == 2:
        with patch.multiple(rules, MAX_KEPT=3), patch.multiple(events, _MAX_KEYS=2, _MAX_KEY=9):
            _same(judged, _judge(round_id, _cut(log), besides), "at its bounds another answer")
    if _chance(log, 16) == 0:
        _same(judged, pickle.loads(pickle.dumps(judged)), "another process gives another answer")  # noqa: S301


def _compare(data: bytes) -> None:
    """The verdict is that of the installed official checker, but for what docs/deviations.yaml says."""
    round_id, log = _split(data)
    file = scratch("logs-official") / "result_0.txt"
    file.write_bytes(log)
    ours = report_on(file, *usage_and_round(round_id))
    both = Both(ChangedLog(f"round {round_id}", log), ours, official(file, round_id))
    stricter = both.theirs.compliant and set(both.rejecting) <= _STRICTER.get(round_id, set()) and both.rejecting
    if disagrees(both) and known_deviation(both) is None and not stricter:
        raise BrokenError(both.describe())


def _fix(data: bytes) -> None:
    """A repair makes no verdict worse and drops no other record; a second one has nothing to do."""
    round_id, log = _split(data)
    usage, name = usage_and_round(round_id)
    file = scratch("logs-fix") / "result_0.txt"
    file.write_bytes(log)
    words = ("--write", "--format", "json", "--round", name, "--usage", usage, "--jobs", 1, file)
    orderly(first := run("fix", *words), "fix")
    after = file.read_bytes()
    if first.status == 2 and after != log:
        raise BrokenError("it cannot be repaired, and was changed")
    before, now = (_judge(round_id, [one], False) for one in (log, after))
    new = {one.rule for one in now.findings if one.rejects} - {one.rule for one in before.findings if one.rejects}
    if (before.compliant and not now.compliant) or new:
        raise BrokenError(f"repaired, and worse: {new}")
    orderly(run("fix", *words), "fix again")
    if file.read_bytes() != after or list(file.parent.iterdir()) != [file]:
        raise BrokenError("a second repair changes it, or something was left behind")


def _redact(data: bytes) -> None:
    """Redaction changes no answer, leaves no secret in free text, and has nothing to do a second time."""
    round_id, log = _split(data)
    file = scratch("logs-redact") / "result_0.txt"
    file.write_bytes(log)
    words = ("redact", "--write", "--format", "json", "--user", "alice", "--host", "node07", file)
    orderly(first := run(*words), "redact")
    after = file.read_bytes()
    if first.status == 2:
        if after != log:
            raise BrokenError("it cannot be redacted, and was changed")
        return
    _same(_judge(round_id, [log], False), _judge(round_id, [after], False), "redaction changes the answer")
    free = [line for line in after.splitlines() if b":::ML" not in line]
    if b"password = " + _SECRET in log.splitlines() and any(_SECRET in line for line in free):
        raise BrokenError("a secret still stands elsewhere")
    if any({b"alice", b"node07"} & set(line.split()) for line in free):
        raise BrokenError("a name that was given is left")
    orderly(run(*words), "redact again")
    if file.read_bytes() != after:
        raise BrokenError("redacted again, it is another log")


def _generate_private(rng: random.Random) -> bytes:
    """Draw a short log with private text before, in and between its records."""
    head, *lines = _generate(rng)[:6_000].split(b"\n")[: rng.choice((4, 10, 60))]
    for _ in range(rng.randrange(1, 12)):
        text, at = b"".join(rng.choices(_PRIVATE, k=rng.randrange(1, 5))), rng.randrange(len(lines) + 1)
        if at < len(lines) and rng.randrange(4) == 0:
            lines[at] = text + lines[at]
        else:
            lines.insert(at, text)
    return b"\n".join((head, *lines))


def _drawn() -> Iterator[bytes]:
    return (_generate_private(random.Random(number)) for number in range(12))


HARNESSES = (
    Harness("logs", _read, _seeds, _WORDS, _generate, _LONGEST),
    # The official parser takes long for a line with many tokens.
    Harness("logs-official", _compare, _seeds, _WORDS, _generate, _LONGEST, 10.0),
    Harness("logs-fix", _fix, _seeds, (*_WORDS, b" \r", b"\t\n", b"\xef\xbb\xbf"), _generate, _LONGEST),
    Harness("logs-redact", _redact, _drawn, _PRIVATE, _generate_private, 8_000),
)
