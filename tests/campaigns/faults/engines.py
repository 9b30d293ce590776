"""The faults that each command is put through: kills, errors of the system, power cuts."""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from collections.abc import Callable, Iterator

from tests.campaigns.faults.case import State, View
from tests.campaigns.faults.layer import WRITING, Fault, Kind, Mode
from tests.campaigns.faults.overlaps import overlap, turn_back, vanish
from tests.campaigns.faults.place import Place, lay_out, orderly, spread
from tests.campaigns.faults.power import Disk, Loss

#: Errors of the system: the calls that they meet, and whether all later ones meet them too.
ERRORS: tuple[tuple[int, Kind, bool], ...] = (
    (errno.ENOSPC, Kind.CREATE | Kind.WRITE | Kind.SYNC, True),
    (errno.EDQUOT, Kind.CREATE | Kind.WRITE | Kind.SYNC, True),
    (errno.EIO, Kind.WRITE | Kind.SYNC | Kind.READ, False),
    (errno.EROFS, Kind.CREATE | Kind.WRITE | Kind.REMOVE | Kind.CHANGE, True),
    (errno.EACCES, Kind.CREATE | Kind.READ | Kind.REMOVE | Kind.CHANGE, False),
)


def kill(place: Place, count: int, draw: random.Random) -> None:
    """Kill the command at so many points, and make the next call after each.

    First at each call that writes, by both signals, and in the middle of what is written; then at other calls; where
    the command makes few, at any moment.
    """
    points = _points(place, count)
    for mode, at in points:
        place.fresh()
        ended = place.start(Fault(mode, at)).end()
        what = f"{mode.name} at call {at}"
        if ended.status >= 0 and at < place.calls:
            _check_end(place, what, ended.status, orderly(ended))
        place.note("kills", what, place.judged())
        place.go_on(what)
    started = time.perf_counter()
    place.undisturbed()
    usual = time.perf_counter() - started
    for number in range(count - len(points)):
        place.fresh()
        process = place.start(Fault())
        time.sleep(draw.uniform(0, usual))
        os.kill(process.pid, (signal.SIGKILL, signal.SIGTERM)[number % 2])
        process.end()
        place.note("kills", f"killed at some moment, number {number}", place.judged())
        place.go_on(f"killed at some moment, number {number}")


def _check_end(place: Place, what: str, status: int, wrong: str | None) -> None:
    """A process that ended although it was to be killed made fewer calls than usual; it must have ended well."""
    if wrong or status not in place.case.statuses:
        place.fail(what, wrong or f"it ended with {status}")


def _points(place: Place, count: int) -> list[tuple[Mode, int]]:
    writing = [op.number for op in place.writing]
    writes = [op.number for op in place.writing if op.kind is Kind.WRITE]
    renames = [op.number for op in place.writing if op.what in ("rename", "link", "rmdir")]
    first = [(Mode.KILL, at) for at in writing] + [(Mode.TORN, at) for at in writes]
    if len(first) > count:
        half = count // 2
        first = [(Mode.KILL, at) for at in sorted({*spread(half, renames), *spread(half, writing)})]
        first += [(Mode.TORN, at) for at in spread(max(count - len(first), 10), writes)]
        return first
    first += [(Mode.TERM, at) for at in spread(count - len(first), writing)]
    others = sorted({*range(place.calls)} - {*writing})
    return first + [(Mode.KILL, at) for at in spread(count - len(first), others)]


def fail(place: Place, count: int) -> None:
    """Let calls fail as a full, closed or broken disk makes them fail, so many in all."""
    each = max(count // len(ERRORS), 1)
    # Of what the command itself has written; an input that cannot be read is another answer (see vanish and refuse).
    inputs = {op.number for op in place.input_paths()}
    read = {op.number for op in place.ops if op.what == "open" and op.kind is Kind.READ} - inputs
    for error, kinds, stays in ERRORS:
        wanted = [op.number for op in place.ops if op.kind & kinds and (op.kind & WRITING or op.number in read)]
        for at in spread(each, sorted({*wanted})):
            what = f"{errno.errorcode[error]} at call {at}"
            place.fresh()
            ended = place.start(Fault(Mode.FAIL, at, error, kinds, stays)).end()
            judged = place.judged()
            place.note("errors", what, judged)
            if wrong := orderly(ended):
                place.fail(what, wrong)
            elif ended.status == 0 and judged.state is not State.NEW and place.case.name != "cache":
                place.fail(what, f"it ended with 0, and the state is {judged.state}: {judged.why}")
            place.go_on(what)


def refuse(place: Place, count: int) -> None:
    """Let calls fail that look at an input or read it, so many in all, of a command that answers by what it prints.

    What it takes for missing then must not pass without a word, and the next call must know nothing of it.
    """
    calls = place.input_calls() if place.case.says else {}
    for error in (errno.EIO, errno.EACCES):
        for at in spread(count // 2, sorted(calls)):
            path, what = calls[at], f"{errno.errorcode[error]} at call {at}, of {calls[at]}"
            place.fresh()
            ended = place.start(Fault(Mode.FAIL, at, error, Kind.LOOK | Kind.READ)).end()
            place.note("errors", what, place.judged())
            said = ended.out + ended.err
            if wrong := orderly(ended):
                place.fail(what, wrong)
            elif ended.out != place.new.ended.out and (
                os.strerror(error) not in said or os.path.basename(path) not in said  # noqa: PTH119
            ):
                place.fail(what, f"it ended with {ended.status}, and does not say what it could not look at")
            place.go_on(what)


def cut_power(place: Place, count: int, draw: random.Random) -> None:
    """Replay the recorded calls, with a power cut after each that writes; make the next call after some of them."""
    disk = Disk(str(place.folder.resolve()), place.old)
    cuts = {op.number for op in place.writing}
    last = place.ops[-1].number
    tried: list[tuple[str, View]] = []
    for op in place.ops:
        changed = disk.make(op)
        if not (changed and op.number in cuts) and op.number != last:
            continue
        for loss in Loss:
            what = f"power cut after call {op.number} ({op.what}), {loss}"
            found = disk.after(loss, draw)
            judged = place.judged(found, same_run=True)
            place.note("power cuts", what, judged)
            if op.number == last and judged.state is not State.NEW and place.case.name != "cache":
                place.fail(what, f"the command has ended, and the state is {judged.state}: {judged.why}")
            tried.append((what, found))
    for what, found in draw.sample(tried, min(count, len(tried))):
        lay_out(place, found)
        place.go_on(what)


def everything(count: int, seed: int, name: str) -> Iterator[tuple[str, Callable[[Place], None]]]:
    """Each kind of fault by its name, with what puts a command through it."""
    draw = random.Random(f"{seed} {name}")
    yield "kills", lambda place: kill(place, count, draw)
    yield "errors", lambda place: (fail(place, count), refuse(place, 2 * count))[0]
    yield "power cuts", lambda place: cut_power(place, max(count // 5, 1), draw)
    yield "two at once", lambda place: overlap(place, max(count // 10, 1))
    yield "vanished", lambda place: vanish(place, max(count // 5, 1))
    yield "clock", lambda place: turn_back(place, max(count // 20, 1))
