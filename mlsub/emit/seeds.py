"""Seeds that are drawn, not chosen; and whether another run has had one already."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from mlsub.emit.errors import EmitError
from mlsub.io.errors import MlsubError
from mlsub.log.event import Event, decode
from mlsub.log.reader import open_log, read_records

#: Where a launcher gives all processes of a run their seed.
SEED = "MLSUB_SEED"
#: Fits every framework's seed.
LARGEST = 2**31 - 1
#: Seeds stand at the beginning of a log; siblings beyond so many are not looked at.
_HEAD_LINES = 4000
_MAX_SIBLINGS = 200


def draw_seed() -> int:
    """A seed from the system's source of randomness, from 0 to 2^31 - 1."""
    return secrets.randbelow(LARGEST + 1)


def seed_of_launcher() -> int | None:
    """The seed that the launcher gives all processes of a run, None where it gives none.

    Raises:
        EmitError: it is not a whole number from 0 to 2^31 - 1.
    """
    text = os.environ.get(SEED, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST):
        raise EmitError(f"{SEED} is {text[:40]!r}: set it to a whole number from 0 to {LARGEST}")
    return int(text)


def earlier_seeds(log: Path) -> dict[int, str]:
    """The seeds of the other results in a log's folder, with the name of the file that has each."""
    found: dict[int, str] = {}
    try:
        siblings = sorted(file for file in log.parent.glob("result_*.txt") if file.name != log.name)
    except OSError:
        return found
    for file in siblings[:_MAX_SIBLINGS]:
        for seed in _seeds_of(file):
            found.setdefault(seed, file.name)
    return found


def _seeds_of(file: Path) -> Iterator[int]:
    try:
        with open_log(file) as stream:
            read = 0
            for batch in read_records(stream):
                for line, text, hidden, too_long in batch:
                    read += 1
                    if hidden or too_long or b'"seed"' not in text:
                        continue
                    event = decode(line, text)
                    if isinstance(event, Event) and event.key == "seed" and type(event.value) is int:
                        yield event.value
                if read > _HEAD_LINES:
                    return
    except (MlsubError, OSError):
        return
