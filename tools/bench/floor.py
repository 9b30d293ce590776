"""The least that any reader of result logs does: open each log, find the tokens, decode each record.

    python tools/bench/floor.py TREE            read every result log below TREE
    python tools/bench/floor.py --write N FILE  write N records, each at once in the file

What mlsub costs is measured as a multiple of this. It imports nothing but msgspec, so TREE may be an empty folder: then
it is what starting costs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

TOKEN = b":::MLLOG "


class Record(msgspec.Struct, gc=False):
    """One record, of any value."""

    time_ms: float
    key: object
    value: object
    metadata: object
    event_type: object = None
    namespace: object = None


def logs(tree: str) -> Iterator[str]:
    """The result logs of every system and benchmark below a folder: ``results/SYSTEM/BENCHMARK``."""
    for folder, _, names in os.walk(tree):
        above = Path(folder).parent
        if above.name in ("strong", "weak"):
            above = above.parent
        if above.parent.name == "results":
            yield from (f"{folder}/{name}" for name in names if name.startswith("result_") and name.endswith(".txt"))


def read(tree: str) -> tuple[int, int]:
    """How many logs there are below a folder, and how many records they have."""
    decode = msgspec.json.Decoder(Record).decode
    files = records = 0
    for file in logs(tree):
        files += 1
        for part in Path(file).read_bytes().split(TOKEN)[1:]:
            try:
                decode(part[: part.find(b"\n")])
                records += 1
            except msgspec.MsgspecError:
                pass
    return files, records


def write(records: int, file: str) -> None:
    """Write so many records, each of which is there if the process dies behind it."""
    encode = msgspec.json.Encoder().encode
    with Path(file).open("wb", buffering=0) as stream:
        for number in range(records):
            record = Record(time.time_ns() // 1_000_000, "throughput", 1.5, {"step": number}, "POINT_IN_TIME", "")
            stream.write(TOKEN + encode(record) + b"\n")


def main(words: list[str]) -> None:
    """Do what the words ask for."""
    if words[0] == "--write":
        write(int(words[1]), words[2])
    else:
        print("{} logs, {} records".format(*read(words[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
