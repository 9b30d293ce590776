"""Which files of a place are looked at, and which have a name that is wrong in its spelling alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from mlsub.commands.fix.model import BENCHMARK, DESCRIPTION, RESULT_NAME, Change, Repair, Untouched
from mlsub.log.reader import TOKEN, TOKEN_MLL
from mlsub.rounds import Round
from mlsub.submission.locate import SCALING_FOLDERS, Place, Target, folders, is_organisation
from mlsub.submission.remedies import renamed_benchmark

_RESULT = re.compile(r"results?[ _.-]?(\d{1,9})\.(?:txt|log|out)", re.IGNORECASE)
_RIGHT = re.compile(r"result_.*\.txt")
#: How far a file is read to find out whether it is a log.
_HEAD = 1 << 22


class Files(msgspec.Struct, frozen=True):
    """Logs, descriptions, benchmark folders, and the organisations whose descriptions' names can be wrong."""

    logs: tuple[Path, ...]
    descriptions: tuple[Path, ...]
    benchmarks: tuple[Path, ...]
    organisations: tuple[Path, ...]


def root_of(place: Place) -> Path:
    """The folder that paths are relative to: what a verdict on the place depends on lies below it."""
    if place.organisation is not None:
        return place.organisation
    return place.path.parent if place.target is Target.LOG else place.path


def files_of(place: Place, round_: Round | None) -> Files:
    """What there is to look at; links are passed over, as they lead to files of another place."""
    if place.target is Target.LOG:
        json = place.path.suffix == ".json"
        return Files(() if json else (place.path,), (place.path,) if json else (), (), ())
    organisations = [place.path] if place.target is Target.ORGANISATION else []
    if place.target is Target.ORGANISATIONS:
        organisations = [folder for folder in _folders(place.path) if is_organisation(folder)]
    benchmarks: list[Path] = []
    if place.target is Target.BENCHMARK:
        benchmarks = [place.path]
    elif place.target is Target.SCALING:
        benchmarks = _folders(place.path)
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


def _folders(above: Path) -> list[Path]:
    return [folder for folder in folders(above) if not folder.is_symlink()]


def _files(above: Path, ending: str) -> Iterator[Path]:
    for child in _children(above):
        if child.name.endswith(ending) and not child.is_symlink() and child.is_file():
            yield child


def _children(above: Path) -> list[Path]:
    try:
        return sorted(child for child in above.iterdir() if not child.name.startswith("."))
    except OSError:
        return []


class Names:
    """Collects new names; what would meet another name is left to people."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._taken: set[Path] = set()
        self.changes: list[Change] = []
        self.untouched: list[Untouched] = []

    def _rename(self, path: Path, name: str, rule: str) -> None:
        target = path.with_name(name)
        if path.is_symlink():
            self._leave(rule, path, "it is a link")
        elif os.path.lexists(target) or target in self._taken:
            self._leave(rule, path, f"{name} exists already")
        else:
            self._taken.add(target)
            repair = Repair(rule=rule, line=None, action=f"rename it to {name}")
            self.changes.append(Change(path=path, repairs=(repair,), target=target))

    def _leave(self, rule: str, path: Path, reason: str) -> None:
        place = path.relative_to(self._root).as_posix()
        self.untouched.append(Untouched(rule=rule, path=place, line=None, reason=reason))

    def results(self, folder: Path) -> None:
        """Logs of a benchmark's folder that are named almost like results."""
        for file in _children(folder):
            match = _RESULT.fullmatch(file.name)
            if match and not _RIGHT.fullmatch(file.name) and file.is_file() and _is_log(file):
                self._rename(file, f"result_{match[1]}.txt", RESULT_NAME)

    def benchmark(self, folder: Path, round_: Round) -> None:
        """A benchmark's folder that goes by another name of the benchmark."""
        if folder.name in round_.benchmarks:
            return
        meant = renamed_benchmark(folder.name, round_.benchmarks)
        if meant is not None:
            self._rename(folder, meant, BENCHMARK)

    def descriptions(self, folder: Path, systems: Iterable[str]) -> None:
        """Descriptions whose name differs from that of their system in the case of letters alone."""
        files = [child for child in _children(folder) if child.suffix.lower() == ".json"]
        wanted = {f"{system}.json" for system in systems}
        for name in sorted(wanted - {file.name for file in files}):
            close = [file for file in files if file.name.lower() == name.lower() and file.name not in wanted]
            if len(close) == 1:
                self._rename(close[0], name, DESCRIPTION)


def _is_log(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return False
    return TOKEN in head or TOKEN_MLL in head
