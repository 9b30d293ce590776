"""Repairs of logs: never worse than before, nothing lost that no repair names, and nothing left to do a second time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from mlsub.commands.fix.model import REPEATED, Repair
from mlsub.commands.fix.repairs import Edits, edited, fix_log, lines_of
from mlsub.commands.fix.run import fix
from mlsub.commands.fix.truncate import truncate
from mlsub.io.errors import MlsubError
from mlsub.log.reader import TOKEN_MLL, RecordCutter, foreign_encoding
from mlsub.log.report import LogReport
from mlsub.workspace import Settings
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import judge, round_of
from tests.campaigns.fuzz.loggrammar import LONGEST, WORDS, chance, drawn, generate, joined, split
from tests.campaigns.fuzz.scratch import scratch
from tests.differential.generate import usage_and_round

#: One input in so many goes through the command with files and all, and one is truncated.
_WITH_FILES, _TRUNCATED = 40, 3


def _read(data: bytes) -> None:
    round_id, log = split(data)
    if TOKEN_MLL not in log:
        return  # whatever it is, the command takes it for no log
    lines, round_ = lines_of(log), round_of(round_id)
    if b"".join(lines) != log:
        raise BrokenError("the lines are not the log")
    edits, repairs = fix_log(lines, round_)
    after = edited(lines, edits)
    if (after != log) is not bool(repairs):
        raise BrokenError(f"{len(repairs)} repairs, and the log is {'another' if after != log else 'the same'}")
    _not_worse(judge(round_id, [log]), judge(round_id, [after]))
    _kept(lines, edits, repairs, round_id)
    left = fix_log(lines_of(after), round_)[1]
    if left:
        raise BrokenError(f"something is left to repair: {left}")
    if chance(log, _WITH_FILES) == 0:
        _as_file(round_id, log, after)
    if chance(log, _TRUNCATED) == 0:
        _shortened(log)


def _not_worse(before: LogReport, after: LogReport) -> None:
    """No new reason to reject, and what was accepted still is."""
    if before.compliant and not after.compliant:
        raise BrokenError(f"a compliant log is no more: {[f.rule for f in after.findings if f.rejects]}")
    known, now = (Counter(f.rule for f in one.findings if f.rejects) for one in (before, after))
    if now - known:
        raise BrokenError(f"new reasons to reject: {dict(now - known)}")


def _kept(lines: list[bytes], edits: Edits, repairs: list[Repair], round_id: str) -> None:
    """Every record is as it was, but for those of lines that a repair names as gone."""
    gone = {repair.line for repair in repairs if repair.rule.endswith(f".{REPEATED}")}
    if gone != {place + 1 for place, line in edits.items() if line is None}:
        raise BrokenError(f"lines {sorted(gone)} are named, and others go")
    before = [record for line, record in _records(b"".join(lines)) if line not in gone]
    after = [record for _, record in _records(edited(lines, edits))]
    if before != after:
        raise BrokenError("a record is another one, or has gone")


def _records(log: bytes) -> Iterator[tuple[int, tuple[bytes, bool, bool]]]:
    """Line and text of each record, without blanks at the end."""
    cutter = RecordCutter()
    for batch in (cutter.feed(log), cutter.close()):
        for line, text, hidden, too_long in batch:
            yield line, (text.rstrip(b" \t\r\n"), hidden, too_long)


def _as_file(round_id: str, log: bytes, expected: bytes) -> None:
    """The command makes of the file what was planned, or leaves it as it is and says why."""
    file = scratch("fix") / "result_0.txt"
    file.write_bytes(log)
    usage, name = usage_and_round(round_id)
    plans, diffs, problems = fix([str(file)], Settings(name, usage, 1), (), write=True, diff=True)
    now = file.read_bytes()
    if problems:
        raise BrokenError(f"it cannot be repaired: {problems[0]}")
    if now != expected:
        raise BrokenError("the command repairs it in another way")
    if [name.name for name in file.parent.iterdir()] != [file.name] or not plans or (now != log) is not any(diffs):
        raise BrokenError("something was left behind, or the diff is not what was done")


def _shortened(log: bytes) -> None:
    """A log that is truncated is short enough, has every record, and is not shortened again."""
    file = scratch("truncate") / "result_0.txt"
    file.write_bytes(log)
    limit = 300 + chance(log, max(len(log), 1))
    try:
        done = truncate(file, limit, write=True)
    except MlsubError as error:
        if "cannot be truncated" not in str(error) and foreign_encoding(log) is None:
            raise BrokenError(f"it cannot be truncated: {error}") from error
        return
    after = file.read_bytes()
    if done is None:
        if after != log:
            raise BrokenError("it was changed without a word")
        return
    if len(after) > limit or len(after) != done.size_after:
        raise BrokenError(f"{len(after)} bytes, of {limit} at most and {done.size_after} as it says")
    if [text for _, text in _records(after)] != [text for _, text in _records(log)]:
        raise BrokenError("a record is another one, or has gone")
    if truncate(file, limit, write=True) is not None:
        raise BrokenError("it is truncated twice")


def _drawn(rng: random.Random) -> bytes:
    """A log with what is repaired: marks, line ends, blanks, and records that repeat."""
    if rng.randrange(3) == 0:
        return generate(rng)
    round_id, log = drawn(rng)
    lines = log.split(b"\n")
    for _ in range(rng.randrange(1, 10)):
        at = rng.randrange(len(lines))
        match rng.randrange(7):
            case 0:
                lines[at] += rng.choice((b" ", b"\t", b"\r", b" \r", b"\x0b", b"\xa0", b"\r ", b"  \t"))
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 2:
                lines.insert(
                    rng.randrange(len(lines)), rng.choice((b"0: ", b"[1,0]<stdout>:", b" ", b"x ")) + lines[at]
                )
            case 3:
                lines[at] = lines[at] + rng.choice((b" ", b"\r", b"\r\n")) + rng.choice(lines)
            case 4:
                lines.insert(at, b"framework output " * rng.choice((1, 40)))
            case 5:
                lines[0] = b"\xef\xbb\xbf" + lines[0]
            case _:
                lines = [line + b"\r" for line in lines]
    return joined(round_id, b"\n".join(lines)[:LONGEST])


def _seeds() -> Iterator[bytes]:
    rng = random.Random("fix")
    return (_drawn(rng) for _ in range(12))


HARNESSES = (
    Harness("logs-fix", "logs, as fix repairs and truncates them", _read, _seeds, WORDS, _drawn, longest=LONGEST),
)
