"""Measure what is large, and print a table: ``python -m tools.campaigns.limits [--gigabytes N] [WORD ...]``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.support.make_tree import Tree, make_log, make_tree
from tools.support.runner import REPOSITORY

#: A broken record: one finding each.
BROKEN = b':::MLLOG {"time_ms": 1, "key": "x\n'
_STDERR = b"step 1000: loss 0.125, 3.1 it/s, :: not a record ::, " + b"." * 150 + b"\n"
_RECORD = (
    b':::MLLOG {"namespace": "", "time_ms": 1620000001000, "event_type": "POINT_IN_TIME", "key": "note", '
    b'"value": 1, "metadata": {}}\n'
)


class Size(NamedTuple):
    """Something large.

    ``make`` puts it into a folder, and gives the path that ``check`` reads, which ends with ``status`` and says each of
    the texts in ``says``; each of its processes takes at most so many ``megabytes`` of memory, and its answer so many
    bytes.
    """

    what: str
    make: Callable[[Path], Path]
    status: int
    says: tuple[bytes, ...]
    megabytes: int
    answer: int


def long_log(folder: Path, size: int) -> Path:
    """A compliant log with this many bytes of other output and of records before its last line."""
    first, _, last = make_log("resnet").text().encode().rstrip(b"\n").rpartition(b"\n")
    block = (_STDERR * 9 + _RECORD) * 5_000
    with (folder / "result_0.txt").open("wb") as stream:
        stream.write(first + b"\n")
        for _ in range(size // len(block)):
            stream.write(block)
        stream.write(last + b"\n")
    return folder / "result_0.txt"


def broken_log(folder: Path, defects: int) -> Path:
    """A log with this many broken records."""
    (folder / "result_0.txt").write_bytes(make_log("resnet").text().encode() + BROKEN * defects)
    return folder / "result_0.txt"


def many_logs(tree: Tree, systems: range, broken: int = 0) -> Path:
    """Entries of five logs, each with this many broken records."""
    for system in (f"rack{number}" for number in systems):
        tree.entry("resnet", system).mkdir(parents=True)
        for run in range(5):
            text = make_log("resnet", run=run, system=system).text().encode()
            tree.log(run, "resnet", system).write_bytes(text + BROKEN * broken)
    return tree.folder


def compliant_logs(folder: Path, logs: int) -> Path:
    """Entries of described systems, which are accepted."""
    tree, systems = Tree(folder / "v1.0" / "ACME"), range(logs // 5)
    for number in systems:
        tree.add_system(f"rack{number}", system_name=f"rack{number}")
    return many_logs(tree, systems)


def many_descriptions(folder: Path, systems: int) -> Path:
    """A package with one entry and this many system descriptions."""
    tree = make_tree(folder)
    content = tree.description().read_bytes()
    for number in range(systems - 1):
        tree.description(f"other{number}").write_bytes(content)
    return tree.folder


def sizes(gigabytes: int) -> Iterator[Size]:
    """What ``make campaigns`` measures."""
    long = f"a log of {gigabytes} GB"
    yield Size(long, lambda folder: long_log(folder, gigabytes * 1_000_000_000), 0, (b"accepted",), 100, 10_000)
    says: tuple[bytes, ...] = (b"99980 more like it", b"log.record-undecodable")
    yield Size("100,000 defects in one log", lambda folder: broken_log(folder, 100_000), 1, says, 100, 10_000)
    says = (b"1004 findings in 107000 places", b"and 950 more findings of this rule", b"800 rejected entries are not")
    yield Size(
        "100,000 findings in 5,000 logs",
        lambda folder: many_logs(make_tree(folder), range(2, 1_002), 20),
        *(1, says, 500, 100_000),
    )
    says = (b"20000 of 20000 logs compliant", b"4000 accepted entries are not listed")
    yield Size("20,000 logs", lambda folder: compliant_logs(folder, 20_000), 0, says, 500, 100_000)
    says = (b"10000 of 10000 system descriptions accepted",)
    yield Size("10,000 system descriptions", lambda folder: many_descriptions(folder, 10_000), 0, says, 300, 10_000)


def measure(size: Size) -> tuple[str, list[str]]:
    """Make it, and read it in a process of its own: a row of the table, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "answer").open("w+b") as answer:
        path = size.make(Path(folder))
        words = [sys.executable, "-m", "mlsub", "check", str(path), "--no-cache"]
        words += ["--round", "1.0"] if path.is_file() else []
        begin = time.perf_counter()
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}
        actions = [(os.POSIX_SPAWN_DUP2, answer.fileno(), number) for number in (1, 2)]
        _, ended, used = os.wait4(os.posix_spawn(sys.executable, words, environment, file_actions=actions), 0)
        took = time.perf_counter() - begin
        answer.seek(0)
        said = answer.read()
    status, megabytes = os.waitstatus_to_exitcode(ended), used.ru_maxrss >> 10
    wrong = {f"does not say {text.decode()!r}": text not in said for text in size.says} | {
        f"exit status {status}, expected {size.status}: {said[-300:].decode(errors='replace')!r}": status
        != size.status,
        f"{megabytes} MiB of memory, expected {size.megabytes} at most": megabytes > size.megabytes,
        f"an answer of {len(said)} bytes, expected {size.answer} at most": len(said) > size.answer,
        "a traceback": b"Traceback" in said,
    }
    row = f"| {size.what} | {took:.1f} | {used.ru_utime + used.ru_stime:.1f} | {megabytes} | {len(said):,} |"
    return row, [f"{size.what}: {flaw}" for flaw, there in wrong.items() if there]


def main() -> int:
    """Measure all, or those with one of the words in their name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--gigabytes", type=int, default=1)
    asked = parser.parse_args()
    print("| input | seconds | CPU seconds | peak memory, MiB | answer, bytes |\n|---|---|---|---|---|", flush=True)
    flaws = []
    for size in sizes(asked.gigabytes):
        if not asked.words or any(word in size.what for word in asked.words):
            row, wrong = measure(size)
            print(row, flush=True)
            flaws += wrong
    print(*flaws, sep="\n", end="\n" if flaws else "")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
