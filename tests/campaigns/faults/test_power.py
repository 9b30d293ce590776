"""What the model of a disk holds after a power cut."""

from __future__ import annotations

import os
import random

import pytest

from tests.campaigns.faults.layer import Kind, Op
from tests.campaigns.faults.power import Disk, Loss

ROOT = "/work"
OLD, NEW = b"old content", b"new content, which is longer"


def op(what: str, a: int = 0, b: int = 0, one: str = "", two: str = "", data: bytes = b"") -> Op:
    one, two = (f"{ROOT}/{name}" if name else "" for name in (one, two))
    return Op(0, Kind.WRITE, what, a, b, 0, one, two, data)


FOLDER = op("open", 9, os.O_RDONLY, ".")._replace(one=ROOT)
CREATED = [op("open", 3, os.O_CREAT | os.O_EXCL | os.O_WRONLY, "part"), op("write", 3, 0, data=NEW)]
SYNCED = [*CREATED, op("sync", 3), op("close", 3)]
RENAMED = op("rename", one="part", two="file")
SETTLED = [FOLDER, op("sync", 9)]
EXCHANGED = op("rename", b=2, one="new", two="file")


Content = dict[str, bytes | None]


def after(calls: list[Op], loss: Loss, start: Content | None = None, seed: int = 0) -> Content:
    disk = Disk(ROOT, {"file": OLD} if start is None else start)
    for call in calls:
        disk.make(call)
    return dict(disk.after(loss, random.Random(seed)))


@pytest.mark.parametrize(
    ("calls", "loss", "expected"),
    [
        ([*CREATED, RENAMED], Loss.EMPTY, {"file": b""}),
        ([*CREATED, RENAMED], Loss.ZEROS, {"file": bytes(len(NEW))}),
        ([*CREATED, RENAMED], Loss.HALF, {"file": NEW[: len(NEW) // 2]}),
        ([*CREATED, RENAMED], Loss.STRICT, {"file": OLD}),
        # A folder may be on the disk before what lies in it.
        ([*CREATED, RENAMED, *SETTLED], Loss.STRICT, {"file": b""}),
        ([*SYNCED, RENAMED], Loss.EMPTY, {"file": NEW}),
        ([*SYNCED, RENAMED], Loss.STRICT, {"file": OLD}),
        ([*SYNCED, RENAMED, *SETTLED], Loss.STRICT, {"file": NEW}),
        ([*SYNCED, RENAMED, *SETTLED, op("unlink", one="file")], Loss.STRICT, {"file": NEW}),
        ([*SYNCED, RENAMED, *SETTLED, op("unlink", one="file")], Loss.EMPTY, {}),
        ([op("open", 3, os.O_WRONLY | os.O_TRUNC, "file")], Loss.EMPTY, {"file": b""}),
        ([op("open", 3, os.O_WRONLY, "file"), op("write", 3, len(OLD), data=b"+")], Loss.EMPTY, {"file": OLD}),
        ([op("open", 3, os.O_WRONLY, "file"), op("write", 3, len(OLD), data=b"+")], Loss.ZEROS, {"file": OLD + b"\0"}),
        ([op("open", 3, os.O_WRONLY, "file"), op("truncate", 3, 3), op("sync", 3)], Loss.EMPTY, {"file": OLD[:3]}),
        ([op("link", one="file", two="again"), op("unlink", one="file"), *SETTLED], Loss.STRICT, {"again": OLD}),
    ],
)  # fmt: skip
def test_what_was_not_brought_to_the_disk_is_lost(calls: list[Op], loss: Loss, expected: Content) -> None:
    assert after(calls, loss) == expected


def test_two_names_that_are_exchanged_stay_two() -> None:
    start: Content = {"file": OLD, "new": NEW}
    assert after([EXCHANGED], Loss.EMPTY, start) == {"file": NEW, "new": OLD}
    assert after([EXCHANGED], Loss.STRICT, start) == start
    assert after([EXCHANGED, *SETTLED], Loss.STRICT, start) == {"file": NEW, "new": OLD}


def test_a_removal_may_reach_the_disk_before_a_rename_between_folders() -> None:
    """The reason why the old folder is removed only when the name of the new one is on the disk."""
    start: Content = {
        "final": None,
        "final/a": OLD,
        "staging": None,
        "staging/x": None,
        "staging/x/a": NEW,
    }
    calls = [
        op("rename", b=2, one="staging/x", two="final"),
        op("unlink", one="staging/x/a"),
        op("open", 5, os.O_RDONLY, "staging/x"),
        op("sync", 5),
    ]
    assert after(calls, Loss.STRICT, start) == {"final": None, "staging": None, "staging/x": None, "staging/x/a": NEW}


def test_of_each_folder_some_changes_are_there_in_their_order() -> None:
    calls = [op("mkdir", one=name) for name in ("a", "b", "c")]
    seen = {tuple(sorted(after(calls, Loss.SOME, {}, seed))) for seed in range(50)}
    assert seen == {(), ("a",), ("a", "b"), ("a", "b", "c")}


def test_a_call_that_failed_changes_nothing() -> None:
    assert after([op("unlink", one="file")._replace(result=-1)], Loss.EMPTY) == {"file": OLD}
