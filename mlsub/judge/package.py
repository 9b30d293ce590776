"""One organisation's package, or a single log: which logs to read, and the report once they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from mlsub.convergence import USUAL, Options
from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks, Effect, Finding, Kind, Severity, Verdict
from mlsub.io import reason_of
from mlsub.io.data import group_by_key
from mlsub.io.show import readable
from mlsub.judge.entry import JudgedEntry, judge_entry, official_only_if_checked
from mlsub.review.cross import audit_frameworks, audit_organisation_seeds, audit_submitters
from mlsub.review.disclosure import audit_disclosures
from mlsub.rounds import Round
from mlsub.rules.catalogue import demanded_key, finding, has_effect, isolated, reviewed
from mlsub.rules.load import EntryRequirements, entry_requirements
from mlsub.submission.audit import audit_layout
from mlsub.submission.code import CODE_USAGES, MAX_TEXT, SubmittedCode
from mlsub.submission.file_tree import read_file_tree
from mlsub.submission.find import (
    SCALING_FOLDERS,
    PathKind,
    Place,
    is_organisation,
    locate,
    named_round,
    too_deep,
)
from mlsub.submission.listing import below
from mlsub.submission.model import RESULT_PATTERN, Entry, LogReport, Package
from mlsub.submission.params import flags_of
from mlsub.submission.remedies import fix_for_too_deep
from mlsub.submission.report import EmptyFolder, LogResult, Report, SystemResult
from mlsub.submission.tree import read_tree
from mlsub.systems.description import SystemDescription, read_description
from mlsub.systems.fields import facts_of


def list_package(place: Place, root: Path, round_: Round) -> Package:
    """The files of a package. ``root`` is the folder the report's paths are relative to."""
    if place.kind is PathKind.LOG:
        return _lone_log(place, root)
    if place.organisation is None:
        return _lone_benchmark(place, root, round_)
    prefix = _prefix(place.organisation, root)
    if place.kind is not PathKind.ORGANISATION:
        return read_tree(place, prefix, round_)
    if why := _dangling(place):
        found = finding("tree.unreadable", prefix.rstrip("/") or ".", why)
        return Package(folder=place.path, prefix=prefix, findings=(found,), listing=place.listing)
    package = with_layout(read_tree(place, prefix, round_), round_)
    return _too_deep(package) if place.deep else package if place.listed else _lying(package)


def _dangling(place: Place) -> str | None:
    """Why an organisation is no folder; None for one."""
    try:
        return None if place.listing.is_folder(place.path) else "The link is broken or circular"
    except OSError as error:
        return f"It cannot be accessed: {reason_of(error)}"


def _lying(package: Package) -> Package:
    """An organisation asked for by itself, with a word on where it lies: alone in one of its name, or a division's."""
    above, name = package.folder.parent, package.name
    in_division = above.name.lower() in DIVISIONS and named_round(above.parent.name) is not None
    if above.name.lower() != name.lower() and not in_division:
        return package
    try:
        if not in_division and package.listing.folders_in(above) != [package.folder]:
            return package
        if is_organisation(above, package.listing):
            return package
    except OSError as error:
        message = f"What lies beside it is unknown, since the folder above cannot be read: {reason_of(error)}"
        return replace(package, findings=(*package.findings, finding("layout.not-listed", ".", message)))
    problem = finding(
        "tree.same-name-above",
        ".",
        f"The folder lies in one named {above.name}, one level too deep" if in_division else None,
        expected=f"{above.parent.name}/{name}/results" if in_division else f"{above.name}/results",
        actual=f"{above.name}/{name}/results",
        fix=fix_for_too_deep(package.folder, above, package.listing, alone=True),
    )
    return replace(package, findings=(*package.findings, problem))


def _too_deep(package: Package) -> Package:
    """An organisation whose tree lies in another folder of an organisation: judged all the same, and rejected."""
    folder, listing = package.folder, package.listing
    alone = len(too_deep(folder.parent, listing)) == 1
    problem = finding(
        "tree.too-deep",
        package.path,
        f"The files of {folder.name} are one folder too deep",
        expected=f"{folder.parent.name}/results",
        actual=f"{folder.parent.name}/{folder.name}/results",
        fix=fix_for_too_deep(folder, folder.parent, listing, alone=alone),
    )
    return replace(package, findings=(problem, *package.findings))


def _prefix(folder: Path, root: Path) -> str:
    return "" if (relative := below(root, folder)) == "." else f"{relative}/"


def _lone_benchmark(place: Place, root: Path, round_: Round) -> Package:
    """A folder of result logs outside any tree: an entry without organisation or description."""
    folder, names = place.path, place.listing.names_in(place.path)
    entry = Entry(
        path=below(root, folder),
        organisation=folder.parent.name,
        system=folder.parent.name,
        benchmark=folder.name,
        folder=folder,
        results=tuple(folder / name for name in names if fnmatchcase(name, RESULT_PATTERN)),
        strays=tuple(name for name in names if name[0] != "." and not fnmatchcase(name, RESULT_PATTERN)),
        scaling_type=folder.parent.name if round_.scaling_folders and folder.parent.name in SCALING_FOLDERS else None,
        in_tree=False,
        listing=place.listing,
    )
    return Package(folder=folder, prefix=_prefix(folder, root), entries=(entry,), in_tree=False)


def _lone_log(place: Place, root: Path) -> Package:
    """One log of an entry, without the others: the system and benchmark are those of its folders, where it has any."""
    folder, above = place.path.parent, place.organisation
    system = folder.parent.parent if folder.parent.name in SCALING_FOLDERS else folder.parent
    entry = Entry(
        path=below(root, folder),
        organisation=above.name if above is not None else "",
        system=system.name if above is not None else "",
        benchmark=folder.name if above is not None else "",
        folder=folder,
        results=(place.path,),
        in_tree=False,
        listing=place.listing,
    )
    return Package(folder=folder, prefix=_prefix(folder, root), entries=(entry,), in_tree=False)


def judge_package(
    package: Package, root: Path, reports: Mapping[str, LogReport], round_: Round, options: Options = USUAL
) -> tuple[Report, frozenset[str]]:
    """Return the verdicts on a package, and the paths of logs that a finding calls copies of others of their entry.

    Args:
        package: its files.
        root: the folder that paths are relative to.
        reports: those on its logs, which have been read, by path.
        round_: whose rules hold.
        options: what the caller asks of the convergence test.
    """
    about_files = official_only_if_checked(package.findings, round_)
    flags, about_flags = flags_of(package, round_)
    descriptions = {
        file.name.removesuffix(".json"): _description(file, package, round_) for file in package.descriptions
    }
    findings: list[Finding] = list(about_files)
    systems: list[SystemResult] = []
    for description in descriptions.values():
        system, about_facts = _system_result(package, description)
        systems.append(system)
        findings.extend((*description.findings, *about_facts))
    misplaced = any(has_effect(f, Effect.TOO_DEEP) for f in about_files)
    logs: list[LogResult] = []
    entries: list[Entry] = []
    judged: list[JudgedEntry] = []
    for listed in package.entries:
        read = tuple(reports[package.path_of(file)] for file in listed.results)
        if flags[listed.folder].werror is not None:
            read = tuple(map(_with_warnings_as_errors, read))
        entry = replace(listed, logs=read, description=descriptions.get(listed.system))
        verdict = judge_entry(entry, _needs(entry, round_), round_, flags[entry.folder], options, misplaced=misplaced)
        entries.append(entry)
        judged.append(verdict)
        logs.extend(log_result(log, entry.organisation) for log in read)
        findings.extend(f for log in read for f in log.findings)
        findings.extend(verdict.findings)
    findings.extend(about_flags)
    # What reads files of the code is for those who review, and trace the logs, not for each check.
    traced = any(log.trace.keys for entry in entries for log in entry.logs)
    code = SubmittedCode(package.folder, package.file_tree, MAX_TEXT if traced else 0)
    findings.extend(reviewed("disclosure", package.path, audit_disclosures, entries, code))
    if traced:
        from mlsub.review.code import audit_code_text, audit_sources

        if round_.usage in CODE_USAGES:
            findings.extend(reviewed("code.source-missing", package.path, audit_sources, entries, code, package.prefix))
        findings.extend(reviewed("run.contact", package.path, audit_code_text, code, package.prefix))
    findings.extend(reviewed("cross.submitter", package.path, lambda: audit_submitters(entries)))
    findings.extend(reviewed("cross.framework", package.path, lambda: audit_frameworks(entries)))
    findings.extend(reviewed("seed.not-random", package.path, lambda: audit_organisation_seeds(entries)))
    if not logs and not any(f.rejects for f in about_files):
        findings = _without_logs(package, findings, round_)
    verdicts = (*(entry.result.official for entry in judged), *(system.official for system in systems))
    rejected = Verdict.REJECTED in verdicts or any(f.rejects for f in (*about_files, *about_flags))
    report = Report(
        usage=round_.usage,
        round=round_.name,
        root=str(root),
        official=Verdict.NOT_CHECKED if not logs else Verdict.REJECTED if rejected else Verdict.ACCEPTED,
        logs=tuple(logs),
        entries=tuple(entry.result for entry in judged),
        systems=tuple(systems),
        findings=tuple(findings),
        without_logs=tuple(_empty_folders(package, round_)),
    )
    return report, frozenset(path for entry in judged for path in entry.copies)


def _empty_folders(package: Package, round_: Round) -> Iterator[EmptyFolder]:
    """The benchmarks' folders without logs, whether the round's checker takes them for entries or not."""
    for one in (*package.entries, *package.skipped):
        if not one.results:
            name = round_.benchmark_in(one.benchmark) or one.benchmark
            yield EmptyFolder(path=one.path, organisation=one.organisation, system=one.system, benchmark=name)


def _description(file: Path, package: Package, round_: Round) -> SystemDescription:
    """A system's description, which the result summarizer reads where the system has a folder in results."""
    try:
        summarised = package.listing.is_folder(package.folder / "results" / file.name.removesuffix(".json"))
    except OSError:
        summarised = False  # Then there is a finding on it.
    description = read_description(file, package.path_of(file), round_, summarised=summarised)
    return replace(description, findings=tuple(official_only_if_checked(description.findings, round_)))


def _without_logs(package: Package, findings: list[Finding], round_: Round) -> list[Finding]:
    """The findings on a package without any log, with one that says so; it takes in logs that lie elsewhere."""
    # Where their number is demanded, an entry without any log has a finding on it.
    if round_.run_count_demanded and any(has_effect(f, Effect.RUNS_MISSING) for f in findings):
        return findings
    message = f"{package.name or 'The folder'} has no result log"
    stray = next((f for f in findings if has_effect(f, Effect.STRAY_LOGS)), None)
    if stray is None:
        return [*findings, finding("tree.no-logs", package.path, message)]
    message = f"{message} in its place: {stray.message}"
    told = finding("tree.no-logs", stray.path, message, expected=stray.expected, actual=stray.actual, fix=stray.fix)
    return [*(f for f in findings if f is not stray), told]


def _system_result(package: Package, description: SystemDescription) -> tuple[SystemResult, tuple[Finding, ...]]:
    path = description.path
    facts, crashed = isolated("the facts of a description", path, lambda: facts_of(description.content), None)
    official = Verdict.ACCEPTED if description.accepted else Verdict.REJECTED
    return SystemResult(path=path, organisation=package.name, official=official, facts=facts), crashed


def _needs(entry: Entry, round_: Round) -> EntryRequirements:
    """What the benchmark asks for; outside a tree the logs may name the benchmark where the folder does not."""
    names = [entry.benchmark, *(log.benchmark for log in entry.logs if log.benchmark)]
    for name in names:
        if known := round_.benchmark_in(name):
            return entry_requirements(round_.usage, round_.name, known, round_.overlay)
    return EntryRequirements(entry.benchmark, "unknown", len(entry.logs), 0)


def _with_warnings_as_errors(log: LogReport) -> LogReport:
    """The report on a log where the submission asks for ``--werror``: what the compliance checker warns of rejects."""
    findings = tuple(
        replace(found, severity=Severity.ERROR, blocks=Blocks.BOTH)
        if found.kind is Kind.OFFICIAL and found.severity is Severity.WARNING and demanded_key(found.rule)
        else found
        for found in log.findings
    )
    return replace(log, findings=findings, compliant=log.compliant and findings == log.findings)


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


def with_layout(package: Package, round_: Round) -> Package:
    """An organisation's files with the findings on its tree."""
    systems = group_by_key(dict.fromkeys((one.benchmark, one.system) for one in package.entries if one.results))
    known = {finding.path for finding in package.findings}
    read = (*package.descriptions, *(log for entry in package.entries for log in entry.results))
    judged = {below(package.folder, file) for file in read}
    beside = {f"{below(package.folder, entry.folder)}/{name}" for entry in package.entries for name in entry.strays}
    explained = package.explained | beside
    file_tree, review = isolated("layout", ".", lambda: read_file_tree(package.folder, package.listing), None)
    if file_tree is not None:
        review = reviewed("layout", ".", audit_layout, file_tree, systems, round_.usage, judged, explained)
    found = [replace(f, path=package.path if f.path == "." else package.prefix + f.path) for f in review]
    # A link of results/ that leads nowhere, or a folder there that is closed, is an official finding already.
    fresh = [finding for finding in found if finding.path not in known]
    return replace(package, findings=(*package.findings, *fresh), file_tree=file_tree)


def single_log(root: Path, log: LogReport, round_: Round) -> Report:
    """What a single log adds to a report: it is accepted if it is compliant.

    A log that cannot even be opened was not checked.
    """
    verdict = Verdict.ACCEPTED if log.compliant else Verdict.REJECTED
    if any(has_effect(f, Effect.UNREAD) for f in log.findings):
        verdict = Verdict.NOT_CHECKED
    organisation = locate(root / log.path).organisation
    logged = log.run.identity.get("submission_org")
    name = organisation.name if organisation else readable(logged[:200]) if isinstance(logged, str) else ""
    return Report(
        usage=round_.usage,
        round=round_.name,
        root=str(root),
        official=verdict,
        logs=(log_result(log, name),),
        findings=log.findings,
    )
