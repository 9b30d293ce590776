"""The hyperparameters of entries beside the reference's, beside each other, and beside those of the round before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any, NamedTuple

from mlsub.commands.review.model import Hyperparameter, Reference, ReviewedEntry
from mlsub.convergence.reference import hyperparameters_of, reference_file
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.show import plural
from mlsub.judge.keys import ELSEWHERE, known_keys
from mlsub.log.event import step_of
from mlsub.log.reading import usable_number
from mlsub.present.document import Block, Cell, Column, Facts, Section, Span, Table, Text, section
from mlsub.review.disclosure import KEYS, read_stated, show_stated, show_value
from mlsub.submission.result import Result

#: Lines of a table beside its rows.
_HEAD = 5
#: Keys of rules that the data of references call otherwise.
_CALLED = {
    "batchnorm_groupsize": "batchnorm_group_size",
    "lora_r": "lora_rank",
    "max_steps": "opt_learning_rate_training_steps",
    "model_eva_ema_factor": "model_eval_ema_factor",
    "opt_gradient_accumulation_steps": "gradient_accumulation_steps",
    "opt_max_grad_norm": "opt_gradient_clip_norm",
    "optimizer": "opt_name",
}
#: The learning rate, and the benchmarks whose reference states that of one sample and trains, as others log, with
#: that times the batch.
_RATE, _OF_SAMPLE = "opt_base_learning_rate", ("stable_diffusion",)
#: What no one chooses, and what a disclosure has; batch size and accumulation belong to both.
_LEFT_OUT = {*ELSEWHERE, *KEYS.values()} - {KEYS["batch_size"], KEYS["accumulation"]}


class _ValueColumn(NamedTuple):
    """A column: what it is, the values as text, and those that it is beside."""

    head: str
    texts: dict[str, str]
    reference: dict[str, str]

    def cell(self, name: str) -> Cell:
        text = self.texts.get(name, "-")
        if name not in self.texts or name not in self.reference:
            return text
        return "=" if text == self.reference[name] else Span(text, "note")


def hyperparameters(entry: Result, before: Result | None) -> tuple[Reference | None, tuple[Hyperparameter, ...]]:
    """Return the reference in force, and what it, an entry and that of the round before state.

    Args:
        entry: with the runs whose values they are; the reference's samples are steps of it where it states steps.
        before: that of the round before.
    """
    known_reference, stated = _find_reference(entry)
    names = {name for name in known_keys(entry.rules, entry.benchmark) if step_of(name) == "hyperparameters"}
    optimizer = show_value(stated.get("optimizer", stated.get("opt_name")))
    reference = {_rule_key(name, optimizer, names): value for name, value in stated.items()}
    _convert_units(reference, entry)
    known = sorted((names | reference.keys()) - _LEFT_OUT)
    earlier = before.logs if before else ()
    found = (
        Hyperparameter(name, read_stated(entry.logs, name), reference.get(name), read_stated(earlier, name))
        for name in known
    )
    return known_reference, tuple(of for of in found if (of.value, of.reference, of.before) != (None, None, None))


def _convert_units(reference: dict[str, Any], entry: Result) -> None:
    """Write what the reference counts in samples, and the rate of one sample, as an entry does in steps of a batch."""
    size = usable_number(getattr(read_stated(entry.logs, KEYS["batch_size"]), "value", None))
    for name, count in [(name, usable_number(value)) for name, value in reference.items() if name.endswith("_samples")]:
        # The reference counts in samples what an entry counts in steps.
        steps = f"{name.removesuffix('samples')}steps"
        if count and size and steps not in reference and read_stated(entry.logs, steps):
            reference[steps] = count / size if count % size else count // size
            del reference[name]
    rate, logged = usable_number(reference.get(_RATE)), read_stated(entry.logs, _RATE)
    if entry.benchmark_name in _OF_SAMPLE and rate and (logged is None or logged.value != rate):
        reference[_RATE] = rate * reference[KEYS["batch_size"]]


def _rule_key(name: str, optimizer: str, names: Collection[str]) -> str:
    """The key of the rules for a hyperparameter of the reference; its own name where they have none."""
    return next((one for one in (f"{optimizer}_{name}", name, _CALLED.get(name, "")) if one in names), name)


def _find_reference(entry: Result) -> tuple[Reference | None, Mapping[str, Any]]:
    """The reference in force, and its hyperparameters, the batch size among them."""
    file, batch_size = reference_file(entry.usage, entry.rules.ruleset, entry.benchmark), entry.rcp.batch_size
    if file is not None and batch_size is not None:
        with suppress(MlsubError):
            size, found = hyperparameters_of(file, batch_size)
            if size is not None:
                return Reference(f"{file.parent.name}/{file.name}", size), {KEYS["batch_size"]: size, **found}
    return None, {}


def hyperparameters_tables(
    entries: Sequence[ReviewedEntry], room: int | None, *, every: bool
) -> Iterator[Block | None]:
    """Yield a table for each benchmark: values of the reference, of entries, by their numbers, and of the round before.

    Args:
        entries: of one organisation.
        room: lines of all tables, and what does not fit is counted; None for all.
        every: with what is the same everywhere.
    """
    numbered = ((one.benchmark_name, (number, one)) for number, one in enumerate(entries, 1) if one.hyperparameters)
    counted = []
    for benchmark, of in group_by_key(numbered).items():
        found, rows = _benchmark_section(benchmark, dict(of), full=every)
        if room is None or rows + _HEAD <= room:
            room = None if room is None else room - rows - _HEAD
            yield found
        elif rows:
            counted.append(f"{rows} of {benchmark}")
    if counted:
        yield Text(f"hyperparameters that differ: {', '.join(counted)} (-v shows them).")


def _benchmark_section(
    benchmark: str, entries: Mapping[int, ReviewedEntry], *, full: bool
) -> tuple[Section | None, int]:
    """The table of a benchmark, and how many rows it has."""
    references, sides = _value_columns(entries)
    columns = [*references, *sides]
    names = sorted({name for one in columns for name in one.texts})
    logged = {name for one in sides for name in one.texts}
    unlogged = {name: text for one in references for name, text in one.texts.items() if name not in logged}
    same = {name for name in names if {one.cell(name) for one in sides} == {"="}}
    same |= {name for name in names if len({*_texts_of(name, sides), *_texts_of(name, references, "")} - {""}) == 1}
    alike = [name for name in names if name in same and name not in unlogged]
    shown = [name for name in names if name not in unlogged and (full or name not in alike)]
    rows = tuple((name, *(one.cell(name) for one in columns)) for name in shown)
    if len(columns) < 2 or not (rows or full):
        return None, 0
    found = section(
        f"Hyperparameters of {benchmark}",
        Table((Column("hyperparameter", when_narrow="keep"), *(Column(one.head) for one in columns)), rows),
        Text(f"{plural(len(alike), 'other is', 'others are')} the same everywhere, or as in the reference.")
        if alike and not full
        else None,
        Text(f"Only the reference states {', '.join(map(' '.join, unlogged.items()))}.") if unlogged and full else None,
        Facts(tuple((f"{number} before", one.before) for number, one in entries.items() if one.before)),
    )
    return found, len(rows)


def _texts_of(name: str, sides: Sequence[_ValueColumn], without: str = "-") -> Iterator[str]:
    return (one.texts.get(name, without) for one in sides)


def _value_columns(entries: Mapping[int, ReviewedEntry]) -> tuple[list[_ValueColumn], list[_ValueColumn]]:
    """A column for each batch size that the reference has, and one for the entries, of either round, that agree.

    Entries that agree state the same values, and have the same reference.
    """
    references = {
        number: {one.name: show_value(one.reference) for one in entry.hyperparameters if one.reference is not None}
        for number, entry in entries.items()
    }
    by_size = {one.reference.batch_size: references[number] for number, one in entries.items() if one.reference}
    alike: dict[tuple[Any, ...], list[str]] = {}
    for fact_of, words in ((attrgetter("value"), ""), (attrgetter("before"), " before")):
        for number, entry in entries.items():
            texts = tuple((one.name, show_stated(fact_of(one))) for one in entry.hyperparameters if fact_of(one))
            if texts:
                alike.setdefault((texts, tuple(references[number].items())), []).append(f"{number}{words}")
    return (
        [_ValueColumn(f"reference at {show_value(size)}", texts, {}) for size, texts in sorted(by_size.items())],
        [_ValueColumn(", ".join(heads), dict(texts), dict(reference)) for (texts, reference), heads in alike.items()],
    )
