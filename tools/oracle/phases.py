"""The long search in phases: what logs each has, one after another by number, made again from the seed alone."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tools.oracle import boundary
from tools.oracle.dependent import dependent, sources_of
from tools.oracle.generate import Combination
from tools.oracle.log import Mutant, content, generated, smallest
from tools.oracle.mutate import mutant, stated_rules
from tools.oracle.sources import Source, generated_sources, published_sources
from tools.oracle.splices import Part, spliced

#: A pair of changes that cannot both be made is drawn anew, so many times.
_DRAWS = 20
#: One splice in so many has a published log in it, which takes longer than a generated one; none where there is none.
_PUBLISHED_IN = 4
#: Published logs larger than this are no part of a splice.
_LARGEST_PART = 60_000


class Phase(NamedTuple):
    """A kind of change: which share of all logs it has, of which sources, and how they are made.

    ``logs`` is called with a source, the seed, the number of the first log and a file to write on; it yields None for a
    log that cannot be made.
    """

    name: str
    share: float
    sources: Callable[[], list[Source]]
    logs: Callable[[Source, str, int, Path], Iterator[Mutant | None]]


def _boundary(source: Source, seed: str, first: int, file: Path) -> Iterator[Mutant | None]:
    """One change at a border, each cell once before any twice. This comes to an end."""
    log = smallest(source.combination)
    some = boundary.in_order(source.combination, seed, file)
    for place, edit in enumerate(some[first:], first):
        yield boundary.mutant(log, [edit], f"{seed}/{source.name}/{place}")


def _dependent(source: Source, seed: str, first: int, file: Path) -> Iterator[Mutant | None]:
    """A key's value, and a formula that uses it at the border that this makes. This comes to an end."""
    log = smallest(source.combination)
    some = list(dependent(source.combination, file))
    random.Random(f"{seed}/dependent/{source.name}").shuffle(some)
    for place, edit in enumerate(some[first:], first):
        yield boundary.mutant(log, [edit], f"{seed}/dependent/{source.name}/{place}")


def _with_formulas() -> list[Source]:
    """Those with keys that others are computed from; the division, which only sets a limit of time, is none."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "log.txt"
        return [
            source
            for source in generated_sources()
            if sources_of(boundary.bench(source.combination, file)).keys() - {"submission_division"}
        ]


def _pairs(source: Source, seed: str, first: int, file: Path) -> Iterator[Mutant | None]:
    """Two changes at borders."""
    log = smallest(source.combination)
    some = boundary.by_key(boundary.edits(source.combination, file))
    for place in _from(first):
        rng = random.Random(f"{seed}/pairs/{source.name}/{place}")
        drawn = (
            boundary.mutant(log, boundary.pair(some, rng), f"{seed}/pairs/{source.name}/{place}") for _ in range(_DRAWS)
        )
        yield next((found for found in drawn if found is not None), None)


def _changed(source: Source, seed: str, first: int, file: Path) -> Iterator[Mutant | None]:
    """What bugs, crashes and careless hands do to a log."""
    log = source.log()
    rules = stated_rules(log, source.combination)
    for place in _from(first):
        yield mutant(log, rules, f"{seed}/{source.name}/{place}")


def _splices(source: Source, seed: str, first: int, file: Path) -> Iterator[Mutant | None]:
    """A log of this combination and another of the same or another round, benchmark or division."""
    for place in _from(first):
        rng = random.Random(f"{seed}/splices/{source.name}/{place}")
        published = _small_published() if rng.randrange(_PUBLISHED_IN) == 0 else ()
        here = [other for other in published if other.combination.round == source.combination.round]
        one = rng.choice(here) if here and rng.randrange(2) else source
        other = rng.choice(published or _near(rng, source.combination))
        yield spliced(rng, _part(one), _part(other), f"{seed}/splices/{source.name}/{place}")


def _from(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1


@lru_cache(maxsize=1)
def _small_published() -> tuple[Source, ...]:
    return tuple(source for source in published_sources() if source.size() <= _LARGEST_PART)


@lru_cache(maxsize=1)
def _all_generated() -> tuple[Source, ...]:
    return tuple(generated_sources())


def _near(rng: random.Random, combination: Combination) -> tuple[Source, ...]:
    """Logs that share the round, the benchmark or the division with one, or nothing."""
    field = rng.choice(("round", "benchmark", "division", None))
    alike = [
        s for s in _all_generated() if field is None or getattr(s.combination, field) == getattr(combination, field)
    ]
    return tuple(alike)


@lru_cache(maxsize=512)
def _part(source: Source) -> Part:
    log = generated(source.combination) if source.path is None else source.log()
    return Part(source.name, content(log))


PHASES: tuple[Phase, ...] = (
    Phase("boundary", 0.45, generated_sources, _boundary),
    Phase("dependent", 0.05, _with_formulas, _dependent),
    Phase("pairs", 0.20, generated_sources, _pairs),
    Phase("splices", 0.13, generated_sources, _splices),
    Phase("random changes", 0.12, generated_sources, _changed),
    Phase("published logs, changed", 0.05, lambda: list(published_sources()), _changed),
)


class Task(NamedTuple):
    """Some logs of one source in one phase: which is the first, and how many."""

    phase: str
    source: Source
    first: int
    number: int


def logs_of(task: Task, seed: str, file: Path) -> Iterator[Mutant | None]:
    """The logs of a task; fewer where the phase has no more."""
    phase = next(phase for phase in PHASES if phase.name == task.phase)
    return islice(phase.logs(task.source, seed, task.first, file), task.number)
