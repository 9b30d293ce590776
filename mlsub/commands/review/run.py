"""Judge what lies at some paths once, compare its runs with each other, and ask about what was found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from mlsub.commands.review.asks import asks_of, fine_of
from mlsub.commands.review.hyperparameters import hyperparameters
from mlsub.commands.review.model import (
    DescribedName,
    Frequency,
    LeftOutRun,
    Organisation,
    Rates,
    Review,
    ReviewedEntry,
)
from mlsub.commands.review.table import benchmarks_of, read_table
from mlsub.commands.review.table_rules import About, audit_ids, audit_table
from mlsub.convergence import cut_of
from mlsub.findings import Effect, Finding, Kind, Severity, Verdict
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.look import failing_as
from mlsub.present.document import text_of
from mlsub.present.entries import organisations_of, verdict_line
from mlsub.review.disclosure import read_disclosure
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import Observation
from mlsub.rules.catalogue import catalogue, demanded_key, has_effect
from mlsub.rules.clauses import questions_on
from mlsub.submission.code import select_code
from mlsub.submission.find import PathKind, Place, organisation, packages
from mlsub.submission.pairing import paired
from mlsub.submission.report import Choice, EntryResult, Report
from mlsub.submission.result import Result
from mlsub.systems.names import check_names
from mlsub.workspace import (
    Checked,
    Context,
    Request,
    check_places,
    find_places,
    fingerprint_places,
    in_one_line,
)
from mlsub.workspace.cache import encode_lossless, record_name

#: What has all results of an organisation, so that a row of a results table may be without logs.
_WHOLE = (PathKind.ORGANISATION, PathKind.ORGANISATIONS)


class Sides(NamedTuple):
    """Places to report on, those to compare them with, and the folder that all have in common; a results table.

    ``skipped`` says what is wrong with each place that cannot be looked at.
    """

    found: tuple[Place, ...]
    beside: tuple[Place, ...]
    root: Path
    table: Path | None = None
    skipped: tuple[str, ...] = ()


class ObservedOrganisation(msgspec.Struct, frozen=True, kw_only=True):
    """An organisation without what is asked of it, and all that was found in it, whatever is asked for."""

    about: Organisation
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...]


def sides_of(paths: Sequence[str], request: Request, beside: Sequence[str] = (), table: str | None = None) -> Sides:
    """Return what lies at some paths, and at some others.

    Args:
        paths: what :mod:`mlsub.workspace.places` takes for a path.
        request: what the caller knows better than the folders; its round is that of ``paths``.
        beside: the others.
        table: a results table.

    Raises:
        MlsubError: none of the paths, or none of the others, exists and has a known round.
    """
    found, lost = _found(paths, request)
    others, others_lost = _found(beside, replace(request, round=None))
    root = Path(os.path.commonpath([place.root for place in (*found, *others)]))
    own = {package.path for place in found for package in _packages(place)}
    apart = (package for place in others for package in _packages(place) if package.path not in own)
    return Sides(tuple(found), tuple(apart), root, Path(table) if table else None, (*lost, *others_lost))


def _found(paths: Sequence[str], request: Request) -> tuple[list[Place], list[str]]:
    """Return what lies at some paths, and what is wrong with those that cannot be looked at, where others can."""
    found, failed = find_places(paths, request)
    lost = [in_one_line(place.problem) for place in failed if place.problem]
    if lost and not found:
        raise MlsubError(*dict.fromkeys(lost))
    return found, lost


def _packages(place: Place) -> list[Place]:
    with failing_as(f"{place.path} cannot be read", ". Check your permissions."):
        return packages(place)


def observe_sides(sides: Sides, context: Context) -> tuple[ObservedOrganisation, ...]:
    """Return each organisation with all that was found in it, from the cache where no file has changed.

    Raises:
        MlsubError: no log is below the paths, or a results table is compared with more than one round.
    """
    cache, request = context.cache if sides.table is None else None, replace(context.request, trace=True)
    state = fingerprint_places((*sides.found, *sides.beside), request) if cache is not None else None
    name, kind = record_name("review", sides.found, sides.beside), tuple[ObservedOrganisation, ...]
    if cache is not None and state is not None and (known := cache.read(name, state, kind)):
        return known
    checked, others = read(sides, context)
    if sides.table is not None and len(checked) > 1:
        raise MlsubError("A results table is of one round. Name the folder of that round.")
    observed = tuple(_observe(checked, others, sides))
    if cache is not None and state is not None and all(one.cacheable for one in (*checked, *others)):
        kept = [encode_lossless(one) for one in observed]
        if None not in kept:
            cache.write(name, state, kept)
    return observed


def _observe(checked: Sequence[Checked], others: Sequence[Checked], sides: Sides) -> Iterator[ObservedOrganisation]:
    """Yield each organisation, its runs compared with all others."""
    above = str(sides.root)
    placed = [one.at(above).results for one in checked]
    entries = [result for results in placed for result in results if result.logs]
    against = [result for one in others for result in one.at(above).results if result.logs]
    observed = observe_runs(entries, against)
    befores = {entry.path: before for before, entry in paired([*against, *entries])}
    for one, results in zip(checked, placed, strict=True):
        tabled = list(_compare_table(results, sides))
        for report in _split_by_organisation(one.report):
            folders = {entry.organisation for entry in report.entries}
            own = [result for result in results if result.organisation in folders]
            reviewed = tuple(_review_entries(own, befores, one.code))
            seen = tuple(of for result in own for of in observed.get(result.path, ()))
            of_table = (finding for folder, finding in tabled if folder in folders)
            findings = (*_asked_findings(report.at(above)), *of_table, *(of.finding for of in seen))
            about = _review_organisation(report, reviewed, above)
            yield ObservedOrganisation(about=about, findings=findings, observations=seen)


def read(sides: Sides, context: Context) -> tuple[list[Checked], list[Checked]]:
    """Return the reports on both sides, each log read once.

    Raises:
        MlsubError: no log is below the paths.
    """
    traced = replace(context, request=replace(context.request, trace=True))
    checked = check_places(sides.found, traced)
    logs = [log for one in checked for log in one.logs]
    if not logs:
        names = context.request.paths or [str(place.path) for place in sides.found]
        raise MlsubError(f"There is no result log below {', '.join(names[:3])}. Name an organisation's tree.")
    if not any(log.run.timeline.events for log in logs):
        lost = next(
            (f" ({f.path}: {f.message})" for log in logs for f in log.findings if has_effect(f, Effect.UNREAD)), ""
        )
        raise MlsubError(f"No log has a record{lost}. Name the result logs of a round mlsub check knows.")
    return checked, check_places(sides.beside, traced)


def _asked_findings(report: Report) -> Iterator[Finding]:
    """Yield the findings of a report; what an entry may hold is a note: forgiven runs, records logged twice."""
    decided, rejecting = report.official is not Verdict.NOT_CHECKED, set(report.rejecting())
    for found in report.findings:
        official = decided and found.kind is Kind.OFFICIAL
        tolerated = has_effect(found, Effect.FORGIVES) or demanded_key(found.rule, "repeated") is not None
        forgiven = official and (tolerated or found.severity is Severity.ERROR)
        yield replace(found, severity=Severity.NOTE) if forgiven and found not in rejecting else found


def _compare_table(results: Sequence[Result], sides: Sides) -> Iterator[About]:
    """Yield what is wrong with private IDs and in the results table, by the folder of the organisation."""
    yield from audit_ids(results)
    if sides.table is None or not results:
        return
    rows = read_table(sides.table, benchmarks_of(results[0].rules))
    name, whole = os.path.relpath(sides.table, sides.root), all(place.kind in _WHOLE for place in sides.found)
    yield from audit_table(name, rows, results, whole=whole)


def _split_by_organisation(report: Report) -> Iterator[Report]:
    """Yield the part of a report that is about each organisation, and what is about none of them."""
    known = organisations_of(report)
    if not known:
        yield report
        return
    found: dict[str, list[Finding]] = {name: [] for name in (*known, "")}
    for one in report.findings:
        above = one.path.partition("/")[0]
        found[above if above in known else ""].append(one)
    for name, rejected in known.items():
        logs = tuple(log for log in report.logs if log.organisation == name)
        official = Verdict.REJECTED if rejected else Verdict.ACCEPTED
        yield replace(
            report,
            official=official if logs else Verdict.NOT_CHECKED,
            logs=logs,
            entries=tuple(entry for entry in report.entries if entry.organisation == name),
            systems=tuple(system for system in report.systems if system.organisation == name),
            without_logs=tuple(folder for folder in report.without_logs if folder.organisation == name),
            findings=tuple(found[name]),
        )
    if found[""]:
        yield replace(report, entries=(), systems=(), without_logs=(), findings=tuple(found[""]))


def review_of(
    reading: Sequence[ObservedOrganisation],
    sides: Sides,
    choice: Choice,
    apply: Callable[[Sequence[Finding]], tuple[Finding, ...]],
) -> Review:
    """Return the review with the findings asked for.

    Args:
        reading: all that was found.
        sides: what was asked for.
        choice: which findings count.
        apply: returns findings as waivers leave them.
    """
    found, whole = [], all(place.kind in _WHOLE for place in sides.found)
    for one in reading:
        chosen = [finding for finding in apply(one.findings) if choice.wants(finding)]
        asks, about = asks_of(chosen, one.observations, one.about.entries), one.about
        unchecked = about.official is Verdict.NOT_CHECKED
        found.append(
            replace(
                about,
                asks=tuple(ask for ask in asks if ask.severity is not Severity.NOTE),
                notes=tuple(ask for ask in asks if ask.severity is Severity.NOTE),
                fine=() if unchecked else tuple(fine_of(one.findings, about, whole=whole)),
                to_read=_left_to_people(about.entries),
            )
        )
    unread_files = (f for one in reading for f in one.findings if has_effect(f, Effect.UNREAD))
    lost = [f"{f.path}: {f.actual or f.message}" for f in unread_files]
    ranked = tuple(sorted(found, key=attrgetter("rank")))
    return Review(root=str(sides.root), organisations=ranked, unread=tuple(dict.fromkeys((*sides.skipped, *lost))))


def _left_to_people(entries: Iterable[ReviewedEntry]) -> dict[str, tuple[str, ...]]:
    """What a person has to ask of each benchmark, as the clauses of the rules that no program checks."""
    divisions = group_by_key((entry.benchmark_name, entry.division or "") for entry in entries)
    return {name: questions_on(name, of) for name, of in sorted(divisions.items())}


def _review_organisation(report: Report, entries: tuple[ReviewedEntry, ...], above: str) -> Organisation:
    """The answer on an organisation but for what is asked of it, with paths relative to a folder above."""
    names = {log.organisation for log in report.logs} | {entry.organisation for entry in report.entries}
    name = names.pop() if len(names) == 1 and "" not in names else os.path.basename(report.root)  # noqa: PTH119
    inside = any(log.path.startswith(f"{name}/") for log in report.logs)
    lines = {
        (found.path, found.actual): found.line for found in report.findings if has_effect(found, Effect.DESCRIPTION)
    }
    return Organisation(
        name=name,
        organisation_name=organisation(name),
        path=report.path_below(above, name if inside else "."),
        usage=report.usage,
        round=report.round,
        official=report.official,
        verdict=text_of(verdict_line(report).words),
        logs=len(report.logs),
        entries=entries,
        without_logs=tuple(report.path_below(above, folder.path) for folder in report.without_logs),
        names=tuple(
            DescribedName(report.path_below(above, system.path), naming, lines.get((system.path, naming.written)))
            for system in report.systems
            if system.facts is not None
            for naming in check_names(msgspec.structs.asdict(system.facts))
        ),
    )


def _review_entries(
    results: Sequence[Result], befores: Mapping[str, Result], code: Mapping[str, Sequence[str]]
) -> Iterator[ReviewedEntry]:
    """The answers on entries, with the code of each organisation; ``befores`` are those of the round before."""
    benchmarks = group_by_key((result.organisation, result.benchmark) for result in results)
    for result in results:
        of = result.organisation
        own = select_code(result.benchmark, benchmarks[of], code.get(of, ()))
        yield _review_entry(result, befores.get(result.path), own)


def _review_entry(result: Result, before: Result | None, code: Sequence[str]) -> ReviewedEntry:
    """The answer on an entry, beside the same submitter's of the round before; ``code`` is its benchmark's."""
    mean, limit = result.rcp.mean, result.rcp.minimum
    reference, found = hyperparameters(result, before) if result.logs else (None, ())
    return ReviewedEntry(
        **{name: getattr(result, name) for name in EntryResult.__struct_fields__},
        benchmark_name=result.benchmark_name,
        margin_percent=(mean / limit - 1) * 100 if mean is not None and limit else None,
        left_out=tuple(_left_out_runs(result)),
        disclosure=read_disclosure(result.path, result.logs, result.accelerators_count, code),
        hyperparameters=found,
        reference=reference,
        before=before.path if before else None,
    )


def _left_out_runs(result: Result) -> Iterator[LeftOutRun]:
    """The runs that the score leaves out: those that do not count, and the fastest and slowest of the others."""
    counted = []
    for log in result.logs:
        if not log.run.converged:
            yield LeftOutRun(log.path, "not converged")
        elif not log.compliant:
            yield LeftOutRun(log.path, "noncompliant")
        elif log.minutes is not None:
            counted.append((log.minutes, log.path))
    cut, ranked = cut_of(result.benchmark), [path for _, path in sorted(counted)]
    slow = max(0, cut - (len(result.logs) - len(counted)))
    if len(ranked) > cut + slow:
        yield from (LeftOutRun(path, "fastest") for path in ranked[:cut])
        yield from (LeftOutRun(path, "slowest") for path in ranked[len(ranked) - slow :])


def rates_of(reading: Sequence[ObservedOrganisation]) -> Rates:
    """Return how often each rule that compares runs applies."""
    entries = [entry for one in reading for entry in one.about.entries]
    seen = [of for one in reading for of in one.observations]
    found = []
    for rule, info in catalogue().items():
        if rule.startswith("inspect."):
            of_rule = [of.entry for of in seen if of.finding.rule == rule]
            found.append(Frequency(rule, info.title, len(set(of_rule)), len(entries), len(of_rule)))
    return Rates(entries=len(entries), logs=sum(entry.runs for entry in entries), rates=tuple(found))
