"""A case in a folder of its own: its old and new state, its calls, and a process with a fault in it."""

from __future__ import annotations

import io
import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

from tests.campaigns.faults.case import SCRATCH, Case, Judged, State, View, everything_in, matches
from tests.campaigns.faults.layer import WRITING, Ended, Fault, Kind, Mode, Op, Process, recorded

#: What no reader of the place takes for a leftover: locks that a live process may hold, and bytecode.
_PASSED_OVER = ("*/__pycache__*", SCRATCH)


class BrokenError(Exception):
    """A fault left what must not be."""


class Tally:
    """What came of faults: how many of each, the states, the leftovers that were cleaned, and what is wrong."""

    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()
        self.states: Counter[State] = Counter()
        self.cleaned = 0
        self.broken: list[str] = []

    def add(self, fault: str, judged: Judged) -> None:
        """Count a fault and the state that it left."""
        self.faults[fault] += 1
        self.states[judged.state] += 1


class Known(NamedTuple):
    """A call that nothing disturbs: how it ended, and all there is afterwards."""

    ended: Ended
    everything: View


class Place:
    """A case that is prepared: each try begins with a copy of the old state.

    Args:
        case: the case.
        base: an empty folder.

    Raises:
        BrokenError: the command fails although nothing disturbs it.
    """

    def __init__(self, case: Case, base: Path) -> None:
        self.case = case
        self.folder = base / "work"
        self.template, self._log = base / "template", base / "calls"
        self.template.mkdir(parents=True)
        (self.template / SCRATCH).mkdir()
        case.prepare(self.template)
        self.old = everything_in(self.template)
        self._load()
        self.tally = Tally()
        self.new = self.undisturbed()
        self.ops, self.recorded = self._record()
        self.calls = self.ops[-1].number + 1

    def _load(self) -> None:
        """Load what the command needs into this process, which all others are forked from."""
        self.fresh()
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
                self.case.run()
        finally:
            os.chdir(here)

    def fresh(self) -> None:
        """Put the old state in place."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder, symlinks=True)

    def start(self, fault: Fault, work: Callable[[], object] | None = None, log: Path | None = None) -> Process:
        """Start a process with a fault in the folder as it is."""
        return Process(work or self.case.run, self.folder, fault, log)

    def undisturbed(self, change: Callable[[Path], object] = lambda _: None) -> Known:
        """What comes of the call when nothing disturbs it."""
        self.fresh()
        change(self.folder)
        ended = self.start(Fault()).end()
        if ended.status not in self.case.statuses:
            raise BrokenError(f"{self.case.name} fails by itself: {ended}")
        return Known(ended, everything_in(self.folder))

    def _record(self) -> tuple[list[Op], View]:
        self.fresh()
        ended = self.start(Fault(Mode.RECORD), log=self._log).end()
        if ended.status not in self.case.statuses:
            raise BrokenError(f"{self.case.name} fails when it is recorded: {ended}")
        return recorded(self._log), everything_in(self.folder)

    @property
    def writing(self) -> list[Op]:
        """The calls that change something, or bring it to the disk."""
        return [op for op in self.ops if op.kind & WRITING]

    def judged(self, found: View | None = None, *, same_run: bool = False) -> Judged:
        """The state of what is kept, in the folder or as it is given."""
        of, normal = self.case.view_of, not same_run
        new = self.recorded if same_run else self.new.everything
        found = everything_in(self.folder) if found is None else found
        return self.case.judge(of(found, normal=normal), of(self.old, normal=normal), of(new, normal=normal))

    def leftovers(self) -> list[str]:
        """The topmost paths that neither the old state nor the new one has."""
        known = {*self.old, *self.new.everything}
        strange = {
            path
            for path in everything_in(self.folder)
            if path not in known
            and not matches(path, (*self.case.beside, *_PASSED_OVER))
            and (".mlsub-" in path or not matches(path, self.case.kept))
        }
        return sorted(path for path in strange if os.path.dirname(path) not in strange)  # noqa: PTH120

    def go_on(self, what: str) -> None:
        """Make the next call, which must end well, clean up, and say what it cleans."""
        left = self.leftovers()
        ended = self.start(Fault(), self.case.run_again).end()
        if ended.status not in self.case.statuses or _shows_a_defect(ended):
            self.fail(what, f"the next call ended with {ended.status}: {ended.err[-400:]}")
            return
        if self.case.says and ended.out != self.new.ended.out:
            self.fail(what, f"the next call says something else: {ended.out[:300]}")
        judged = self.judged()
        if judged.state is not State.NEW and not self.case.says:
            self.fail(what, f"after the next call the state is {judged.state}: {judged.why}")
        if still := self.leftovers():
            self.fail(what, f"the next call leaves {', '.join(still)}")
        said = ended.err.replace("\n", " ")
        if silent := [path for path in left if Path(path).name not in said]:
            self.fail(what, f"the next call does not name {', '.join(silent)}: {ended.err!r}")
        self.tally.cleaned += len(left)

    def fail(self, what: str, why: str) -> None:
        """Record that something is wrong."""
        self.tally.broken.append(f"{self.case.name}, {what}: {why}")

    def note(self, fault: str, what: str, judged: Judged) -> None:
        """Count a fault; a broken state is wrong."""
        self.tally.add(fault, judged)
        if judged.state is State.BROKEN:
            self.fail(what, judged.why)

    def input_paths(self) -> list[Op]:
        """The calls that look at or open what the command only reads."""
        return [op for op in self.ops if op.what in ("look", "open") and op.result >= 0 and self._is_input(op)]

    def input_calls(self) -> dict[int, str]:
        """The calls that look at, list, open or read what the command only reads, with the path."""
        found: dict[int, str] = {}
        ends = [*(op.number for op in self.ops[1:]), self.calls]
        for op, end in zip(self.ops, ends, strict=True):
            if self._is_input(op):
                reads = range(op.number + 1, end) if op.what == "open" else ()
                found |= dict.fromkeys((op.number, *reads), os.path.relpath(op.one, self.folder.resolve()))
        return found

    def _is_input(self, op: Op) -> bool:
        if op.kind not in (Kind.LOOK, Kind.READ) or not op.one:
            return False
        return matches(os.path.relpath(op.one, self.folder.resolve()), self.case.inputs)


def lay_out(place: Place, found: View) -> None:
    """Make the folder hold what a disk holds after a power cut."""
    folder = place.folder
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in sorted({"": None, **found}.items()):
        file = folder / path
        if content is None:
            file.mkdir()
        elif content.startswith(b"link:"):
            file.symlink_to(os.fsdecode(content[5:]))
        else:
            file.write_bytes(content)
            if place.old.get(path) == content:
                shutil.copystat(place.template / path, file)


def _shows_a_defect(ended: Ended) -> bool:
    return "Traceback" in ended.err or "defect of mlsub" in ended.err


def orderly(ended: Ended) -> str | None:
    """Why an end is not one that a fault may lead to; None where it is: 0 to 2, and 2 with a reason."""
    if _shows_a_defect(ended):
        return f"a traceback: {ended.err[-600:]}"
    if ended.status not in (0, 1, 2):
        return f"it ended with {ended.status}: {ended.err[-300:]}"
    if ended.status == 2 and not ended.err.strip():
        return "it ended with 2 and said nothing"
    return None


def spread(count: int, among: list[int]) -> list[int]:
    """At most so many of the numbers, evenly spread, the first and the last among them."""
    if len(among) <= count:
        return list(among)
    return sorted({among[round(at * (len(among) - 1) / max(count - 1, 1))] for at in range(count)})
