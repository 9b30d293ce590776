"""Results: the folders of rounds in which they lie, and what is known of one before and after its logs are read."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.claims import ClaimedResult
from mlsub.commands.audit.verdict import ShownResult
from mlsub.divisions import division_name
from mlsub.io import MlsubError
from mlsub.io.problems import did_you_mean
from mlsub.io.show import flat
from mlsub.log.run import Run
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import ResultsFolder
from mlsub.submission.find import PathKind, Place, is_folder, organisation, organisations
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_content
from mlsub.systems.fields import category, count
from mlsub.systems.names import Chip, chip_of
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


def folder_of(result: ClaimedResult, rounds: Sequence[RoundFolder]) -> Path:
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


class FoundResult(ShownResult, frozen=True, kw_only=True):
    """A result that claims name (``claimed``), or one of all those given, and what is known of it.

    Of those given the ``folder`` of the logs and the ``description`` of the system are known, and the ``division`` is
    the description's. ``result`` is there once the logs are read.
    """

    claimed: ClaimedResult | None = None
    folder: Path | None = None
    description: Mapping[str, Any] = {}
    result: Result | None = None

    def described(self, description: Mapping[str, Any]) -> FoundResult:
        """Return the same with the description of its system."""
        found = msgspec.structs.replace(self, description=description)
        # Where there are no accelerators, the host processors do the computing.
        per_node = ("accelerators_per_node", "host_processors_per_node")
        chips = next((chips for one in per_node if (chips := found.product("number_of_nodes", one))), None)
        status = description.get("status")
        return msgspec.structs.replace(
            found,
            system_name=found.text("system_name") or None,
            category=category(status) if isinstance(status, str) else None,
            chips=chips,
        )

    @property
    def shown(self) -> ShownResult:
        """The part that is shown."""
        return msgspec.convert(self, ShownResult, from_attributes=True)

    @property
    def logs(self) -> tuple[LogReport, ...]:
        """Its logs; none where they are not read."""
        return self.result.logs if self.result else ()

    @property
    def converging(self) -> list[Run]:
        """The runs that reached the target."""
        return [log.run for log in self.logs if log.run.converged]

    @property
    def organisation(self) -> str:
        """The organisation behind the submitter's folder."""
        return organisation(self.submitter or "")

    @property
    def results_folder(self) -> ResultsFolder:
        """Its benchmark as a folder of its round, which knows what it may be compared with."""
        return ResultsFolder(self.usage, self.round, self.benchmark or "")

    @property
    def benchmark_in_round(self) -> str | None:
        """Its benchmark by the name that it has in its round."""
        return get_round(self.usage, self.round).benchmark_in(self.benchmark or "")

    @property
    def chip(self) -> Chip | None:
        """The accelerator; None where no table has it."""
        system = self.system or ""
        return chip_of(self.text("accelerator_model_name"), self.system_name or system, system)

    @property
    def nodes(self) -> int | None:
        """The number of nodes."""
        return self.product("number_of_nodes")

    def text(self, field: str) -> str:
        """Return a field of the description as text; empty where it is missing or something else."""
        value = self.description.get(field)
        return value if isinstance(value, str) else ""

    def product(self, *fields: str) -> int | None:
        """Return the product of counts of the description; None where one is not there."""
        counts = [count(self.description.get(field)) for field in fields]
        return None if None in counts else math.prod(one or 0 for one in counts)


def results_in(rounds: Sequence[RoundFolder], usage: str, names: Collection[str]) -> tuple[FoundResult, ...]:
    """Return all results of some rounds; no log is read."""
    here = [one for one in rounds if one.usage == usage and one.round in names]
    folders = [(folder, place.round) for place in here for folder in place.organisations.values()]
    return tuple(one for folder, name in folders for one in _list_results(folder, usage, name))


@lru_cache(maxsize=1024)
def _list_results(folder: Path, usage: str, round_: str) -> tuple[FoundResult, ...]:
    """Return the results of an organisation in a round."""
    of, found = get_round(usage, round_), []
    for entry in read_tree(Place(folder, PathKind.ORGANISATION), f"{folder.name}/", of).entries:
        if entry.results:
            description = read_content(folder / "systems" / f"{entry.system}.json", of) or {}
            division = description.get("division")
            one = FoundResult(
                name="",
                round=round_,
                usage=usage,
                submitter=folder.name,
                system=entry.system,
                benchmark=entry.benchmark,
                division=division_name(division if isinstance(division, str) else None),
                folder=Path(os.path.abspath(entry.folder)),  # noqa: PTH100  (links keep their names)
            )
            found.append(one.described(description))
    return tuple(found)
