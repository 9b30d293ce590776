"""One organisation's package, or a single log: which logs to read, and the verdicts once they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.divisions import DIVISIONS
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import reason_of
from mlsub.io.look import is_folder, names_in
from mlsub.io.show import readable
from mlsub.judge.entry import binding, judge_entry
from mlsub.judge.log import LogTask
from mlsub.judge.outline import Outline, outlines
from mlsub.log.report import LogReport
from mlsub.review.cross import audit_organisation_seeds
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import isolated, reviewed
from mlsub.rules.load import Benchmark, benchmark
from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Place as LayoutPlace
from mlsub.submission.layout.walk import list_tree
from mlsub.submission.locate import (
    SCALING_FOLDERS,
    Place,
    Target,
    below,
    folders,
    is_organisation,
    locate,
    names_round,
    too_deep,
)
from mlsub.submission.model import Entry, EntryFiles, OrganisationFiles
from mlsub.submission.params import FlagFiles
from mlsub.submission.patterns import RESULT_PATTERN
from mlsub.submission.remedies import of_too_deep
from mlsub.submission.report import EmptyFolder, EntryResult, LogResult, SystemResult
from mlsub.submission.tree import TreeReader
from mlsub.systems.description import SystemDescription, read_description
from mlsub.systems.fields import facts_of


class Package(msgspec.Struct, frozen=True):
    """An organisation's files, the start of its paths in the report, and the logs to read.

    ``in_tree`` is False for a benchmark folder that lies in no organisation's tree.
    """

    files: OrganisationFiles
    prefix: str
    tasks: tuple[LogTask, ...]
    in_tree: bool = True


class Part(msgspec.Struct, frozen=True):
    """What one package, or one single log, adds to a report."""

    official: Verdict
    logs: tuple[LogResult, ...]
    entries: tuple[EntryResult, ...]
    systems: tuple[SystemResult, ...]
    findings: tuple[Finding, ...]
    without_logs: tuple[EmptyFolder, ...] = ()


def list_packages(place: Place, root: Path, round_: Round) -> list[Package]:
    """The packages in a place. ``root`` is the folder the report's paths are relative to."""
    return [list_package(outline, root, round_) for outline in outlines(place)]


def list_package(outline: Outline, root: Path, round_: Round) -> Package:
    """The files of a package. ``root`` is the folder the report's paths are relative to."""
    place = outline.place
    if place is None:
        return (_too_deep if outline.deep else _organisation)(outline.path, root, round_)
    if place.target is Target.LOG:
        return _lone_log(place, root, round_)
    if place.organisation is None:
        return _lone_benchmark(place.path, root, round_)
    prefix = _prefix(place.organisation, root)
    reader = TreeReader(place.organisation, prefix, round_)
    if place.target is Target.ORGANISATION:
        files = _lying(with_layout(reader.organisation(), prefix, round_))
    elif place.target is Target.SYSTEM:
        files = reader.system(place.path)
    elif place.target is Target.SCALING:
        files = reader.scaling(place.path)
    else:
        files = reader.benchmark(place.path)
    return _package(files, prefix, round_)


def _organisation(folder: Path, root: Path, round_: Round) -> Package:
    prefix = _prefix(folder, root)
    try:
        why = None if is_folder(folder) else "The link is broken or circular"
    except OSError as error:
        why = f"It cannot be accessed: {reason_of(error)}"
    if why is None:
        files = TreeReader(folder, prefix, round_).organisation()
        return _package(with_layout(files, prefix, round_), prefix, round_)
    dangling = finding("tree.unreadable", prefix.rstrip("/") or ".", why)
    files = OrganisationFiles(name=folder.name, folder=folder, entries=(), descriptions=(), findings=(dangling,))
    return _package(files, prefix, round_)


def _lying(files: OrganisationFiles) -> OrganisationFiles:
    """An organisation asked for by itself, with a word on where it lies: alone in one of its name, or a division's."""
    above = files.folder.parent
    in_division = above.name.lower() in DIVISIONS and names_round(above.parent.name)
    if above.name.lower() != files.name.lower() and not in_division:
        return files
    try:
        if (not in_division and folders(above) != [files.folder]) or is_organisation(above):
            return files
    except OSError as error:
        message = f"What lies beside it is unknown, since the folder above cannot be read: {reason_of(error)}"
        unknown = finding("layout.not-listed", ".", message)
        return msgspec.structs.replace(files, findings=(*files.findings, unknown))
    problem = finding(
        "tree.same-name-above",
        ".",
        f"The folder lies in one named {above.name}, one level too deep" if in_division else None,
        expected=f"{above.parent.name}/{files.name}/results" if in_division else f"{above.name}/results",
        actual=f"{above.name}/{files.name}/results",
        fix=of_too_deep(files.folder, above, alone=True),
    )
    return msgspec.structs.replace(files, findings=(*files.findings, problem))


def _too_deep(folder: Path, root: Path, round_: Round) -> Package:
    """An organisation whose tree lies in another folder of an organisation: judged all the same, and rejected."""
    package = _organisation(folder, root, round_)
    problem = finding(
        "tree.too-deep",
        package.prefix.rstrip("/") or ".",
        f"The files of {folder.name} are one folder too deep",
        expected=f"{folder.parent.name}/results",
        actual=f"{folder.parent.name}/{folder.name}/results",
        fix=of_too_deep(folder, folder.parent, alone=len(too_deep(folder.parent)) == 1),
    )
    files = msgspec.structs.replace(package.files, findings=(problem, *package.files.findings))
    return msgspec.structs.replace(package, files=files)


def _prefix(folder: Path, root: Path) -> str:
    return "" if (relative := below(root, folder)) == "." else f"{relative}/"


def _lone_benchmark(folder: Path, root: Path, round_: Round) -> Package:
    """A folder of result logs outside any tree: an entry without organisation or description."""
    names = names_in(folder)
    results = tuple(sorted(folder / name for name in names if fnmatchcase(name, RESULT_PATTERN)))
    scaling = folder.parent.name if round_.scaling_folders and folder.parent.name in SCALING_FOLDERS else None
    entry = EntryFiles(
        organisation=folder.parent.name,
        system=folder.parent.name,
        benchmark=folder.name,
        folder=folder,
        results=results,
        strays=tuple(sorted(name for name in names if name[0] != "." and not fnmatchcase(name, RESULT_PATTERN))),
        scaling_type=scaling,
    )
    return _lone(entry, root, round_)


def _lone_log(place: Place, root: Path, round_: Round) -> Package:
    """One log of an entry, without the others: the system and benchmark are those of its folders, where it has any."""
    folder, above = place.path.parent, place.organisation
    in_tree = above is not None
    system = folder.parent.parent if in_tree and folder.parent.name in SCALING_FOLDERS else folder.parent
    entry = EntryFiles(
        organisation=above.name if above is not None else "",
        system=system.name if in_tree else "",
        benchmark=folder.name if in_tree else "",
        folder=folder,
        results=(place.path,),
        strays=(),
    )
    return _lone(entry, root, round_)


def _lone(entry: EntryFiles, root: Path, round_: Round) -> Package:
    """A package of one entry alone, which lies in no tree."""
    name = entry.organisation
    files = OrganisationFiles(name=name, folder=entry.folder, entries=(entry,), descriptions=(), findings=())
    return _package(files, _prefix(entry.folder, root), round_, in_tree=False)


def _package(files: OrganisationFiles, prefix: str, round_: Round, *, in_tree: bool = True) -> Package:
    tasks = tuple(
        LogTask(str(file), _path(files, prefix, file), round_.usage, round_.name, round_.overlay)
        for entry in files.entries
        for file in entry.results
    )
    return Package(files, prefix, tasks, in_tree)


def _path(files: OrganisationFiles, prefix: str, path: Path) -> str:
    relative = below(files.folder, path)
    return prefix + relative if relative != "." else prefix.rstrip("/") or "."


def judge_package(package: Package, reports: Mapping[str, LogReport], round_: Round, options: Options = USUAL) -> Part:
    """The verdicts on a package whose logs have been read; ``reports`` are by path."""
    files = msgspec.structs.replace(package.files, findings=tuple(binding(package.files.findings, round_)))
    flags = FlagFiles(files.folder, _path(files, package.prefix, files.folder), round_, in_tree=package.in_tree)
    descriptions = {
        file.name.removesuffix(".json"): _description(file, files, package.prefix, round_)
        for file in files.descriptions
    }
    findings: list[Finding] = list(files.findings)
    misplaced = any(f.rule == "tree.too-deep" for f in findings)
    systems: list[SystemResult] = []
    for description in descriptions.values():
        system, about_facts = _system_result(files, description)
        systems.append(system)
        findings.extend((*description.findings, *about_facts))
    logs: list[LogResult] = []
    entries: list[EntryResult] = []
    read: list[Entry] = []
    for entry_files in files.entries:
        entry = Entry(
            files=entry_files,
            path=_path(files, package.prefix, entry_files.folder),
            logs=tuple(reports[_path(files, package.prefix, file)] for file in entry_files.results),
            description=descriptions.get(entry_files.system),
            in_tree=package.in_tree,
        )
        read.append(entry)
        result, about = judge_entry(
            entry, _needs(entry, round_), round_, flags.of(entry_files.folder), options, misplaced=misplaced
        )
        entries.append(result)
        logs.extend(log_result(log, entry_files.organisation) for log in entry.logs)
        findings.extend(f for log in entry.logs for f in log.findings)
        findings.extend(about)
    about_flags = flags.findings()
    findings.extend(about_flags)
    findings.extend(reviewed("seed.not-random", _place(package), lambda: audit_organisation_seeds(read)))
    # Where their number is demanded, an entry without any log has a finding on it.
    counted = round_.run_count_demanded and any(f.rule == "entry.run-count" for f in findings)
    if not logs and not counted and not any(f.rejects for f in files.findings):
        astray = next((f for f in findings if f.rule == "tree.stray-logs"), None)
        findings = [f for f in findings if f is not astray]
        findings.append(_without_logs(package, astray))
    official = Verdict.ACCEPTED
    if not logs:
        official = Verdict.NOT_CHECKED
    elif (
        any(f.rejects for f in (*files.findings, *about_flags))
        or any(entry.official is Verdict.REJECTED for entry in entries)
        or any(system.official is Verdict.REJECTED for system in systems)
    ):
        official = Verdict.REJECTED
    empty = tuple(_empty_folders(package, round_))
    return Part(official, tuple(logs), tuple(entries), tuple(systems), tuple(findings), empty)


def _empty_folders(package: Package, round_: Round) -> Iterator[EmptyFolder]:
    """The benchmarks' folders without logs, whether the round's checker takes them for entries or not."""
    for one in (*package.files.entries, *package.files.skipped):
        if not one.results:
            yield EmptyFolder(
                path=_path(package.files, package.prefix, one.folder),
                organisation=one.organisation,
                system=one.system,
                benchmark=round_.benchmark_in(one.benchmark) or one.benchmark,
            )


def _description(file: Path, files: OrganisationFiles, prefix: str, round_: Round) -> SystemDescription:
    """A system's description, which the result summarizer reads where the system has a folder in results."""
    try:
        summarised = is_folder(files.folder / "results" / file.name.removesuffix(".json"))
    except OSError:
        summarised = False  # Then there is a finding on it.
    description = read_description(file, _path(files, prefix, file), round_, summarised=summarised)
    return msgspec.structs.replace(description, findings=tuple(binding(description.findings, round_)))


def _without_logs(package: Package, astray: Finding | None) -> Finding:
    """``astray`` are logs in a place that no checker reads."""
    message = f"{package.files.name or 'The folder'} has no result log"
    if astray is None:
        return finding("tree.no-logs", _place(package), message)
    message = f"{message} in its place: {astray.message}"
    return finding("tree.no-logs", astray.path, message, expected=astray.expected, actual=astray.actual, fix=astray.fix)


def _place(package: Package) -> str:
    return package.prefix.rstrip("/") or "."


def _system_result(
    files: OrganisationFiles, description: SystemDescription
) -> tuple[SystemResult, tuple[Finding, ...]]:
    path = description.path
    facts, crashed = isolated("the facts of a description", path, lambda: facts_of(description.content), None)
    result = SystemResult(
        path=path,
        organisation=files.name,
        official=Verdict.ACCEPTED if description.accepted else Verdict.REJECTED,
        facts=facts,
    )
    return result, crashed


def _needs(entry: Entry, round_: Round) -> Benchmark:
    """What the benchmark asks for; outside a tree the logs may name the benchmark where the folder does not."""
    names = [entry.files.benchmark, *(log.benchmark for log in entry.logs if log.benchmark)]
    for name in names:
        if known := round_.benchmark_in(name):
            return benchmark(round_.usage, round_.name, known, round_.overlay)
    return Benchmark(entry.files.benchmark, "unknown", len(entry.logs), 0)


def log_result(log: LogReport, organisation: str) -> LogResult:
    """A log's line of the report."""
    return LogResult(
        path=log.path,
        organisation=organisation,
        official="compliant" if log.compliant else "noncompliant",
        benchmark=log.benchmark,
        division=log.division,
        status=log.status,
        minutes=log.minutes,
    )


def with_layout(files: OrganisationFiles, prefix: str, round_: Round) -> OrganisationFiles:
    """An organisation's files with the findings on its tree; ``prefix`` starts its paths in the report."""
    places = tuple(
        dict.fromkeys(LayoutPlace(entry.system, entry.benchmark) for entry in files.entries if entry.results)
    )
    known = {finding.path for finding in files.findings}
    judged = {
        below(files.folder, file) for file in (*files.descriptions, *(log for e in files.entries for log in e.results))
    }
    beside = {f"{below(files.folder, e.folder)}/{name}" for e in files.entries for name in e.strays}
    explained = files.explained | beside
    review = reviewed(
        "layout", ".", lambda: audit_layout(list_tree(files.folder), places, round_.usage, judged, explained)
    )
    found = [_placed(f, prefix) for f in review]
    # A link of results/ that leads nowhere, or a folder there that is closed, is an official finding already.
    fresh = [finding for finding in found if finding.path not in known]
    return msgspec.structs.replace(files, findings=(*files.findings, *fresh))


def _placed(finding: Finding, prefix: str) -> Finding:
    path = (prefix.rstrip("/") or ".") if finding.path == "." else prefix + finding.path
    return msgspec.structs.replace(finding, path=path)


def single_log(path: Path, log: LogReport) -> Part:
    """What a single log adds to a report: it is accepted if it is compliant.

    A log that cannot even be opened was not checked.
    """
    if any(f.rule == "log.unreadable" for f in log.findings):
        verdict = Verdict.NOT_CHECKED
    else:
        verdict = Verdict.ACCEPTED if log.compliant else Verdict.REJECTED
    organisation = locate(path).organisation
    said = log.run.identity.get("submission_org")
    name = organisation.name if organisation else readable(said[:200]) if isinstance(said, str) else ""
    return Part(verdict, (log_result(log, name),), (), (), log.findings)
