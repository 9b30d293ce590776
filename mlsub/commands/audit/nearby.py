"""Results near one of a claim: the same submitter, benchmark and size in other rounds, or in the other division."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

import msgspec

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.facts import Facts, gather
from mlsub.commands.audit.lookups import result_sets
from mlsub.commands.audit.model import Result
from mlsub.commands.audit.places import RoundFolder
from mlsub.rounds import known_rounds
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.submission.organisations import organisation

#: Rounds before and after that are looked at, systems of each, and results in all.
_ROUNDS, _SYSTEMS, _MOST = 2, 2, 6


def nearby(name: str, world: World) -> dict[str, Facts]:
    """The results near one, by a name for each, the nearest rounds first; those without a score are left out.

    Args:
        name: the result's name in the claims file; one that is given by its path, or of HPC, has none.
        world: what was found of the results, and where others lie.
    """
    if name not in world.near:
        world.near[name] = _gathered(name, world)
    return world.near[name]


def _gathered(name: str, world: World) -> dict[str, Facts]:
    result = world.facts[name].result
    if result.usage != "training" or None in (result.submitter, result.system, result.benchmark):
        return {}
    chosen = [one for place in _places(result, world) for one in place][:_MOST]
    wanted = [
        msgspec.structs.replace(one, name=f"{name}@{at}", published=None, published_source=None)
        for at, one in enumerate(chosen)
    ]
    found = gather(wanted, world.rounds, world.settings, world.checked)
    return {key: facts for key, facts in found.items() if facts.shown.found}


def _places(result: Result, world: World) -> Iterator[list[Result]]:
    """The results of the nearest rounds that have any, before, after and in the round itself, nearest first."""
    order = known_rounds("training")
    own = next((one for one in _in_round(result, result.round, world) if _is(one, result)), None)
    at = order.index(result.round)
    near: dict[str, int] = {"before": 0, "after": 0}
    for name in sorted(order, key=lambda one: abs(order.index(one) - at)):
        side = "before" if order.index(name) < at else "after"
        if own is None or (name != result.round and near[side] == _ROUNDS):
            continue
        found = [one for one in _in_round(result, name, world) if _alike(one, own, result, name)]
        found.sort(key=lambda one: -SequenceMatcher(None, one["system"], result.system or "").ratio())
        if found:
            near[side] += name != result.round
            yield [
                msgspec.structs.replace(
                    result,
                    round=name,
                    submitter=one["submitter"],
                    system=one["system"],
                    benchmark=one["benchmark"],
                    division=None,
                )
                for one in found[:_SYSTEMS]
            ]


def _in_round(result: Result, name: str, world: World) -> Iterator[Mapping[str, str]]:
    """What the submitter of a result has in a round, whatever its folder is called there."""
    for folder in (one for one in world.rounds if (one.usage, one.round) == ("training", name)):
        yield from _of(folder, organisation(result.submitter or ""))


def _of(folder: RoundFolder, submitter: str) -> Iterator[Mapping[str, str]]:
    for name, path in folder.organisations.items():
        if organisation(name) == submitter:
            yield from ({**one, "submitter": name} for one in result_sets(path, "training", folder.round))


def _is(one: Mapping[str, str], result: Result) -> bool:
    return (one["system"], one["benchmark"]) == (result.system, result.benchmark)


def _alike(one: Mapping[str, str], own: Mapping[str, str], result: Result, name: str) -> bool:
    """Whether it has the size and the benchmark, and differs in the round or the division, not in both."""
    benchmarks = (
        benchmark_of("training", name, one["benchmark"]),
        benchmark_of("training", result.round, own["benchmark"]),
    )
    same = benchmarks[0] is not None and benchmarks[1] is not None and benchmarks[0].name == benchmarks[1].name
    return same and one["chips"] == own["chips"] and (one["division"] == own["division"]) == (name != result.round)
