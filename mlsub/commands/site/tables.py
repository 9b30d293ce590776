"""Tables of results and of rounds: the columns that a result has on pages, each in one way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mlsub.commands.site.page import Cell, Column, Table, build_table, minutes_cell, number_cell, number_text
from mlsub.commands.site.results import DAGGER, Results, SiteResult, SiteRound, fast
from mlsub.divisions import CLOSED, OPEN
from mlsub.findings import Verdict
from mlsub.present.entries import rcp_words
from mlsub.present.findings import grouped
from mlsub.submission.report import RcpResult
from mlsub.systems.fields import is_not_applicable

#: Rows of one table on a page about what results share; which ones are left out is said.
MAX_ROWS = 400
_VERDICTS = {Verdict.ACCEPTED: "good", Verdict.REJECTED: "bad", Verdict.NOT_CHECKED: "warn"}
_BADGES = {"pass": "good", "fail": "bad", "missing": "warn", "bypassed": "warn", "not-required": None}
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
    newest_first = results.ordered(lambda one: (-_age_number(one), fast(one)))
    return newest_first.ordered(lambda one: (one.benchmark_title.casefold(), one.benchmark_name))


def rcp_cell(rcp: RcpResult) -> Cell:
    """Return the verdict of the convergence test, and what :func:`rcp_words` says beside it."""
    if rcp.verdict == "not-required":
        return Cell("–")
    notes = [f"{rcp.otherwise} if counted by {rcp.also.counted}"] if rcp.also is not None and rcp.otherwise else []
    notes += [rcp.incomparable] if rcp.incomparable is not None else []
    notes += [f"the logs name {rcp.logs_benchmark}"] if rcp.logs_benchmark is not None else []
    return Cell(rcp_words(rcp), badge=_BADGES.get(rcp.verdict), note="; ".join(notes) or None)


def bert_words(results: Iterable[SiteResult]) -> tuple[str, ...]:
    """Return what the asterisk of :func:`rcp_cell` means, where a result has one."""
    return (_BERT,) if any(result.rcp.otherwise for result in results) else ()


def verdict_cell(verdict: Verdict) -> Cell:
    """Return a verdict with its colour."""
    return Cell(verdict.value, badge=_VERDICTS[verdict])


def accelerators_cell(result: SiteResult) -> Cell:
    """Return how many of which accelerator, where the description or a table names it."""
    count, name = result.accelerators_count, result.accelerator
    name = None if name is None or is_not_applicable(name) else name
    if not count:
        return Cell(name or "none", 0.0, result.accelerator_href)
    return Cell(f"{count:,} × {name}" if name else f"{count:,}, not named", float(count), result.accelerator_href)


def _age_number(result: SiteResult) -> float:
    major, minor = (*result.age, 0, 0)[:2]
    return major * 100.0 + minor


def _result_cell(result: SiteResult) -> Cell:
    kind = f", {result.scaling_type} scaling" if result.scaling_type else ""
    return Cell(result.benchmark_title + kind, href=result.href)


def best_minutes_cell(result: SiteResult) -> Cell:
    """Return the minutes of a best result, with a dagger where it is the best of the results given."""
    return _marked(number_cell(result.published_minutes, href=result.href), result)


def _exact_minutes_cell(result: SiteResult) -> Cell:
    return _marked(replace(minutes_cell(result.published_minutes), href=result.href), result)


def _marked(cell: Cell, result: SiteResult) -> Cell:
    return replace(cell, text=f"{cell.text}{DAGGER}") if result.without_logs else cell


def energy_cell(result: SiteResult) -> Cell:
    """Return the energy of a result in megajoules with four digits, and all of them in the note; a dash without."""
    joules = result.energy.scaled if result.energy else None
    if joules is None:
        return Cell("–")
    return Cell(number_text(joules / 1e6, 4), joules / 1e6, note=f"{number_text(joules, 9)} J")


def with_energy(names: Iterable[str], results: Iterable[SiteResult]) -> list[str]:
    """Return columns with that of the energy behind the minutes, where a result has been measured."""
    measured = any(one.energy and one.energy.scaled is not None for one in results)
    before = {"minutes", "plain minutes"} if measured else set()
    return [it for name in names for it in ((name, "energy") if name in before else (name,))]


def _system_cell(result: SiteResult) -> Cell:
    """Return the name of a system, and its folder in the note where that is another."""
    name, folder = result.system_name, result.system
    return Cell(name, href=result.system_href, note=folder if folder != name else None)


#: What tables say of a result.
_COLUMNS: dict[str, Column[SiteResult]] = {
    "result": Column("benchmark", _result_cell),
    "benchmark": Column("benchmark", lambda one: Cell(one.benchmark_title, href=one.benchmark_href)),
    "plain benchmark": Column("benchmark", lambda one: one.benchmark_title),
    "division title": Column("division", lambda one: one.division_title),
    "system": Column("system", lambda one: _system_cell(one)),
    "organisation": Column("organisation", lambda one: Cell(one.organisation_name, href=one.organisation_href)),
    "accelerators": Column("accelerators", accelerators_cell),
    "number": Column("accelerators", lambda one: one.accelerators_count),
    "accelerator": Column("accelerator", lambda one: Cell(one.accelerator or "–", href=one.accelerator_href)),
    "minutes": Column("minutes", lambda one: number_cell(one.published_minutes, href=one.href)),
    "plain minutes": Column("minutes", lambda one: number_cell(one.published_minutes)),
    "best minutes": Column("minutes", best_minutes_cell),
    "exact minutes": Column("minutes", _exact_minutes_cell),
    "energy": Column("energy in MJ", lambda one: energy_cell(one)),
    "unscaled": Column("unscaled", lambda one: number_cell(one.score.unscaled)),
    "expected": Column("expected", lambda one: number_cell(one.score.expected)),
    "chip-minutes": Column("chip-minutes", lambda one: number_cell(one.chip_minutes, number_text(one.chip_minutes, 3))),
    "division": Column("division", lambda one: one.division_name),
    "round": Column("round", lambda one: one.round_key),
    "verdict": Column("verdict", lambda one: verdict_cell(one.official)),
    "rcp": Column("RCP", lambda one: rcp_cell(one.rcp)),
    "runs": Column("runs", lambda one: one.runs),
    "findings": Column("findings", lambda one: len(grouped(one.findings))),
    "software": Column("software", lambda one: one.framework),
    "batch size": Column("batch size", lambda one: one.rcp.batch_size),
}


def columns(*names: str) -> list[Column[SiteResult]]:
    """Return columns of a result by their names."""
    return [_COLUMNS[name] for name in names]


def results_table(caption: str, results: Results, *names: str, most: int = MAX_ROWS, key: str = "") -> Table:
    """Return a table with a row for each result.

    Args:
        caption: what the table shows.
        results: in the order of the rows; after ``most`` they are left out, which the caption says.
        names: of the columns.
        most: the most rows.
        key: what scripts call the table.
    """
    left = f"{caption}: the first {most} of {len(results):,}, which the page of results has all"
    return build_table(caption if len(results) <= most else left, results[:most], columns(*names), key)


_ROUNDS: tuple[Column[SiteRound], ...] = (
    Column("round", lambda one: Cell(one.rules.title, href=one.href)),
    Column("organisations", lambda one: len({result.organisation_name for result in one.results})),
    Column("systems", lambda one: len({result.system_name for result in one.results})),
    Column("closed", lambda one: _in_division(one, CLOSED.name)),
    Column("open", lambda one: _in_division(one, OPEN.name)),
    Column("runs", lambda one: sum(result.runs for result in one.results)),
    Column("official checker", lambda one: _accepted_cell(one)),
)


def rounds_table(rounds: Sequence[SiteRound]) -> Table:
    """Return one row a round: how much of what there is."""
    return build_table("Rounds; systems are counted by the names in their descriptions", rounds, _ROUNDS)


def _accepted_cell(one: SiteRound) -> Cell:
    by_logs = "" if one.rules.package_checker else " of logs"
    return number_cell(one.accepted, f"{one.accepted:,} of {len(one.results):,} meet the official checker{by_logs}")


def _in_division(one: SiteRound, division: str) -> int:
    return sum(result.division_name == division for result in one.results)


_FILES: tuple[Column[str], ...] = (
    Column("file", lambda path: Cell(path.rpartition("/")[2], href=path)),
    Column("content", lambda path: _CONTENT[path.rpartition(".")[2]]),
)


def files_table(paths: Iterable[str]) -> Table:
    """Return one row a file with all results, by its path in the site."""
    return build_table("All results as files", paths, _FILES)


def fastest(results: Results) -> Results:
    """Return the fastest Closed result of each benchmark and round, by title and round, whatever its verdict."""
    best = results.closed.best(lambda one: (one.benchmark_href, one.round_key))
    return best.ordered(lambda one: (one.benchmark_title.casefold(), one.benchmark_name))


def fastest_table(results: Results) -> Table:
    """Return the fastest results, one row a benchmark and one column a round."""
    by_round = [
        Column(name, lambda some, name=name: _fastest_cell(some, name))  # type: ignore[misc]
        for name in dict.fromkeys(result.round_key for result in results)
    ]
    first = Column[Results]("benchmark", lambda some: Cell(some[0].benchmark_title, href=some[0].benchmark_href))
    rows = fastest(results).by(lambda one: one.benchmark_href)
    return build_table("Fastest published Closed result of each benchmark, in minutes", rows, [first, *by_round])


def _fastest_cell(results: Results, round_key: str) -> Cell:
    result = next((one for one in results if one.round_key == round_key), None)
    if result is None:
        return Cell("")
    return replace(best_minutes_cell(result), note=f"{result.organisation_name}, {result.official.value}")


def dagger_words(best: Iterable[SiteResult]) -> tuple[str, ...]:
    """Return what the dagger at some of these best results means, if there is one."""
    marked = [result for result in best if result.without_logs]
    named = (f"{one.benchmark_title} in {one.round_key} ({one.without_logs} without logs)" for one in marked)
    return (f"{DAGGER} The best of the results given: {', '.join(dict.fromkeys(named))}.",) if marked else ()
