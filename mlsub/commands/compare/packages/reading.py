"""Read one side of a comparison: a package, or a part of one, checked, with its runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.compare.packages.model import Side
from mlsub.divisions import division_meant
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.report import LogReport
from mlsub.log.run import Run
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import Held
from mlsub.submission.locate import Place, Target, locate
from mlsub.submission.organisations import organisation
from mlsub.submission.report import EntryResult, SystemResult
from mlsub.systems.description import read_description
from mlsub.systems.facts import SystemFacts
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
    def entries(self) -> tuple[Entry, ...]:
        """The entries, in the order of the report."""
        return tuple(Entry(self, result) for result in self.checked.report.entries)

    @property
    def side(self) -> Side:
        """What is shown of it: path, rules and verdict."""
        report = self.checked.report
        return Side(path=self.path, usage=report.usage, round=report.round, official=report.official.value)

    @property
    def findings(self) -> list[Finding]:
        """The findings; those of one benchmark's folder with paths in which the system has no name."""
        findings = list(self.checked.report.findings)
        if self.place.target is not Target.BENCHMARK:
            return findings
        (entry,) = self.checked.report.entries
        return [msgspec.structs.replace(f, path=_without_system(f.path, entry)) for f in findings]

    def description(self, path: str) -> Mapping[str, Any] | None:
        """What a system description says; None where it is not an object."""
        report = self.checked.report
        round_ = get_round(report.usage, report.round) if report.usage and report.round else None
        return read_description(Path(report.root, path), path, round_).content


class Entry(msgspec.Struct, frozen=True):
    """One entry of a side, with what was read of it."""

    reading: Reading
    result: EntryResult

    @property
    def key(self) -> Key:
        """Organisation, system, benchmark and kind of scaling."""
        return self.result.organisation, self.result.system, self.result.benchmark, self.result.scaling_type

    @property
    def held(self) -> Held:
        """Its benchmark, by the round that it is judged by."""
        report = self.reading.checked.report
        return Held(report.usage or "training", str(report.round), self.result.benchmark)

    @property
    def meant(self) -> Key:
        """The key by the names that are the same in every round: Krai for krai, rgat for gnn."""
        result = self.result
        return organisation(result.organisation), result.system, self.held.benchmark, result.scaling_type

    @property
    def division(self) -> str | None:
        """The division that the description means, in whatever spelling; as written where that is none."""
        found = division_meant(self.result.division)
        return found.name if found else self.result.division

    @property
    def name(self) -> str:
        """Organisation, system and benchmark as a path, such as ``--pair`` takes it."""
        organisation, system, benchmark, scaling = self.key
        return "/".join(filter(None, (organisation, system, scaling, benchmark)))

    @property
    def logs(self) -> list[LogReport]:
        """The logs, in the order of the files."""
        folder = "" if self.result.path == "." else self.result.path
        return [log for log in self.reading.checked.logs if log.path.rpartition("/")[0] == folder]

    @property
    def runs(self) -> list[Run]:
        """The runs, in the order of the files."""
        return [log.run for log in self.logs]

    @property
    def system(self) -> SystemResult | None:
        """The verdict on the description of the system; None where there is none."""
        wanted = self.result.organisation, f"{self.result.system}.json"
        systems = self.reading.checked.report.systems
        return next((one for one in systems if (one.organisation, Path(one.path).name) == wanted), None)

    @property
    def facts(self) -> SystemFacts | None:
        """What the description of the system says; None where there is none."""
        return self.system.facts if self.system else None

    @property
    def description(self) -> Mapping[str, Any] | None:
        """The whole description of the system; None where there is none."""
        return self.reading.description(self.system.path) if self.system else None

    @property
    def accelerators(self) -> int | None:
        """The number of accelerators; None where the description does not say, or there are none."""
        facts = self.facts
        if facts is None or not facts.number_of_nodes or not facts.accelerators_per_node:
            return None
        return facts.number_of_nodes * facts.accelerators_per_node


def read_side(path: str, settings: Settings) -> Reading:
    """Check a package, a part of one, or a folder of organisations.

    Raises:
        MlsubError: it holds nothing to compare, or is not a folder.
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


def _without_system(path: str, entry: EntryResult) -> str:
    if path.startswith("systems/"):
        return "systems"
    return path if entry.path == "." else path.removeprefix(entry.path).removeprefix("/") or "."
