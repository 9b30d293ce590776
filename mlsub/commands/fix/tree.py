"""Files with a wrong name or place, where a log says the right one; and the tree as it would be after its repairs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import chain, count
from pathlib import Path

from mlsub.commands.fix.repairs import Repair
from mlsub.findings import Finding
from mlsub.io.folders import Piece, assemble
from mlsub.io.look import open_regular
from mlsub.log.event import Event, decode
from mlsub.log.reader import TOKEN_MLL, read_records
from mlsub.packing.edits import EditPlan
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import entry_requirements
from mlsub.submission.find import SCALING_FOLDERS, PathKind, Place, folders, is_organisation
from mlsub.submission.remedies import ALMOST_RESULT, OTHER_LOG, other_logs, renamed_benchmark

#: The kinds of repair of names.
RESULT_NAME, BENCHMARK, DESCRIPTION = "tree.result-name", "tree.unknown-benchmark", "tree.system-description-missing"
STRAY, RESULTS = "tree.stray-logs", "tree.results-missing"
_RIGHT = re.compile(r"result_.*\.txt")
#: How far a file is read to find out whether it is a log.
_HEAD = 1 << 22


def root_of(place: Place) -> Path:
    """Return the folder that paths are relative to: what a verdict on the place depends on lies below it."""
    if place.organisation is not None:
        return place.organisation
    return place.path.parent if place.kind is PathKind.LOG else place.path


def _benchmark_folders(place: Place, organisations: Sequence[Path], *, deep: bool) -> list[Path]:
    """The folders of benchmarks; ``deep`` where the round has folders of scaling between them and systems."""
    if place.kind is PathKind.BENCHMARK:
        return [place.path]
    if place.kind is PathKind.SCALING:
        return _folders(place.path)
    systems = [place.path] if place.kind is PathKind.SYSTEM else []
    systems += [system for organisation in organisations for system in _folders(results_of(organisation))]
    above = [system / name for system in systems for name in SCALING_FOLDERS] if deep else systems
    return [folder for one in above for folder in _folders(one)]


def results_of(organisation: Path) -> Path:
    """Return the folder with the results: ``results``, or the only one that is laid out so and has another name."""
    results = organisation / "results"
    if os.path.lexists(results):
        return results
    # A folder that has results itself is an organisation's one folder too deep, and no other name for results.
    others = [folder for folder in _folders(organisation) if folder.name != "systems" and not is_organisation(folder)]
    found = [folder for folder in others if _holds_results(folder)]
    return found[0] if len(found) == 1 else results


def _holds_results(folder: Path) -> bool:
    benchmarks = [benchmark for system in _folders(folder) for benchmark in _folders(system)]
    inside = [folder for benchmark in benchmarks for folder in _folders(benchmark)]
    return any(map(has_other_logs, (*benchmarks, *inside)))


def has_other_logs(folder: Path) -> bool:
    """Return whether a folder has logs that are numbered by any habit."""
    return any(_number_in(file, ALMOST_RESULT, OTHER_LOG) and _is_log(file) for file in _children(folder))


def _folders(above: Path) -> list[Path]:
    return [folder for folder in folders(above) if not folder.is_symlink()]


def _files(above: Path, ending: str) -> Iterator[Path]:
    for child in _children(above):
        if child.name.endswith(ending) and not child.is_symlink() and child.is_file():
            yield child


def _children(above: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(child for child in above.iterdir() if not child.name.startswith("."))
    return []


class Files:
    """What there is to look at in a place, and what of it should have another name or lie elsewhere.

    ``logs`` and ``descriptions`` are files; ``moves`` has their new paths, below folders by the names that they have
    now, where a round says which are right; what would meet another name is in ``left``. Links are passed over, as they
    lead to files of another place.
    """

    def __init__(self, place: Place, round_: Round | None) -> None:
        self._root = root_of(place)
        self._taken: set[Path] = set()
        self.logs: list[Path] = []
        self.descriptions: list[Path] = []
        self.moves: dict[Path, tuple[Path, Repair]] = {}
        self.left: list[Finding] = []
        if place.kind is PathKind.LOG:
            (self.descriptions if place.path.suffix == ".json" else self.logs).append(place.path)
            return
        organisations = [place.path] if place.kind is PathKind.ORGANISATION else []
        if place.kind is PathKind.ORGANISATIONS:
            organisations = [folder for folder in _folders(place.path) if is_organisation(folder)]
        benchmarks = _benchmark_folders(place, organisations, deep=round_ is not None and round_.scaling_folders)
        for folder in benchmarks:
            self.logs += [file for file in _files(folder, ".txt") if file.name.startswith("result_")]
            if round_ is not None:
                self._look_at_benchmark(folder, round_)
        for organisation in organisations:
            self.descriptions += _files(organisation / "systems", ".json")
            if round_ is not None:
                self._look_at_organisation(organisation)

    def _move(self, path: Path, target: Path, rule: str) -> None:
        if path.is_symlink():
            self._leave(rule, path, "a link", "Put the file itself in its place.")
        elif self._is_taken(target):
            self._leave(rule, path, f"{target.name} exists already", "Choose which of the two is the right one.")
        else:
            to = target.name if target.parent == path.parent else target.relative_to(self._root).as_posix()
            action = f"{'rename' if target.parent == path.parent else 'move'} it to {to}"
            self.moves[path] = target, Repair(rule=rule, line=None, action=action)
            self._taken.add(target)

    def _is_taken(self, target: Path) -> bool:
        return os.path.lexists(target) or target in self._taken

    def _leave(self, rule: str, path: Path, found: str, fix: str) -> None:
        self.left.append(finding(rule, path.relative_to(self._root).as_posix(), actual=found, fix=fix))

    def _look_at_organisation(self, organisation: Path) -> None:
        """The folder of the results, and descriptions that differ from their system in the case of letters alone."""
        results = results_of(organisation)
        if results.name != "results":
            self._move(results, results.with_name("results"), RESULTS)
        there, systems = _children(organisation / "systems"), _folders(results)
        described = {file.name.removesuffix(".json") for file in there}
        for system in systems:
            if (name := system.name.strip()) != system.name and name in described - {system.name}:
                self._move(system, system.with_name(name), DESCRIPTION)
        files = [child for child in there if child.suffix.lower() == ".json"]
        wanted = {f"{system.name}.json" for system in systems}
        for name in sorted(wanted - {file.name for file in files}):
            close = [file for file in files if file.name.lower() == name.lower() and file.name not in wanted]
            if len(close) == 1:
                self._move(close[0], close[0].with_name(name), DESCRIPTION)

    def _look_at_benchmark(self, folder: Path, round_: Round) -> None:
        """A benchmark's folder by another name; its logs that lie one folder too deep or have another name."""
        known = folder.name in round_.benchmarks
        needed = entry_requirements(round_.usage, round_.name, folder.name, round_.overlay).runs if known else 0
        logs = self._find_results(folder, folder, RESULT_NAME, needed)
        inside = _folders(folder)
        if not logs and len(inside) == 1:
            logs = self._find_results(inside[0], folder, STRAY, needed)
        if folder.name not in round_.benchmarks and folder != self._root:
            self._rename_benchmark(folder, logs, round_)

    def _find_results(self, folder: Path, to: Path, rule: str, needed: int) -> list[Path]:
        """The logs of a folder, which are to be called results of another one or of this, that needs so many."""
        files = [file for file in _children(folder) if file.is_file()]
        right = [file for file in files if _RIGHT.fullmatch(file.name)]
        almost = [file for file in files if file not in right and _number_in(file, ALMOST_RESULT) and _is_log(file)]
        named = [*right, *almost]
        # Beside results, a log by another name can be anything: a run that was left out, or the output of a node.
        room = needed - len(named) if named else len(files)
        numbers = other_logs([file.name for file in files if file not in named], room)
        others = [folder / name for name in numbers if _is_log(folder / name)]
        for file in [*(right if folder != to else ()), *almost]:
            name = file.name if file in right else f"result_{_number_in(file, ALMOST_RESULT)}.txt"
            self._move(file, to / name, rule)
        for file in others:
            number = numbers[file.name]
            self._move(file, self._free_name(to, number) if named else to / f"result_{number}.txt", rule)
        return [*named, *others]

    def _free_name(self, folder: Path, number: str) -> Path:
        """A name for one result more: with its own number, or the first that is free."""
        names = (folder / f"result_{each}.txt" for each in chain([number], count()))
        return next(name for name in names if not self._is_taken(name))

    def _rename_benchmark(self, folder: Path, logs: Sequence[Path], round_: Round) -> None:
        meant = renamed_benchmark(folder.name, round_.benchmarks)
        logged = {logged_benchmark(log) for log in logs} - {None}
        names = {meant or name for name in logged} | logged if logged else {meant}
        name = names.pop()
        if not names and name is not None and name in round_.benchmarks:
            self._move(folder, folder.with_name(name), BENCHMARK)


def logged_benchmark(log: Path) -> str | None:
    """Return the benchmark that a log names, in its first 4 MiB; None where there is none, or it cannot be read."""
    for _, text, _, _ in read_records(BytesIO(_head(log))):
        event = decode(0, text)
        if isinstance(event, Event) and event.key == "submission_benchmark":
            return event.value if isinstance(event.value, str) else None
    return None


def _number_in(file: Path, *names: re.Pattern[str]) -> str | None:
    """The number in a name of one of these forms."""
    return next((match[1] for name in names if (match := name.fullmatch(file.name))), None)


def _is_log(file: Path) -> bool:
    return TOKEN_MLL in _head(file)


def _head(file: Path) -> bytes:
    with suppress(OSError), open_regular(file) as stream:
        return stream.read(_HEAD)
    return b""


def shadow(plan: EditPlan, contents: Mapping[Path, Path], above: Path) -> Path:
    """Build a folder that looks as another one would after a plan is made, of links to files.

    Args:
        plan: what changes in its root.
        contents: files with the new content of those that it edits.
        above: an empty folder to build in.

    Returns:
        The folder that stands for the root and has its name.
    """
    root, targets = plan.root, plan.renames
    top = above / (root.name or "root")
    touched = {parent for path in (*contents, *targets, *targets.values()) for parent in path.parents}

    def linked(folder: Path) -> Iterator[Piece]:
        for entry in os.scandir(folder):
            path = folder / entry.name
            if path in touched:
                yield from linked(path)
            else:
                yield Piece(to=plan.below(plan.renamed(path)), source=contents.get(path, path))

    assemble(linked(root), top, linked=True)
    return top
