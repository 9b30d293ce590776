"""Results under the names that people compare by: one spelling for an organisation, an accelerator and a benchmark."""

from __future__ import annotations

import datetime

import msgspec

from mlsub.divisions import division_meant
from mlsub.rounds.benchmarks import benchmark_of, group_of
from mlsub.rounds.publication import published
from mlsub.score.table import Row
from mlsub.submission.organisations import organisation
from mlsub.systems.chips import chip_of


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The normalised names of one result, beside what its files say; None for what no table of names has.

    ``organisation`` is the submitter in one spelling over all rounds. ``accelerator``, ``vendor``, ``family`` (the line
    and the generation), ``line``, ``generation`` and ``memory_gb`` (of one accelerator, in GB) are those of the table
    of accelerators. ``benchmark``, ``title`` and ``task`` are of the benchmark that the folder held in that round, and
    ``compatible`` has the rounds whose results may be compared with it, ``group`` is a name for them. ``division`` is
    ``closed`` or ``open`` in whatever spelling the description has it. ``published`` is the day on which the results
    of the round came out, ``published_exact`` False where only the month is known and the day is its middle.
    ``chip_minutes`` is the published score in minutes times the number of accelerators.
    """

    organisation: str
    accelerator: str | None
    vendor: str | None
    line: str | None
    family: str | None
    generation: str | None
    memory_gb: int | None
    benchmark: str
    title: str
    task: str | None
    compatible: tuple[str, ...]
    group: str
    division: str | None
    published: datetime.date | None
    published_exact: bool
    chip_minutes: float | None


def named(row: Row) -> Named:
    """A result under its normalised names."""
    model = row.accelerator_model_name or ""
    chip = chip_of(model, row.system or "", row.system_folder)
    benchmark = benchmark_of(row.usage, row.round, row.benchmark)
    division = division_meant(row.division)
    came_out = published(row.usage, row.round)
    name, compatible = benchmark.name if benchmark else row.benchmark, group_of(row.usage, row.benchmark, row.round)
    minutes, count = row.published_minutes, row.accelerators_count
    return Named(
        organisation=organisation(row.organisation),
        accelerator=chip.name if chip else None,
        vendor=chip.vendor[0] if chip else None,
        line=chip.line if chip else None,
        family=chip.family if chip else None,
        generation=chip.generation if chip else None,
        memory_gb=chip.memory_of(model) if chip else None,
        benchmark=name,
        title=benchmark.title if benchmark else row.benchmark,
        task=benchmark.task if benchmark else None,
        compatible=compatible,
        # A round that may be compared with no other is a group of its own.
        group=f"{name} {' to '.join(round_key(row.usage, one) for one in _ends(compatible or (row.round,)))}",
        division=division.name if division else None,
        published=came_out.around if came_out else None,
        published_exact=bool(came_out and came_out.date),
        chip_minutes=minutes * count if minutes is not None and minutes > 0 and count else None,
    )


def round_key(usage: str, round_name: str) -> str:
    """A round in a word: ``v1.0`` for training, ``hpc-v3.0`` for other usages."""
    return f"v{round_name}" if usage == "training" else f"{usage}-v{round_name}"


def _ends(names: tuple[str, ...]) -> tuple[str, ...]:
    return (names[0],) if len(names) == 1 else (names[0], names[-1])
