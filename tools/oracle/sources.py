"""The logs that are mutated: one generated for each combination, and small published ones."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tools.oracle.generate import CHOICES, ROUNDS, Combination, combinations
from tools.oracle.log import Log, generated, published
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
