"""What results are compared by: minutes at one size, minutes per accelerator, or minutes at any size."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from mlsub.commands.site.page import ColumnOf, build_table, number_cell, number_text, three_text
from mlsub.commands.site.results import DAGGER, Results, SiteResult, chip_minutes_of, minutes_of
from mlsub.present.document import Span, Table
from mlsub.score.alike import SystemSize, usual_size

#: Their names in addresses, as views.js has them; the first is what pages show at first, and without scripts.
SAME, PER_ACCELERATOR, ANY = "same-size", "per-accelerator", "any-size"

#: Chip-minutes of systems that are more times as large as another are no measure of their accelerators.
_FAIR = 4


class View(NamedTuple):
    """A way to compare results; ``size`` is that of those that are compared, None for any."""

    name: str
    size: SystemSize | None = None

    def of(self, results: Results) -> Results:
        """Return those that are compared and have what they are compared by."""
        if self.name == PER_ACCELERATOR:
            return Results(one for one in results.timed if one.result.chip_minutes)
        return Results(one for one in results.timed if self.size in (None, one.size))

    def value(self, one: SiteResult) -> float:
        """Return what puts the best first."""
        return chip_minutes_of(one) if self.name == PER_ACCELERATOR else minutes_of(one)

    @property
    def field(self) -> str:
        """The name of what is compared."""
        return "chip_minutes" if self.name == PER_ACCELERATOR else "published_minutes"

    @property
    def where(self) -> str:
        """What is compared, behind the name of a benchmark; empty where no size is known."""
        if self.name == SAME:
            return f" on {self.size}" if self.size else ""
        return " per accelerator" if self.name == PER_ACCELERATOR else " at any size"

    def figure(self, one: SiteResult) -> str:
        """Return what a result is compared by in words, to three digits."""
        return f"{number_text(self.value(one), 3)} chip-minutes" if self.name == PER_ACCELERATOR else one.in_minutes

    def lead(self, best: SiteResult, other: SiteResult) -> str:
        """Return by how much the best result is before the next one, where that says something."""
        return f"{self.gain(other, best)} the next" if self.is_fair(best, other) else "of another size than the next"

    def is_fair(self, one: SiteResult, other: SiteResult) -> bool:
        """Return whether a ratio of both says something of them: larger systems need more chip-minutes."""
        few, many = sorted(it.result.accelerators_count or 1 for it in (one, other))
        return self.name != PER_ACCELERATOR or many <= _FAIR * few

    def gain(self, before: SiteResult, now: SiteResult) -> str:
        """Return by how much one result is better than another."""
        times, word = self.value(before) / self.value(now), "efficient" if self.name == PER_ACCELERATOR else "fast"
        shown = number_text(times, 2 if times >= 1.1 else 3)
        return f"{'' if shown == '1' else f'{shown} times '}as {word} as"


def views_of(results: Results) -> Iterator[View]:
    """Yield the ways to compare results of one benchmark, at the size that its Closed ones are compared at."""
    yield View(SAME, compared_size(results))
    yield View(PER_ACCELERATOR)
    yield View(ANY)


def alike(results: Results) -> Results:
    """Return the Closed results of a benchmark that are compared at first, which are of one size."""
    return next(views_of(results)).of(results.closed)


def compared_size(results: Results) -> SystemSize | None:
    """Return the size at which results of one benchmark are compared; None where none states one."""
    return usual_size(one.result for one in results.closed or results.timed)


def lead_words(view: View, results: Results) -> str:
    """Return which of results of one round or several is the best, and by how much; empty without any."""
    best, *others = view.of(results).ordered(view.value)[:2] or (None,)
    if best is None:
        return ""
    what = "Fewest chip-minutes" if view.name == PER_ACCELERATOR else f"Fastest{view.where}"
    said = f"{what}: {view.figure(best)}, {best.holder}, {best.result.round_key}"
    for other in others:
        said += f"; {view.lead(best, other)} ({view.figure(other)}, {other.holder}, {other.result.round_key})"
    return f"{said}."


class Standing(NamedTuple):
    """Where a result stands, in words, and the next faster and the next slower one of its size, None at either end."""

    words: str
    faster: SiteResult | None = None
    slower: SiteResult | None = None


def standings(results: Results) -> dict[str, Standing]:
    """Return by their pages where Closed results stand among those of their round and benchmark.

    That is at their size by minutes, and per accelerator by chip-minutes among those of all sizes; equals share the
    better place. Weak scaling, and results without a time or whose size is not stated have none.
    """
    found = {}
    for some in results.closed.by(lambda one: (one.round_href, one.benchmark_href, one.result.scaling_type)):
        ranked = View(PER_ACCELERATOR).of(some)
        for same in some.by(lambda one: one.size):
            order = same.ordered(minutes_of)
            for faster, one, slower in zip((None, *order), order, (*order[1:], None), strict=False):
                said = f"{_place(one, same, minutes_of)} at this size" if len(same) > 1 else "The only one at this size"
                if one.result.chip_minutes and len(ranked) > 1:
                    said += f"; {_place(one, ranked, chip_minutes_of)} per accelerator"
                found[one.href] = Standing(said, faster, slower)
    return found


def _place(one: SiteResult, among: Results, value: Callable[[SiteResult], float]) -> str:
    number = 1 + sum(value(other) < value(one) for other in among)
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending} of {len(among):,}"


# ---- Tables of the best results, one for each view

#: A benchmark's results in a view, the best first.
Row = tuple[View, Results]


def best_tables(results: Results, anchor: str, columns: Sequence[ColumnOf[Row]]) -> Iterator[Table]:
    """Yield a table of the Closed results of each benchmark in each view; all but the first are folded."""
    groups = results.closed.ordered(lambda one: one.result.benchmark_title.casefold()).by(
        lambda one: one.benchmark_href
    )
    rows = [(view, view.of(some).ordered(view.value)) for some in groups for view in views_of(some)]
    for name, caption in _BEST.items():
        table = build_table(
            caption, [row for row in rows if row[0].name == name and row[1]], columns, f"{anchor}-{name}"
        )
        yield replace(table, folded=name != SAME)


_BEST = {
    SAME: "Fastest Closed results of each benchmark at one size, in minutes",
    PER_ACCELERATOR: "Fewest chip-minutes (minutes × accelerators) of Closed results of each benchmark",
    ANY: "Fastest Closed results of each benchmark at any size, in minutes",
}
_BENCHMARK: ColumnOf[Row] = (
    "benchmark",
    lambda row: Span(f"{row[1][0].result.benchmark_title}{row[0].where}", link=row[1][0].benchmark_href),
)
#: Of a round: the best of each benchmark, and how far it is before the next one.
LEADERS: tuple[ColumnOf[Row], ...] = (
    _BENCHMARK,
    ("best", lambda row: view_cell(row[0], row[1][0])),
    ("by", lambda row: row[1][0].holder),
    ("next", lambda row: view_cell(row[0], row[1][1]) if len(row[1]) > 1 else None),
    ("next by", lambda row: row[1][1].holder if len(row[1]) > 1 else "–"),
    ("the best is", lambda row: row[0].lead(*row[1][:2]) if len(row[1]) > 1 else "the only one"),
)


def by_round(results: Results) -> tuple[ColumnOf[Row], ...]:
    """Return a column for each round, with the best of each benchmark in it, or a dagger where folders have no logs."""
    partial = {(one.benchmark_href, one.result.round_key) for one in results if one.partial}
    return (_BENCHMARK, *((key, lambda row, key=key: _best_cell(row, key, partial)) for key in results.rounds))


def _best_cell(row: Row, round_key: str, partial: Container[tuple[str, str]]) -> Span:
    found = next((one for one in row[1] if one.result.round_key == round_key), None)
    if found is None:
        return Span(DAGGER if (row[1][0].benchmark_href, round_key) in partial else "")
    return view_cell(row[0], found)._replace(note=f"{found.holder}, {found.result.official.value}")


def view_cell(view: View, one: SiteResult) -> Span:
    """Return what a view compares, with a dagger where folders of its benchmark and round have no logs."""
    return number_cell(view.value(one), f"{three_text(view.value(one))}{DAGGER if one.partial else ''}", one.href)
