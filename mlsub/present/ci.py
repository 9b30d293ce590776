"""What a check found, as machines read it: each finding with its file as CI names it, and whether it counts."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import click
import msgspec

from mlsub.findings import Finding, Severity, Verdict
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.io.show import first_few, plain
from mlsub.present.findings import SUPPRESSED, why_suppressed
from mlsub.rules.catalogue import find_causes, finding
from mlsub.submission.report import Report

#: Further places of a defect that its words name; SARIF has all.
MOST_PLACES = 20
#: What GitHub and GitLab call the folder that they checked the repository out to.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


class Outcome(StrEnum):
    """What a finding does to the exit status: it counts, it does not, or it says why something was not checked."""

    COUNTS = "counts"
    BESIDE = "beside"
    NOT_CHECKED = "not-checked"
    WAIVED = "waived"


class CiPlace(msgspec.Struct, frozen=True):
    """A place of a defect; its file is relative to the root of the repository, or absolute outside of it."""

    file: str
    line: int | None
    actual: str | None

    @property
    def words(self) -> str:
        """The place in a line."""
        return plain(self.file) + (f":{self.line}" if self.line else "")


class CiFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A defect for a machine with its places, of which ``finding`` is the first."""

    finding: Finding
    places: tuple[CiPlace, ...]
    outcome: Outcome

    @property
    def file(self) -> str:
        """The file of the first place."""
        return self.places[0].file

    @property
    def level(self) -> Severity:
        """How loudly CI reports it: an error that does not count is a warning."""
        quiet = self.outcome in (Outcome.BESIDE, Outcome.WAIVED)
        return Severity.WARNING if quiet and self.finding.severity is Severity.ERROR else self.finding.severity

    @property
    def lines(self) -> tuple[str, ...]:
        """What is wrong, then expected, found, fix and further places, safe to print, a line each."""
        one, by = self.finding, self.finding.suppressed
        same = all(place.actual == one.actual for place in self.places)
        facts = [("expected", one.expected), ("found", one.actual), ("fix", one.fix)]
        if by is not None:
            facts.append((SUPPRESSED[by.by], why_suppressed(by)))
        also = [place.words + ("" if same else f" ({plain(place.actual or '')})") for place in self.places[1:]]
        if also:
            facts.append(("also in", first_few(also, MOST_PLACES)))
        return (plain(one.message), *(f"{name}: {plain(text)}" for name, text in facts if text is not None))


class CiPart(msgspec.Struct, frozen=True, kw_only=True):
    """A tree, an entry or a file that was checked, by its name; ``verdict`` is None where none is given.

    ``checked`` are the files in it that were checked, named as those of results.
    """

    name: str
    verdict: Verdict | None
    results: tuple[CiFinding, ...]
    checked: tuple[str, ...] = ()


class CiReport(msgspec.Struct, frozen=True):
    """Everything that a command found."""

    command: str
    parts: tuple[CiPart, ...]

    @property
    def all(self) -> Iterator[CiFinding]:
        """The results of all parts."""
        return (result for part in self.parts for result in part.results)

    def with_identities(self) -> Iterator[tuple[CiFinding, str]]:
        """Yield each result with a hash that stays the same where it moves to another line.

        It is made of the rule, the file where it is in one, the words, and how many such came before.
        """
        seen: Counter[str] = Counter()
        for result in self.all:
            one, files = result.finding, {place.file for place in result.places}
            where = result.file if len(files) == 1 else ""
            what = "\0".join((one.rule, where, one.message, one.expected or ""))
            seen[what] += 1
            yield result, hashlib.sha256(f"{what}\0{seen[what]}".encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def complete(self) -> bool:
        """Whether everything could be checked."""
        unchecked = any(part.verdict is Verdict.NOT_CHECKED for part in self.parts)
        return not unchecked and not any(result.outcome is Outcome.NOT_CHECKED for result in self.all)


def part(
    name: str,
    findings: Iterable[Finding],
    outcome: Callable[[Finding], Outcome],
    *,
    root: str = ".",
    verdict: Verdict | None = None,
    checked: Iterable[str] = (),
) -> CiPart:
    """A part of what was checked; what explains others comes first.

    Args:
        name: how to call it.
        findings: what was found in it.
        outcome: what a finding does to the exit status.
        root: the folder that paths are relative to.
        verdict: the official one.
        checked: the paths that were checked.
    """
    base, defects = _repository(), dict[tuple[Outcome, tuple[object, ...]], list[Finding]]()
    found = tuple(findings)
    causes = set(find_causes(found).values())
    for one in sorted(found, key=lambda one: (one not in causes, one.path, one.line or 0)):
        how = outcome(one)
        if one.suppressed is not None and not (one.rejects and how is Outcome.COUNTS):
            how = Outcome.WAIVED  # What rejects does so all the same.
        defects.setdefault((how, one.defect), []).append(one)
    results = [
        CiFinding(
            finding=alike[0],
            places=tuple(CiPlace(_file(_place(root, f.path, verdict), base), f.line, f.actual) for f in alike),
            outcome=how,
        )
        for (how, _), alike in defects.items()
    ]
    files = tuple(_file(os.path.join(root, path), base) for path in checked)  # noqa: PTH118
    return CiPart(name=name, verdict=verdict, results=tuple(results), checked=files)


def judge_outcome(
    official: Verdict, *, fail_on: Severity | None, forgiven: Container[Finding] = ()
) -> Callable[[Finding], Outcome]:
    """Return what says of each finding under an official verdict whether it counts, as for the exit status.

    Args:
        official: the verdict.
        fail_on: the least severity of review findings that count.
        forgiven: findings that reject nothing here, official errors or not.
    """

    def outcome(finding: Finding) -> Outcome:
        if official is Verdict.NOT_CHECKED and finding.severity is Severity.ERROR:
            return Outcome.NOT_CHECKED
        rejects = finding.rejects and official is Verdict.REJECTED and finding not in forgiven
        return Outcome.COUNTS if rejects or finding.counts(fail_on) else Outcome.BESIDE

    return outcome


def ci_report(command: str, reports: Iterable[Report], *, fail_on: Severity | None = None) -> CiReport:
    """The results of reports; ``fail_on`` is the least severity of review findings that count."""
    return CiReport(command, tuple(_report_part(report, fail_on=fail_on) for report in reports))


def refused(command: str, error: MlsubError | click.UsageError) -> CiReport:
    """What a command could not do: one part that was not checked, with a finding for each reason."""
    if isinstance(error, FileProblemsError):
        found = [finding("check.failed", one.path, one.message, line=one.line) for one in error.problems]
    elif isinstance(error, click.UsageError):
        found = [finding("check.unknown-rule", ".", error.message)]
    else:
        found = [finding("check.failed", ".", line) for line in error.lines]
    problems = part(f"mlsub {command}", found, lambda _: Outcome.NOT_CHECKED, verdict=Verdict.NOT_CHECKED)
    return CiReport(command, (problems,))


def _report_part(report: Report, *, fail_on: Severity | None) -> CiPart:
    rules = f" ({report.usage} v{report.round}{report.own_files})" if report.usage and report.round else ""
    forgiven = frozenset(report.findings).difference(report.rejecting())
    return part(
        _file(report.root, _repository()) + rules,
        report.findings,
        judge_outcome(report.official, fail_on=fail_on, forgiven=forgiven),
        root=report.root,
        verdict=report.official,
        checked=(*(log.path for log in report.logs), *(system.path for system in report.systems)),
    )


def _place(root: str, path: str, verdict: Verdict | None) -> str:
    """Where a finding lies. Where nothing was checked, its path may be the name of what was asked for."""
    place = os.path.join(root, path)  # noqa: PTH118
    return root if verdict is Verdict.NOT_CHECKED and not os.path.lexists(place) and os.path.lexists(root) else place


def _repository() -> str:
    """The root of the repository: what CI says it is, if the command runs in it; else where the command runs."""
    here = Path.cwd()
    for name in _CHECKOUTS:
        folder = os.environ.get(name)
        if folder and here.resolve().is_relative_to(resolved := Path(folder).resolve()):
            return str(resolved)
    return str(here)


def _file(place: str, base: str) -> str:
    """A file as CI names it: relative to the root of the repository where it lies in it, by its name or in truth."""
    full = os.path.abspath(place)  # noqa: PTH100  (without following links)
    for path, root in ((full, base), (_resolved(full), _resolved(base))):
        if Path(path).is_relative_to(root):
            return Path(path).relative_to(root).as_posix()
    return full


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
