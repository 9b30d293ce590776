"""The page of one round: all its results, each benchmark as a chart grouped by the number of accelerators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mlsub.commands.site.cite import system_of
from mlsub.commands.site.facts import count_cell, section_of_findings
from mlsub.commands.site.model import Cell, Column, Live, Section, Table, cell_of, counted, number_of, table_of, text_of
from mlsub.commands.site.pages import MINUTES, OVERVIEW, REHEARSAL, Page
from mlsub.commands.site.places import accelerator_href
from mlsub.commands.site.results import Result, RoundResults, slug_of
from mlsub.commands.site.tables import (
    ID,
    ORGANISATION,
    VERDICT,
    accepted_in,
    bert_words,
    by_division,
    in_order,
    rcp_cell,
    round_name,
)
from mlsub.present.entries import BY_LOGS, missing_results
from mlsub.rounds.publication import published

#: An accelerator family in a legend: its name, and the number of its colour and the shape of its marks.
Family = tuple[str, int, str]


def of_round(one: RoundResults, families: Sequence[Family] = ()) -> Page:
    """The page of one round: its results as charts and tables, and the findings that are about none of them.

    ``families`` is the legend of the accelerators of its results.
    """
    sections = [_section(one, name, title, some, families) for name, title, some in by_division(one.results)]
    if one.rest:
        found = section_of_findings(one.rest, forgiven=False)
        sections.append(replace(found, title="Findings about none of the results"))
    ids = [name for result in one.results if result.ids for name in result.ids.ids]
    lead = [" ".join(_met(one))]
    lead += [MINUTES, *bert_words(one.results)]
    if ids:
        lead.append(f"{one.round.title} | MLPerf ID: {', '.join(dict.fromkeys(ids))}")
    if (missing := missing_results(one.report)) is not None:
        lead.append(f"{missing}.")
    if one.round.usage == "rehearsal":
        lead.append(REHEARSAL)
    return Page(
        path=one.href,
        title=one.round.title,
        lead=tuple(lead),
        crumbs=OVERVIEW,
        sections=tuple(sections),
        whole=True,
    )


def _met(one: RoundResults) -> Iterator[str]:
    """How many results meet the official checker, which is not a verdict on the round, and when it came out."""
    meet = "meets" if len(one.results) == 1 else "meet"
    by_logs = "" if one.round.package_checker else f"; {BY_LOGS}"
    count = counted(len(one.results), "result")
    yield f"{accepted_in(one):,} of {count} {meet} the official checker of the round{by_logs}."
    if (out := published(one.round.usage, one.round.name)) is not None:
        yield f"Published {'on' if out.date else 'in'} {out.shown}."


def _section(
    one: RoundResults, division: str, title: str, results: Sequence[Result], families: Sequence[Family]
) -> Section:
    groups: dict[tuple[str, str, str | None], list[Result]] = {}
    for result in results:
        of = (result.named.title.casefold(), result.named.benchmark, result.entry.scaling_type)
        groups.setdefault(of, []).append(result)
    ordered = [groups[of] for of in sorted(groups, key=_by_name)]
    charts = tuple(chart for some in ordered for chart in _chart(division, title, some, families))
    table = _table(results, f"{one.round.title}, {title}: results")
    return Section(key=division, title=title, charts=charts, tables=(table,))


def _by_name(of: tuple[str, str, str | None]) -> tuple[str, str, str]:
    return of[0], of[1], of[2] or ""


def _chart(division: str, title: str, results: Sequence[Result], families: Sequence[Family]) -> tuple[Live, ...]:
    """All results of a benchmark as dots; nothing where none has a time to draw."""
    first, timed = results[0], [result for result in results if result.minutes is not None]
    if not timed:
        return ()
    minutes = sorted(result.minutes or 0.0 for result in timed)
    kind = first.entry.scaling_type
    name = text_of(first.named.title, 60) + (f", {text_of(kind, 20)} scaling" if kind else "")
    words = f"Minutes to train {name} of {counted(len(timed), 'result')}, grouped by the number of accelerators"
    words += f": {number_of(minutes[0], 3)} to {number_of(minutes[-1], 3)}." if len(timed) > 1 else "."
    if not all(result.accepted for result in timed):
        words += " A ring is a result that does not meet the official checker."
    if without := len(results) - len(timed):
        words += f" {counted(without, 'result')} without a time {'is' if without == 1 else 'are'} in the table only."
    data = {
        "root": "../",
        "round": round_name(first),
        "division": division,
        "benchmark": text_of(first.named.benchmark, 200),
        "scaling": text_of(kind, 200) if kind else None,
        "keys": list(families),
    }
    key = "-".join((division, slug_of(first.named.benchmark, *((kind,) if kind else ()))))
    return (Live(kind="round", key=key, title=f"{name}, {title}", about=words, data=data),)


def _table(results: Sequence[Result], caption: str) -> Table:
    """All results, the fastest of each benchmark first."""
    columns = [*_COLUMNS, *((ID,) if any(result.id for result in results) else ()), *_LAST]
    ordered = sorted(in_order(results), key=lambda result: result.named.title.casefold())
    return table_of(caption, ordered, columns)


def _benchmark_cell(result: Result) -> Cell:
    kind = f", {text_of(result.entry.scaling_type, 20)} scaling" if result.entry.scaling_type else ""
    return Cell(text_of(result.named.title, 100) + kind, href=result.href)


def _minutes_cell(value: float | None) -> Cell:
    return Cell(number_of(value, 3), value, note=f"{value:.6f}" if value is not None else None)


def _accelerator_cell(result: Result) -> Cell:
    model = result.named.accelerator or result.row.accelerator_model_name
    return Cell(text_of(model, 100) if model else "–", href=accelerator_href(result.named))


_COLUMNS: tuple[Column[Result], ...] = (
    Column("benchmark", _benchmark_cell),
    Column("minutes", lambda result: _minutes_cell(result.row.published_minutes), True),
    VERDICT,
    ORGANISATION,
    Column("system", lambda result: Cell(system_of(result), note=text_of(result.entry.system, 200))),
    Column("number", lambda result: cell_of(result.row.accelerators_count), True),
    Column("accelerator", _accelerator_cell),
)
_LAST: tuple[Column[Result], ...] = (
    Column("unscaled", lambda result: _minutes_cell(result.row.unscaled_minutes), True),
    Column("expected", lambda result: _minutes_cell(result.row.expected_minutes), True),
    Column("runs", lambda result: cell_of(result.entry.runs), True),
    Column("RCP", lambda result: rcp_cell(result.entry.rcp)),
    Column("findings", lambda result: count_cell(result.findings), True),
)
