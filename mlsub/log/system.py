"""What a log says of its system outside of its records: the one reader of ``:::SYSJSON``."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from mlsub.log.reader import TOKEN, holds

#: So many bytes of a log are looked through; of all published ones the system is in the first 25 KiB.
_MOST = 1 << 18
#: The longest description that is read, in bytes; real ones have 2 KiB.
_LONGEST, _LONGEST_VALUE = 1 << 16, 200
#: Descriptions that are tried: a shell that shows its commands has each twice.
_TRIES = 4
#: With and without what is frequent in a log, see :func:`mlsub.log.reader.holds`.
_TOKEN, _RARE = b":::SYSJSON ", b":::SYSJ"
#: A record behind the number of the process that logged it, as launchers write it.
_AFTER_RANK = b": " + TOKEN
_RANKED = re.compile(rb"(?:^|[\r\n]) *(\d{1,8}) *" + re.escape(_AFTER_RANK))
#: The fields of a system that say how large it is, as descriptions and logs name them; these are kept.
SCALE = ("number_of_nodes", "accelerators_per_node")
_decoder = json.JSONDecoder()


class LoggedSystem(msgspec.Struct, frozen=True, array_like=True):
    """What a log says of its system: some fields of the first ``:::SYSJSON`` that can be read.

    ``ranks`` is the number of processes that log records, where all from 0 on have their number before one; else 0.
    """

    fields: dict[str, str] = {}
    ranks: int = 0


class SystemReader:
    """Takes the first bytes of a log, in pieces of any size; :meth:`finish` gives what they say."""

    def __init__(self) -> None:
        self._head = b""
        #: What was found, and in how many bytes: a run is asked for several times.
        self._found: tuple[int, LoggedSystem] = (0, LoggedSystem())

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if len(self._head) < _MOST:
            self._head += piece[: _MOST - len(self._head)]

    def finish(self) -> LoggedSystem:
        """Return what was said so far."""
        if self._found[0] != len(self._head):
            self._found = (len(self._head), _read_system(self._head))
        return self._found[1]


def _read_system(head: bytes) -> LoggedSystem:
    texts = head.split(_TOKEN, _TRIES)[1:] if holds(head, _RARE) else []
    read = (_fields(text[:_LONGEST].decode("latin-1")) for text in texts)
    fields = next((one for one in read if one is not None), {})
    return LoggedSystem(fields, _count_processes(head))


def _count_processes(head: bytes) -> int:
    """Return how many processes log records, where each from 0 on has its number before one; else 0."""
    # Most logs name none: where the last record has no number before it, the others are not looked at.
    if not head.startswith(_AFTER_RANK, max(head.rfind(TOKEN) - 2, 0)):
        return 0
    ranks = {int(rank) for rank in _RANKED.findall(head)}
    return len(ranks) if ranks == set(range(len(ranks))) else 0


def _fields(text: str) -> dict[str, str] | None:
    """The fields of a description that text begins with, whatever follows it; None where there is none."""
    try:
        content: Any = _decoder.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return {name: str(content[name])[:_LONGEST_VALUE] for name in SCALE if isinstance(content.get(name), int | str)}
