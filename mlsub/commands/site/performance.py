"""Performance pages: one organisation's MLPerf results with their IDs, and the figures of records beside them.

A page is of one organisation, as pages of performance are that organisations publish; figures of two of them are for
the pages of benchmarks. There are such pages only with records. ``performance.html`` is the page of the one
organisation whose records are given, or of the only one that has results. With several it lists them: those with
records have a page each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mlsub.commands.db.records import Records
from mlsub.commands.site.gains import framework_name, gains_section, prices_section
from mlsub.commands.site.page import (
    MINUTES,
    Cell,
    Chart,
    Column,
    Page,
    Section,
    Table,
    build_table,
    number_cell,
)
from mlsub.commands.site.records import performance_chart, records_sections
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult, group_by, slug
from mlsub.commands.site.tables import accelerators_cell, columns
from mlsub.submission.organisations import organisation

PERFORMANCE = "performance.html"


class Organisation(NamedTuple):
    """An organisation: its name in one spelling, its results, the newest round first, and records of its own."""

    name: str
    results: Results
    records: tuple[Records, ...]


class _Line(NamedTuple):
    """A line of a table: what one system has in each division, by the division's name; at least in one of them."""

    label: str
    found: dict[str, SiteResult]

    @property
    def first(self) -> SiteResult:
        return next(iter(self.found.values()))


def performance_pages(site: Site, records: Sequence[Records]) -> list[Page]:
    """Return the pages, of which the first is ``performance.html``; none without records."""
    if not records:
        return []
    everyone = _organisations(site, records)
    some = [one for one in everyone if one.records] or everyone
    if len(some) == 1:
        others = tuple(file for file in records if file not in some[0].records)
        return [_page(site, some[0]._replace(records=some[0].records + others), PERFORMANCE)]
    lead = (
        "A page of performance is of one organisation: its results with their IDs, and the figures that it published."
    )
    pages = [_page(site, one, _place(one)) for one in some if one.records]
    rest = [file for file in records if not any(file in one.records for one in some)]
    table = build_table("Organisations", some, _ORGANISATIONS)
    sections = (Section(key="organisations", title="Organisations", tables=(table,)), *records_sections(rest))
    return [Page(path=PERFORMANCE, title="Performance", lead=(lead,), sections=sections), *pages]


def _organisations(site: Site, records: Sequence[Records]) -> list[Organisation]:
    """Organisations with results; those with records first, then by name."""
    results = [result for one in reversed(site.rounds) for result in one.results]
    found = [
        Organisation(some[0].organisation_name, some, tuple(_published_by(some[0].organisation_name, records)))
        for some in group_by(results, lambda one: one.organisation_name)
    ]
    return sorted(found, key=lambda one: (not one.records, one.name.casefold(), one.name))


def _published_by(name: str, records: Sequence[Records]) -> Iterator[Records]:
    """The files with documents of an organisation."""
    for file in records:
        if any(organisation(document.publisher).casefold() == name.casefold() for document in file.documents.values()):
            yield file


def _place(one: Organisation) -> str:
    return f"performance/{slug(one.name)[:100]}.html"


_ORGANISATIONS: tuple[Column[Organisation], ...] = (
    Column(
        "organisation", lambda it: Cell(it.name, href=_place(it) if it.records else it.results[0].organisation_href)
    ),
    Column("rounds", lambda it: number_cell(len({one.round_key for one in it.results}))),
    Column("results", lambda it: number_cell(len(it.results))),
    Column("figures of other sources", lambda it: number_cell(sum(len(file.records) for file in it.records))),
)


def _page(site: Site, one: Organisation, path: str) -> Page:
    figures = " Figures from other sources have charts and tables of their own." if one.records else ""
    words = "Closed and Open stand side by side and are not ranked together: an Open result may use another model."
    root = "../" * path.count("/")
    alone, count = path == PERFORMANCE, sum(len(file.records) for file in one.records)
    rounds = group_by(one.results, lambda result: result.round_key)
    return Page(
        path=path,
        title="Performance" if alone else f"Performance of {one.name}",
        lead=(MINUTES, f"{words}{figures}"),
        crumbs=() if alone else (("Performance", PERFORMANCE),),
        facts=(
            ("Organisation", Cell(one.name, href=one.results[0].organisation_href)),
            ("Rounds", Cell(", ".join(some[0].round_key for some in rounds))),
            ("MLPerf results", Cell(f"{len(one.results):,}")),
            *((("Figures of other sources", Cell(f"{count:,}")),) if count else ()),
        ),
        sections=(
            *(_round_section(some, root) for some in rounds),
            *gains_section(one.results, root),
            *prices_section(site, one.name, one.records, root),
            *records_sections(one.records),
        ),
    )


# ---- The results of a round


def _round_section(results: Results, root: str) -> Section:
    """The results of a round: a chart for each benchmark, and one table with Closed and Open beside each other."""
    rules = results[0].rules
    divisions = [name for name in DIVISIONS if any(one.division_name == name for one in results)]
    by_title = sorted(results, key=lambda one: one.benchmark_title.casefold())
    lines = [_lines(some) for some in group_by(by_title, lambda one: one.benchmark_title)]
    ids = sorted({name for one in results if one.ids for name in one.ids.ids})
    key = f"mlperf-{slug(rules.usage, rules.name).replace('_', '-').replace('.', '-')}"
    charts = [_chart(f"{key}-{place}", some, divisions, root) for place, some in enumerate(lines)]
    return Section(
        key=key,
        title=rules.title,
        words=(f"{rules.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else (),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(_table(rules.title, [line for some in lines for line in some], divisions, ids=bool(ids)),),
    )


def _lines(results: Results) -> list[_Line]:
    """A line for each system, the smallest first: systems of one size, accelerator and software are one."""
    found: dict[tuple[float, str, str, int], dict[str, SiteResult]] = {}
    for result in sorted(results, key=lambda one: one.path):
        size = (result.accelerators_count or 0, result.accelerator or "", framework_name(result))
        place = 0
        while result.division_name in found.get((*size, place), {}):
            place += 1
        found.setdefault((*size, place), {})[result.division_name] = result
    return _labelled([line for _, line in sorted(found.items(), key=lambda item: item[0])])


def _labelled(lines: Sequence[dict[str, SiteResult]]) -> list[_Line]:
    """The lines with names that tell them apart: the system, with the framework or the folder where it takes that."""
    first = [next(iter(line.values())) for line in lines]
    labels = [one.system_name for one in first]
    more: tuple[Callable[[SiteResult], str], ...] = (framework_name, lambda one: one.system)
    for name_of in more:
        known = [re.sub(r"[\W_]", "", label.casefold()) for label in labels]
        labels = [
            f"{label}, {name_of(one)}" if known.count(name) > 1 and name_of(one) else label
            for label, name, one in zip(labels, known, first, strict=True)
        ]
    return [_Line(label, line) for label, line in zip(labels, lines, strict=True)]


def _chart(key: str, lines: Sequence[_Line], divisions: Sequence[str], root: str) -> Chart | None:
    bars = [
        {
            "row": place,
            "division": divisions.index(division),
            "minutes": result.published_minutes,
            "verdict": result.verdict,
            "id": result.id,
            "href": result.href,
        }
        for place, line in enumerate(lines)
        for division, result in line.found.items()
        if result.score_minutes is not None
    ]
    if not bars:
        return None
    about = (
        "Time to train by system and division, in minutes; less is better. A hollow bar is a result that the official "
        "checker does not accept."
    )
    first = lines[0].first
    data = {
        "rows": [line.label for line in lines],
        "bars": bars,
        "divisions": [DIVISIONS[name].removesuffix(" division") for name in divisions],
        "colours": [list(DIVISIONS).index(name) for name in divisions],
        "root": root,
    }
    return performance_chart("divisions", key, f"{first.rules.title}: {first.benchmark_title}", about, data)


def _table(title: str, lines: Sequence[_Line], divisions: Sequence[str], *, ids: bool) -> Table:
    of_divisions = [
        Column(
            f"{DIVISIONS[name].removesuffix(' division')} {column.title}",
            lambda line, name=name, of=column.cell: of(line.found[name]) if name in line.found else Cell(""),  # type: ignore[misc]
        )
        for name in divisions
        for column in columns("exact minutes", "verdict", *(("id",) if ids else ()))
    ]
    (software,) = columns("software")
    shown: tuple[Column[_Line], ...] = (
        Column("benchmark", lambda line: Cell(line.first.benchmark_title)),
        Column("system", lambda line: Cell(line.label, note=line.first.system)),
        *of_divisions,
        Column("accelerators", lambda line: accelerators_cell(line.first)),
        Column("software", lambda line: software.cell(line.first)),
    )
    return build_table(f"{title}: published minutes, by system and division", lines, shown)
