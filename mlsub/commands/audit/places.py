"""Where results lie: the rounds and organisations of some folders, and the folder of a result in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.commands.audit.claims import Result
from mlsub.io.errors import MlsubError
from mlsub.io.problems import meant
from mlsub.io.show import flat
from mlsub.submission.find import is_folder, organisation, organisations
from mlsub.workspace import Settings, find_places, in_one_line


class RoundFolder(msgspec.Struct, frozen=True):
    """The organisations of one round, by name; ``base`` is the folder that was given."""

    usage: str
    round: str
    base: Path
    organisations: dict[str, Path]


def round_folders(paths: Sequence[str]) -> tuple[RoundFolder, ...]:
    """The rounds that lie at the paths; a part of an organisation stands for the whole.

    Raises:
        MlsubError: there is no such path, or it holds no results of a known round.
    """
    return tuple(folder for path in paths for folder in _rounds_at(path))


def _rounds_at(path: str) -> Iterator[RoundFolder]:
    found, failed = find_places([path], Settings())
    if not found:
        raise MlsubError(*(in_one_line(place.problem) for place in failed if place.problem))
    for one in found:
        inside = [place.organisation for place in organisations(one)]
        known = {folder.name: folder for folder in inside if folder is not None}
        yield RoundFolder(one.usage, one.round, Path(path), known)


def folder_of(result: Result, rounds: Sequence[RoundFolder]) -> Path:
    """The folder of a result's logs.

    Raises:
        MlsubError: there is none; the text says at which step it is lost.
    """
    here = _of_round(result.usage, result.round, rounds)
    if result.path is not None:
        return _by_path(result, here)
    organisation = organisation_of(result.submitter or "", here, f"v{result.round}")
    system = _step(organisation / "results", result.system or "", "system")
    if result.scaling is not None:
        system = _step(system, result.scaling, "scaling")
    return _step(system, result.benchmark or "", "benchmark")


def _of_round(usage: str, round_: str, rounds: Sequence[RoundFolder]) -> list[RoundFolder]:
    here = [one for one in rounds if (one.usage, one.round) == (usage, round_)]
    if not here:
        there = ", ".join(dict.fromkeys(f"v{one.round}" for one in rounds))
        raise MlsubError(f"no results of {usage} round v{round_}; there are those of {there}")
    return here


def organisation_of(name: str, here: Sequence[RoundFolder], shown: str) -> Path:
    """The folder of an organisation in one round.

    Raises:
        MlsubError: it has none.
    """
    for one in here:
        if name in one.organisations:
            return one.organisations[name]
    known = [other for one in here for other in one.organisations]
    raise MlsubError(f"no submitter {name!r} in {shown}{_meant(name, known)}")


def submitter_folder(round_: str, submitter: str, rounds: Sequence[RoundFolder]) -> Path:
    """The folder of an organisation in a round of training, ``1.0``.

    Raises:
        MlsubError: the round or the organisation is not there.
    """
    return organisation_of(submitter, _of_round("training", round_, rounds), f"v{round_}")


def _by_path(result: Result, here: Iterable[RoundFolder]) -> Path:
    for one in here:
        folder = one.base / (result.path or "")
        if is_folder(folder):
            return Path(os.path.abspath(folder))  # noqa: PTH100  (without "..", links keep their names)
    raise MlsubError(f"no folder {result.path} below {', '.join(dict.fromkeys(str(one.base) for one in here))}")


def _meant(name: str, known: Sequence[str]) -> str:
    """A did-you-mean: first a folder of the same name in another spelling."""
    same = next((one for one in known if _bare(one) == _bare(name)), None)
    return meant(name, known) if same is None else f". Did you mean {same}?"


def _bare(name: str) -> str:
    return flat(organisation(name)).replace(" ", "")


def _step(folder: Path, name: str, kind: str) -> Path:
    if is_folder(folder / name):
        return folder / name
    try:
        known = sorted(child.name for child in folder.iterdir() if is_folder(child))
    except (OSError, ValueError):
        known = []
    hint = _meant(name, known) if known else "; the folder is empty"
    raise MlsubError(f"no {kind} {name!r} in {folder.parent.name}/{folder.name}{hint}")
