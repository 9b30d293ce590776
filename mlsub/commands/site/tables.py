"""Tables and charts over many results: the results table of a division, a round's benchmarks, the fastest of each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from mlsub.commands.site.model import Cell, Column, Table, cell_of, minutes_of, table_of, text_of
from mlsub.commands.site.places import accelerator_href, benchmark_href, organisation_href, system_href
from mlsub.commands.site.results import Result, RoundResults, age_of
from mlsub.divisions import CLOSED, OPEN, Division, division_meant
from mlsub.findings import Verdict
from mlsub.present.entries import rcp_words
from mlsub.submission.report import RcpResult

#: The name of a framework: what comes before numbers, parentheses and the like.
_FRAMEWORK = re.compile(r"[A-Za-z][A-Za-z +/_-]*[A-Za-z]")
_VERDICTS = {
    Verdict.ACCEPTED: "good",
    Verdict.REJECTED: "bad",
    Verdict.NOT_CHECKED: "warn",
}
_BADGES = {"pass": "good", "fail": "bad", "missing": "warn", "bypassed": "warn", "not-required": None}
_BERT = (
    "* BERT is counted by epoch_num, and by train_samples where epoch_num does not pass. By the other count the "
    "verdict is another one, which is on the page of the result too."
)
_DAGGER = "†"
#: What sections are called whose results are of a division.
TITLES = {
    CLOSED.name: "Closed division",
    OPEN.name: "Open division",
    "other": "Results without a clear division",
}


def division_of(result: Result) -> str:
    """Where a result belongs: closed, open, or other where nothing says so.

    Packages without system descriptions (v0.7 has some) are put where all their logs say they belong.
    """
    logged = {log.division for log in result.logs}
    found = division_meant(result.entry.division or (logged.pop() if len(logged) == 1 else None))
    return found.name if found else "other"


def by_division(results: Iterable[Result]) -> Iterator[tuple[str, str, list[Result]]]:
    """The divisions that have results: name, title and results of each."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(division_of(result), []).append(result)
    return ((name, title, found[name]) for name, title in TITLES.items() if name in found)


def round_name(round_: RoundResults | Result) -> str:
    """A round in a column: its number, with the usage where that is not training."""
    usage, name = round_.round.usage, round_.round.name
    return f"v{name}" if usage == "training" else f"{usage} v{name}"


def in_order(results: Iterable[Result]) -> list[Result]:
    """Results as they are read: by benchmark and round, the fastest first."""

    def rank(result: Result) -> tuple[str, str, tuple[int, ...], float]:
        minutes = result.row.result_minutes
        return (result.entry.benchmark, result.round.usage, age_of(result.round.name), minutes if minutes else math.inf)

    return sorted(results, key=rank)


def _system_cell(result: Result) -> Cell:
    name, folder = text_of(result.row.system or result.entry.system, 200), text_of(result.entry.system, 200)
    return Cell(name, href=system_href(result.named, result.row), note=folder)


def round_cell(result: Result) -> Cell:
    """A round that sorts by its age."""
    major, _, minor = result.round.name.partition(".")
    age = float(major) * 100 + float(minor) if major.isdigit() and minor.isdigit() else None
    return Cell(round_name(result), age)


def rcp_cell(rcp: RcpResult) -> Cell:
    """The verdict of the convergence test, and what :func:`rcp_words` says beside it."""
    if rcp.verdict == "not-required":
        return Cell("–")
    notes = [f"{rcp.otherwise} if counted by {rcp.also.counted}"] if rcp.also is not None and rcp.otherwise else []
    notes += [rcp.incomparable] if rcp.incomparable is not None else []
    return Cell(rcp_words(rcp), badge=_BADGES.get(rcp.verdict), note="; ".join(notes) or None)


def bert_words(results: Iterable[Result]) -> tuple[str, ...]:
    """What the asterisk of :func:`rcp_cell` means, where a result has one."""
    marked = any(result.entry.rcp.otherwise for result in results)
    return (_BERT,) if marked else ()


def verdict_cell(verdict: Verdict) -> Cell:
    """A verdict with its colour."""
    return Cell(verdict.value, badge=_VERDICTS[verdict])


def linked_minutes(result: Result) -> Cell:
    """The published score in full, which leads to the page of the result."""
    cell = minutes_of(result.row.published_minutes)
    return Cell(cell.text, cell.sort, href=result.href)


def framework_name(framework: str | None) -> str:
    """A framework by its name alone, without its version and what else a description says of it."""
    name = _FRAMEWORK.match((framework or "").strip())
    return name[0] if name else ""


def count_of_accelerators(result: Result, model: str | None = None) -> Cell:
    """How many accelerators of which model, which is the one of the description where no other name is given."""
    count, model = result.row.accelerators_count, model or result.row.accelerator_model_name
    if not count and not model:
        return Cell("–")
    shown = text_of(model, 100) if model else "accelerators"
    href = accelerator_href(result.named)
    return Cell(f"{count:,} × {shown}" if count else shown, float(count or 0), href=href)


VERDICT: Column[Result] = Column("verdict", lambda result: verdict_cell(result.entry.official))
ID: Column[Result] = Column("MLPerf ID", lambda result: Cell(result.id or "–"))
_MINUTES: Column[Result] = Column(
    "minutes", lambda result: marked_cell(minutes_of(result.entry.score.published), result), True
)
ORGANISATION: Column[Result] = Column(
    "organisation", lambda result: Cell(text_of(result.named.organisation, 100), href=organisation_href(result.named))
)
_SYSTEM: Column[Result] = Column("system", _system_cell)
_ACCELERATORS: Column[Result] = Column("accelerators", count_of_accelerators)
_ROUND: Column[Result] = Column("round", round_cell, True)
_RCP: Column[Result] = Column("RCP", lambda result: rcp_cell(result.entry.rcp))
TITLE: Column[Result] = Column("benchmark", lambda result: Cell(text_of(result.named.title, 100), href=result.href))
_HISTORY = (TITLE, _ROUND, _MINUTES, VERDICT, _RCP, ORGANISATION, _SYSTEM, _ACCELERATORS)
_BENCHMARK_PAGE: Column[Result] = Column(
    "benchmark", lambda result: Cell(text_of(result.named.title, 100), href=benchmark_href(result.named))
)
_ROUNDS: tuple[Column[RoundResults], ...] = (
    Column("round", lambda one: Cell(one.round.title, href=one.href)),
    Column("organisations", lambda one: cell_of(len({result.entry.organisation for result in one.results})), True),
    Column("systems", lambda one: cell_of(len({(it.entry.organisation, it.entry.system) for it in one.results})), True),
    Column("closed", lambda one: _in_division(one, CLOSED), True),
    Column("open", lambda one: _in_division(one, OPEN), True),
    Column("runs", lambda one: cell_of(sum(result.entry.runs for result in one.results)), True),
    Column("official checker", lambda one: _meeting(one)),
)


def rounds_table(rounds: Sequence[RoundResults]) -> Table:
    """One row a round: how much of what there is."""
    return table_of("Rounds", rounds, _ROUNDS)


def _meeting(one: RoundResults) -> Cell:
    accepted = accepted_in(one)
    by_logs = "" if one.round.package_checker else " of logs"
    return cell_of(accepted, f"{accepted:,} of {len(one.results):,} meet the official checker{by_logs}")


def _in_division(one: RoundResults, division: Division) -> Cell:
    return cell_of(sum(division_of(result) == division.name for result in one.results))


_CONTENT = {
    "csv": "a line for each result; text that a spreadsheet would calculate with starts with an apostrophe",
    "json": "a list with an object for each result",
    "parquet": "typed columns, for pandas, Polars, DuckDB and others",
}
_FILES: tuple[Column[str], ...] = (
    Column("file", lambda path: Cell(path.rpartition("/")[2], href=path)),
    Column("content", lambda path: Cell(_CONTENT[path.rpartition(".")[2]])),
)


def files_table(paths: Iterable[str]) -> Table:
    """One row a file with all results, by its path in the site."""
    return table_of("All results as files", paths, _FILES)


def accepted_in(one: RoundResults) -> int:
    """How many results of a round the official checker accepts."""
    return sum(result.accepted for result in one.results)


def fastest_table(rounds: Sequence[RoundResults]) -> Table:
    """The fastest published Closed result of each benchmark and round, in minutes, whatever its verdict."""
    best = _fastest(rounds)
    columns = [_BENCHMARK_PAGE, *(_fastest_in(one, place, best) for place, one in enumerate(rounds))]
    names = {benchmark_href(result.named): result for result in best.values()}
    rows = sorted(names.values(), key=_titled)
    return table_of("Fastest published Closed result of each benchmark, in minutes", rows, columns)


def history_table(rounds: Sequence[RoundResults]) -> Table:
    """The same one below the other, each with its verdict beside."""
    best = sorted(_fastest(rounds).items(), key=lambda item: (_titled(item[1]), item[0][1]))
    return table_of("The same with their verdicts", [result for _, result in best], _HISTORY)


def _titled(result: Result) -> tuple[str, str]:
    return result.named.title.casefold(), result.named.benchmark


def _fastest_in(one: RoundResults, place: int, best: Mapping[tuple[str, int], Result]) -> Column[Result]:
    return Column(round_name(one), lambda of: _fastest_cell(best.get((benchmark_href(of.named), place))), True)


def _fastest_cell(result: Result | None) -> Cell:
    if result is None:
        return Cell("")
    minutes = result.entry.score.published
    note = f"{text_of(result.entry.organisation, 100)}, {result.entry.official.value}"
    return marked_cell(Cell(f"{minutes:.3f}", minutes, href=result.href, note=note), result)


def marked_cell(cell: Cell, result: Result) -> Cell:
    """The cell of a best result, with a dagger where it is the best of the results given."""
    return replace(cell, text=f"{cell.text}{_DAGGER}") if result.missing else cell


def missing_words(rounds: Sequence[RoundResults]) -> tuple[str, ...]:
    """What the dagger in the tables of best results means, where one has it."""
    return words_of_missing(_fastest(rounds).values())


def words_of_missing(best: Iterable[Result]) -> tuple[str, ...]:
    """What the dagger at some of these best results means."""
    marked = [result for result in best if result.missing]
    named = (f"{text_of(one.named.title, 60)} in {round_name(one)} ({one.missing} without logs)" for one in marked)
    of = dict.fromkeys(named)
    return (f"{_DAGGER} The best of the results given: {', '.join(of)}.",) if marked else ()


def _fastest(rounds: Sequence[RoundResults]) -> dict[tuple[str, int], Result]:
    best: dict[tuple[str, int], Result] = {}
    for place, one in enumerate(rounds):
        timed = [result for result in one.results if result.minutes and division_of(result) == CLOSED.name]
        for result in sorted(timed, key=lambda result: result.minutes or 0.0):
            best.setdefault((benchmark_href(result.named), place), result)
    return best
