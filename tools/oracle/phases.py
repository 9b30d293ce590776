"""The long search in phases: which logs are changed, and what logs each phase makes of them, from the seed alone."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import compress, count, islice, repeat
from pathlib import Path
from typing import NamedTuple

from tools.oracle import aimed
from tools.oracle.aimed_borders import bench, sources_of
from tools.oracle.generate import CHOICES, ROUNDS, Combination, combinations
from tools.oracle.log import ChangedLog, Edit, Log, generated, published, smallest
from tools.oracle.random_changes import mutant, spliced
from tools.oracle.shared import folder, present, recorded_logs

#: Published logs of each benchmark and division of a round: the smallest, each of another organisation.
SAMPLES = 2
#: Judging costs time by size: logs above so many bytes get fewer mutants, down to one in so many.
_FULL_SIZE = 30_000
_FEWEST_IN = 10
#: The keys by which a log says what it is of.
_SAID = ("submission_benchmark", "submission_division", "opt_name", "scheduler_type")


class Source(NamedTuple):
    """A compliant log to be mutated."""

    name: str
    combination: Combination
    path: str | None

    def log(self) -> Log:
        """Its lines."""
        if self.path is None:
            return generated(self.combination)
        return published(folder(self.combination.round) / self.path)

    def number(self, wanted: int) -> int:
        """How many mutants of it are worth the time: all of a generated log's, fewer of a large published one's."""
        return int(wanted * self.weight())

    def weight(self) -> float:
        """How many of its mutants are worth the time, of one for a generated log."""
        return 1.0 if self.path is None else min(1.0, max(1 / _FEWEST_IN, _FULL_SIZE / self.size()))

    def size(self) -> int:
        """Bytes of a published log."""
        assert self.path is not None
        return (folder(self.combination.round) / self.path).stat().st_size


@cache
def generated_sources() -> tuple[Source, ...]:
    """One for each combination."""
    return tuple(Source(str(combination), combination, None) for combination in combinations())


@cache
def published_sources() -> tuple[Source, ...]:
    """Small compliant published logs; none where the shared folder is absent."""
    return tuple(source for round_ in ROUNDS if present() and folder(round_).is_dir() for source in _published(round_))


def _published(round_name: str) -> list[Source]:
    candidates = [
        ((folder(round_name) / path).stat().st_size, path)
        for path, verdict in recorded_logs(round_name).items()
        if verdict["compliant"]
    ]
    taken: dict[Combination, list[str]] = {}
    for _, path in sorted(candidates):
        combination = _combination(round_name, path)
        paths = taken.setdefault(combination, [])
        if len(paths) < SAMPLES and path.split("/")[0] not in {other.split("/")[0] for other in paths}:
            paths.append(path)
    return [Source(f"{round_name}-{path}", combination, path) for combination, paths in taken.items() for path in paths]


def _combination(round_name: str, path: str) -> Combination:
    """What the log itself says it is of."""
    said: dict[str, str] = {}
    for line in published(folder(round_name) / path, _SAID):
        if line.record is not None and isinstance(line.record.get("value"), str):
            said.setdefault(line.record["key"], line.record["value"])
    benchmark, division = said["submission_benchmark"], said["submission_division"]
    keys = ("opt_name", "scheduler_type") if benchmark in CHOICES and division == "closed" else ()
    return Combination(round_name, benchmark, division, "+".join(said[key] for key in keys if key in said) or None)


#: A pair of changes that cannot both be made is drawn anew, so many times.
_DRAWS = 20
#: One splice in so many has a published log in it, which takes longer than a generated one; none where there is none.
_PUBLISHED_IN = 4
#: Published logs larger than this are no part of a splice.
_LARGEST_PART = 60_000

#: Called with a source, the seed, the number of the first log and a file to write on; gives None for a log that cannot
#: be made.
Logs = Callable[[Source, str, int, Path], Iterator[ChangedLog | None]]


class Phase(NamedTuple):
    """A kind of change: which share of all logs it has, of which sources, and how they are made."""

    name: str
    share: float
    sources: Callable[[], Sequence[Source]]
    logs: Logs


def _aimed(aim: str, source: Source, seed: str, first: int, file: Path) -> Iterator[ChangedLog | None]:
    """One change at a border, each aim once before any twice. This comes to an end."""
    log = smallest(source.combination)
    some = aimed.in_order(aim, source.combination, seed, file)
    for place, edit in enumerate(some[first:], first):
        yield aimed.mutant(log, [edit], f"{seed}/{aim}/{source.name}/{place}")


def _with_formulas() -> list[Source]:
    """Those with keys that others are computed from; the division, which only sets a limit of time, is none."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "log.txt"
        return [
            source
            for source in generated_sources()
            if sources_of(bench(source.combination, file)).keys() - {"submission_division"}
        ]


def _pairs(source: Source, seed: str, first: int, file: Path) -> Iterator[ChangedLog | None]:
    """Two changes at borders."""
    log = smallest(source.combination)
    some: dict[str, list[Edit]] = {}
    for edit in aimed.edits("borders", source.combination, file):
        some.setdefault(edit.key, []).append(edit)
    for place in count(first):
        name = f"{seed}/pairs/{source.name}/{place}"
        rng = random.Random(name)
        # Keys are alike in weight, however many changes each has.
        pairs = ([rng.choice(some[rng.choice(list(some))]) for _ in range(2)] for _ in range(_DRAWS))
        drawn = (aimed.mutant(log, pair, name) for pair in pairs)
        yield next((found for found in drawn if found is not None), None)


def _changed(source: Source, seed: str, first: int, file: Path) -> Iterator[ChangedLog | None]:
    """What bugs, crashes and careless hands do to a log."""
    log = source.log()
    rules = log.rules(source.combination)
    return (mutant(log, rules, f"{seed}/{source.name}/{place}") for place in count(first))


def _splices(source: Source, seed: str, first: int, file: Path) -> Iterator[ChangedLog | None]:
    """A log of this combination and another of the same or another round, benchmark or division."""
    for place in count(first):
        name = f"{seed}/splices/{source.name}/{place}"
        rng = random.Random(name)
        published = _small_published() if rng.randrange(_PUBLISHED_IN) == 0 else ()
        here = [other for other in published if other.combination.round == source.combination.round]
        one = rng.choice(here) if here and rng.randrange(2) else source
        other = rng.choice(published or _near(rng, source.combination))
        yield spliced(rng, _part(one), _part(other), name)


@lru_cache(maxsize=1)
def _small_published() -> tuple[Source, ...]:
    return tuple(source for source in published_sources() if source.size() <= _LARGEST_PART)


def _near(rng: random.Random, combination: Combination) -> tuple[Source, ...]:
    """Logs that share the round, the benchmark or the division with one, or nothing."""
    every, field = generated_sources(), rng.choice(("round", "benchmark", "division", None))
    alike = (getattr(s.combination, field) == getattr(combination, field) for s in every) if field else repeat(True)
    return tuple(compress(every, alike))


@lru_cache(maxsize=512)
def _part(source: Source) -> ChangedLog:
    return ChangedLog(source.name, source.log().content())


PHASES: tuple[Phase, ...] = (
    Phase("boundary", 0.45, generated_sources, partial(_aimed, "borders")),
    Phase("dependent", 0.05, _with_formulas, partial(_aimed, "dependent")),
    Phase("pairs", 0.20, generated_sources, _pairs),
    Phase("splices", 0.13, generated_sources, _splices),
    Phase("random changes", 0.12, generated_sources, _changed),
    Phase("published logs, changed", 0.05, published_sources, _changed),
)


class Task(NamedTuple):
    """Some logs of one source in one phase: which is the first, and how many."""

    phase: str
    source: Source
    first: int
    number: int


def logs_of(task: Task, seed: str, file: Path) -> Iterator[ChangedLog | None]:
    """The logs of a task; fewer where the phase has no more."""
    phase = next(phase for phase in PHASES if phase.name == task.phase)
    return islice(phase.logs(task.source, seed, task.first, file), task.number)
