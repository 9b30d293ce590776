"""Tables and charts over many results: the results table of a division, a round's benchmarks, the fastest of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlsub.commands.site.facts import count_cell
from mlsub.commands.site.model import Cell, Column, Drawn, Table, cell_of, minutes_of, table_of, text_of
from mlsub.commands.site.results import Result, RoundResults, age_of
from mlsub.divisions import CLOSED, DIVISIONS, OPEN, Division
from mlsub.findings import Verdict
from mlsub.present.chart import Axis, Series
from mlsub.submission.report import RcpResult, ScoreResult

#: Results in one chart of a benchmark; the fastest are drawn, and how many are not is said.
MAX_BARS = 30
_VERDICTS = {
    Verdict.ACCEPTED: "good",
    Verdict.REJECTED: "bad",
    Verdict.NOT_CHECKED: "warn",
}
_BADGES = {"pass": "good", "fail": "bad", "missing": "warn", "bypassed": "warn", "not-required": None}
_BERT = (
    "* BERT is counted by epoch_num and by train_samples. The verdict shown is that of one count; the other gives "
    "another one, which is on the page of the result too."
)
#: What sections are called whose results are of a division.
TITLES = {
    CLOSED.name: "Closed division",
    OPEN.name: "Open division",
    "other": "Results without a clear division",
}
#: What a table of results can be filtered by.
FILTERS = ("round", "benchmark", "organisation", "verdict")


def division_of(result: Result) -> str:
    """Where a result belongs: closed, open, or other where nothing says so.

    Packages without system descriptions (v0.7 has some) are put where all their logs say they belong.
    """
    logged = {log.division for log in result.logs}
    named = result.entry.division or (logged.pop() if len(logged) == 1 else None)
    word = named.strip().lower() if isinstance(named, str) else ""
    return word if word in DIVISIONS else "other"


def by_division(results: Iterable[Result]) -> Iterator[tuple[str, str, list[Result]]]:
    """The divisions that have results: name, title and results of each."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(division_of(result), []).append(result)
    return ((name, title, found[name]) for name, title in TITLES.items() if name in found)


def results_table(results: Sequence[Result], caption: str) -> Table:
    """One row a result. Identifiers and expected minutes have a column where any result has them."""
    return table_of(caption, in_order(results), list(_columns(results)), about)


def _columns(results: Sequence[Result]) -> Iterator[Column[Result]]:
    yield BENCHMARK
    yield _MINUTES
    if not all(result.entry.score.as_expected for result in results):
        yield Column("expected", lambda result: _expected(result.entry.score), True)
    yield VERDICT
    yield _ORGANISATION
    yield _SYSTEM
    yield _ACCELERATORS
    yield _ROUND
    if any(result.id for result in results):
        yield ID
    yield Column("runs", lambda result: cell_of(result.entry.runs), True)
    yield Column("scaling", lambda result: _scaling(result.entry.score), True)
    yield _RCP
    yield Column("findings", lambda result: count_cell(result.findings), True)


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


def about(result: Result) -> dict[str, str]:
    """The values that filters look at."""
    return {
        "round": round_name(result),
        "benchmark": text_of(result.entry.benchmark, 100),
        "organisation": text_of(result.entry.organisation, 100),
        "verdict": result.entry.official.value,
    }


def _system_cell(result: Result) -> Cell:
    return Cell(text_of(result.row.system or result.entry.system, 200), note=text_of(result.entry.system, 200))


def _round_cell(result: Result) -> Cell:
    major, _, minor = result.round.name.partition(".")
    age = float(major) * 100 + float(minor) if major.isdigit() and minor.isdigit() else None
    return Cell(round_name(result), age)


def _scaling(score: ScoreResult) -> Cell:
    return cell_of(score.scaling, "–" if score.scaling == 1 else f"{score.scaling:.6f}")


def _expected(score: ScoreResult) -> Cell:
    if score.as_expected:
        return Cell("")
    cell = minutes_of(score.expected)
    return Cell(cell.text, cell.sort, note=f"the convergence test gives a factor of {score.expected_scaling:.6f}")


def rcp_cell(rcp: RcpResult) -> Cell:
    """The verdict of the convergence test; an asterisk marks BERT that has another one by the other count."""
    if rcp.verdict == "not-required":
        return Cell("–")
    badge = _BADGES.get(rcp.verdict)
    if rcp.also is None or rcp.otherwise is None:
        return Cell(rcp.verdict, badge=badge)
    return Cell(f"{rcp.verdict}*", badge=badge, note=f"{rcp.otherwise} if counted by {rcp.also.counted}")


def bert_words(results: Iterable[Result]) -> tuple[str, ...]:
    """What the asterisk of :func:`rcp_cell` means, where a result has one."""
    marked = any(result.entry.rcp.otherwise for result in results)
    return (_BERT,) if marked else ()


def verdict_cell(verdict: Verdict) -> Cell:
    """A verdict with its colour."""
    return Cell(verdict.value, badge=_VERDICTS[verdict])


def _accelerators(result: Result) -> Cell:
    count, model = result.row.accelerators_count, result.row.accelerator_model_name
    if not count and not model:
        return Cell("–")
    shown = text_of(model, 100) if model else "accelerators"
    return Cell(f"{count:,} × {shown}" if count else shown, float(count or 0))


BENCHMARK: Column[Result] = Column(
    "benchmark", lambda result: Cell(text_of(result.entry.benchmark, 100), href=result.href)
)
VERDICT: Column[Result] = Column("verdict", lambda result: verdict_cell(result.entry.official))
ID: Column[Result] = Column("MLPerf ID", lambda result: Cell(result.id or "–"))
_MINUTES: Column[Result] = Column("minutes", lambda result: minutes_of(result.entry.score.published), True)
_ORGANISATION: Column[Result] = Column("organisation", lambda result: Cell(text_of(result.entry.organisation, 100)))
_SYSTEM: Column[Result] = Column("system", _system_cell)
_ACCELERATORS: Column[Result] = Column("accelerators", _accelerators)
_ROUND: Column[Result] = Column("round", _round_cell, True)
_RCP: Column[Result] = Column("RCP", lambda result: rcp_cell(result.entry.rcp))
_HISTORY = (BENCHMARK, _ROUND, _MINUTES, VERDICT, _RCP, _ORGANISATION, _SYSTEM, _ACCELERATORS)
_BENCHMARK_NAME: Column[str] = Column("benchmark", lambda name: Cell(text_of(name, 100)))
_ROUNDS: tuple[Column[RoundResults], ...] = (
    Column("round", lambda one: Cell(one.round.title, href=one.href)),
    Column("organisations", lambda one: cell_of(len({result.entry.organisation for result in one.results})), True),
    Column("systems", lambda one: cell_of(len({(it.entry.organisation, it.entry.system) for it in one.results})), True),
    Column("closed", lambda one: _in_division(one, CLOSED), True),
    Column("open", lambda one: _in_division(one, OPEN), True),
    Column("runs", lambda one: cell_of(sum(result.entry.runs for result in one.results)), True),
    Column("accepted", lambda one: cell_of(accepted_in(one), f"{accepted_in(one):,} of {len(one.results):,}"), True),
)


def rounds_table(rounds: Sequence[RoundResults]) -> Table:
    """One row a round: how much of what there is."""
    return table_of("Rounds", rounds, _ROUNDS)


def _in_division(one: RoundResults, division: Division) -> Cell:
    return cell_of(sum(division_of(result) == division.name for result in one.results))


def accepted_in(one: RoundResults) -> int:
    """How many results of a round the official checker accepts."""
    return sum(result.accepted for result in one.results)


def fastest_table(rounds: Sequence[RoundResults]) -> Table:
    """The fastest published Closed result of each benchmark and round, in minutes, whatever its verdict."""
    best = _fastest(rounds)
    columns = [_BENCHMARK_NAME, *(_fastest_in(one, place, best) for place, one in enumerate(rounds))]
    names = sorted({name for name, _ in best})
    return table_of("Fastest published Closed result of each benchmark, in minutes", names, columns)


def history_table(rounds: Sequence[RoundResults]) -> Table:
    """The same one below the other, each with its verdict beside."""
    best = sorted(_fastest(rounds).items(), key=lambda item: item[0])
    return table_of("The same with their verdicts", [result for _, result in best], _HISTORY, about)


def _fastest_in(one: RoundResults, place: int, best: Mapping[tuple[str, int], Result]) -> Column[str]:
    return Column(round_name(one), lambda name: _fastest_cell(best.get((name, place))), True)


def _fastest_cell(result: Result | None) -> Cell:
    if result is None:
        return Cell("")
    minutes = result.entry.score.published
    note = f"{text_of(result.entry.organisation, 100)}, {result.entry.official.value}"
    return Cell(f"{minutes:.3f}", minutes, href=result.href, note=note)


def _fastest(rounds: Sequence[RoundResults]) -> dict[tuple[str, int], Result]:
    best: dict[tuple[str, int], Result] = {}
    for place, one in enumerate(rounds):
        for result in _timed(one.results):
            # Broken clocks give times below 0, which nobody published.
            if division_of(result) == CLOSED.name and (result.row.result_minutes or 0) > 0:
                best.setdefault((result.entry.benchmark, place), result)
    return best


def _timed(results: Iterable[Result]) -> list[Result]:
    """Those that have a time, the fastest first."""
    timed = [result for result in results if result.row.result_minutes is not None]
    return sorted(timed, key=lambda result: result.row.result_minutes or 0.0)


def benchmark_chart(key: str, benchmark: str, division: str, results: Sequence[Result]) -> Drawn | None:
    """Bars of the times of one benchmark in one division; None where there is nothing to compare."""
    timed = _timed(results)
    shown = timed[:MAX_BARS]
    if len(shown) < 2:
        return None  # One bar says nothing that its number does not.
    bars = tuple((float(result.row.result_minutes or 0.0), float(place)) for place, result in enumerate(shown))
    good = tuple(bar for bar, result in zip(bars, shown, strict=True) if result.accepted)
    bad = tuple(bar for bar, result in zip(bars, shown, strict=True) if not result.accepted)
    name = text_of(benchmark, 60)
    series = (
        Series(name="accepted", style="bars", points=good, colour=0),
        Series(name="not accepted", style="bars", points=bad, colour=5),
    )
    rest = f" The {MAX_BARS} fastest of {len(timed)} are drawn." if len(timed) > MAX_BARS else ""
    return Drawn(
        key=key,
        title=f"{name}, {division.capitalize()}",
        about=f"Minutes to train {name} of {len(shown)} {division.capitalize()} results, "
        f"from {bars[0][0]:.3f} to {bars[-1][0]:.3f}.{rest}",
        x=Axis("Minutes to train"),
        y=Axis("Result"),
        series=tuple(one for one in series if one.points),
        categories=tuple(f"{_short(result.entry.organisation)}, {_short(result.entry.system)}" for result in shown),
    )


def _short(name: str) -> str:
    return text_of(name, 28)
