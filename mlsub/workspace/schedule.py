"""One schedule for all that is checked: packages are listed, read and judged in one go wherever there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence.entry import Options
from mlsub.findings import Finding
from mlsub.io.data import reduced
from mlsub.judge.log import LogTask, NewFold
from mlsub.judge.outline import Outline
from mlsub.judge.package import Package, Part, judge_package, list_package, single_log
from mlsub.log.report import LogReport
from mlsub.review.cross import Print, prints_of
from mlsub.rounds import get_round
from mlsub.rules.isolate import isolated
from mlsub.workspace.executors.base import Executor, Tree
from mlsub.workspace.logs import judge_safely
from mlsub.workspace.memory import Drawer, Memory, Place, Seen, State
from mlsub.workspace.memory.logs import REPORTS, Shelves, lasts
from mlsub.workspace.memory.packages import package_drawer, stands_alone
from mlsub.workspace.places import Settings
from mlsub.workspace.shares import balanced, executor_for, most_in_one, shares, weight_below, weight_in, weight_of


class Wish(msgspec.Struct, frozen=True):
    """How the packages of a round are judged; ``keep`` says whether what was read of their logs is wanted too.

    ``memory`` is where a process that reads logs finds what was read of them before.
    """

    root: Path
    usage: str
    round: str
    overlay: str | None
    convergence: Options
    folds: tuple[NewFold, ...]
    keep: bool
    memory: Place | None = None

    def task(self, log: Path) -> LogTask:
        """A single log."""
        path = log.relative_to(self.root).as_posix()
        return LogTask(str(log), path, self.usage, self.round, self.overlay, self.folds)


class Judged(msgspec.Struct, frozen=True):
    """What a package, or the single logs of a round, add to a report.

    ``prints`` are fingerprints of the logs; ``crashed`` says why there are none. ``logs`` are there if wanted. ``seen``
    is what became of the logs that were asked of the memory.
    """

    parts: tuple[Part, ...]
    prints: tuple[Print, ...]
    crashed: tuple[Finding, ...]
    logs: tuple[LogReport, ...]
    seen: Seen | None = None

    @property
    def passing(self) -> bool:
        """Whether a log could not be read or judged, which another machine may be able to."""
        return not (lasts(self.crashed) and all(lasts(part.findings) for part in self.parts))

    def __reduce__(self) -> str | tuple[Any, ...]:
        plain = all(not log.facts for log in self.logs)
        return (reduced(self) if plain else None) or super().__reduce__()


class _Whole(Tree, frozen=True):
    """Work: list a package, read its logs, judge it and remember what came of it, so that little comes back."""

    outline: Outline
    wish: Wish
    drawer: Drawer | None


#: A package, some logs of one that is too much for one process, or one log.
_Work = _Whole | tuple[LogTask, ...] | LogTask
_Done = Judged | list[LogReport] | None


class _Piece(msgspec.Struct, frozen=True):
    """Work of a slot, what it weighs, how many logs it has, and which of the slot's they are."""

    slot: Slot
    work: _Work
    weight: int
    count: int
    share: tuple[int, ...] = ()


class Slot:
    """A package, or the single logs, of a round; see :func:`run`. ``known`` is what is remembered of it."""

    def __init__(self, source: Outline | tuple[LogTask, ...], wish: Wish, memory: Memory | None = None) -> None:
        self._source: Outline | Package | tuple[LogTask, ...] = source
        self._wish = wish
        self._logs: dict[int, LogReport] = {}
        self._left = 1
        self._memory = memory
        self._shelves: Shelves[LogReport] | None = None
        self._drawer: Drawer | None = None
        self.known: Judged | None = None
        if isinstance(source, Outline):
            rules = wish.usage, wish.round, wish.overlay
            self._drawer = package_drawer(memory, source, wish.root, rules, wish.convergence)
            if self._drawer is not None and not wish.keep:
                self.known = self._drawer.recall(Judged)
        self.weight = self._count = 0
        if self.known is not None:
            return
        if isinstance(source, Outline):
            tree = self._drawer.before if self._drawer is not None else None
            self.weight, self._count = weight_in(tree) if tree is not None else weight_below(source.path)
        else:
            self.weight, self._count = sum(weight_of(task.file) for task in source), len(source)

    def pieces(self, most: int, executor: Executor) -> list[_Piece]:
        """The work: one piece, unless it weighs more than ``most``, is of single logs, or only logs can be read there.

        Raises:
            OSError: the package cannot be listed.
        """
        if isinstance(self._source, Outline):
            if self.weight <= most and (not executor.far or self._travels(self._source)):
                return [_Piece(self, self._whole(self._source), self.weight, self._count)]
            self._source = _listed(self._source, self._wish)
        tasks = _tasks(self._source, self._wish)
        if self._memory is not None:
            self._shelves = Shelves(self._memory, tasks, REPORTS)
            self._logs.update(self._shelves.recall())
        new = [at for at in range(len(tasks)) if at not in self._logs]
        weights = [weight_of(tasks[at].file) for at in new]
        # Of a package without a log to read, what there is to say of it is left.
        cut = shares(weights, 1 if executor.far else executor.processes) or [[]]
        self._left = len(cut)
        pieces = []
        for share in cut:
            some = tuple(tasks[new[at]] for at in share)
            work = some[0] if some and executor.far else some
            weight, which = sum(weights[at] for at in share), tuple(new[at] for at in share)
            pieces.append(_Piece(self, work, weight, len(share), which))
        return pieces

    def _whole(self, outline: Outline) -> _Whole:
        wish, drawer = self._wish, self._drawer
        if self._memory is not None and self._memory.deceived:
            # Nothing is believed any more, in other processes as well.
            wish, drawer = msgspec.structs.replace(wish, memory=None), None
        return _Whole(str(outline.path), self._count, outline, wish, drawer)

    def _travels(self, outline: Outline) -> bool:
        """Whether a machine that sees the same files below the folder can judge the package."""
        wish = self._wish
        here = (wish.memory, wish.overlay, wish.convergence.reference)
        return stands_alone(outline) and not any(one is not None for one in here)

    def take(self, share: Sequence[int], found: _Done) -> Judged | None:
        """What came of the slot, once all of its pieces have come back.

        Raises:
            OSError: the files cannot be read any more.
        """
        self._left -= 1
        if isinstance(found, Judged):
            if found.seen is not None and self._memory is not None:
                self._memory.note(found.seen)
            return found
        for at, log in zip(share, found or (), strict=True):
            self._logs[at] = log
            if self._shelves is not None:
                self._shelves.keep(at, log)
        if self._left:
            return None
        if self._shelves is not None:
            self._shelves.close()
        logs = [self._logs.pop(at) for at in range(len(self._logs))]
        match self._source:
            case Outline():
                return _judge_whole(self._whole(self._source))
            case Package():
                judged = _judge_package(self._source, logs, self._wish)
                if self._drawer is not None:
                    _keep(judged, self._drawer, self._drawer.look())
                return judged
            case tasks:
                parts = tuple(single_log(Path(task.file), log) for task, log in zip(tasks, logs, strict=True))
                return _summed(parts, logs, self._wish)


def run(slots: Sequence[Slot], settings: Settings) -> Iterator[tuple[Slot, Judged | OSError]]:
    """What comes of each slot, or why its files cannot be read; in any order.

    Raises:
        MlsubError: it cannot be done where the settings ask for it.
    """
    for slot in slots:
        if slot.known is not None:
            yield slot, slot.known
    slots = [slot for slot in slots if slot.known is None]
    weight = sum(slot.weight for slot in slots)
    executor = executor_for(settings, weight)
    most = most_in_one(weight, executor.processes)
    pieces: list[_Piece] = []
    for slot in slots:
        try:
            pieces += slot.pieces(most, executor)
        except OSError as error:
            yield slot, error
    pieces = [pieces[at] for at in balanced([piece.weight for piece in pieces], executor.processes)]
    done, total = 0, sum(piece.count for piece in pieces)
    for at, found in executor.run(_do, [piece.work for piece in pieces]):
        slot, share, count = pieces[at].slot, pieces[at].share, pieces[at].count
        done += count
        if settings.progress is not None and total:
            settings.progress(done, total)
        try:
            judged = slot.take(share, found)
        except OSError as error:
            yield slot, error
        else:
            if judged is not None:
                yield slot, judged


def _do(work: _Work) -> _Done:
    """Do it, in any process; None where the one that asked has to do it again to see what is in the way."""
    if isinstance(work, LogTask):
        return [judge_safely(work)]
    if isinstance(work, tuple):
        return list(map(judge_safely, work))
    try:
        return _judge_whole(work)
    except Exception:
        return None


def _judge_whole(work: _Whole) -> Judged:
    package, place = _listed(work.outline, work.wish), work.wish.memory
    tasks = _tasks(package, work.wish)
    if place is None:
        return _judge_package(package, list(map(judge_safely, tasks)), work.wish)
    memory = Memory(Path(place.folder), place.limit)
    drawer = work.drawer.of(memory) if work.drawer is not None else None
    with Shelves(memory, tasks, REPORTS, drawer.before if drawer is not None and drawer.steady else None) as shelves:
        logs = dict(shelves.recall())
        for at in [at for at in range(len(tasks)) if at not in logs]:
            logs[at] = judge_safely(tasks[at])
            shelves.keep(at, logs[at])
        judged = _judge_package(package, [logs[at] for at in range(len(tasks))], work.wish)
        if drawer is not None:
            after = drawer.look()
            shelves.close(after)
            _keep(judged, drawer, after)
    return msgspec.structs.replace(judged, seen=memory.seen)


def _keep(judged: Judged, drawer: Drawer, after: State | None) -> None:
    """Remember what came of a package, without its logs."""
    if not judged.passing:
        drawer.keep(msgspec.structs.replace(judged, logs=(), seen=None), after)


def _listed(outline: Outline, wish: Wish) -> Package:
    return list_package(outline, wish.root, get_round(wish.usage, wish.round, wish.overlay))


def _tasks(source: Package | tuple[LogTask, ...], wish: Wish) -> tuple[LogTask, ...]:
    tasks = source.tasks if isinstance(source, Package) else source
    return tuple(msgspec.structs.replace(task, folds=wish.folds) for task in tasks) if wish.folds else tasks


def _judge_package(package: Package, logs: Sequence[LogReport], wish: Wish) -> Judged:
    round_ = get_round(wish.usage, wish.round, wish.overlay)
    part = judge_package(package, {log.path: log for log in logs}, round_, wish.convergence)
    return _summed((part,), logs, wish)


def _summed(parts: tuple[Part, ...], logs: Sequence[LogReport], wish: Wish) -> Judged:
    none: tuple[Print, ...] = ()
    prints, crashed = isolated("entry.same-log-twice", ".", lambda: prints_of(logs), none)
    return Judged(parts, prints, crashed, tuple(logs) if wish.keep else ())
