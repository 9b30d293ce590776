"""Performance pages: one organisation's MLPerf results with their IDs, and the figures of records beside them.

A page is of one organisation, as pages of performance are that organisations publish; figures of two of them are for
the pages of benchmarks. There are such pages only with records. ``performance.html`` is the page of the one
organisation whose records are given, or of the only one that has results. With several it lists them: those with
records have a page each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
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
    build_table,
    number_cell,
)
from mlsub.commands.site.records import performance_chart, records_sections
from mlsub.commands.site.results import DIVISIONS, Results, Site, SiteResult, group_by, slug
from mlsub.commands.site.tables import results_table
from mlsub.submission.organisations import organisation

PERFORMANCE = "performance.html"


class Organisation(NamedTuple):
    """An organisation: its name in one spelling, its results, the newest round first, and records of its own."""

    name: str
    results: Results
    records: tuple[Records, ...]


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
    """The results of a round: a chart for each benchmark with Closed and Open side by side, and one table."""
    rules = results[0].rules
    divisions = [name for name in DIVISIONS if any(one.division_name == name for one in results)]
    ordered = sorted(
        results, key=lambda one: (one.benchmark_title.casefold(), *_size(one), one.division_name, one.path)
    )
    ids = sorted({name for one in results if one.ids for name in one.ids.ids})
    key = f"mlperf-{slug(rules.usage, rules.name).replace('_', '-').replace('.', '-')}"
    by_title = group_by(ordered, lambda one: one.benchmark_title)
    charts = [_round_chart(f"{key}-{place}", some, divisions, root) for place, some in enumerate(by_title)]
    heads = ("benchmark", "system", "division", "exact minutes", "verdict", *(("id",) if ids else ()))
    table = results_table(f"{rules.title}: published minutes", ordered, *heads, "accelerators", "software")
    return Section(
        key=key,
        title=rules.title,
        words=(f"{rules.title} Results | MLPerf ID: {', '.join(ids)}",) if ids else (),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(table,),
    )


def _size(result: SiteResult) -> tuple[int, str, str]:
    """What systems of one size have in common: how many of which accelerator, and the framework."""
    return result.accelerators_count or 0, result.accelerator or "", framework_name(result)


def _round_chart(key: str, results: Results, divisions: Sequence[str], root: str) -> Chart | None:
    """Bars of the results of a benchmark, a row for each system, as far as these have a score."""
    rows = _rows(results)
    names = [row[0].system_name for row in rows]
    labels = [
        f"{row[0].system_name}, {_size(row[0])[2]}" if _is_twice(row[0].system_name, names) else row[0].system_name
        for row in rows
    ]
    bars = [
        {
            "row": place,
            "division": divisions.index(one.division_name),
            "minutes": one.published_minutes,
            "verdict": one.verdict,
            "id": one.id,
            "href": one.href,
        }
        for place, row in enumerate(rows)
        for one in row
        if one.score_minutes is not None
    ]
    if not bars:
        return None
    about = (
        "Time to train by system and division, in minutes; less is better. A hollow bar is a result that the official "
        "checker does not accept."
    )
    data = {
        "rows": labels,
        "bars": bars,
        "divisions": [DIVISIONS[name].removesuffix(" division") for name in divisions],
        "colours": [list(DIVISIONS).index(name) for name in divisions],
        "root": root,
    }
    return performance_chart("divisions", key, f"{results[0].rules.title}: {results[0].benchmark_title}", about, data)


def _rows(results: Results) -> list[Results]:
    """The results of a benchmark by system, one of each division: systems of one size and software are one."""
    rows: list[Results] = []
    for some in group_by(results, _size):
        by_division = group_by(some, lambda one: one.division_name)
        rows += [[one for one in row if one is not None] for row in zip_longest(*by_division)]
    return rows


def _is_twice(name: str, names: Sequence[str]) -> bool:
    """Whether a name is there several times, however it is written."""
    plain = [re.sub(r"[\W_]", "", one.casefold()) for one in names]
    return plain.count(re.sub(r"[\W_]", "", name.casefold())) > 1
