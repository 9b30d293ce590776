"""What can be looked up of a result: counts, epochs, fields of its description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mlsub.commands.audit.facts import Facts, exact, hyperparameters, whole
from mlsub.io.show import show
from mlsub.systems.availability import category


class NothingSaidError(LookupError):
    """Neither logs nor description say what is asked for."""


def _count(facts: Facts, *fields: str) -> Fraction:
    product = 1
    for field in fields:
        value = whole(facts.description, field)
        if value is None:
            raise NothingSaidError(f"the system description of {facts.result.name} gives no number for {field}")
        product *= value
    return Fraction(product)


def _numbers(facts: Facts, what: str, values: Sequence[Any]) -> list[Fraction]:
    """Numbers of runs, all of them."""
    if not values or any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        raise NothingSaidError(f"the logs of {facts.result.name} do not tell {what}")
    try:
        return [exact(value) for value in values]
    except (ValueError, OverflowError):
        raise NothingSaidError(f"the logs of {facts.result.name} do not tell {what}") from None


def _epochs(facts: Facts) -> Fraction:
    values = [log.run.timeline.epochs for log in facts.logs if log.run.converged]
    if not values or not all(values):
        raise NothingSaidError(f"the logs of {facts.result.name} do not tell epochs")
    return Fraction(sum(values), len(values))


def _samples(facts: Facts) -> Fraction:
    runs = [log.run for log in facts.logs if log.run.converged]
    if facts.result.benchmark == "bert":
        said: list[Any] = [run.hyperparameters.get("train_samples") for run in runs]
    else:
        said = [run.evaluations[-1].samples_count if run.evaluations else None for run in runs]
    values = sorted(_numbers(facts, "samples", said))
    # Runs that did not converge count as slowest, and fall out first.
    kept = values[1 : len(facts.logs) - 1] or values
    return sum(kept, Fraction(0)) / len(kept)


def _quality(facts: Facts) -> Fraction:
    runs = [log.run for log in facts.logs if log.run.converged]
    return min(
        _numbers(facts, "an evaluation", [run.evaluations[-1].value if run.evaluations else None for run in runs])
    )


def _hyper(facts: Facts, name: str) -> Fraction | str | bool:
    values = hyperparameters(facts, name)
    if len(values) != 1:
        why = "no such hyperparameter" if not values else "several values of it"
        raise NothingSaidError(f"the logs of {facts.result.name} have {why}: {name[:60]}")
    return _plain(values[0])


def _field(facts: Facts, name: str) -> Fraction | str | bool:
    if name not in facts.description:
        raise NothingSaidError(f"the system description of {facts.result.name} has no field {name[:60]!r}")
    return _plain(facts.description[name])


def _plain(value: Any) -> Fraction | str | bool:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        try:
            return exact(value)
        except (ValueError, OverflowError):
            return show(value)
    return show(value, 2000)


def _available(facts: Facts) -> bool:
    status = facts.description.get("status")
    return isinstance(status, str) and (category(status) or "").startswith("Available")


def _rcp(facts: Facts) -> Fraction:
    if facts.rcp_factor is None:
        raise NothingSaidError(f"{facts.result.name} is not held against reference convergence points")
    return facts.rcp_factor


LOOKUPS: dict[str, Callable[[Facts, str], Fraction | str | bool]] = {
    "chips": lambda facts, _: _count(facts, "number_of_nodes", "accelerators_per_node"),
    "nodes": lambda facts, _: _count(facts, "number_of_nodes"),
    "hosts": lambda facts, _: _count(facts, "number_of_nodes"),
    "cpus": lambda facts, _: _count(facts, "number_of_nodes", "host_processors_per_node"),
    "runs": lambda facts, _: Fraction(len(facts.logs)),
    "converged": lambda facts, _: Fraction(facts.converged),
    "epochs": lambda facts, _: _epochs(facts),
    "samples": lambda facts, _: _samples(facts),
    "quality": lambda facts, _: _quality(facts),
    "rcp": lambda facts, _: _rcp(facts),
    "hyper": _hyper,
    "field": _field,
    "available": lambda facts, _: _available(facts),
}
