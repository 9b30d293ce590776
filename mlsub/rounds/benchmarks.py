"""Benchmarks over the rounds: which one a folder holds, which rounds may be compared, and when each came out."""

from __future__ import annotations

import datetime
from calendar import monthrange
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import likely_name, squeezed
from mlsub.rounds import Round, round_age, span, wrong_round


class Compatible(StrEnum):
    """Whether results of two rounds of a benchmark may be compared."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ResultsFolder(NamedTuple):
    """A folder of results in a round, such as ``training``, ``4.1``, ``ssd``."""

    usage: str
    round: str
    folder: str

    @property
    def benchmark(self) -> str:
        """The name of the benchmark in it; the folder's own where that is not known."""
        found = benchmark_of(*self)
        return found.name if found else self.folder

    @property
    def title(self) -> str:
        """The benchmark as people write it; the folder's name where that is not known."""
        found = benchmark_of(*self)
        return found.title if found else self.folder

    def compatibility_with(self, other: ResultsFolder) -> tuple[Compatible, str | None]:
        """Return whether results of both may be compared; where not, why in words."""
        if (self.usage, self.benchmark) != (other.usage, other.benchmark):
            return Compatible.NO, f"{self._in_words} and {other._in_words} are different benchmarks"
        answer = compatible(self.usage, self.folder, self.round, other.round)
        if answer is not Compatible.NO:
            return answer, None
        group = compatible_rounds(self.usage, self.folder, other.round)
        known = (
            f"v{span(group).replace(' to ', ' to v')} as compatible, without v{self.round}" if len(group) > 1 else ""
        )
        known = known or f"v{other.round} as compatible with no other round"
        return (
            answer,
            f"{self.title} of v{self.round} and of v{other.round} are not compatible: MLCommons lists {known}",
        )

    @property
    def _in_words(self) -> str:
        return f"{self.title} ({self.usage} v{self.round})"


class Benchmark(msgspec.Struct, frozen=True):
    """One benchmark: its title and its task, and the groups of rounds whose results may be compared.

    ``folders`` are the folders of results that hold it in one round or another, none where that is its name alone.
    """

    title: str
    task: str
    groups: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...] = ()
    name: str = ""

    def is_of(self, round_name: str) -> bool:
        """Return whether a round has it."""
        return any(round_name in group for group in self.groups)


class _Usage(msgspec.Struct, frozen=True):
    source: str
    until: str
    benchmarks: dict[str, Benchmark]


def _tables() -> dict[str, _Usage]:
    return shipped(__file__, "benchmarks.yaml", dict[str, _Usage])


def benchmarks_in(usage: str, folder: str) -> tuple[Benchmark, ...]:
    """Return every benchmark that a folder of results has held, oldest first; ``ssd`` has held two."""
    table = _tables().get(usage)
    found = table.benchmarks.items() if table else ()
    return tuple(msgspec.structs.replace(one, name=name) for name, one in found if folder in (one.folders or (name,)))


def benchmark_of(usage: str, round_name: str, folder: str) -> Benchmark | None:
    """Return the benchmark that a folder of results holds in a round; None for a folder that is not known.

    Of a round that the table does not have it is the last benchmark that the folder has held.
    """
    found = benchmarks_in(usage, folder)
    return next((one for one in found if one.is_of(round_name)), found[-1] if found else None)


@cache
def names_by_title() -> dict[str, str]:
    """Return the benchmarks by their titles, of which only the letters and digits count."""
    return {squeezed(one.title): name for table in _tables().values() for name, one in table.benchmarks.items()}


def suggest_benchmark(benchmark: str, round_: Round) -> str:
    """Return what to name in place of a benchmark that a round does not have."""
    if hint := wrong_round(round_, benchmark):
        return hint
    close = likely_name(benchmark, round_.benchmarks, names_by_title())
    return f"Did you mean {close}?" if close else f"Name one of {', '.join(round_.benchmarks)}."


def compatible(usage: str, folder: str, one: str, other: str) -> Compatible:
    """Return whether two rounds of a benchmark may be compared, by the table of MLCommons.

    A round that the table does not reach yet, or a benchmark that it does not have, is unknown, except beside itself.
    """
    if one == other:
        return Compatible.YES
    table, found = _tables().get(usage), benchmarks_in(usage, folder)
    newer = max(one, other, key=round_age)
    if table is None or not any(of.groups for of in found) or round_age(newer) > round_age(table.until):
        return Compatible.UNKNOWN
    return Compatible.YES if other in compatible_rounds(usage, folder, one) else Compatible.NO


def compatible_rounds(usage: str, folder: str, round_name: str) -> tuple[str, ...]:
    """Return the rounds that a round of a benchmark may be compared with, itself among them; empty without any."""
    groups = (group for found in benchmarks_in(usage, folder) for group in found.groups)
    return next((group for group in groups if round_name in group), ())


# ---- When a round came out

#: The day that stands for a month of which no source gives the day.
_MIDDLE = 15


class Day(msgspec.Struct, frozen=True):
    """A day in the life of a round, and who says so; the month where no source gives the day."""

    source: str
    date: datetime.date | None = None
    month: str | None = None

    @property
    def around(self) -> datetime.date:
        """The day, or the middle of the month: where a point is drawn on an axis of time."""
        return self.date or datetime.date.fromisoformat(f"{self.month}-{_MIDDLE}")

    @property
    def last(self) -> datetime.date:
        """The day, or the last one of the month: by which all that came before it is certain to be there."""
        around = self.around
        return self.date or around.replace(day=monthrange(around.year, around.month)[1])

    @property
    def shown(self) -> str:
        """The day or the month in words, such as 30 June 2021."""
        return f"{self.date.day} {self.date:%B %Y}" if self.date else f"{self.around:%B %Y}"


def published(usage: str, round_name: str) -> Day | None:
    """Return when the results of a round came out, None where that is not known here."""
    return shipped(__file__, "published.yaml", dict[str, dict[str, Day]]).get(usage, {}).get(round_name)
