"""The events of a log that the official parser reads, one after another, for whoever needs no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mlsub.log.event import Event, decode
from mlsub.log.mll import decode_mll
from mlsub.log.reader import TOKEN, TOKEN_MLL, open_log, read_records
from mlsub.log.reading import ReadingFold


def read_events(
    file: Path, *, old_format: bool = False, holding: tuple[bytes, ...] = (), reading: ReadingFold | None = None
) -> Iterator[Event]:
    """The events in file order; records that cannot be used, or that the official parser does not see, are left out.

    Args:
        file: the log.
        old_format: whether it is of v0.6.
        holding: where given, only records with one of these texts, which are looked for before a record is decoded.
        reading: where given, takes every record that the official reader sees, also one that cannot be used.

    Raises:
        MlsubError: the log cannot be read, or not to its end.
    """
    token, decoder = (TOKEN_MLL, decode_mll) if old_format else (TOKEN, decode)
    with open_log(file) as stream:
        for batch in read_records(stream, None, token):
            for line, text, hidden, too_long in batch:
                if hidden or too_long or (holding and not any(part in text for part in holding)):
                    continue
                event = decoder(line, text)
                usable = event if isinstance(event, Event) else None
                if reading is not None:
                    reading.add(line, text, usable)
                if usable is not None:
                    yield usable
