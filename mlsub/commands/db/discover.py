"""Find the submissions in folders: rounds of organisations, one round, or one organisation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.db.cells import text
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round, get_round, normalise_round
from mlsub.submission.locate import Place, Target, infer_round, is_folder, is_organisation, locate, names_round


class Package(msgspec.Struct, frozen=True):
    """An organisation's folder and its round."""

    folder: Path
    round: Round

    @property
    def round_key(self) -> str:
        """The round as the database calls it: v1.0, hpc-v3.0."""
        return round_key(self.round)

    @property
    def organisation(self) -> str:
        """The organisation's name: that of its folder."""
        return text(self.folder.name) or "."


class Found(msgspec.Struct, frozen=True):
    """The packages, sorted by round and name; ``passed_over`` says in words what was left out, and why."""

    packages: tuple[Package, ...]
    passed_over: tuple[str, ...]


def round_key(round_: Round) -> str:
    """The round as the database calls it."""
    return f"v{round_.name}" if round_.usage == "training" else f"{round_.usage}-v{round_.name}"


def discover(folders: Sequence[Path], round_: str | None = None, usage: str | None = None) -> Found:
    """Find the submissions.

    Args:
        folders: organisations, rounds, or folders of rounds.
        round_: the round of all of them; None to read it off the folders.
        usage: the usage of all of them; None to read it off the folders.

    Raises:
        MlsubError: a folder is none, holds nothing, or one submission is there twice.
    """
    packages: dict[tuple[str, str], Package] = {}
    passed: list[str] = []
    for folder in folders:
        organisations = _organisations(folder)
        if not organisations:
            raise MlsubError(
                f"There is no submission in {folder}. Name an organisation's folder, a round's, or one of rounds."
            )
        for place in organisations:
            found = _round_of(place, round_, usage)
            if isinstance(found, str):
                passed.append(f"{place.path}: {found}")
                continue
            package = Package(place.path, found)
            key = (package.round_key, package.organisation)
            other = packages.setdefault(key, package)
            if other.folder != package.folder:
                raise MlsubError(f"{'/'.join(key)} is there twice: {other.folder} and {package.folder}. Name one.")
    return Found(tuple(packages[key] for key in sorted(packages)), tuple(passed))


def _organisations(folder: Path) -> list[Place]:
    """The organisations in a folder, in the order of their paths."""
    if not is_folder(folder):
        raise MlsubError(f"There is no folder {folder}.")
    place = locate(folder)
    if place.target is Target.ORGANISATION:
        return [place]
    if place.target is Target.ORGANISATIONS:
        return [locate(child) for child in _folders(place.path) if is_organisation(child)]
    if place.target is Target.NOTHING:
        rounds = [locate(child) for child in _folders(place.path) if names_round(child.name)]
        return [found for r in rounds if r.target is Target.ORGANISATIONS for found in _organisations(r.path)]
    return []


def _round_of(place: Place, round_: str | None, usage: str | None) -> Round | str:
    """The round of an organisation, or why there is none."""
    inferred = infer_round(place)
    name = normalise_round(round_) if round_ else inferred.round if inferred else None
    if name is None:
        return "no folder above is named like a round; add --round"
    try:
        return get_round(usage or (inferred.usage if inferred else "training"), name)
    except MlsubError as error:
        return str(error)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if not child.name.startswith(".") and is_folder(child))
    except OSError as error:
        raise MlsubError(f"{folder} cannot be read: {error.strerror or error}") from error
