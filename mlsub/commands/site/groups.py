"""Pages about what results share: benchmarks, accelerators, organisations and systems, each kind with an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from mlsub.commands.site.charts import chip_minutes_chart, records_over_time, scaling_chart
from mlsub.commands.site.facts import system_section
from mlsub.commands.site.page import (
    OVERVIEW,
    REHEARSAL,
    Cell,
    Column,
    Page,
    Preview,
    Section,
    build_table,
    cell_of,
    names_cell,
    number_text,
    plain_table,
)
from mlsub.commands.site.preview import preview_of, suite_of
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult, fast
from mlsub.commands.site.tables import (
    accelerators_cell,
    best_minutes_cell,
    by_benchmark,
    dagger_words,
    results_table,
    with_energy,
)
from mlsub.divisions import CLOSED
from mlsub.systems.fields import is_not_applicable
from mlsub.systems.names import Chip, all_chips

#: Things that an index lists, and rows of a benchmark without scripts; with them there are all.
_MOST, _STATIC_ROWS = 1200, 50
#: What tables of results say, but for the columns that would say the same in each row.
_COLUMNS = (
    *("benchmark", "system", "organisation", "accelerators", "minutes", "chip-minutes", "division", "round", "verdict"),
)
_SCALING = (
    "Closed results of all rounds, both axes logarithmic. The dotted line is ideal scaling in the newest round that "
    "has systems of several sizes: twice the accelerators take half the minutes."
)
_RANKS = (
    "Organisations by their fastest Closed result of each round, on systems of any size; equal times have one rank. "
    "▲ and ▼ are places won and lost since the round before in which the organisation had one."
)
#: A gain a year is told of no shorter period, in years.
_SHORTEST = 0.9
_BEST = "Fastest Closed result of each benchmark and number of accelerators, of all rounds"


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of things that results share.

    ``name`` is what a thing is called, by the results that have it, those of older rounds first, and ``href`` the page
    about it. ``columns`` is what the index says of it, and its page too, which also says ``more``; ``without`` are
    columns of its table of results, ``title_of`` is its title where that is not the name.
    """

    title: str
    words: str
    href: Callable[[SiteResult], str | None]
    name: Callable[[Results], str]
    columns: tuple[Column[Results], ...]
    more: tuple[Column[Results], ...] = ()
    without: tuple[str, ...]
    title_of: Callable[[Results], str] | None = None

    @property
    def index(self) -> str:
        """The page that lists them."""
        return f"{self.title.lower()}.html"

    @property
    def one(self) -> str:
        """What one of them is called."""
        return self.title.lower().removesuffix("s")


def group_pages(site: Site) -> Iterator[Page]:
    """Return the pages of benchmarks, accelerators, organisations and systems; the indexes lie in the root."""
    for kind in KINDS:
        groups = groups_of(site, kind)
        left = f" The first {_MOST:,} of {len(groups):,} are listed; the pages of organisations lead to the others."
        first = Column(kind.one, lambda some, of=kind: Cell(of.name(some), href=of.href(some[0])))  # type: ignore[misc]
        table = build_table(kind.title, groups[:_MOST], (first, *kind.columns, *_COUNTS), key="index")
        about = f"{len(groups):,} {kind.title.lower()} in {suite_of(site.results)}. {kind.words}"
        yield Page(
            path=kind.index,
            title=kind.title,
            preview=Preview(f"{kind.title}: {suite_of(site.results)} results", about),
            lead=(kind.words + (left if len(groups) > _MOST else ""),),
            sections=(Section(key="all", title=f"All {kind.title.lower()}", tables=(table,)),),
        )
        yield from (_group_page(site, kind, some) for some in groups if kind.href(some[0]) != some[0].href)


def groups_of(site: Site, kind: Kind) -> list[Results]:
    """Return the results of each thing: benchmarks by interest, accelerators of a maker together, others by name."""
    if kind is BENCHMARKS:
        return site.benchmarks
    groups = site.results.by(kind.href)
    if kind is ACCELERATORS:
        order = list(all_chips())
        return sorted(groups, key=lambda some: order.index(some[0].accelerator_name or ""))
    return sorted(groups, key=lambda some: (kind.name(some).casefold(), kind.href(some[0]) or ""))


def _group_page(site: Site, kind: Kind, results: Results) -> Page:
    parts = _benchmark_sections if kind is BENCHMARKS else partial(_common_sections, kind)
    facts = [(column.title, cell_of(column.value(results))) for column in (*kind.columns, *kind.more)]
    inside = sum(one.division_name == CLOSED.name for one in results)
    some_closed = f", {inside:,} of them Closed" if inside < len(results) else ", Closed"
    title = (kind.title_of or kind.name)(results)
    return Page(
        path=kind.href(results[0]) or "",
        title=title,
        preview=preview_of(title, kind.one, results),
        lead=(REHEARSAL,) if any(result.usage == "rehearsal" for result in results) else (),
        crumbs=(*OVERVIEW, (kind.title, kind.index)),
        facts=(
            *((title.capitalize(), cell) for title, cell in facts if cell.text != "–"),
            ("Rounds", _rounds_cell(results)),
            ("Results", Cell(f"{len(results):,}{some_closed}")),
        ),
        sections=tuple(parts(site, results)),
    )


def _common_sections(kind: Kind, site: Site, results: Results) -> Iterator[Section]:
    if kind is ACCELERATORS:
        yield from _scaling_section(site, results)
    words = (
        f"The fastest Closed results of this {kind.one} in each round, by accelerator family, on benchmarks with "
        f"results in several rounds. The grey line is the record of all {kind.title.lower()}."
    )
    yield from records_over_time(site, results, words)
    if kind is ACCELERATORS:
        yield _best_section(results)
    columns = with_energy([name for name in _COLUMNS if name not in kind.without], results)
    table = results_table("Results by benchmark, the newest round first", by_benchmark(results), *columns)
    yield Section(key="results", title="All results", tables=(table,))
    if kind is SYSTEMS:
        yield system_section(results)


def _rounds_cell(results: Results) -> Cell:
    keys = results.rounds
    return Cell(keys[0] if len(keys) == 1 else f"{len(keys)}, {keys[0]} to {keys[-1]}", float(len(keys)))


_COUNTS: tuple[Column[Results], ...] = (
    Column("rounds", _rounds_cell),
    Column("results", len),
)


# ---- Benchmarks


def _record(results: Results) -> SiteResult | None:
    chains = results.record_chains()
    return chains[-1][-1] if chains else None


def _record_cell(results: Results) -> Cell | None:
    record = _record(results)
    return best_minutes_cell(record) if record else None


def _holder(results: Results) -> str | None:
    record = _record(results)
    if record is None:
        return None
    return f"{record.holder}, {record.round_key}, {results.closed.beside(record).given}"


def _comparable(results: Results) -> str:
    groups = [group.rounds for group in results.comparable()]
    return "; ".join(keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}" for keys in groups)


def _yearly_gain(results: Results) -> Cell | None:
    """Return how many times as fast the record becomes in a year, over the newest rounds that may be compared."""
    record = _record(results)
    group = results.closed.complete.beside(record) if record else Results()
    days = [one.publication_date for one in group if one.publication_date]
    years = (days[-1] - days[0]).days / 365.25 if days else 0.0
    if record is None or record.partial or years < _SHORTEST:
        return None
    gain = min(fast(one) for one in group if one.round == group[0].round) / fast(record)
    period = f"{number_text(gain, 3)} times from {group[0].round_key} to {group[-1].round_key}, {years:.1f} years"
    return Cell(f"{number_text(gain ** (1 / years), 3)} times as fast", note=period)


def _ranks_section(results: Results) -> Iterator[Section]:
    """Yield the rank of each organisation by round, by its fastest Closed result; nothing of a single round.

    Rounds of which folders have no logs are left out: their ranks are not known.
    """
    rounds = results.closed.complete.rounds
    ranks: dict[str, dict[str, tuple[int, SiteResult]]] = {}
    for name in rounds:
        best = Results(one for one in results.closed if one.round_key == name).best(lambda one: one.organisation_name)
        times = sorted(map(fast, best))
        for result in best:
            ranks.setdefault(result.organisation_name, {})[name] = times.index(fast(result)) + 1, result
    if len(rounds) < 2:
        return
    order = sorted(ranks, key=lambda name: [ranks[name].get(one, (len(ranks) + 1,))[0] for one in reversed(rounds)])
    rows: list[list[Cell | str]] = [[name, *_rank_cells([ranks[name].get(one) for one in rounds])] for name in order]
    table = plain_table("Rank by round, and places won or lost since its round before", ("organisation", *rounds), rows)
    partial = [name for name in results.closed.rounds if name not in rounds]
    left = (f"Without {', '.join(partial)}, of which folders have no logs.",) if partial else ()
    yield Section(key="ranks", title="Rank by round", words=(_RANKS, *left), tables=(table,))


def _rank_cells(ranks: Sequence[tuple[int, SiteResult] | None]) -> Iterator[Cell]:
    before: int | None = None
    for one in ranks:
        if one is None:
            yield Cell("")
            continue
        rank, result = one
        won = (before or rank) - rank
        change = f" {'▲' if won > 0 else '▼'}{abs(won)}" if won else ""
        yield Cell(f"{rank}{change}", float(rank), result.href, note=f"{result.in_minutes}, {result.holder}")
        before = rank


def _benchmark_sections(site: Site, results: Results) -> Iterator[Section]:
    """Yield charts and a table of which a script shows a round and a division, and ranks by round."""
    divisions = [name for name in DIVISIONS if any(one.division_name == name for one in results)]
    ordered = results.ordered(lambda one: (list(DIVISIONS).index(one.division_name), fast(one)))
    columns = with_energy(_COLUMNS[1:], results)
    table = results_table("Results, the fastest first", ordered, *columns, most=_STATIC_ROWS, key="selection")
    explore = {
        "rounds": results.rounds,
        "energy": "energy" in columns,
        "divisions": [(name, "Not clear" if name == "other" else name.capitalize()) for name in divisions],
        "table": "table-selection",
        "results": site.places(results),
        # The addresses of what the results name, by the names that the data of the site have.
        "pages": {
            "organisation": {one.organisation_name: one.organisation_href for one in results},
            "accelerator": {one.accelerator_name: one.accelerator_href for one in results if one.accelerator_href},
            "system": {f"{one.organisation_name}\n{one.system_name}": one.system_href for one in results},
        },
    }
    scaling = scaling_chart(site, results, "Accelerators and minutes", explore=explore)
    charts = (scaling, *filter(None, (chip_minutes_chart(site, results),)))
    yield Section(key="explore", title="Results", charts=charts, tables=(table,))
    yield from _ranks_section(results)


# ---- Accelerators


def _chip(results: Results) -> Chip:
    return all_chips()[results[0].accelerator_name or ""]


def _memory_cell(results: Results) -> Cell | None:
    sizes = _chip(results).memory_gb
    first = f"{', '.join(map(str, sizes[:-1]))} or " if len(sizes) > 1 else ""
    return Cell(f"{first}{sizes[-1]} GB", float(sizes[0])) if sizes else None


def _scaling_section(site: Site, results: Results) -> Iterator[Section]:
    groups = results.closed.by(lambda one: one.benchmark_href)
    sized = [some for some in groups if len({one.accelerators_count or None for one in some} - {None}) > 1]
    if sized:
        charts = tuple(scaling_chart(site, some) for some in sized)
        title = f"Minutes over the number of {results[0].accelerator_name}"
        yield Section(key="scaling", title=title, words=(_SCALING,), charts=charts, small=True)


def _best_section(results: Results) -> Section:
    fastest = results.closed.best(lambda one: (one.benchmark_href, one.accelerators_count))
    best = fastest.ordered(lambda one: (one.benchmark_title.casefold(), one.accelerators_count or 0))
    words = dagger_words(best) if best else ("There are no Closed results with a time.",)
    table = results_table(_BEST, best, "benchmark", "number", "best minutes", "round", "organisation")
    return Section(key="best", title="Best by number", words=words, tables=(table,) if best else ())


# ---- Organisations and systems


def _accelerators_cell(results: Results) -> Cell:
    return names_cell(sorted({one.accelerator_name for one in results if one.accelerator_name}))


def _processors(results: Results) -> str | None:
    names = [name for one in results if (name := one.host_processor_model_name) and not is_not_applicable(name)]
    count = results[-1].host_processors_count
    return None if not names else f"{count:,} × {names[-1]}" if count else names[-1]


def _said_cell(results: Results, field: str) -> Cell:
    return names_cell(text for one in results if (text := getattr(one, field)) and not is_not_applicable(text))


BENCHMARKS = Kind(
    title="Benchmarks",
    words="The fastest is the shortest published time of a Closed result in the newest comparable rounds.",
    href=lambda one: one.benchmark_href,
    name=lambda some: some[-1].benchmark_title,
    columns=(
        Column("task", lambda some: some[-1].task),
        Column("fastest in minutes", _record_cell),
        Column("by", _holder),
    ),
    more=(Column("rounds that may be compared", _comparable), Column("gain a year", _yearly_gain)),
    without=("benchmark",),
)
ACCELERATORS = Kind(
    title="Accelerators",
    words="Systems whose description names no accelerator that is known here, such as those that train on processors "
    "alone, are on the page of systems.",
    href=lambda one: one.accelerator_href,
    name=lambda some: some[0].accelerator_name or "",
    columns=(
        Column("vendor", lambda some: ", ".join(_chip(some).vendor)),
        Column("line", lambda some: _chip(some).line),
        Column("generation", lambda some: _chip(some).generation),
        Column("memory", _memory_cell),
    ),
    more=(Column("organisations", lambda some: names_cell(one.organisation_name for one in some)),),
    without=("chip-minutes",),
)
ORGANISATIONS = Kind(
    title="Organisations",
    words="Each organisation has one spelling over all rounds; results of several together have a page.",
    href=lambda one: one.organisation_href,
    name=lambda some: some[-1].organisation_name,
    columns=(
        Column("benchmarks", lambda some: names_cell(one.benchmark_title for one in some)),
        Column("accelerators", _accelerators_cell),
    ),
    without=("organisation",),
)
SYSTEMS = Kind(
    title="Systems",
    words="A system is known by its organisation and by the name that its description gives it.",
    href=lambda one: one.system_href,
    name=lambda some: some[-1].system_name,
    columns=(
        Column("organisation", lambda some: Cell(some[-1].organisation_name, href=some[-1].organisation_href)),
        Column("accelerators", lambda some: accelerators_cell(some[-1])),
    ),
    more=(
        Column("processors", _processors),
        Column("nodes", lambda some: some[-1].number_of_nodes),
        Column("framework", lambda some: _said_cell(some, "framework")),
        Column("availability", lambda some: _said_cell(some, "availability")),
    ),
    without=("organisation", "system"),
    title_of=lambda some: f"{some[-1].system_name}, {some[-1].organisation_name}",
)
KINDS = (BENCHMARKS, ACCELERATORS, ORGANISATIONS, SYSTEMS)
