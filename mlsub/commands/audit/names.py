"""Which results and inputs an expression rests on, and what tells readings apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import Expression
from mlsub.commands.audit.facts import Facts
from mlsub.commands.audit.model import ClaimsFile


def names_in(expression: Expression, file: ClaimsFile) -> tuple[str, ...]:
    """All names an expression rests on, those behind named values included, in order of appearance."""
    found: dict[str, None] = {}
    ahead = [name.name for name in expression.names]
    while ahead:
        name = ahead.pop(0)
        if name not in found:
            found[name] = None
            if name in file.values:
                ahead.extend(one.name for one in file.values[name].expr.names)
    return tuple(found)


def results_in(expression: Expression, file: ClaimsFile) -> tuple[str, ...]:
    """The results an expression rests on."""
    return tuple(name for name in names_in(expression, file) if name in file.results)


def inputs_in(expression: Expression, file: ClaimsFile) -> tuple[str, ...]:
    """The inputs an expression rests on."""
    return tuple(name for name in names_in(expression, file) if name in file.inputs)


def labels(expressions: Sequence[Expression], world: World) -> list[str | None]:
    """What tells each reading from the others: division, system, benchmark, ...; None for a single one."""
    if len(expressions) < 2:
        return [None] * len(expressions)
    described = [dict(_described(expression, world)) for expression in expressions]
    for key in ("division", "benchmark", "round", "submitter", "system"):
        values = [one.get(key) for one in described]
        if len(set(values)) == len(values):
            return [f"{key} {value}" for value in values]
    return [expression.text for expression in expressions]


def _described(expression: Expression, world: World) -> Iterator[tuple[str, str]]:
    facts = [world.facts[name] for name in results_in(expression, world.file)]
    known = [one for one in facts if isinstance(one, Facts)]
    for key in ("division", "benchmark", "round", "submitter", "system"):
        values = [one.division if key == "division" else getattr(one.result, key) for one in known]
        yield key, "/".join(dict.fromkeys(str(value) for value in values if value))
