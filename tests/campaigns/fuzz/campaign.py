"""All harnesses at work on all cores, each in turns, until a budget is spent."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tests.campaigns.fuzz.guard import end_with_parent, fork
from tests.campaigns.fuzz.harness import Harness, module_of
from tests.campaigns.fuzz.state import Progress, State
from tests.campaigns.fuzz.turn import Turn

#: Each harness runs so many inputs at least, before those that are faster have more.
_LEAST = 500
#: Seconds of a turn; under Atheris the longest, as each instruments mlsub anew.
_SHORTEST, _LONGEST, _GUIDED = 0.5, 15.0, 60.0
#: A harness whose process has died so often without an input to blame is left alone.
_MOST_CRASHES = 3


#: A harness at work in the state for so many seconds, or up to so many inputs.
Work = Callable[[Harness, State, float, int], None]


def own_turn(harness: Harness, state: State, seconds: float, inputs: int) -> None:
    """A turn of the search of our own."""
    Turn(harness, state).run(seconds, inputs)


def guided_turn(harness: Harness, state: State, seconds: float, inputs: int) -> None:
    """A turn of Atheris, which has to be there before mlsub is imported."""
    words = (module_of(harness.name), harness.name, state.seed, str(state.folder), str(seconds), str(inputs))
    os.execv(sys.executable, (sys.executable, "-m", "tests.campaigns.fuzz.guided", *words))  # noqa: S606


@dataclass(frozen=True)
class Budget:
    """What a campaign may spend: seconds by the clock from now on, or inputs in total, those of the state included."""

    seconds: float | None = None
    inputs: int | None = None


@dataclass
class Worker:
    """A process that is at work on a harness, and how many inputs it was given."""

    harness: Harness
    inputs: int
    begun: float = field(default_factory=time.monotonic)


class Campaign:
    """Shares a budget out: the harness that had the least time is next, so slow ones have as much time as fast ones.

    Args:
        chosen: harnesses.
        state: where progress is kept.
        budget: what may be spent.
        jobs: processes.
        work: one turn of a harness, in a process of its own: for so many seconds, or up to so many inputs.
    """

    def __init__(
        self,
        chosen: Sequence[Harness],
        state: State,
        budget: Budget,
        jobs: int,
        work: Work,
    ) -> None:
        self.chosen = chosen
        self.state = state
        self.budget = budget
        self.jobs = jobs
        self.work = work
        self.progress: dict[str, Progress] = {harness.name: state.load(harness.name) for harness in chosen}
        self.stopped = False
        self._working: dict[int, Worker] = {}
        self._crashes: dict[str, int] = {}
        self._begun = time.monotonic()

    def run(self) -> None:
        """Work until the budget is spent, or until SIGINT or SIGTERM: then stop at once; nothing counted is lost."""
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            while not self.stopped and (self._start_workers() or self._working):
                self._wait()
        finally:
            for process in self._working:
                with suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._load()

    @property
    def broken(self) -> list[str]:
        """Harnesses that could not be run."""
        return [name for name, crashes in self._crashes.items() if crashes >= _MOST_CRASHES]

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def _load(self) -> None:
        self.progress = {harness.name: self.state.load(harness.name) for harness in self.chosen}

    def _start_workers(self) -> bool:
        """Give free cores something to do; whether there was something."""
        started = False
        while len(self._working) < self.jobs:
            harness = self._next()
            inputs = self._share(harness) if harness else 0
            if harness is None or inputs <= 0:
                break
            self._start(harness, inputs)
            started = True
        return started

    def _next(self) -> Harness | None:
        """The harness that is furthest behind, of those that nobody works on."""
        busy = {worker.harness.name for worker in self._working.values()} | set(self.broken)
        free = [harness for harness in self.chosen if harness.name not in busy]
        least = min(_LEAST, self.budget.inputs // len(self.chosen)) if self.budget.inputs is not None else 0

        def spent(harness: Harness) -> tuple[bool, float]:
            progress = self.progress[harness.name]
            return progress.total >= least, progress.seconds

        return min(free, key=spent, default=None)

    def _share(self, harness: Harness) -> int:
        """How many inputs a turn may run."""
        if self.budget.seconds is not None and time.monotonic() - self._begun >= self.budget.seconds:
            return 0
        progress = self.progress[harness.name]
        speed = progress.total / progress.seconds if progress.seconds else _LEAST / self._seconds()
        wanted = max(int(1.5 * speed * self._seconds()), 1)
        if self.budget.inputs is None:
            return wanted
        given = sum(worker.inputs for worker in self._working.values())
        return min(wanted, self.budget.inputs - sum(found.total for found in self.progress.values()) - given)

    def _seconds(self) -> float:
        """How long a turn is: short enough that each harness has several."""
        if self.work is guided_turn:
            return min(_GUIDED, self.budget.seconds or _GUIDED)
        if self.budget.seconds is None:
            return _LONGEST / 3
        share = self.budget.seconds * self.jobs / len(self.chosen) / 3
        left = self.budget.seconds - (time.monotonic() - self._begun)
        return max(min(share, left, _LONGEST), min(_SHORTEST, self.budget.seconds / 2))

    def _start(self, harness: Harness, inputs: int) -> None:
        seconds = self._seconds()
        process = forked(lambda: self.work(harness, self.state, seconds, inputs))
        self._working[process] = Worker(harness, inputs)

    def _wait(self) -> None:
        """Wait until a worker ends, and take over what it has counted."""
        for process in list(self._working):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                name = self._working.pop(process).harness.name
                if status:
                    self._crashes[name] = self._crashes.get(name, 0) + 1
                self.progress[name] = self.state.load(name)
                return
        time.sleep(0.01)


def forked(work: Callable[[], None]) -> int:
    """The number of a process that does something, and dies when this one does."""
    sys.stdout.flush()
    process = fork()
    if process == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            end_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            work()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    with suppress(OSError):
        os.setpgid(process, process)
    return process
