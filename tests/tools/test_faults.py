"""One command for each way of writing, and writers with a defect, which are found; ``make campaigns`` has all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.campaigns.faults.cases import CASES
from tools.campaigns.faults.engine import Case, each, put_through, whole
from tools.support.effort import effort

#: A file, several files in place, a folder, a log, and a file with others beside it.
COMMANDS = ("system new", "redact", "pack", "emit", "seal")
_OLD, _NEW = b"old\n" * 1000, b"new\n" * 1000


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.name in COMMANDS], ids=lambda case: case.name)
def test_a_command_leaves_the_old_state_or_the_new_one(case: Case) -> None:
    place = put_through(case, effort(8, 200))
    assert place.broken == []
    # The recorder opens its log and synchronises the folder and the log: three calls to be killed at.
    assert place.counts["kills"] >= (5 if case.work is None else 3) and place.counts["errors"] >= 5
    if case.work is None:  # what is renamed is on the disk before, and its name after, so that it outlasts a power cut
        last = max(at for at, call in enumerate(place.calls) if call.startswith("os.rename"))
        assert any(call.startswith("fsync") for call in place.calls[:last])
        assert any(call.startswith("fsync") for call in place.calls[last:])


def _prepare(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / name).write_bytes(_OLD)


def _put(name: str, part: str = "part") -> None:
    Path(part).unlink(missing_ok=True)
    with Path(part).open("xb") as stream:
        stream.write(_NEW)
        os.fsync(stream.fileno())
    Path(part).replace(name)


def _in_place() -> None:
    Path("one").write_bytes(_NEW)


def _leaves_its_part() -> None:
    _put("one", f".mlsub-{os.urandom(8).hex()}.part")


def _one_after_the_other() -> None:
    _put("one")
    _put("other")


def _swallows_errors() -> None:
    try:
        _put("one")
    except OSError:
        return


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "judge", "says"),
    [
        (_in_place, each, "one is neither old nor new"),
        (_leaves_its_part, whole, ".mlsub-"),
        (_one_after_the_other, whole, "neither old nor new: other"),
        (_swallows_errors, whole, "it ended with 0, and the state is old"),
    ],
)
def test_a_writer_with_a_defect_is_found(work: Callable[[], None], judge: Callable[..., object], says: str) -> None:
    case = Case(work.__name__, _prepare, (), ("one", "other"), judge, work=work, beside=("part",))
    assert any(says in one for one in put_through(case, 8).broken)
