"""Two processes at once, files that vanish between a look and a reading, and a clock that goes backwards."""

from __future__ import annotations

import os
import select

from tests.campaigns.faults.case import Judged, State, View, everything_in
from tests.campaigns.faults.layer import Ended, Fault, Mode, Process
from tests.campaigns.faults.place import Place, lay_out, orderly, spread

#: Seconds for which the second process is left alone with the first, which is stopped and may hold what it waits for.
#: No verdict depends on it.
_ALONE = 0.5
_DAY = 86_400


def overlap(place: Place, count: int) -> None:
    """Stop a process at so many of its calls, let a second one do the same from changed input, and let it go on."""
    change = place.case.change
    other = place.undisturbed(change)
    for op in _chosen(place, count):
        what = f"a second process while the first stops at call {op}"
        place.fresh()
        first = place.start(Fault(Mode.PAUSE, op))
        if not first.wait_for_pause():
            first.end()
            continue
        change(place.folder)
        second = place.start(Fault())
        _wait(second)
        first.go_on()
        ends = first.end(), second.end()
        for ended in ends:
            if wrong := orderly(ended):
                place.fail(what, wrong)
        judged = _either(place, other.everything)
        place.note("two at once", what, judged)
        _go_on_from(place, what, other.everything)


def _chosen(place: Place, count: int) -> list[int]:
    named = [op.number for op in place.writing if op.what in ("rename", "link", "unlink")]
    return sorted({*spread(count // 2, named), *spread(count - count // 2, [op.number for op in place.writing])})


def _wait(process: Process) -> None:
    """Wait a while for the end of a process."""
    opened = os.pidfd_open(process.pid)
    select.select([opened], [], [], _ALONE)
    os.close(opened)


def _either(place: Place, other: View) -> Judged:
    """The state of what is kept, which is old, or as either process makes it."""
    all_there = (place.old, place.new.everything, other, everything_in(place.folder))
    *views, found = (_overlapped(place, everything) for everything in all_there)
    judged = Judged(State.BROKEN)
    for one, two in ((0, 1), (0, 2), (1, 2)):
        judged = place.case.judge(found, views[one], views[two])
        if judged.state is not State.BROKEN:
            return judged
    return judged


def _overlapped(place: Place, everything: View) -> View:
    view = place.case.view_of(everything)
    return {path: place.case.overlapped(has) if has is not None else None for path, has in view.items()}


def _go_on_from(place: Place, what: str, other: View) -> None:
    """The next call must bring about what the changed input asks for, and leave nothing."""
    ended: Ended = place.start(Fault(), place.case.run_again).end()
    of = place.case.view_of
    found = everything_in(place.folder)
    judged = place.case.judge(of(found), of(place.old), of(other))
    if (wrong := orderly(ended)) or ended.status not in place.case.statuses:
        place.fail(what, wrong or f"the next call ended with {ended.status}: {ended.err[-300:]}")
    elif ended.status == 0 and judged.state is not State.NEW:
        place.fail(what, f"after the next call the state is {judged.state}: {judged.why}")
    if still := place.leftovers():
        place.fail(what, f"the next call leaves {', '.join(still)}")


def vanish(place: Place, count: int) -> None:
    """Take an input away as the command is about to look at it or to open it."""
    without: dict[str, list[View]] = {}
    paths = {op.number: os.path.relpath(op.one, place.folder.resolve()) for op in place.input_paths()}
    looked = {number: path for number, path in paths.items() if place.old.get(path) is not None}
    for at in spread(count, sorted(looked)):
        gone = looked[at]
        what = f"{gone} vanishes at call {at}"
        place.fresh()
        ended = place.start(Fault(Mode.VANISH, at)).end()
        found = everything_in(place.folder)
        if gone not in without:
            without[gone] = [_without(place, gone, listed=listed) for listed in (False, True)]
        if wrong := orderly(ended):
            place.fail(what, wrong)
        of = place.case.view_of
        judged = place.judged(found)
        for view in without[gone]:
            if judged.state is State.BROKEN:
                judged = place.case.judge(of(found), of(place.old), of(view))
        if judged.state is State.BROKEN:
            judged = _healed(place, without[gone][0], found)
        place.note("vanished", what, judged)


def _healed(place: Place, without: View, found: View) -> Judged:
    """Whether the next call makes what comes of the command without the file, where this one took it for half there."""
    lay_out(place, found)
    place.start(Fault()).end()
    of = place.case.view_of
    state = place.case.judge(of(everything_in(place.folder)), of(place.old), of(without)).state
    return Judged(State.BETWEEN) if state is State.NEW else Judged(State.BROKEN, "and the next call does not mend it")


def _without(place: Place, gone: str, *, listed: bool) -> View:
    """What comes of the command without a file from the start, or with one that is listed and cannot be opened."""
    place.fresh()
    (place.folder / gone).unlink()
    if listed:
        (place.folder / gone).symlink_to("nowhere")
    place.start(Fault()).end()
    return everything_in(place.folder)


def turn_back(place: Place, count: int) -> None:
    """Turn the clock back by a day at one of the calls: nothing may come out otherwise."""
    for at in spread(count, list(range(place.calls))):
        what = f"the clock goes back at call {at}"
        place.fresh()
        ended = place.start(Fault(Mode.CLOCK, at, _DAY)).end()
        judged = place.judged()
        place.note("clock", what, judged)
        if ended.status != place.new.ended.status or judged.state is not State.NEW:
            place.fail(what, f"it ended with {ended.status}, and the state is {judged.state}: {ended.err[-300:]}")
        place.go_on(what)
