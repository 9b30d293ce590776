"""Where results lie: folders of rounds, of organisations, of benchmarks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.commands.audit.model import Result
from mlsub.io.errors import MlsubError
from mlsub.io.yamlfile import meant
from mlsub.submission.locate import Target, infer_round, is_folder, is_organisation, locate, names_round


class RoundFolder(msgspec.Struct, frozen=True):
    """The organisations of one round, by name; ``base`` is the folder that was given."""

    usage: str
    round: str
    base: Path
    organisations: dict[str, Path]


def round_folders(folders: Sequence[str]) -> tuple[RoundFolder, ...]:
    """The rounds that lie in folders: each is a folder of rounds, a round's, or an organisation's.

    Raises:
        MlsubError: one of them is none of these.
    """
    found: list[RoundFolder] = []
    for name in folders:
        here = list(_rounds_in(Path(name)))
        if not here:
            reason = "holds no round" if _is_there(name) else "does not exist"
            raise MlsubError(f"{name} {reason}; name a folder that holds v1.0/<organisation>/results, or such a round")
        found.extend(here)
    return tuple(found)


def _is_there(name: str) -> bool:
    try:
        return os.path.lexists(name)
    except ValueError:
        return False


def _rounds_in(folder: Path) -> Iterator[RoundFolder]:
    if (own := _as_round(folder, folder)) is not None:
        yield own
        return
    for child in _folders(folder):
        if names_round(child.name) and (inner := _as_round(child, folder)) is not None:
            yield inner


def _as_round(folder: Path, base: Path) -> RoundFolder | None:
    place = locate(folder)
    if place.target not in (Target.ORGANISATION, Target.ORGANISATIONS):
        return None
    inferred = infer_round(place)
    if inferred is None:
        return None
    inside = [place.path] if place.target is Target.ORGANISATION else _folders(place.path)
    organisations = {path.name: path for path in inside if is_organisation(path)}
    return RoundFolder(inferred.usage, inferred.round, base, organisations)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if is_folder(child))
    except (OSError, ValueError):
        return []


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
    raise MlsubError(f"no submitter {name!r} in {shown}{meant(name, known)}")


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


def _step(folder: Path, name: str, kind: str) -> Path:
    if is_folder(folder / name):
        return folder / name
    known = [child.name for child in _folders(folder)]
    hint = meant(name, known) if known else "; the folder is empty"
    raise MlsubError(f"no {kind} {name!r} in {folder.parent.name}/{folder.name}{hint}")
