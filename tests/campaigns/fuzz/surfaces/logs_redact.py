"""Redaction of logs: nothing found private stays in free text, and no record changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from mlsub.commands.redact.document import Kind, Redaction
from mlsub.commands.redact.redactor import Wanted
from mlsub.commands.redact.run import redact
from mlsub.io.errors import MlsubError
from mlsub.log.reader import foreign_encoding
from mlsub.log.rewrite import FREE, zones
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import judge, same
from tests.campaigns.fuzz.loggrammar import WORDS, chance, drawn, joined, split
from tests.campaigns.fuzz.scratch import scratch

#: Lines that give a secret away, which then is one wherever it stands.
_SECRETS = ((b"WANDB_API_KEY=", b"0123456789abcdef0123"), (b"password = ", b"hunter2hunter2"))
_PRIVATE = (
    *(
        b"/home/alice",
        b"/home/alice/run",
        b"/Users/bobby/x",
        b"/mnt/fsx/users/carol",
        b"/root/.cache",
        b"alice",
        b"bobby",
    ),
    *(b"MASTER_ADDR=node07", b"node07", b"SLURM_NODELIST=n[08-10,12]", b"n09", b"Hostname : ai1", b"ai1.acme.com"),
    *(b"alice@login1:~/run$ ls", b"login1", b"mail alice@acme.com", b"USER=alice", b"10.20.30.40:8080", b"10.20.30.40"),
    *(
        b"fe80::1ff:fe23:4567:890a",
        b"key AKIA" + b"Q" * 16,
        b"WANDB_API_KEY=0123456789abcdef0123",
        b"0123456789abcdef0123",
        b"hunter2hunter2",
        b"HF_TOKEN=hf_",
    ),
    *(b"Authorization: Bearer abcdef.ghijkl", b"https://bob:hunter22@git.acme.com/x", b"password = hunter2hunter2"),
    *(b"<user-1>", b"<secret-7>", b"ip-10-1-2-3.ec2.internal", b"PATH=/usr/bin:/home/alice", b"ghp_" + b"a" * 36),
    *(b"\n" + name + secret + b"\n" for name, secret in _SECRETS),
    *(b" ", b"\t", b"'", b'"', b",", b":", b"=", b"/", b"@", b".", b"[", b"]", b"-", b"<", b">", b"\xe9", b"\r", b"\n"),
)
_WANTED = (
    *(Wanted(), Wanted(env=True), Wanted(users=("alice",), hosts=("node07",), texts=("proj*x", "RUN"))),
    Wanted(users=("secret", "path"), texts=("user", "1>", "> *")),
)


def _read(data: bytes) -> None:
    round_id, log = split(data)
    file, wanted = scratch("redact") / "result_0.txt", _WANTED[chance(log, len(_WANTED))]
    found = _redacted(file, log, wanted)
    if found is None:
        return
    answer, after = found
    same(judge(round_id, [log]), judge(round_id, [after]), "redaction changes the answer")
    _gone(answer, log, after, wanted)
    again = _redacted(file, after, wanted)
    if again is None or again[1] != after:
        raise BrokenError(f"redacted again, it is another log: {again[1] if again else None!r} from {after!r}")
    left = [item for item in again[0].items if item.count]
    if left:
        raise BrokenError(f"something private is left in free text: {left}")


def _redacted(file: Path, log: bytes, wanted: Wanted) -> tuple[Redaction, bytes] | None:
    """What was found, and the redacted log; None where it cannot be redacted, for a reason that is documented."""
    file.write_bytes(log)
    found, problems = redact([str(file)], wanted, write=True)
    if problems:
        if found is None and foreign_encoding(log) and "Convert it to UTF-8" in str(problems[0]):
            return None
        raise BrokenError(f"a log cannot be redacted: {problems[0]}") from problems[0]
    if found is None:
        raise MlsubError("neither an answer nor a problem")
    return found, file.read_bytes()


def _gone(answer: Redaction, before: bytes, after: bytes, wanted: Wanted) -> None:
    """Free text has a placeholder for whatever is counted, its other bytes are kept, and records are as they were."""
    if _records(before) != _records(after):
        raise BrokenError("a record is another one")
    free = b"\n".join(_free(after))
    for item in answer.items:
        if item.count and item.placeholder.encode() not in free:
            raise BrokenError(f"{item.placeholder} is counted {item.count} times, and stands nowhere")
    for name, secret in _SECRETS:
        if name + secret in b"\n".join(_free(before)).splitlines() and secret in free:
            raise BrokenError(f"{secret!r} was found, and still stands elsewhere")
    if before.count(b"\n") != after.count(b"\n") and not any(item.kind is Kind.TEXT for item in answer.items):
        raise BrokenError("lines were lost")
    if any(name.encode() in free.split() for name in (*wanted.users, *wanted.hosts)):
        raise BrokenError("a name that was given is left")


def _free(log: bytes) -> Iterator[bytes]:
    from io import BytesIO

    for mark, text in zones(BytesIO(log)):
        yield text if mark == FREE else text[:mark]


def _records(log: bytes) -> list[bytes]:
    from io import BytesIO

    return [text[mark:] for mark, text in zones(BytesIO(log)) if mark != FREE]


def _drawn(rng: random.Random) -> bytes:
    round_id, log = drawn(rng)
    lines = log[:6_000].split(b"\n")[: rng.choice((3, 10, 60))]
    for _ in range(rng.randrange(1, 12)):
        text = b"".join(rng.choices(_PRIVATE, k=rng.randrange(1, 5)))
        at = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                lines[at] = text + lines[at]
            case 1:
                lines[at] = lines[at].replace(b'"value": ', b'"value": "' + text.replace(b'"', b"") + b'", "x": ', 1)
            case _:
                lines.insert(at, text)
    return joined(round_id, b"\n".join(lines))


def _seeds() -> Iterator[bytes]:
    rng = random.Random("redact")
    return (_drawn(rng) for _ in range(12))


HARNESSES = (
    Harness(
        "logs-redact", "logs, as redaction reads and writes them", _read, _seeds, (*_PRIVATE, *WORDS), _drawn,
        longest=8_000,
    ),
)  # fmt: skip
