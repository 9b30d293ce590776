"""Tables of results and of rounds: the columns that a result has on pages, each in one way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.commands.site.page import ColumnOf, build_table, number_cell, number_text, three_cell, three_text
from mlsub.commands.site.results import Results, SiteResult, SiteRound, minutes_of
from mlsub.divisions import CLOSED, OPEN
from mlsub.present.document import Meaning, Span, Table
from mlsub.present.entries import rcp_words, verdict_span
from mlsub.present.findings import grouped
from mlsub.submission.report import RcpResult
from mlsub.submission.result import Result

#: Rows of one table on a page about what results share; which ones are left out is said.
MAX_ROWS = 400
_RCP_VERDICTS: dict[str, Meaning] = {"pass": "good", "fail": "bad", "missing": "note", "bypassed": "note"}
_BERT = (
    "* BERT is counted by epoch_num, and by train_samples where epoch_num does not pass. By the other count the "
    "verdict is another one, which is on the page of the result too."
)
_CONTENT = {
    "csv": "a line for each result; text that a spreadsheet would calculate with starts with an apostrophe",
    "parquet": "typed columns, for pandas, Polars, DuckDB and others",
}


def by_benchmark(results: Results) -> Results:
    """Return results by benchmark, the newest round first, and then the fastest."""
    newest_first = results.ordered(lambda one: (tuple(-part for part in one.result.age), minutes_of(one)))
    return newest_first.ordered(lambda one: (one.result.benchmark_title.casefold(), one.result.benchmark_name))


def rcp_cell(rcp: RcpResult) -> Span:
    """Return the verdict of the convergence test, and what :func:`rcp_words` says beside it."""
    if rcp.verdict == "not-required":
        return Span("–")
    notes = [f"{rcp.otherwise} if counted by {rcp.also.counted}"] if rcp.also is not None and rcp.otherwise else []
    notes += [rcp.incomparable] if rcp.incomparable is not None else []
    notes += [f"the logs name {rcp.logs_benchmark}"] if rcp.logs_benchmark is not None else []
    return Span(rcp_words(rcp), _RCP_VERDICTS.get(rcp.verdict, "plain"), note="; ".join(notes))


def bert_words(results: Iterable[SiteResult]) -> tuple[str, ...]:
    """Return what the asterisk of :func:`rcp_cell` means, where a result has one."""
    return (_BERT,) if any(one.result.rcp.otherwise for one in results) else ()


def accelerators_cell(one: SiteResult) -> Span:
    """Return how many of which accelerator, which sorts by their number."""
    return Span(one.accelerators, link=one.accelerator_href, value=float(one.result.accelerators_count or 0))


def energy_cell(result: Result) -> Span:
    """Return the energy of a result in megajoules with three digits, and all of them in the note; a dash without."""
    joules = result.energy.scaled if result.energy else None
    if joules is None:
        return Span("–")
    return Span(three_text(joules / 1e6), value=joules / 1e6, note=f"{number_text(joules, 9)} J")


def with_energy(names: Iterable[str], results: Results) -> list[str]:
    """Return columns with that of the energy behind the minutes, where a result has been measured."""
    measured = any(one.result.energy and one.result.energy.scaled is not None for one in results)
    before = {"minutes", "plain minutes"} if measured else set()
    return [it for name in names for it in ((name, "energy") if name in before else (name,))]


def _system_cell(one: SiteResult) -> Span:
    """Return the name of a system, and its folder in the note where that is another."""
    name, folder = one.system_name, one.result.system
    return Span(name, link=one.system_href, note=folder if folder != name else "")


#: What tables say of a result.
_COLUMNS: dict[str, ColumnOf[SiteResult]] = {
    "result": ("benchmark", lambda one: Span(one.benchmark, link=one.href)),
    "benchmark": ("benchmark", lambda one: Span(one.result.benchmark_title, link=one.benchmark_href)),
    "system": ("system", _system_cell),
    "organisation": ("organisation", lambda one: Span(one.result.organisation_name, link=one.organisation_href)),
    "accelerators": ("accelerators", accelerators_cell),
    "minutes": ("minutes", lambda one: three_cell(one.result.published_minutes, one.href)),
    "plain minutes": ("minutes", lambda one: three_cell(one.result.published_minutes)),
    "energy": ("energy in MJ", lambda one: energy_cell(one.result)),
    "unscaled": ("unscaled", lambda one: three_cell(one.result.score.unscaled)),
    "expected": ("expected", lambda one: three_cell(one.result.score.expected)),
    "chip-minutes": ("chip-minutes", lambda one: three_cell(one.result.chip_minutes)),
    "division": ("division", lambda one: one.division_name),
    "round": ("round", lambda one: one.result.round_key),
    "verdict": ("verdict", lambda one: verdict_span(one.result.official)),
    "rcp": ("RCP", lambda one: rcp_cell(one.result.rcp)),
    "runs": ("runs", lambda one: one.result.runs),
    "findings": ("findings", lambda one: len(grouped(one.result.findings))),
}


def results_table(caption: str, results: Results, *names: str, most: int = MAX_ROWS, anchor: str = "") -> Table:
    """Return a table with a row for each result.

    Args:
        caption: what the table shows.
        results: in the order of the rows; after ``most`` they are left out, which the caption says.
        names: of the columns.
        most: the most rows.
        anchor: what scripts call the table.
    """
    left = f"{caption}: the first {most} of {len(results):,}, which the page of results has all"
    said = caption if len(results) <= most else left
    return build_table(said, results[:most], [_COLUMNS[name] for name in names], anchor)


_ROUNDS: tuple[ColumnOf[SiteRound], ...] = (
    ("round", lambda one: Span(one.rules.title, link=one.href)),
    ("organisations", lambda one: one.organisations),
    ("systems", lambda one: len({it.system_name for it in one.results})),
    ("closed", lambda one: len(one.results.of_division(CLOSED.name))),
    ("open", lambda one: len(one.results.of_division(OPEN.name))),
    ("runs", lambda one: sum(it.result.runs for it in one.results)),
    ("official checker", lambda one: _accepted_cell(one)),
)


def rounds_table(rounds: Sequence[SiteRound]) -> Table:
    """Return one row a round: how much of what there is."""
    return build_table("Rounds; systems are counted by the names in their descriptions", rounds, _ROUNDS)


def _accepted_cell(one: SiteRound) -> Span:
    by_logs = "" if one.rules.package_checker else " of logs"
    return number_cell(one.accepted, f"{one.accepted:,} of {len(one.results):,} meet the official checker{by_logs}")


_FILES: tuple[ColumnOf[str], ...] = (
    ("file", lambda path: Span(path.rpartition("/")[2], link=path)),
    ("content", lambda path: _CONTENT[path.rpartition(".")[2]]),
)


def files_table(paths: Iterable[str]) -> Table:
    """Return one row a file with all results, by its path in the site."""
    return build_table("All results as files", paths, _FILES)
