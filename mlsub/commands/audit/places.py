"""Where results lie: the rounds and organisations of some folders, and the folder of a result in them."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.claims import Result
from mlsub.divisions import division_name
from mlsub.io import MlsubError
from mlsub.io.problems import did_you_mean
from mlsub.io.show import flat
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import ResultsFolder
from mlsub.submission.find import PathKind, Place, is_folder, organisation, organisations
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_description
from mlsub.systems.fields import count
from mlsub.systems.names import chip_of
from mlsub.workspace import ANY, find_places, in_one_line


class RoundFolder(msgspec.Struct, frozen=True):
    """The organisations of one round, by name; ``base`` is the folder that was given."""

    usage: str
    round: str
    base: Path
    organisations: dict[str, Path]


def round_folders(paths: Sequence[str]) -> tuple[RoundFolder, ...]:
    """Return the rounds that lie at the paths; a part of an organisation stands for the whole.

    Raises:
        MlsubError: there is no such path, or it holds no results of a known round.
    """
    return tuple(folder for path in paths for folder in _rounds_at(path))


def _rounds_at(path: str) -> Iterator[RoundFolder]:
    found, failed = find_places([path], ANY)
    if not found:
        raise MlsubError(*(in_one_line(place.problem) for place in failed if place.problem))
    for one in found:
        inside = [place.organisation for place in organisations(one)]
        known = {folder.name: folder for folder in inside if folder is not None}
        yield RoundFolder(one.usage, one.round, Path(path), known)


def folder_of(result: Result, rounds: Sequence[RoundFolder]) -> Path:
    """Return the folder of a result's logs.

    Raises:
        MlsubError: there is none; the text says at which step it is lost.
    """
    here = [one for one in rounds if (one.usage, one.round) == (result.usage, result.round)]
    name = result.submitter or ""
    if not here:
        there = ", ".join(dict.fromkeys(f"v{one.round}" for one in rounds))
        raise MlsubError(f"no results of {result.usage} round v{result.round}; there are those of {there}")
    if result.path is not None:
        folders = [one.base / result.path for one in here]
        folder = next((folder for folder in folders if is_folder(folder)), None)
        if folder is None:
            raise MlsubError(f"no folder {result.path} below {', '.join(dict.fromkeys(str(one.base) for one in here))}")
        return Path(os.path.abspath(folder))  # noqa: PTH100  (without "..", links keep their names)
    folder = next((one.organisations[name] / "results" for one in here if name in one.organisations), None)
    if folder is None:
        known = [other for one in here for other in one.organisations]
        raise MlsubError(f"no submitter {name!r} in v{result.round}{_meant(name, known)}")
    for kind in ("system", "scaling", "benchmark"):
        if kind != "scaling" or result.scaling is not None:
            folder = _step(folder, getattr(result, kind) or "", kind)
    return folder


def _meant(name: str, known: Sequence[str]) -> str:
    """Return a did-you-mean: first a folder of the same name in another spelling."""
    bare, *others = (flat(organisation(one)).replace(" ", "") for one in (name, *known))
    same = dict(zip(reversed(others), reversed(known), strict=True)).get(bare)
    return did_you_mean(name, known) if same is None else f". Did you mean {same}?"


def _step(folder: Path, name: str, kind: str) -> Path:
    if is_folder(folder / name):
        return folder / name
    try:
        known = sorted(child.name for child in folder.iterdir() if is_folder(child))
    except (OSError, ValueError):
        known = []
    hint = _meant(name, known) if known else "; the folder is empty"
    raise MlsubError(f"no {kind} {name!r} in {folder.parent.name}/{folder.name}{hint}")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A result among those given, by its folders and the description of its system; no log of it has been read.

    ``benchmark`` is the folder as the round has it, ``benchmark_name`` the same in every round, ``name`` the system's;
    ``division``, ``accelerator``, ``vendor``, ``chips`` and ``nodes`` are None where the description does not say.
    """

    usage: str
    round: str
    submitter: str
    organisation: str
    system: str
    benchmark: str
    benchmark_name: str
    folder: Path
    division: str | None
    name: str
    accelerator: str | None
    vendor: str | None
    chips: int | None
    nodes: int | None


def given_in(rounds: Sequence[RoundFolder], usage: str, names: Collection[str]) -> tuple[Given, ...]:
    """Return all results of some rounds."""
    here = [one for one in rounds if one.usage == usage and one.round in names]
    return tuple(
        one for place in here for path in place.organisations.values() for one in _given(path, usage, place.round)
    )


@lru_cache(maxsize=1024)
def _given(folder: Path, usage: str, round_: str) -> tuple[Given, ...]:
    """Return the results of an organisation in a round."""
    of, found = get_round(usage, round_), []
    for entry in read_tree(Place(folder, PathKind.ORGANISATION), f"{folder.name}/", of).entries:
        if entry.results:
            description = read_description(folder / "systems" / f"{entry.system}.json", entry.system, of)
            content, name = description.content or {}, description.text("system_name") or entry.system
            chip = chip_of(description.text("accelerator_model_name") or "", name, entry.system)
            found.append(
                Given(
                    usage=usage,
                    round=round_,
                    submitter=folder.name,
                    organisation=organisation(folder.name),
                    system=entry.system,
                    benchmark=str(of.benchmark_in(entry.benchmark)),
                    benchmark_name=ResultsFolder(usage, round_, entry.benchmark).benchmark,
                    folder=Path(os.path.abspath(entry.folder)),  # noqa: PTH100  (links keep their names)
                    division=division_name(description.division),
                    name=name,
                    accelerator=chip.name if chip else None,
                    vendor=chip.vendor[0] if chip else None,
                    chips=chips_of(content),
                    nodes=product(content, "number_of_nodes"),
                )
            )
    return tuple(found)


def chips_of(description: Mapping[str, Any]) -> int | None:
    """Return the accelerators of a system, or its host processors where it has none: these do the computing then."""
    per_node = ("accelerators_per_node", "host_processors_per_node")
    return next((chips for one in per_node if (chips := product(description, "number_of_nodes", one))), None)


def product(description: Mapping[str, Any], *fields: str) -> int | None:
    """Return the product of counts of a system description; None where one is not there."""
    counts = [count(description.get(field)) for field in fields]
    return None if None in counts else math.prod(one or 0 for one in counts)
