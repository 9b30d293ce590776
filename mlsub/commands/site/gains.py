"""Gains from round to round: one benchmark in one division, on as many accelerators, with the same framework."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mlsub.commands.site.model import Cell, Column, Live, Section, cell_of, number_of, table_of, text_of
from mlsub.commands.site.results import Result, age_of
from mlsub.commands.site.stated import live, words
from mlsub.commands.site.tables import (
    TITLES,
    count_of_accelerators,
    division_of,
    framework_name,
    linked_minutes,
    round_name,
    verdict_cell,
)
from mlsub.score.table import Row


class _Step(NamedTuple):
    """A result, that of the round before, and the first; with how many times as fast it is as those."""

    result: Result
    before: Result | None
    first: Result

    def times(self, other: Result | None) -> float | None:
        """How many times as fast as another."""
        if other is None or not other.minutes or not self.result.minutes:
            return None
        return other.minutes / self.result.minutes


def section_of_gains(results: Iterable[Result]) -> Iterator[Section]:
    """The section; none where no system has results in two rounds that may be compared."""
    chains = list(_chains(results))
    if not chains:
        return
    by_chart: dict[tuple[str, str], list[list[_Step]]] = {}
    for chain in chains:
        result = chain[0].result
        by_chart.setdefault((result.named.title, division_of(result)), []).append(chain)
    yield Section(
        key="gains",
        title="Gains from round to round",
        words=words().gains,
        charts=tuple(
            _chart(f"gains-{place}", title, division, some)
            for place, ((title, division), some) in enumerate(by_chart.items())
        ),
        tables=(table_of("Gains from round to round", [step for chain in chains for step in chain], _COLUMNS),),
    )


def _chains(results: Iterable[Result]) -> Iterator[list[_Step]]:
    found: dict[tuple[object, ...], dict[str, Result]] = {}
    for result in results:
        row, named = result.row, result.named
        if result.minutes is None or not row.accelerators_count:
            continue
        rounds = named.compatible or (row.round,)
        key = (
            named.title.casefold(),
            division_of(result),
            row.accelerators_count,
            framework_name(row.framework),
            row.usage,
            rounds,
        )
        best = found.setdefault(key, {})
        if row.round not in best or result.minutes < (best[row.round].minutes or 0.0):
            best[row.round] = result
    for _, best in sorted(found.items(), key=lambda item: item[0]):
        line = [best[name] for name in sorted(best, key=age_of)]
        if len(line) > 1:
            yield [_Step(one, line[at - 1] if at else None, line[0]) for at, one in enumerate(line)]


def _chart(key: str, title: str, division: str, chains: Sequence[Sequence[_Step]]) -> Live:
    rounds = sorted({step.result.round.name for chain in chains for step in chain}, key=age_of)
    lines = [_line(chain) for chain in chains]
    where = TITLES[division].removesuffix(" division")
    about = "How many times as fast as in its first round a system is; a hollow dot has another accelerator than then."
    data = {"form": "gains", "rounds": [f"v{name}" for name in rounds], "lines": lines}
    return live(key, f"{text_of(title, 80)}, {where}: gains from round to round", about, data)


def _line(chain: Sequence[_Step]) -> dict[str, Any]:
    row = chain[0].result.row
    count = number_of(row.accelerators_count)
    name = " × ".join(filter(None, (count, text_of(row.accelerator_model_name or "", 60))))
    software = text_of(framework_name(row.framework), 60)
    return {"name": ", ".join(filter(None, (name, software))), "end": count, "points": list(map(_point, chain))}


def _point(step: _Step) -> dict[str, Any]:
    result = step.result
    return {
        "round": f"v{result.round.name}",
        "times": step.times(step.first),
        "minutes": result.row.published_minutes,
        "system": text_of(result.row.system or result.entry.system, 80),
        "software": text_of(result.row.framework or "", 80),
        "verdict": result.entry.official.value,
        "other": result.named.accelerator != step.first.named.accelerator,
        "href": result.href,
    }


def _changed(step: _Step) -> str:
    """What differs from the round before, of what may have made it faster."""
    if step.before is None:
        return "–"
    new, old = step.result, step.before
    parts = {
        "accelerator": (new.named.accelerator, old.named.accelerator),
        "software": (new.row.framework, old.row.framework),
        "batch size": (new.row.batch_size, old.row.batch_size),
        "hosts": (_hosts(new.row), _hosts(old.row)),
    }
    return ", ".join(name for name, (now, then) in parts.items() if now != then) or "none of these"


def _hosts(row: Row) -> tuple[str | None, int | None]:
    return row.host_processor_model_name, row.host_processors_count


def _times(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(f"{value:.2f}×", value)


_COLUMNS: tuple[Column[_Step], ...] = (
    Column("benchmark", lambda step: Cell(text_of(step.result.named.title, 80))),
    Column("division", lambda step: Cell(TITLES[division_of(step.result)].removesuffix(" division"))),
    Column("accelerators", lambda step: count_of_accelerators(step.result)),
    Column("round", lambda step: Cell(round_name(step.result)), True),
    Column(
        "minutes",
        lambda step: linked_minutes(step.result),
        True,
    ),
    Column("× the round before", lambda step: _times(step.times(step.before)), True),
    Column("× the first", lambda step: _times(step.times(step.first)), True),
    Column("verdict", lambda step: verdict_cell(step.result.entry.official)),
    Column("what changed", lambda step: Cell(_changed(step))),
    Column("system", lambda step: Cell(text_of(step.result.row.system or step.result.entry.system, 200))),
    Column("software", lambda step: Cell(text_of(step.result.row.framework or "–", 200))),
    Column("batch size", lambda step: cell_of(step.result.row.batch_size), True),
)
