"""A harness at work for a while: batches of inputs, each in a fork, counted when they are over."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.campaigns.fuzz.finding import MEMORY, TIME, Failure, Finding
from tests.campaigns.fuzz.guard import TRACED, Desk, Ended, Fork, failure_of
from tests.campaigns.fuzz.harness import Harness
from tests.campaigns.fuzz.minimise import minimised
from tests.campaigns.fuzz.reach import Tracer, digest
from tests.campaigns.fuzz.report import print_finding
from tests.campaigns.fuzz.search import Kept, Search
from tests.campaigns.fuzz.state import Progress, State

CORPUS = Path(__file__).with_name("corpus")
#: Inputs of a batch: what is lost where the campaign is killed.
_BATCH = 500
#: So many seeds are run before the forks, which then have loaded what they need.
_WARMING = 4
#: A batch ends early once so many of its inputs have ended the process.
_MOST_DEATHS = 5
#: No harness keeps more findings: what comes after is most likely more of the same.
_MOST_FINDINGS = 20
#: Seconds to make the input of a finding smaller.
MINIMISING = 20.0


class Batch(msgspec.Struct):
    """What came of inputs that were run one after another; ``found`` has their numbers."""

    done: int
    kept: list[Kept]
    reached: list[int]
    found: list[tuple[int, bytes, Failure]]


def seeds_of(harness: Harness) -> tuple[bytes, ...]:
    """What a search begins with: the seeds of the harness, and its folder of inputs."""
    files = sorted((CORPUS / harness.name).glob("*"))
    return (*harness.seeds(), *(file.read_bytes() for file in files if file.is_file()))


@dataclass
class Turn:
    """One harness in a process of its own.

    Attributes:
        harness: that is at work.
        state: where its progress is kept.
    """

    harness: Harness
    state: State
    progress: Progress = field(init=False)
    fork: Fork = field(init=False)

    def __post_init__(self) -> None:
        self.parent = os.getppid()
        self.seeds = seeds_of(self.harness)
        self.progress = self.state.load(self.harness.name)
        longest = max([self.harness.longest, *map(len, self.seeds)])
        self.fork = Fork(self.harness, Desk(longest))
        self._warm_up()
        if self.progress.source != digest():
            self._measure_again()

    def run(self, seconds: float, inputs: int) -> None:
        """Run batches for a time, or up to a number of inputs."""
        self._minimise()
        until = time.monotonic() + seconds
        end = self.progress.total + inputs
        while time.monotonic() < until and self.progress.total < end:
            begun = time.monotonic()
            self.batch(end - self.progress.total, until)
            self.progress.seconds += time.monotonic() - begun
            self._save()
            self._minimise()

    def replay(self) -> None:
        """Run each finding again, and forget those that are fixed."""
        for finding in list(self.progress.findings):
            if self.fork.failure(finding.data) is None:
                self.state.forget(self.harness.name, self.progress, finding)

    def _warm_up(self) -> None:
        """Load what the harness loads, before the forks, unless that begins threads, which no fork has."""

        def work() -> bytes:
            for number, data in enumerate(self.seeds[:_WARMING]):
                self.fork.desk.put(number, data)
                failure_of(self.harness, data)
            return b"%d" % _threads()

        if self.fork.run(work).answer == b"1":
            for data in self.seeds[:_WARMING]:
                failure_of(self.harness, data)
        gc.collect()
        gc.freeze()

    def _measure_again(self) -> None:
        """Find out what the inputs that were kept reach in this source."""

        def work() -> bytes:
            search, tracer = self.search(fresh=True), Tracer()
            for kept in self.progress.kept:
                self.fork.desk.put(kept.born, kept.data)
                if failure_of(self.harness, kept.data) is None:
                    search.learn(kept.data, kept.born, tracer.steps(self.harness.run, kept.data))
            return self.learnt(search)

        self.progress.kept, self.progress.reached = [], []
        self.take(self.fork.run(work, TRACED))
        self.progress.source = digest()

    def search(self, *, fresh: bool = False) -> Search:
        """A search that knows what is known, or nothing yet."""
        kept, reached = ((), ()) if fresh else (self.progress.kept, self.progress.reached)
        return Search(self.harness, self.progress.seed, self.seeds, kept, reached)

    def learnt(self, search: Search, done: int = 0, found: Sequence[tuple[int, bytes, Failure]] = ()) -> bytes:
        """The answer of a fork that has searched."""
        return msgspec.json.encode(Batch(done, search.kept, sorted(search.reached), list(found)))

    def take(self, ended: Ended) -> Batch:
        """Take over what a fork has learnt; nothing, where it has ended before."""
        self.progress.cpu += ended.cpu
        if ended.answer is None:
            return Batch(0, [], [], [])
        batch = msgspec.json.decode(ended.answer, type=Batch)
        self.progress.kept, self.progress.reached = batch.kept, batch.reached
        return batch

    def batch(self, most: int, until: float) -> None:
        """Run inputs and count them, again without those that end the process."""
        begin = self.progress.inputs
        end = begin + min(most, _BATCH)
        deadly: dict[int, tuple[bytes, Failure | None]] = {}
        while True:
            last = max(deadly) + 1 if len(deadly) >= _MOST_DEATHS else end
            ended = self.fork.run(lambda last=last: self._work(begin, last, until, deadly), TRACED)
            batch = self.take(ended)
            if ended.failure is None:
                break
            self.blame(ended.failure, deadly)
        self.progress.inputs += batch.done
        for number, data, failure in batch.found:
            self.add(number, data, failure if self.is_open(failure) else self.sure(data, failure))
        for number, (data, failure) in deadly.items():
            if number < self.progress.inputs:
                self.add(number, data, failure)

    def _work(self, begin: int, end: int, until: float, deadly: Collection[int]) -> bytes:
        """Run inputs in a fork of this process."""
        search, tracer, found = self.search(), Tracer(), []
        signatures: set[str] = set()
        number = begin
        while number < end and (number == begin or time.monotonic() < until):
            data, measured = search.draw(number)
            if number not in deadly:
                self.fork.desk.put(number, data)
                failure = failure_of(self.harness, data)
                if failure is not None and failure.signature not in signatures:
                    signatures.add(failure.signature)
                    found.append((number, data, failure))
                elif measured and failure is None:
                    search.learn(data, number, tracer.steps(self.harness.run, data))
            number += 1
        return self.learnt(search, number - begin, found)

    def blame(self, failure: Failure, deadly: dict[int, tuple[bytes, Failure | None]]) -> None:
        """Find out whether the input that was run when the process ended ends it alone as well."""
        number, data = self.fork.desk.number, self.fork.desk.data
        sure = self.is_open(failure) or any(failure.is_like(before) for _, before in deadly.values())
        deadly[number] = (data, failure if sure else self.sure(data, failure))

    def sure(self, data: bytes, failure: Failure) -> Failure | None:
        """The failure of an input alone; none where it was within its bounds once."""
        alone = self.fork.confirmed(data, failure)
        if alone is not None or failure.kind in (TIME, MEMORY):
            return alone
        return msgspec.structs.replace(failure, text=f"{failure.text}\nOnly after other inputs: alone it passes.")

    def is_open(self, failure: Failure) -> bool:
        return any(failure.is_like(finding.failure) for finding in self.progress.findings)

    def add(self, number: int, data: bytes, failure: Failure | None) -> None:
        if failure is None or self.is_open(failure) or len(self.progress.findings) >= _MOST_FINDINGS:
            return
        self.progress.findings.append(Finding(failure, data, number, self.progress.seed))

    def _minimise(self) -> None:
        """Make the inputs of new findings smaller, and report them."""
        for at, finding in enumerate(self.progress.findings):
            if finding.minimised:
                continue

            def fails(data: bytes, failure: Failure = finding.failure) -> bool:
                return failure.is_like(self.fork.failure(data))

            smaller = minimised(finding.data, fails, MINIMISING)
            failure = self.fork.confirmed(smaller, finding.failure)
            if failure is None or not finding.failure.is_like(failure):
                smaller, failure = finding.data, finding.failure
            known = msgspec.structs.replace(finding, data=smaller, failure=failure, minimised=True)
            self.progress.findings[at] = known
            self._save()
            print_finding(self.harness, known, self.state.file_of(self.harness.name, known))

    def _save(self) -> None:
        """Keep the progress, unless the campaign is over and another one may have begun."""
        if os.getppid() != self.parent:
            os._exit(1)
        self.state.save(self.harness.name, self.progress)


def _threads() -> int:
    """How many threads this process has, those of libraries too."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()
