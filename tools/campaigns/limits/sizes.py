"""What is large: how each is made, which command reads it, and what its answer has to be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.support.make_tree import Tree, make_log, make_tree

#: How a broken record reads: one finding each.
BROKEN = b':::MLLOG {"time_ms": 1, "key": "x\n'
_STDERR = b"step 1000: loss 0.125, 3.1 it/s, :: not a record ::, " + b"." * 150 + b"\n"
_RECORD = (
    b':::MLLOG {"namespace": "", "time_ms": 1620000001000, "event_type": "POINT_IN_TIME", "key": "note", '
    b'"value": 1, "metadata": {}}\n'
)


@dataclass(frozen=True)
class Size:
    """Something large.

    Attributes:
        what: in words, with its number.
        make: puts it into a folder, and gives the words of the command that reads it.
        status: the exit status of that command.
        says: the answer holds each of these texts.
        megabytes: of memory that the command and each of its processes may take, at most.
        answer: the most bytes of the answer.
    """

    what: str
    make: Callable[[Path], tuple[str, ...]]
    status: int
    says: tuple[bytes, ...]
    megabytes: int
    answer: int


def long_log(folder: Path, size: int) -> tuple[str, ...]:
    """A compliant log with this many bytes of other output and of records before its last line."""
    file = folder / "result_0.txt"
    first, _, last = make_log("resnet").text().encode().rstrip(b"\n").rpartition(b"\n")
    block = (_STDERR * 9 + _RECORD) * 5_000
    with file.open("wb") as stream:
        stream.write(first + b"\n")
        for _ in range(size // len(block)):
            stream.write(block)
        stream.write(last + b"\n")
    return ("check", str(file), "--round", "1.0", "--no-cache")


def many_defects(folder: Path, logs: int, each: int) -> tuple[str, ...]:
    """A package whose logs have this many broken records each."""
    tree = make_tree(folder)
    for number in range(logs):
        entry = tree.entry("resnet", f"rack{number // 5 + 2}")
        entry.mkdir(parents=True, exist_ok=True)
        text = make_log("resnet", run=number % 5, system=entry.parent.name).text().encode()
        (entry / f"result_{number % 5}.txt").write_bytes(text + BROKEN * each)
    return ("check", str(tree.folder), "--no-cache")


def many_logs(folder: Path, logs: int) -> tuple[str, ...]:
    """Entries of compliant logs, five each."""
    tree = Tree(folder / "v1.0" / "ACME")
    for number in range(logs // 5):
        system = f"rack{number}"
        tree.add_system(system, system_name=system)
        entry = tree.entry("resnet", system)
        entry.mkdir(parents=True)
        for run in range(5):
            (entry / f"result_{run}.txt").write_text(make_log("resnet", run=run, system=system).text())
    return ("check", str(tree.folder), "--no-cache")


def many_descriptions(folder: Path, systems: int) -> tuple[str, ...]:
    """A package with one entry and this many system descriptions."""
    tree = make_tree(folder)
    content = tree.description().read_bytes()
    for number in range(systems - 1):
        tree.description(f"other{number}").write_bytes(content)
    return ("check", str(tree.folder), "--no-cache")


def sizes(gigabytes: int = 1) -> tuple[Size, ...]:
    """What ``make campaigns`` measures."""
    return (
        Size(
            f"a log of {gigabytes} GB",
            lambda folder: long_log(folder, gigabytes * 1_000_000_000),
            0,
            (b"accepted",),
            100,
            10_000,
        ),
        Size(
            "100,000 defects in one log",
            lambda folder: (*_one_log(folder, 100_000),),
            1,
            (b"99980 more like it", b"log.record-undecodable"),
            100,
            10_000,
        ),
        Size(
            "100,000 findings in 5,000 logs",
            lambda folder: many_defects(folder, 5_000, 20),
            1,
            (b"1004 findings in 107000 places", b"and 950 more findings of this rule", b"800 rejected entries are not"),
            500,
            100_000,
        ),
        Size(
            "20,000 logs",
            lambda folder: many_logs(folder, 20_000),
            0,
            (b"20000 of 20000 logs compliant", b"4000 accepted entries are not listed"),
            500,
            100_000,
        ),
        Size(
            "10,000 system descriptions",
            lambda folder: many_descriptions(folder, 10_000),
            0,
            (b"10000 of 10000 system descriptions accepted",),
            300,
            10_000,
        ),
    )


def _one_log(folder: Path, defects: int) -> tuple[str, ...]:
    file = folder / "result_0.txt"
    file.write_bytes(make_log("resnet").text().encode() + BROKEN * defects)
    return ("check", str(file), "--round", "1.0", "--no-cache")


def emptied(folder: Path) -> Path:
    """A folder without anything in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
