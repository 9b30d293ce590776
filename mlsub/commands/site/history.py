"""Benchmarks over the rounds: their records, the best of each kind in each round, and lines of ideal scaling."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from mlsub.commands.site.page import number_text
from mlsub.commands.site.results import Results, SiteResult, closed, group_by


def time_of(result: SiteResult) -> float:
    """Return the minutes to train of a result that has them."""
    minutes = result.train_minutes
    assert minutes is not None  # noqa: S101  (asked of timed results only)
    return minutes


def timed(results: Iterable[SiteResult]) -> list[SiteResult]:
    """Return the results that have a time to train."""
    return [one for one in results if one.train_minutes is not None]


def by_comparability(results: Iterable[SiteResult]) -> list[Results]:
    """Return results in groups whose rounds may be compared; a round that is compatible with no other is alone."""
    return group_by(results, lambda one: one.compatible_rounds or (one.round,))


def record_chains(results: Iterable[SiteResult]) -> list[list[SiteResult]]:
    """Return the records of a benchmark, oldest first, of each group of rounds that may be compared.

    A record is the fastest Closed result of its round, and faster than all before it.
    """
    chains = []
    for group in by_comparability(closed(results)):
        chain: list[SiteResult] = []
        for fastest in best_of(group, lambda one: one.round_key):
            if not chain or time_of(fastest) < time_of(chain[-1]):
                chain.append(fastest)
        chains.append(chain)
    return chains


def best_of(
    results: Iterable[SiteResult], key: Callable[[SiteResult], Hashable], value: Callable[[SiteResult], float] = time_of
) -> list[SiteResult]:
    """Return the result with the lowest value of each key, in the order in which the keys come; of equals the first."""
    return [min(some, key=value) for some in group_by(results, key)]


class Ideal(NamedTuple):
    """A line of ideal scaling: twice the accelerators take half the minutes.

    It goes through the fastest result of the fewest accelerators of one kind, up to the most of them, in one round
    and division. ``newest``: no later round has such a line for this kind.
    """

    through: SiteResult
    most: int
    newest: bool


def ideal_lines(results: Results) -> list[Ideal]:
    """Return the lines of ideal scaling of timed results, older rounds first; a kind of one size has none."""
    kinds = group_by(
        (one for one in results if one.accelerator_name and one.accelerators_count),
        lambda one: (one.accelerator_name, one.division_name, one.round_key),
    )
    wide = [some for some in kinds if len({one.accelerators_count for one in some}) > 1]
    last = {(some[0].accelerator_name, some[0].division_name): some for some in wide}
    lines = []
    for some in wide:
        sizes = [one.accelerators_count or 0 for one in some]
        through = min((one for one in some if one.accelerators_count == min(sizes)), key=time_of)
        newest = last[through.accelerator_name, through.division_name] is some
        lines.append(Ideal(through, max(sizes), newest))
    return lines


def best_chip_minutes(results: Iterable[SiteResult]) -> list[Results]:
    """Return the fewest chip-minutes of each accelerator family, division and round; a list for each line of them.

    A line joins the rounds of one family and division that may be compared.
    """
    best = best_of(
        (one for one in results if one.chip_minutes and one.family),
        lambda one: (one.family, one.division_name, one.round_key),
        lambda one: one.chip_minutes or 0.0,
    )
    return group_by(best, lambda one: (one.family, one.division_name, one.compatible_rounds or one.round))


def in_minutes(result: SiteResult) -> str:
    """Return the time of a result in words, to three digits."""
    shown = number_text(time_of(result), 3)
    return f"{shown} minute{'s' * (shown != '1')}"


def holder(result: SiteResult) -> str:
    """Return whose result it is, on how many of what, and whether others of its benchmark and round are missing."""
    chips, name = result.accelerators_count, result.accelerator_name
    system = f"{chips:,} × {name}" if chips and name else result.system_name
    given = f", of the results given ({result.without_logs} without logs)" if result.without_logs else ""
    return f"{result.organisation_name}, {system}{given}"
