"""List an organisation's tree: which entries and descriptions there are, and what lies in the wrong place."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from mlsub.findings import Finding
from mlsub.io import reason_of
from mlsub.io.show import plural
from mlsub.rounds import Round, every_benchmark, wrong_round
from mlsub.rules.catalogue import FIX, finding
from mlsub.submission.find import SCALING_FOLDERS, PathKind, Place
from mlsub.submission.listing import Listing, below
from mlsub.submission.model import RESULT_PATTERN, Entry, Package
from mlsub.submission.params import read_flags
from mlsub.submission.remedies import (
    OTHER_NAMES,
    find_missing_description,
    find_missing_folder,
    fix_for_inner,
    logs_in,
    plain_name,
    renamed_benchmark,
)
from mlsub.systems.audit import SUMMARIZER_ENDS, is_printable
from mlsub.systems.description import read_content

PRUNED_RESULTS = "pruned_results"
#: The characters that make a name a search pattern, and the name that finds folders at any depth.
_SPECIAL, _RECURSIVE = frozenset("*?["), "**"
_OR_REMOVE = "If the round is right, the folder does not belong in the package: remove it."
#: What is said where the system does not let us look: of what official tools read, and of what only we read.
_UNREADABLE, _NOT_LISTED = "tree.unreadable", "layout.not-listed"
_CRASH = "official.crash"


def read_tree(place: Place, prefix: str, round_: Round) -> Package:
    """Return the files of an organisation, or of the part of it that lies at a place.

    Nothing is taken for missing that could not be looked at: that is a finding.

    Args:
        place: the organisation's folder, or one of a system, scaling or benchmark below its ``results``.
        prefix: what paths of the report have before those in the organisation's folder.
        round_: says which benchmarks there are.
    """
    return _TreeReader(place, prefix, round_).read(place)


class _TreeReader:
    """Reads the layout of one organisation."""

    def __init__(self, place: Place, prefix: str, round_: Round) -> None:
        self.folder = place.organisation or place.path
        self.listing = place.listing
        self.prefix = prefix
        self.round = round_
        self.findings: list[Finding] = []
        self.skipped: list[Entry] = []
        self.explained: set[str] = set()

    def read(self, place: Place) -> Package:
        """Return what lies at a place."""
        entries: list[Entry] = []
        descriptions: list[Path] = []
        with self._reporting():
            entries = self._entries(place)
        systems = {entry.system for entry in entries}
        with self._reporting():
            self._look_for_descriptions(systems)
        with self._reporting():
            descriptions = self._descriptions(systems)
        if place.kind is not PathKind.ORGANISATION:
            descriptions = [file for file in descriptions if file.name.removesuffix(".json") in systems]
        return Package(
            folder=self.folder,
            prefix=self.prefix,
            entries=tuple(entries),
            descriptions=tuple(descriptions),
            findings=tuple(self.findings),
            skipped=tuple(self.skipped),
            explained=frozenset(self.explained),
            listing=self.listing,
        )

    def _entries(self, place: Place) -> list[Entry]:
        if place.kind is PathKind.SYSTEM:
            return self._system(place.path)
        if place.kind is PathKind.SCALING:
            return self._scaling(place.path)
        if place.kind is not PathKind.ORGANISATION:
            return self._benchmark(place.path, place.path.parent.name if self.round.scaling_folders else None)
        if not self.listing.is_folder(self.folder / "results"):
            self._add_missing_folder("tree.results-missing", "results")
            return []
        return self._each(self._system, self.folder / "results")

    def _each(self, read: Callable[[Path], list[Entry]], folder: Path) -> list[Entry]:
        """Return the entries in each folder of one, hidden ones among them, as the official checker lists them."""
        entries = []
        for name in self.listing.names_in(folder):
            with self._reporting():
                if self.listing.is_folder(child := folder / name):
                    entries += read(child)
                elif not name.startswith(".") and self.listing.is_link(child):
                    self._add(_UNREADABLE, child, "The link is broken or circular")
        return entries

    def _descriptions(self, systems: Collection[str] = ()) -> list[Path]:
        """Return the descriptions that the official checker lists, and those that it opens by the name of a system."""
        return [
            self.folder / "systems" / name
            for name in self.listing.names_in(self.folder / "systems")
            if name.endswith(".json") and (not name.startswith(".") or name.removesuffix(".json") in systems)
        ]

    def _system(self, folder: Path) -> list[Entry]:
        """Return the entries in a folder of results, which the official checker takes for a system, hidden or not."""
        known = len(self.findings)
        if logs := logs_in(folder, self.listing):
            self._add_without_system(folder, logs)
        entries = self._each(self._scaling if self.round.scaling_folders else self._benchmark, folder)
        if not entries and not any(found.rejects for found in self.findings[known:]):
            self._look_as_for_a_system(folder)
        self._look_as_summarizer(folder)
        return entries

    def _look_as_summarizer(self, folder: Path) -> None:
        """Report what ends the official result summarizer on a system's folder; it passes over one not described."""
        ends_on, file = self.round.summarizer_ends_on, folder / "privateid.json"
        if not ends_on or not self._is_described(folder.name):
            return
        if "name" in ends_on and not is_printable(folder.name):
            message, fix = f"{SUMMARIZER_ENDS} this name of a system", "Rename the folder and its description."
            self._add(_CRASH, folder, message, expected="UTF-8", fix=fix)
        if "private-id" in ends_on and self.listing.status_of(file) is not None:
            content = read_content(file)
            if content is None or not is_printable(content.get("private_id")):
                expected, fix = 'a JSON object in UTF-8: {"private_id": "..."}', "Correct the file, or remove it."
                self._add(_CRASH, file, f"{SUMMARIZER_ENDS} this file", expected=expected, fix=fix)

    def _look_as_for_a_system(self, folder: Path) -> None:
        """Report what the official checker opens of a system's folder even where it passes over all that is in it."""
        flags = read_flags(folder, self.prefix + self._relative(folder), self.round)
        self.findings += [found for found in flags.findings if found.rejects]
        if not self.round.descriptions_checked or self._is_described(folder.name):
            return
        inside = self.listing.folders_in(folder, hidden=True)
        if self.round.scaling_folders:
            inside = [below for child in inside for below in self.listing.folders_in(child, hidden=True)]
        if inside:
            self._add(
                _CRASH,
                folder,
                "The official checker treats every folder in results as a system, and ends with a traceback without "
                "its description",
                expected=f"systems/{folder.name}.json, or no folder of this name",
                actual=f"it contains {inside[0].name}",
            )

    def _scaling(self, folder: Path) -> list[Entry]:
        """Return the entries under ``strong`` or ``weak``."""
        if folder.name.startswith("."):
            inside: list[Path] = []
            with self._reporting(_NOT_LISTED):
                inside = self.listing.folders_in(folder, hidden=True)
            if not inside:
                return []
        if folder.name not in SCALING_FOLDERS:
            self._add(
                "tree.unknown-scaling",
                folder,
                f"{folder.name} is neither strong nor weak scaling",
                expected=" or ".join(SCALING_FOLDERS),
                actual=folder.name,
            )
            return []
        return self._each(lambda child: self._benchmark(child, folder.name), folder)

    def _look_for_descriptions(self, systems: set[str]) -> None:
        """Report every system with results that has no description of its name."""
        if not self.listing.is_folder(self.folder / "systems"):
            self._add_missing_folder("tree.systems-missing", "systems")
            return
        missing = [name for name in sorted(systems) if not self._is_described(name)]
        used = {folder.name for folder in self.listing.folders_in(self.folder / "results")} - set(missing)
        unused = {file.name.removesuffix(".json"): None for file in self._descriptions()}
        unused = {name: None for name in unused if name not in used}
        for system in missing:
            meant, fix = find_missing_description(self.folder, system, unused, only=len(missing) == 1)
            if meant is not None:
                unused.pop(meant)
                self.explained.add(f"systems/{meant}.json")
            if system.startswith("."):
                self.explained.add(f"results/{system}")
            self._add(
                "tree.system-description-missing",
                self.folder / "systems" / f"{system}.json",
                expected=f"systems/{system}.json",
                actual=f"systems/{meant}.json" if meant else "no file of a similar name",
                fix=fix,
            )

    def _add_missing_folder(self, rule: str, name: str) -> None:
        found = find_missing_folder(self.folder, name, self.round.benchmarks, self.listing)
        lies_in, fix = found or (None, None)
        if lies_in is not None:
            self.explained.add(lies_in)
        self._add(rule, self.folder / name, actual=f"a folder {lies_in}" if lies_in else None, fix=fix)

    def _benchmark(self, folder: Path, scaling_type: str | None = None) -> list[Entry]:
        if self.round.benchmark_in(folder.name) is None:
            # The official checker skips what is not a benchmark; what is hidden is not meant to be one.
            if not any(part.startswith(".") for part in self._relative(folder).split("/")):
                self._add_unknown_benchmark(folder)
            elif "folder" in self.round.summarizer_ends_on and self._is_described(folder.parent.name):
                message = f"{SUMMARIZER_ENDS} a folder of a system that is not a benchmark's"
                self._add(_CRASH, folder, message, fix="Remove the folder.")
            return []
        names = self.listing.names_in(folder)
        results = tuple(folder / name for name in names if fnmatchcase(name, RESULT_PATTERN))
        strays = tuple(name for name in names if not fnmatchcase(name, RESULT_PATTERN) and name[0] != ".")
        if results:  # Where there are none, the finding on their number says where they are.
            for name in strays:
                with self._reporting(_NOT_LISTED):
                    self._look_for_stray_logs(folder / name)
        entry = Entry(
            path=self.prefix + self._relative(folder),
            organisation=self.folder.name,
            system=(folder.parent.parent if scaling_type else folder.parent).name,
            benchmark=folder.name,
            folder=folder,
            results=results,
            strays=strays,
            scaling_type=scaling_type,
            elsewhere=matched_elsewhere(self.folder, folder, self.listing),
            listing=self.listing,
        )
        if not results and self.round.empty_folder_ignored:
            self.skipped.append(entry)
            self._add(
                "entry.empty-folder",
                folder,
                f"The folder has no {RESULT_PATTERN}, and this round's checker skips it",
                actual=", ".join(strays[:5]) or "empty",
            )
            return []
        return [entry]

    def _add_without_system(self, folder: Path, logs: int) -> None:
        """Report logs right below a folder of results: that of the system is missing, or that of the benchmark."""
        name = folder.name if folder.name in self.round.benchmarks else "<benchmark>"
        system = "<system>" if folder.name in self.round.benchmarks else folder.name
        missing = "system" if system == "<system>" else "benchmark"
        self._add(
            "tree.stray-logs",
            folder,
            f"Result logs are in results/{folder.name}, without the folder of the {missing}",
            expected=f"results/{system}/{name}/{RESULT_PATTERN}",
            actual=plural(logs, "log"),
            fix=f"Move the logs to results/{system}/{name}/.",
        )

    def _add_unknown_benchmark(self, folder: Path) -> None:
        known = self.round.benchmarks
        inside = self.listing.folders_in(folder)
        if any(child.name in known and logs_in(child, self.listing) for child in inside):
            self._add(
                "tree.unknown-benchmark",
                folder,
                "The folder of a system is one folder too deep",
                expected=f"results/{folder.name}",
                actual=self._relative(folder),
                fix=fix_for_inner(folder.parent, self.folder / "results", self.folder, self.listing),
            )
            return
        self._add(
            "tree.unknown-benchmark",
            folder,
            f"{folder.name} is not a benchmark of {self.round.title}",
            expected=f"one of {', '.join(known)}",
            actual=folder.name,
            fix=self._remedy(folder.name),
        )

    def _remedy(self, name: str) -> str | None:
        """Return what to do with an unknown benchmark: the wrong round is more likely than the wrong name."""
        known = self.round.benchmarks
        if wrong := wrong_round(self.round, name):
            return f"{wrong} {_OR_REMOVE}"
        certain = renamed_benchmark(name, known)
        if certain is not None:
            return f"Did you mean {certain}? Rename the folder; {FIX} does it."
        plain = plain_name(name)
        every = {plain_name(other): other for other in (*every_benchmark(self.round.usage), *known)}
        close = get_close_matches(plain, every, n=1)
        meant = OTHER_NAMES.get(plain) or (every[close[0]] if close else "")
        rename = f"Did you mean {meant}? Rename the folder; {FIX} does it where the logs name that benchmark."
        if meant in known:
            return rename
        wrong = wrong_round(self.round, meant)
        return f"{wrong} {_OR_REMOVE}" if wrong else None

    def _look_for_stray_logs(self, stray: Path) -> None:
        """Report the logs in a folder beside results; the rules of HPC keep pruned throughput logs there."""
        folder = stray.parent
        pruned = stray.name == PRUNED_RESULTS and folder.parent.name == "weak" and self.round.scaling_folders
        if pruned or not self.listing.is_folder(stray) or self.listing.is_link(stray):
            return
        if logs := logs_in(stray, self.listing):
            expected, actual = self._relative(folder), plural(logs, "log")
            self._add("tree.stray-logs", stray, expected=expected, actual=actual)

    def _is_described(self, system: str) -> bool:
        """Return whether a name exists, even as a broken link: that has a finding of its own."""
        return self.listing.exists(self.folder / "systems" / f"{system}.json")

    @contextmanager
    def _reporting(self, rule: str = _UNREADABLE) -> Iterator[None]:
        """Make a finding of what cannot be looked at, and go on behind it."""
        try:
            yield
        except OSError as error:
            path = Path(os.fsdecode(error.filename)) if error.filename is not None else self.folder
            place = path if path.is_relative_to(self.folder) else self.folder
            self._add(rule, place, f"It cannot be accessed: {reason_of(error)}")

    def _relative(self, path: Path) -> str:
        return below(self.folder, path)

    def _add(
        self,
        rule: str,
        path: Path,
        message: str | None = None,
        *,
        expected: str | None = None,
        actual: str | None = None,
        fix: str | None = None,
    ) -> None:
        place = self.prefix + self._relative(path) if path != self.folder else self.prefix.rstrip("/") or "."
        self.findings.append(finding(rule, place, message, expected=expected, actual=actual, fix=fix))


def matched_elsewhere(organisation: Path, folder: Path, listing: Listing) -> str | None:
    """Return what the official tools find in place of an entry's own logs; None where they find these and nothing else.

    They glob for the logs by their whole path, so that they take names of folders for search patterns.

    Args:
        organisation: the organisation's folder.
        folder: the benchmark's, below its ``results``.
        listing: what was looked at before.

    Raises:
        OSError: a folder cannot be listed.
    """
    results, system, *inside = folder.relative_to(organisation).parts
    patterns = [name for name in (organisation.name, system) if not _SPECIAL.isdisjoint(name)]
    if not patterns:
        return None
    if not fnmatchcase(organisation.name, organisation.name):
        return f"{organisation.name} is a pattern that does not match itself, so it finds no log"
    names = [system] if system not in patterns else listing.names_in(organisation / results)
    # As in the official tools only a pattern that begins with a dot finds hidden names.
    found = [name for name in names if fnmatchcase(name, system) and (system[0] == "." or name[0] != ".")]

    def has_logs(*above: str) -> bool:
        return logs_in(organisation.joinpath(results, *above, *inside), listing) > 0

    others = [other for other in found if other != system and has_logs(other)]
    if system == _RECURSIVE and has_logs():
        others.append("/".join(inside))
    if others:
        return f"{system} is a pattern that finds the logs of {', '.join(sorted(others)[:3])}"
    if system in found or not has_logs(system):
        return None
    return f"{system} is a pattern that does not match itself, so it finds no log"
