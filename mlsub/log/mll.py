"""One record of a v0.6 log, decoded as the official parser of v0.6 decodes it.

``:::MLL <seconds> <key>: <JSON>``, where the JSON is an object of value and metadata.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mlsub.io.jsontext import loads
from mlsub.io.show import readable
from mlsub.log.event import Batch, Defect, Event, EventOfSeconds, batch_of

#: Compiled when the first log of v0.6 is read.
_RECORD = r" ([\d.]+) ([A-Za-z0-9_]+) ?:\s+(.+)"
_KEY = r" ([A-Za-z0-9_]{1,100}) ?:\s"


def decode_mll(line: int, text: bytes) -> Event | Defect:
    """Decode the text behind a token.

    An event has its time in ms, as all events here, and in seconds as stated, and None for metadata the record lacks.
    A record without ``value`` is passed over by the official checker: its event has no key.
    """
    string = text.decode("latin-1").rstrip()
    match = re.fullmatch(_RECORD, string)
    if match is None:
        key_of = re.search(_KEY, string)
        return Defect("log.record-format", line, readable(string[:80]), key_of[1] if key_of else None)
    seconds, key, fields = match.groups()
    try:
        stated = float(seconds)
    except ValueError:
        return Defect("log.record-time", line, seconds[:80], key[:100])
    time_ms = round(stated * 1000.0, 3)
    try:
        content = loads(fields)
    except RecursionError:
        return Defect("log.record-undecodable", line, "nested too deeply", key[:100])
    except ValueError as error:
        return Defect("log.record-undecodable", line, str(error), key[:100])
    if not isinstance(content, dict) or "value" not in content:
        return EventOfSeconds(line=line, time_ms=time_ms, seconds=stated, key=None, value=content, metadata=None)
    metadata: Any = content.get("metadata")
    value = content["value"]
    return EventOfSeconds(line=line, time_ms=time_ms, seconds=stated, key=key, value=value, metadata=metadata)


def decode_all_mll(lines: Sequence[int], texts: Sequence[bytes], joined: bytes | None = None) -> Batch:
    """Decode the texts behind many tokens."""
    return batch_of(lines, texts, list(map(decode_mll, lines, texts)))
