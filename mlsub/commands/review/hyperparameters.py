"""The hyperparameters of entries beside the reference's, beside each other, and beside those of the round before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from mlsub.commands.review.model import Hyperparameter, ReviewedEntry
from mlsub.convergence.reference import hyperparameters_of, reference_file
from mlsub.io.errors import MlsubError
from mlsub.io.show import plural
from mlsub.judge.keys import ELSEWHERE, known_keys
from mlsub.log.event import step_of
from mlsub.present.document import Cell, Column, Facts, Section, Span, Table, Text, section
from mlsub.review.disclosure import KEYS, fact_of, show_fact, show_value
from mlsub.review.runs.model import Entry

#: What no one chooses, and what a disclosure has; batch size and accumulation belong to both.
_LEFT_OUT = {*ELSEWHERE, *KEYS.values()} - {KEYS["batch_size"], KEYS["accumulation"]}


class _Side(NamedTuple):
    """A column: what it is, the values as text, and those that it is beside."""

    head: str
    texts: dict[str, str]
    reference: dict[str, str]

    def cell(self, name: str) -> Cell:
        text = self.texts.get(name, "-")
        if name not in self.texts or name not in self.reference:
            return text
        return "=" if text == self.reference[name] else Span(text, "note")


def hyperparameters(
    entry: Entry, before: Entry | None, batch_size: float | None
) -> tuple[float | None, tuple[Hyperparameter, ...]]:
    """Return the batch size of the reference in force, and what it, an entry and that of the round before state.

    Args:
        entry: with the runs whose values they are.
        before: that of the round before.
        batch_size: of the entry.
    """
    benchmark = entry.known_benchmark or entry.benchmark
    size, reference = _reference(entry, benchmark, batch_size)
    names = [name for name in known_keys(entry.round, benchmark) if step_of(name) == "hyperparameters"]
    known = sorted({*names, *reference} - _LEFT_OUT)
    earlier = before.traces if before else ()
    found = (
        Hyperparameter(name, fact_of(entry.traces, name), reference.get(name), fact_of(earlier, name)) for name in known
    )
    return size, tuple(of for of in found if (of.value, of.reference, of.before) != (None, None, None))


def _reference(entry: Entry, benchmark: str, batch_size: float | None) -> tuple[float | None, Mapping[str, Any]]:
    """The hyperparameters of the reference in force, its batch size among them, and that size."""
    file = reference_file(entry.round.usage, entry.round.ruleset, benchmark)
    try:
        size, found = hyperparameters_of(file, batch_size) if file and batch_size is not None else (None, {})
    except MlsubError:
        size, found = None, {}
    return size, found if size is None else {KEYS["batch_size"]: size, **found}


def hyperparameters_sections(entries: Sequence[ReviewedEntry], *, full: bool) -> Iterator[Section | None]:
    """Yield a table for each benchmark: values of the reference, of entries, by their numbers, and of the round before.

    Args:
        entries: of one organisation.
        full: with the hyperparameters that are the same everywhere.
    """
    by_benchmark: dict[str, dict[int, ReviewedEntry]] = {}
    for number, entry in enumerate(entries, 1):
        if entry.hyperparameters:
            by_benchmark.setdefault(entry.benchmark_name, {})[number] = entry
    for benchmark, of in by_benchmark.items():
        yield _section(benchmark, of, full=full)


def _section(benchmark: str, entries: Mapping[int, ReviewedEntry], *, full: bool) -> Section | None:
    references, sides = _references(entries), _sides(entries)
    columns = [*references, *sides]
    names = sorted({name for one in columns for name in one.texts})
    unlogged = [name for name in names if not any(name in one.texts for one in sides)]
    alike = [name for name in names if len({*_values(name, sides), *_values(name, references, "")} - {""}) == 1]
    shown = [name for name in names if name not in unlogged and (full or name not in alike)]
    rows = tuple((name, *(one.cell(name) for one in columns)) for name in shown)
    if len(columns) < 2 or not (rows or full):
        return None
    notes = [
        f"{plural(len(alike), 'other is', 'others are')} the same everywhere." if alike and not full else "",
        f"Only the reference states {', '.join(unlogged)}." if unlogged else "",
    ]
    return section(
        f"Hyperparameters of {benchmark}",
        Table((Column("hyperparameter", when_narrow="keep"), *(Column(one.head) for one in columns)), rows),
        Text(" ".join(filter(None, notes))) if any(notes) else None,
        Facts(tuple((f"{number} before", one.before) for number, one in entries.items() if one.before)),
    )


def _values(name: str, sides: Sequence[_Side], without: str = "-") -> Iterator[str]:
    return (one.texts.get(name, without) for one in sides)


def _references(entries: Mapping[int, ReviewedEntry]) -> list[_Side]:
    """A column for each batch size that the reference has."""
    found = {
        entry.reference_batch_size: {
            of.name: show_value(of.reference) for of in entry.hyperparameters if of.reference is not None
        }
        for entry in entries.values()
        if entry.reference_batch_size is not None
    }
    return [_Side(f"reference at {show_value(size)}", texts, {}) for size, texts in sorted(found.items())]


def _sides(entries: Mapping[int, ReviewedEntry]) -> list[_Side]:
    """A column for those entries, and entries of the round before, that agree and have one reference."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for words, fact_in in (("", attrgetter("value")), (" before", attrgetter("before"))):
        for number, entry in entries.items():
            of = entry.hyperparameters
            texts = tuple((one.name, show_fact(fact_in(one))) for one in of if fact_in(one))
            reference = tuple((one.name, show_value(one.reference)) for one in of if one.reference is not None)
            if texts:
                alike.setdefault((texts, reference), []).append(f"{number}{words}")
    return [_Side(", ".join(heads), dict(texts), dict(reference)) for (texts, reference), heads in alike.items()]
