"""The pages of a site, as data: a title, words, and sections with tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from mlsub.commands.site.convergence import section_of_convergence
from mlsub.commands.site.curves import section_of_curves
from mlsub.commands.site.facts import section_of_findings, section_of_hyperparameters, section_of_system
from mlsub.commands.site.model import Cell, Section, counted, minutes_of, number_of, text_of
from mlsub.commands.site.results import Result, RoundResults
from mlsub.commands.site.tables import (
    FILTERS,
    about,
    accepted_in,
    benchmark_chart,
    bert_words,
    by_division,
    fastest_table,
    history_table,
    rcp_cell,
    results_table,
    rounds_table,
    verdict_cell,
)
from mlsub.commands.site.timeline import section_of_runs
from mlsub.convergence.margin import benchmark_held

#: What the word means on every page.
MINUTES = (
    "Minutes are the published score: the olympic mean of the times to train, times the factor of scaling.json, and "
    "results are ranked by it whatever their verdict. Expected minutes have the factor that the convergence test gives."
)
REHEARSAL = "A rehearsal: real training, but not an MLPerf result."


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page.

    ``path`` is where it lies in the site; ``crumbs`` are the pages above it, as title and path; ``filters`` the names
    of the fields its tables are filtered by, with the values there are.
    """

    path: str
    title: str
    lead: tuple[str, ...] = ()
    crumbs: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, Cell], ...] = ()
    sections: tuple[Section, ...] = ()
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()


def overview(rounds: Sequence[RoundResults], title: str | None) -> Page:
    """The first page: how much there is, and the fastest of each benchmark."""
    results = [result for one in rounds for result in one.results]
    runs = counted(sum(result.entry.runs for result in results), "run")
    count = f"{counted(len(results), 'result')} of {counted(len(rounds), 'round')}, {runs}."
    rehearsal = any(one.round.usage == "rehearsal" for one in rounds)
    lead = (
        *((REHEARSAL,) if rehearsal else ()),
        count + " Closed and Open results are never ranked together: Open results may use another model.",
        "All figures are computed from the logs and the factors beside them; none is taken from a published table.",
    )
    sections = [Section(key="rounds", title="Rounds", tables=(rounds_table(rounds),))]
    fastest = fastest_table(rounds)
    if fastest.rows:
        words = (
            "Published scores of systems of any size, whatever their verdict; rounds have different rules, so results "
            "of different rounds cannot be compared directly.",
            *bert_words(results),
        )
        tables = (fastest, history_table(rounds))
        sections.append(Section(key="fastest", title="Fastest Closed results", words=words, tables=tables))
    return Page(
        path="index.html",
        title=text_of(title, 200) if title else "Results" if rehearsal else "MLPerf results",
        lead=lead,
        sections=tuple(sections),
    )


def all_results(rounds: Sequence[RoundResults]) -> Page:
    """The tables of all results, Closed and Open apart, to sort and to filter."""
    results = [result for one in rounds for result in one.results]
    known = [about(result) for result in results]
    filters = [("round", tuple(dict.fromkeys(one["round"] for one in known)))]
    filters += [(name, tuple(sorted({one[name] for one in known}, key=_as_read))) for name in FILTERS[1:]]
    return Page(
        path="results.html",
        title="Results",
        lead=(f"{MINUTES} Click the head of a column to sort by it.", *bert_words(results)),
        sections=tuple(
            Section(key=name, title=title, tables=(results_table(some, f"{title}: results"),))
            for name, title, some in by_division(results)
        ),
        filters=tuple(filters),
    )


def _as_read(name: str) -> tuple[str, str]:
    """By letters whatever their case; names that differ in nothing else always in the same order."""
    return name.casefold(), name


def of_round(one: RoundResults) -> Page:
    """The page of one round: its results as bars and tables, and the findings that are about none of them."""
    sections = []
    for division, title, some in by_division(one.results):
        names: dict[str, list[Result]] = {name: [] for name in sorted({result.entry.benchmark for result in some})}
        for result in some:
            names[result.entry.benchmark].append(result)
        charts = (
            benchmark_chart(f"{division}-{place}", name, division, of) for place, (name, of) in enumerate(names.items())
        )
        drawn = tuple(chart for chart in charts if chart is not None)
        table = results_table(some, f"{one.round.title}, {title}: results")
        sections.append(Section(key=division, title=title, charts=drawn, tables=(table,)))
    if one.rest:
        found = section_of_findings(one.rest, forgiven=False)
        sections.append(msgspec.structs.replace(found, title="Findings about none of the results"))
    ids = [result.id for result in one.results if result.id]
    lead = [f"{accepted_in(one):,} of {len(one.results):,} entries accepted.", *bert_words(one.results)]
    if ids:
        lead.append(f"{one.round.title} | MLPerf ID: {', '.join(dict.fromkeys(ids))}")
    if one.round.usage == "rehearsal":
        lead.append(REHEARSAL)
    return Page(path=one.href, title=one.round.title, lead=tuple(lead), crumbs=_OVERVIEW, sections=tuple(sections))


_OVERVIEW = (("Overview", "index.html"),)


def of_result(result: Result, parent: RoundResults, reference: str | None = None) -> Page:
    """The page of one result, which is one of the results of ``parent``.

    ``reference`` is a file of reference points that the convergence test used in place of the installed ones.
    """
    entry = result.entry
    benchmark = benchmark_held(result.report, entry, result.round)
    curves = section_of_curves(result.logs, benchmark, result.round)
    sections = (
        curves,
        section_of_runs(result.logs, next(iter(curves.data), None)),
        section_of_convergence(result.report, entry, result.round, reference),
        section_of_hyperparameters(result.logs),
        section_of_system(result.report, result.description, result.round),
        section_of_findings(result.findings, forgiven=result.accepted),
    )
    return Page(
        path=result.href,
        title=f"{text_of(entry.benchmark, 60)}, {text_of(entry.system, 100)}",
        lead=(REHEARSAL,) if result.round.usage == "rehearsal" else (),
        crumbs=(*_OVERVIEW, ("Results", "results.html"), (result.round.title, parent.href)),
        facts=tuple(_facts(result)),
        sections=sections,
    )


def _facts(result: Result) -> Iterator[tuple[str, Cell]]:
    entry, row = result.entry, result.row
    yield "Minutes to train", minutes_of(entry.score.published)
    if entry.score.scaling != 1:
        unscaled = minutes_of(entry.score.unscaled)
        yield "Before scaling", Cell(f"{unscaled.text}, × {entry.score.scaling:.6f} (scaling.json)")
    if not entry.score.as_expected:
        expected = minutes_of(entry.score.expected)
        yield "Expected", Cell(f"{expected.text}, × {entry.score.expected_scaling:.6f} (convergence test)")
    yield "Verdict", verdict_cell(entry.official)
    if entry.rcp.also is not None:
        for rcp in (msgspec.structs.replace(entry.rcp, also=None), entry.rcp.also):
            yield f"Convergence by {rcp.counted}", rcp_cell(rcp)
    yield "Division", Cell(text_of(entry.division or "not said", 40))
    yield "Organisation", Cell(text_of(entry.organisation, 100))
    if result.id:
        yield "MLPerf ID", Cell(result.id)
    yield "Runs", Cell(f"{entry.runs}, of which {entry.converged} converged and {entry.compliant} are compliant")
    if row.batch_size is not None:
        yield "Global batch size", Cell(number_of(row.batch_size))
    if row.accelerators_count and row.accelerator_model_name:
        yield "Accelerators", Cell(f"{row.accelerators_count:,} × {text_of(row.accelerator_model_name, 100)}")
    if row.framework:
        yield "Framework", Cell(text_of(row.framework, 200))
    if row.availability:
        yield "Availability", Cell(text_of(row.availability, 60))
    if row.energy_joules is not None:
        yield "Energy", Cell(f"{number_of(row.energy_joules)} J")
