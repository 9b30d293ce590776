"""Some faults for some commands; ``make campaigns`` has all of them. And writers with a defect, which must be found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.campaigns.faults.layer import why_not
from tests.campaigns.faults.unsafe import FOUND
from tests.commands.runner import REPOSITORY
from tests.effort import HUNG, effort

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

#: One for each way of writing: a file, several files in place, a folder, and a log.
COMMANDS = ("system new", "redact", "pack", "emit")


def call(*words: str) -> tuple[int, list[str], list[str]]:
    """The status of a campaign, the rows of its table, and what it found broken."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.faults", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    return done.returncode, [line for line in lines if line.startswith("| `")], [x for x in lines if x[:2] == "- "]


def named(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("--only", name)]


def test_every_way_of_writing_leaves_the_old_state_or_the_new_one() -> None:
    status, rows, broken = call("--kills", str(effort(5, 60)), *named(COMMANDS))
    assert broken == []
    assert status == 0
    assert {row.split("`")[1] for row in rows} == {*COMMANDS}
    for row in rows:
        kills, errors, cuts = map(int, row.split("|")[2:5])
        assert min(kills, errors, cuts) >= 5, row


def test_no_check_takes_what_it_cannot_look_at_for_missing_or_remembers_it() -> None:
    words = ("--faults", "errors", "--kills", str(effort(8, 400)))
    status, rows, broken = call(*words, *named(("check", "cache")))
    assert broken == []
    assert status == 0
    assert [int(row.split("|")[3]) >= 16 for row in rows] == [True, True], rows


def test_a_writer_or_reader_with_a_defect_is_found() -> None:
    status, rows, broken = call("--cases", "tests.campaigns.faults.unsafe", "--kills", str(effort(10, 60)))
    assert status == 1
    assert len(rows) == len(FOUND)
    for name, says in FOUND.items():
        assert any(line.startswith(f"- {name}, ") and says in line for line in broken), (name, broken)
