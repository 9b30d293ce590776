"""What can be looked up: counts, epochs and fields of a result, and what a submitter has in a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlsub.commands.audit.facts import Facts, RoundFolder, exact, hyperparameters, product, submitter_folder
from mlsub.divisions import division_name
from mlsub.io.show import show
from mlsub.rounds import get_round, normalise_round
from mlsub.submission.find import Place, Target
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_description
from mlsub.systems.fields import category

#: The fields of a system description whose product is a count.
COUNTS = {
    "chips": ("number_of_nodes", "accelerators_per_node"),
    "nodes": ("number_of_nodes",),
    "hosts": ("number_of_nodes",),
    "cpus": ("number_of_nodes", "host_processors_per_node"),
}


class NothingSaidError(LookupError):
    """Neither logs nor description say what is asked for."""


def look_up(what: str, facts: Facts, name: str = "") -> Fraction | str | bool:
    """What a function of functions.yaml gives of a result; ``name`` is that of a hyperparameter or field.

    Raises:
        NothingSaidError: the result does not say.
    """
    if what not in COUNTS:
        return _LOOKUPS[what](facts, name)
    for field in COUNTS[what]:
        if product(facts.description, field) is None:
            raise NothingSaidError(f"the system description of {facts.result.name} gives no number for {field}")
    return Fraction(product(facts.description, *COUNTS[what]) or 0)


def _numbers(facts: Facts, what: str, values: Sequence[Any]) -> list[Fraction]:
    """Numbers of runs, all of them."""
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        try:
            return [exact(value) for value in values]
        except (ValueError, OverflowError):
            pass
    raise NothingSaidError(f"the logs of {facts.result.name} do not state {what}")


def _epochs(facts: Facts, _: str) -> Fraction:
    values = [run.timeline.epochs for run in facts.converged]
    if not values or not all(values):
        raise NothingSaidError(f"the logs of {facts.result.name} do not state epochs")
    return Fraction(sum(values), len(values))


def _samples(facts: Facts, _: str) -> Fraction:
    if facts.result.benchmark == "bert":
        said: list[Any] = [run.hyperparameters.get("train_samples") for run in facts.converged]
    else:
        said = [run.evaluations[-1].samples_count if run.evaluations else None for run in facts.converged]
    values = sorted(_numbers(facts, "samples", said))
    # Runs that did not converge count as slowest, and fall out first.
    kept = values[1 : len(facts.logs) - 1] or values
    return sum(kept, Fraction(0)) / len(kept)


def _quality(facts: Facts, _: str) -> Fraction:
    last = [run.evaluations[-1].value if run.evaluations else None for run in facts.converged]
    return min(_numbers(facts, "an evaluation", last))


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


def _available(facts: Facts, _: str) -> bool:
    status = facts.description.get("status")
    return isinstance(status, str) and (category(status) or "").startswith("Available")


def _rcp(facts: Facts, _: str) -> Fraction:
    if facts.shown.rcp is None or facts.shown.rcp.factor is None:
        raise NothingSaidError(f"{facts.result.name} is not compared with reference convergence points")
    return facts.shown.rcp.factor


_LOOKUPS: dict[str, Callable[[Facts, str], Fraction | str | bool]] = {
    "runs": lambda facts, _: Fraction(len(facts.logs)),
    "converged": lambda facts, _: Fraction(facts.shown.converged or 0),
    "epochs": _epochs,
    "samples": _samples,
    "quality": _quality,
    "rcp": _rcp,
    "hyper": _hyper,
    "field": _field,
    "available": _available,
}
#: Every function that looks something up of a result.
LOOKUPS = frozenset((*COUNTS, *_LOOKUPS))


def counted(what: str, round_: str, submitter: str, only: Mapping[str, str], rounds: Sequence[RoundFolder]) -> int:
    """How many result sets (``count``), ``systems`` by name or ``benchmarks`` there are.

    Args:
        what: which of them.
        round_: the round, as in ``v1.0``.
        submitter: the folder of the organisation.
        only: division, benchmark and system that are asked for, where they are.
        rounds: where results lie.

    Raises:
        MlsubError: the round or the organisation is not there.
    """
    name = normalise_round(round_) or round_
    sets = [
        one
        for one in result_sets(submitter_folder(name, submitter, rounds), "training", name)
        if all(one[key] == value for key, value in only.items())
    ]
    key = {"systems": "name", "benchmarks": "benchmark"}.get(what)
    return len(sets) if key is None else len({one[key] for one in sets})


@lru_cache(maxsize=64)
def result_sets(folder: Path, usage: str, round_: str) -> tuple[Mapping[str, str], ...]:
    """Division, benchmark, folder and name of the system, and number of chips of each result of an organisation."""
    of = get_round(usage, round_)
    files = read_tree(Place(folder, Target.ORGANISATION), f"{folder.name}/", of)
    found = []
    for entry in files.entries:
        if entry.results:
            description = read_description(folder / "systems" / f"{entry.system}.json", entry.system, of)
            found.append(
                {
                    "division": division_name(description.division) or "",
                    "benchmark": str(of.benchmark_in(entry.benchmark)),
                    "system": entry.system,
                    "name": description.text("system_name") or entry.system,
                    "chips": str(product(description.content or {}, *COUNTS["chips"])),
                }
            )
    return tuple(found)
