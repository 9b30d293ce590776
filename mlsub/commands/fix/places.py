"""Which files of a place are looked at, by what they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mlsub.rounds import Round
from mlsub.submission.locate import SCALING_FOLDERS, Place, Target, is_folder, is_organisation


class Files(msgspec.Struct, frozen=True):
    """Logs, descriptions, benchmark folders, and the organisations whose descriptions' names can be wrong."""

    logs: tuple[Path, ...]
    descriptions: tuple[Path, ...]
    benchmarks: tuple[Path, ...]
    organisations: tuple[Path, ...]


def root_of(place: Place) -> Path:
    """The folder that paths are told in: what a verdict on the place depends on lies below it."""
    if place.organisation is not None:
        return place.organisation
    return place.path.parent if place.target is Target.LOG else place.path


def files_of(place: Place, round_: Round | None) -> Files:
    """What there is to look at; links are passed over, as they lead to files of another place."""
    if place.target is Target.LOG:
        json = place.path.suffix == ".json"
        return Files(() if json else (place.path,), (place.path,) if json else (), (), ())
    organisations = _organisations(place)
    benchmarks: list[Path] = []
    if place.target is Target.BENCHMARK:
        benchmarks = [place.path]
    elif place.target is Target.SCALING:
        benchmarks = list(_folders(place.path))
    else:
        systems = [place.path] if place.target is Target.SYSTEM else []
        systems += [system for organisation in organisations for system in _folders(organisation / "results")]
        deep = round_ is not None and round_.scaling_folders
        for system in systems:
            below = [system / name for name in SCALING_FOLDERS] if deep else [system]
            benchmarks += [folder for above in below for folder in _folders(above)]
    descriptions = [file for organisation in organisations for file in _files(organisation / "systems", ".json")]
    logs = [file for folder in benchmarks for file in _files(folder, ".txt") if file.name.startswith("result_")]
    return Files(tuple(logs), tuple(descriptions), tuple(benchmarks), tuple(organisations))


def systems_of(organisation: Path) -> list[str]:
    """The systems with results."""
    return [folder.name for folder in _folders(organisation / "results")]


def _organisations(place: Place) -> list[Path]:
    if place.target is Target.ORGANISATION:
        return [place.path]
    if place.target is Target.ORGANISATIONS:
        return [folder for folder in _folders(place.path) if is_organisation(folder)]
    return []


def _folders(above: Path) -> Iterator[Path]:
    for child in _children(above):
        if not child.is_symlink() and is_folder(child):
            yield child


def _files(above: Path, ending: str) -> Iterator[Path]:
    for child in _children(above):
        if child.name.endswith(ending) and not child.is_symlink() and child.is_file():
            yield child


def _children(above: Path) -> list[Path]:
    try:
        return sorted(child for child in above.iterdir() if not child.name.startswith("."))
    except OSError:
        return []
