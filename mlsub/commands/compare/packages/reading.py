"""Read one side of a comparison: a package, or a part of one, checked, with its runs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.report import LogReport
from mlsub.log.run import Run
from mlsub.submission.locate import Place, Target, locate
from mlsub.submission.report import EntryResult
from mlsub.systems.description import read_description
from mlsub.workspace import Checked, Settings, check_with_logs

Key = tuple[str, str, str, str | None]
#: The kinds of path in words.
KINDS = {
    Target.ORGANISATIONS: "a folder of organisations",
    Target.ORGANISATION: "an organisation",
    Target.SYSTEM: "a system's results",
    Target.SCALING: "a system's results",
    Target.BENCHMARK: "a benchmark's folder",
}


class Reading(msgspec.Struct, frozen=True):
    """One side, checked."""

    path: str
    place: Place
    checked: Checked

    @property
    def entries(self) -> dict[Key, EntryResult]:
        """The entries by what tells them apart."""
        return {key_of(entry): entry for entry in self.checked.report.entries}

    @property
    def findings(self) -> list[Finding]:
        """The findings; those of one benchmark's folder with paths in which the system has no name."""
        findings = list(self.checked.report.findings)
        if self.place.target is not Target.BENCHMARK:
            return findings
        (entry,) = self.checked.report.entries
        return [msgspec.structs.replace(f, path=_without_system(f.path, entry)) for f in findings]

    def logs(self, entry: EntryResult) -> list[LogReport]:
        """The logs of an entry, in the order of its files."""
        folder = "" if entry.path == "." else entry.path
        return [log for log in self.checked.logs if log.path.rpartition("/")[0] == folder]

    def runs(self, entry: EntryResult) -> list[Run]:
        """The runs of an entry, in the order of its files."""
        return [log.run for log in self.logs(entry)]


def read_side(path: str, settings: Settings) -> Reading:
    """Check a package, a part of one, or a folder of organisations.

    Raises:
        MlsubError: it holds nothing to compare, or is no folder.
    """
    try:
        place = locate(Path(path))
        if place.target is Target.LOG and Path(path).exists():
            raise MlsubError(f"{path} is a file. Name a folder: an organisation's tree or a part of one.")
    except (OSError, ValueError) as error:
        raise MlsubError(f"{path} cannot be read: {error}") from error
    (checked,) = check_with_logs([path], settings)
    no_entry = place.target is Target.BENCHMARK and len(checked.report.entries) != 1
    if checked.report.official is Verdict.NOT_CHECKED or no_entry:
        why = next((f for f in checked.report.findings if f.rejects), None)
        raise MlsubError(f"{path} cannot be checked: {why.message if why else 'it holds nothing'}")
    return Reading(path, place, checked)


def key_of(entry: EntryResult) -> Key:
    """Organisation, system, benchmark and kind of scaling."""
    return entry.organisation, entry.system, entry.benchmark, entry.scaling_type


def content_of(read: Reading, path: str) -> dict[str, object] | None:
    """What a system description says; None where it is no object."""
    return read_description(Path(read.checked.report.root, path), path).content


def _without_system(path: str, entry: EntryResult) -> str:
    if path.startswith("systems/"):
        return "systems"
    return path if entry.path == "." else path.removeprefix(entry.path).removeprefix("/") or "."
