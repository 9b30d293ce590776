"""Pages about what results share: benchmarks, accelerators, organisations and systems, each kind with an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from mlsub.commands.site.charts import efficiency_section, records_over_time, rounds_chart, sizes_chart
from mlsub.commands.site.page import OVERVIEW, UNVERIFIED, ColumnOf, Page, build_table, cell_of, count_text, names_cell
from mlsub.commands.site.result_page import system_section
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult
from mlsub.commands.site.tables import accelerators_cell, by_benchmark, results_table, with_energy
from mlsub.commands.site.views import SAME, alike, compared_size, lead_words, view_cell, views_of
from mlsub.divisions import CLOSED
from mlsub.io.show import first_few, join_words
from mlsub.present.document import Facts, Section, Span, Text
from mlsub.present.entries import REHEARSAL
from mlsub.score.alike import SystemSize
from mlsub.systems.fields import is_not_applicable
from mlsub.systems.names import Chip, all_chips

#: Things that an index lists, and rows of a benchmark without scripts; with them there are all.
_MOST, _STATIC_ROWS = 1200, 50
#: What tables of results say, but for the columns that would say the same in each row.
_COLUMNS = (
    *("benchmark", "system", "organisation", "accelerators", "minutes", "chip-minutes", "division", "round", "verdict"),
)


class SharedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of things that results share.

    ``name`` is what a thing is called, by the results that have it, those of older rounds first, and ``href`` the page
    about it. ``columns`` is what the index says of it, and its page too, which also says ``more``; ``without`` are
    columns of its table of results, ``title_of`` is its title where that is not the name.
    """

    title: str
    words: str
    href: Callable[[SiteResult], str]
    name: Callable[[Results], str]
    columns: tuple[ColumnOf[Results], ...]
    more: tuple[ColumnOf[Results], ...] = ()
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
        first = (kind.one, lambda some, of=kind: Span(of.name(some), link=of.href(some[0])))
        table = build_table(kind.title, groups[:_MOST], (first, *kind.columns, *_COUNTS), "index")
        yield Page(
            kind.title,
            (
                Text(kind.words + (left if len(groups) > _MOST else "")),
                Section(f"All {kind.title.lower()}", (table,), anchor="all"),
            ),
            path=kind.index,
            full_title=f"{kind.title}: {site.results.suite} results",
            description=f"{len(groups):,} {kind.title.lower()} in {site.results.suite}. {kind.words}",
        )
        yield from (_group_page(site, kind, some) for some in groups if kind.href(some[0]) != some[0].href)


def groups_of(site: Site, kind: SharedKind) -> list[Results]:
    """Return the results of each thing: benchmarks by interest, accelerators of a maker together, others by name."""
    if kind is BENCHMARKS:
        return site.benchmarks
    groups = site.results.by(kind.href)
    if kind is ACCELERATORS:
        order = list(all_chips())
        return sorted(groups, key=lambda some: order.index(some[0].result.accelerator_name or ""))
    return sorted(groups, key=lambda some: (kind.name(some).casefold(), kind.href(some[0])))


def _group_page(site: Site, kind: SharedKind, results: Results) -> Page:
    title = (kind.title_of or kind.name)(results)
    facts = ((name.capitalize(), cell_of(value(results))) for name, value in (*kind.columns, *kind.more))
    inside = len(results.of_division(CLOSED.name))
    some_closed = f", {inside:,} of them Closed" if inside < len(results) else ", Closed"
    rehearsal = any(one.result.usage == "rehearsal" for one in results)
    sections = _benchmark_sections(site, results) if kind is BENCHMARKS else _common_sections(kind, site, results)
    return Page(
        title,
        (
            *((Text(REHEARSAL),) if rehearsal else ()),
            Facts(
                (
                    *(fact for fact in facts if fact[1].text != "–"),
                    ("Rounds", _rounds_cell(results)),
                    ("Results", Span(f"{len(results):,}{some_closed}")),
                )
            ),
            *((Text(results.missing),) if results.missing else ()),
            *sections,
        ),
        path=kind.href(results[0]),
        full_title=f"{title}: {results.suite} results by round",
        description=f"{_description(title, kind, results)}. {UNVERIFIED}",
        crumbs=(*OVERVIEW, (kind.title, kind.index)),
    )


def _description(title: str, kind: SharedKind, results: Results) -> str:
    """Return what search engines and links say of the page of a thing."""
    rounds = count_text(len(results.rounds), "round")
    about = f"{count_text(len(results), 'result')} of the {kind.one} {title} in {rounds} ({results.period})"
    if kind is not BENCHMARKS:
        return f"{about}: {first_few(dict.fromkeys(one.result.benchmark_title for one in results), 4)}"
    newest = (one for one in results.closed if one.result.round_key == results.closed.rounds[-1])
    said = lead_words(next(views_of(results)), Results(newest))
    return ". ".join(filter(None, (about, said.removesuffix("."))))


def _common_sections(kind: SharedKind, site: Site, results: Results) -> Iterator[Section]:
    words = (
        f"The best Closed results of this {kind.one} in each round, by accelerator family, on benchmarks with "
        f"results in several rounds. The grey line is the record of all {kind.title.lower()}."
    )
    yield from records_over_time(site, results, words)
    columns = with_energy([name for name in _COLUMNS if name not in kind.without], results)
    table = results_table("Results by benchmark, the newest round first", by_benchmark(results), *columns)
    yield Section("All results", (table,), anchor="results")
    if kind is SYSTEMS:
        yield system_section(results)


def _rounds_cell(results: Results) -> Span:
    count = len(results.rounds)
    return Span(results.period if count == 1 else f"{count}, {results.period}", value=float(count))


_COUNTS: tuple[ColumnOf[Results], ...] = (
    ("rounds", _rounds_cell),
    ("results", len),
)


# ---- Benchmarks


def _record(results: Results) -> SiteResult | None:
    """Return the record in the newest comparable rounds, at the size that is compared."""
    chains = alike(results).record_chains()
    return chains[-1][-1] if chains else None


def _record_cell(results: Results) -> Span | None:
    record, view = _record(results), next(views_of(results))
    return view_cell(view, record)._replace(note=view.where.strip()) if record else None


def _size_cell(results: Results) -> Span | None:
    """Return the size at which results are compared, as a cell that sorts by its number."""
    size = compared_size(results)
    return Span(str(size), value=float(size.number)) if size else None


def _benchmark_sections(site: Site, results: Results) -> Iterator[Section]:
    """Yield charts and a table of which a script shows a round and a division."""
    divisions = {name: some for name in DIVISIONS if (some := results.of_division(name))}
    view = next(views_of(results))
    ordered = (one for some in divisions.values() for one in by_benchmark(some))
    of_size = Results(one for one in ordered if view.size in (None, one.size))
    columns = with_energy(_COLUMNS[1:], results)
    caption = f"Results{view.where}, the newest round first"
    table = results_table(caption, of_size, *columns, most=_STATIC_ROWS, anchor="selection")
    explore = {
        "rounds": results.rounds,
        "energy": "energy" in columns,
        "divisions": [(name, "Not clear" if name == "other" else name.capitalize()) for name in divisions],
        "table": "table-selection",
        "results": site.places(results),
        "choices": {name: dict(_choices(some, view.size)) for name, some in divisions.items()},
        # The addresses of what the results name, by the names that the data of the site have.
        "pages": {
            "organisation": {one.result.organisation_name: one.organisation_href for one in results},
            "accelerator": {it.result.accelerator_name: it.accelerator_href for it in results if it.accelerator_href},
            "system": {f"{one.result.organisation_name}\n{one.system_name}": one.system_href for one in results},
        },
    }
    charts = (sizes_chart(site, results, explore), *rounds_chart(site, results))
    yield Section("Results", (*charts, table), anchor="explore")
    yield from efficiency_section(site, results)


def _choices(results: Results, usual: SystemSize | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is said of all rounds of a division, and of each: the size that is compared, and each view's best.

    Where that size is not the ``usual`` one of the benchmark it is said.
    """
    rounds = results.by(lambda one: one.result.round_key)
    for name, some in (("", results), *((some[0].result.round_key, some) for some in rounds)):
        same, *others = views_of(some)
        leads = {view.name: lead_words(view, some) for view in (same, *others)}
        if same.size not in (None, usual):
            leads[SAME] += f" Here the usual size is {same.size}; over all rounds it is {usual}."
        yield name, {"size": str(same.size or ""), "leads": leads}


# ---- Accelerators


def _chip(results: Results) -> Chip:
    return all_chips()[results[0].result.accelerator_name or ""]


def _memory_cell(results: Results) -> Span | None:
    sizes = _chip(results).memory_gb
    return Span(f"{join_words(map(str, sizes), 'or')} GB", value=float(sizes[0])) if sizes else None


# ---- Organisations and systems


def _processors(results: Results) -> str | None:
    names = [name for one in results if (name := one.result.host_processor_model_name) and not is_not_applicable(name)]
    count = results[-1].result.host_processors_count
    return None if not names else f"{count:,} × {names[-1]}" if count else names[-1]


def _said_cell(results: Results, field: str) -> Span:
    return names_cell(text for one in results if (text := getattr(one.result, field)) and not is_not_applicable(text))


BENCHMARKS = SharedKind(
    title="Benchmarks",
    words="The fastest is the shortest published time of a Closed result in the newest comparable rounds, on the "
    "number of accelerators that is beside it.",
    href=lambda one: one.benchmark_href,
    name=lambda some: some[-1].result.benchmark_title,
    columns=(
        ("task", lambda some: some[-1].result.task),
        ("compared on", _size_cell),
        ("fastest in minutes", _record_cell),
        ("by", lambda some: f"{one.holder}, {one.result.round_key}" if (one := _record(some)) else None),
    ),
    more=(("rounds that may be compared", lambda some: "; ".join(group.period for group in some.comparable())),),
    without=("benchmark",),
)
ACCELERATORS = SharedKind(
    title="Accelerators",
    words="Systems whose description names no accelerator that is known here, such as those that train on processors "
    "alone, are on the page of systems.",
    href=lambda one: one.accelerator_href,
    name=lambda some: some[0].result.accelerator_name or "",
    columns=(
        ("vendor", lambda some: ", ".join(_chip(some).vendor)),
        ("line", lambda some: _chip(some).line),
        ("generation", lambda some: _chip(some).generation),
        ("memory", _memory_cell),
    ),
    more=(("organisations", lambda some: names_cell(one.result.organisation_name for one in some)),),
    without=("chip-minutes",),
)
ORGANISATIONS = SharedKind(
    title="Organisations",
    words="Each organisation has one spelling over all rounds; results of several together have a page.",
    href=lambda one: one.organisation_href,
    name=lambda some: some[-1].result.organisation_name,
    columns=(
        ("benchmarks", lambda some: names_cell(one.result.benchmark_title for one in some)),
        ("accelerators", lambda some: names_cell(sorted(filter(None, {one.result.accelerator_name for one in some})))),
    ),
    without=("organisation",),
)
SYSTEMS = SharedKind(
    title="Systems",
    words="A system is known by its organisation and by the name that its description gives it.",
    href=lambda one: one.system_href,
    name=lambda some: some[-1].system_name,
    columns=(
        ("organisation", lambda some: Span(some[-1].result.organisation_name, link=some[-1].organisation_href)),
        ("accelerators", lambda some: accelerators_cell(some[-1])),
    ),
    more=(
        ("processors", _processors),
        ("nodes", lambda some: some[-1].result.number_of_nodes),
        ("framework", lambda some: _said_cell(some, "framework")),
        ("availability", lambda some: _said_cell(some, "availability")),
    ),
    without=("organisation", "system"),
    title_of=lambda some: f"{some[-1].system_name}, {some[-1].result.organisation_name}",
)
KINDS = (BENCHMARKS, ACCELERATORS, ORGANISATIONS, SYSTEMS)
