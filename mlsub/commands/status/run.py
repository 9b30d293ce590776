"""Find out where a submission stands, from the plan of pack, the check and the margins; and say so."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import replace

from mlsub.commands.status.tasks import EntryStatus, Task, fill_in, rejections, tasks_of_plan
from mlsub.convergence.margin import benchmark_tested, margin_of
from mlsub.findings import Effect, Kind, Says, Verdict
from mlsub.io import MlsubError
from mlsub.io.show import plural
from mlsub.packing.forms import Form
from mlsub.packing.manifest import Manifest, to_ask
from mlsub.packing.names import MANIFEST_SUFFIX
from mlsub.packing.pack import PackOptions, deciding, pack
from mlsub.packing.plan import PackPlan
from mlsub.packing.tree import compare_tree, read_checksums
from mlsub.present.document import Cell, Column, Document, Facts, Items, Span, Table, Text, document, section
from mlsub.present.entries import EntryColumn, results_table, verdict_span
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, get_round
from mlsub.rounds.calendar import CalendarDay, calendar_of
from mlsub.rules.catalogue import has_effect
from mlsub.rules.load import entry_requirements
from mlsub.submission.find import PathKind, Place, folders, is_folder, locate, manifest_near, named_round, organisations
from mlsub.submission.manifest import MANIFEST
from mlsub.submission.report import Report
from mlsub.submission.templates import Unfilled, unfilled_in
from mlsub.workspace import AS_FOUND, Context, check_paths, in_one_line

#: Tasks shown of many; JSON has them all.
_SHOWN = 12
_COLUMNS = (
    EntryColumn("entry", when_narrow="keep", value=lambda entry: entry.entry),
    "division",
    EntryColumn("runs", number=True, value=lambda entry: f"{entry.runs} of {entry.needed}"),
    "minutes",
    EntryColumn("RCP", when_narrow="keep", value=lambda entry: None if entry.rcp == "not-required" else entry.rcp),
    "to the limit",
    "verdict",
)
_DAYS = (Column("day", when_narrow="keep"), Column("what"), Column("by", leave_out=1))
State = Literal["unfinished", "to-be-written", "to-be-sealed", "sealed"]


class Status(Answer, frozen=True, kw_only=True):
    """Where a submission stands.

    ``manifest`` is null where there is none, ``package`` the folder of the package, ``sealed`` the file that the
    package is sealed in as it is now. ``unasked`` are the words of ``prepare`` that the manifest lacks for the package
    that is there. ``days_left`` are those until the deadline, 0 on its day, negative after it; ``calendar`` has the
    other days of the round.
    ``official`` is the verdict on what there is, null where there is no run yet. ``tasks`` are in the order in which
    they are done; ``next`` is the command to run, and ``why`` says what for.
    """

    SCHEMA: ClassVar[int] = 2

    organisation: str
    usage: str
    round: str
    manifest: str | None
    unasked: tuple[str, ...]
    package: str
    written: Annotated[bool, Says("Whether there is a package.")]
    sealed: str | None
    deadline: date | None
    days_left: int | None
    calendar: tuple[CalendarDay, ...]
    state: State
    official: str | None
    entries: tuple[EntryStatus, ...]
    tasks: tuple[Task, ...]
    review: Annotated[int, Says("How many review findings there are.", minimum=0)]
    next: str
    why: str

    @property
    def exit_status(self) -> int:
        """1 while something is left to do before the package can be sealed."""
        return int(self.state in ("unfinished", "to-be-written"))


def document_of(status: Status) -> Document:
    """Return what there is, what is left to do, and the next command."""
    return document(
        f"Status of {status.organisation}, {get_round(status.usage, status.round).title}",
        Facts(tuple(_facts(status))),
        results_table(status.entries, _COLUMNS),
        section("Days of the round", Table(_DAYS, tuple(_calendar(status)))),
        section("Left to do", Items(tuple(_task_items(status.tasks)))),
        Text(f"{status.why[:1].upper()}{status.why[1:]}."),
        Text(("Next: ", Span(status.next, "code"))),
    )


def _facts(status: Status) -> Iterator[tuple[str, Cell]]:
    if status.manifest is not None:
        lacks = f", which lacks {to_ask(status.unasked)} for what the package has" if status.unasked else ""
        yield "manifest", (Span(status.manifest, "path"), lacks)
    yield "package", (Span(status.package, "path"), "" if status.written else " (not written yet)")
    if status.official is not None:
        yield "verdict", verdict_span(status.official)
    if status.review:
        yield "review", f"{plural(status.review, 'finding')}, which mlsub check shows"
    if status.sealed is not None:
        yield "sealed", Span(status.sealed, "path")
    if status.deadline is not None and status.days_left is not None:
        yield "deadline", f"{status.deadline}, {_days_in_words(status.days_left)}"


def _calendar(status: Status) -> Iterator[tuple[Cell, ...]]:
    if status.deadline is not None and status.days_left is not None:
        today = status.deadline - timedelta(status.days_left)
        for each in status.calendar:
            yield f"{each.day}, {_days_in_words((each.day - today).days)}", each.what, each.source


def _days_in_words(left: int) -> str:
    if left < 0:
        return f"{plural(-left, 'day')} ago"
    return f"{plural(left, 'day')} left" if left else "today"


def _task_items(tasks: tuple[Task, ...]) -> Iterator[str]:
    for task in tasks[:_SHOWN]:
        yield f"{task.where}: {task.words}"
    if len(tasks) > _SHOWN:
        yield f"and {len(tasks) - _SHOWN} more, which --format json lists"


def manifest_of(path: Path) -> Path | None:
    """Return the manifest that a path is, or that lies in it; None for a package or a part of one.

    Raises:
        MlsubError: there is neither a manifest nor a package.
    """
    if path.suffix in (".yaml", ".yml"):
        return path
    if (path / MANIFEST).is_file() and not is_folder(path / "results"):
        return path / MANIFEST  # System descriptions beside it do not make a package of its folder.
    rounds = any(named_round(child.name) for child in folders(path))
    if is_folder(path) and locate(path).kind is PathKind.NOTHING and not rounds:
        where = "here" if str(path) == "." else f"in {path}"
        raise MlsubError(f"There is neither a {MANIFEST} nor a package {where}. Write a manifest with mlsub init.")
    return None


def status_of_manifest(manifest: Manifest, out: Path, today: date, context: Context = AS_FOUND) -> Status:
    """Return where the submission of a manifest stands.

    Args:
        manifest: the submission.
        out: where its package is, or is going to be.
        today: for the deadline, and for waivers.
        context: how logs are read.

    Raises:
        MlsubError: ``out`` is not a folder for a submission.
    """
    options = PackOptions(today=today, partly=True, templates=True, context=context)
    plan, packed = pack(manifest, out, options)
    unasked = packed.unasked
    if unasked:
        # Where the package is what the manifest would make with these words, that is what is looked at.
        asking = replace(manifest, prepare=replace(manifest.prepare, **dict.fromkeys(unasked, True)))
        as_asked = pack(asking, out, options)
        plan, packed = as_asked if as_asked[1].difference.none else (plan, packed)
    entries = _planned_entries(plan, packed.report)
    usual = [] if out == manifest.usual_out else ["-o", str(out)]
    look = shlex.join(["mlsub", "pack", str(manifest.file), *usual])
    tasks = tuple(tasks_of_plan(plan, packed, entries, look))
    as_planned = _is_there(out) and plan.sound and packed.difference.none
    return Status(
        organisation=manifest.organisation,
        manifest=str(manifest.file),
        unasked=unasked if packed.difference.none else (),
        **_round_fields(manifest.round, manifest.deadline, today),
        **_package_fields(out, tasks, None if as_planned else f"{look} --write"),
        official=None if packed.report is None else packed.report.official.value,
        entries=entries,
        review=_reviews(packed.report),
    )


def _planned_entries(plan: PackPlan, report: Report | None) -> tuple[EntryStatus, ...]:
    """Return the entries of a manifest, with what its check says of them."""
    checked = {} if report is None else dict(_checked_entries(report))
    round_ = plan.manifest.round
    entries = []
    for entry, chosen in zip(plan.manifest.entries, plan.runs, strict=True):
        needed = entry_requirements(round_.usage, round_.name, entry.benchmark).runs
        planned = EntryStatus(entry=entry.name, division=entry.division, runs=len(chosen.runs), needed=needed)
        found = checked.get(f"results/{entry.name}", planned)
        entries.append(replace(found, division=entry.division or found.division))
    return tuple(entries)


def status_of_package(path: Path, context: Context, today: date) -> Status:
    """Return where a package stands, or a part of one, or all packages of a round.

    Args:
        path: see :mod:`mlsub.workspace.places`.
        context: how it is judged.
        today: for the deadline, where a manifest near has one.

    Raises:
        MlsubError: it cannot be checked.
    """
    reports = check_paths([path], context)
    report, place = reports[0], locate(path)
    if report.official is Verdict.NOT_CHECKED or report.usage is None or report.round is None:
        raise MlsubError(next(in_one_line(found) for found in report.findings if found.rejects))
    if len(reports) > 1 or not report.entries:
        raise MlsubError(
            f"{path} is {'a log' if len(reports) == 1 else 'several rounds'}. Name a package of one round."
        )
    entries, look = dict(_checked_entries(report)), shlex.join(["mlsub", "check", str(path)])
    incomplete = {place: entry for place, entry in entries.items() if entry.missing}
    left = tuple(_left_in(place))
    errors = [found for found in report.review_errors() if not (left and has_effect(found, Effect.UNFILLED))]
    near = manifest_near(place)
    deadline = None if near is None else _day(near.deadline)
    tasks = (
        *(Task("runs", each.entry, _lacking(each), look) for each in incomplete.values()),
        *rejections([*deciding(report), *errors], incomplete, look),
        *fill_in(left, path),
    )
    return Status(
        organisation=", ".join(dict.fromkeys(entry.organisation for entry in report.entries)),
        manifest=None if near is None else os.path.relpath(near.file),
        unasked=(),
        **_round_fields(get_round(report.usage, report.round), deadline, today),
        **_package_fields(path, tasks),
        official=report.official.value,
        entries=tuple(entries.values()),
        review=_reviews(report),
    )


def _lacking(entry: EntryStatus) -> str:
    return f"{plural(entry.missing, 'run')} missing ({entry.runs} of {entry.needed})"


def _left_in(place: Place) -> Iterator[Unfilled]:
    """Yield what is not filled in in a package; a part of one is looked at by its logs alone."""
    if place.kind in (PathKind.ORGANISATION, PathKind.ORGANISATIONS):
        for each in organisations(place):
            yield from unfilled_in(each.path, place.path)


def _day(text: str | None) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text or "")
    return None


def _checked_entries(report: Report) -> Iterator[tuple[str, EntryStatus]]:
    """Yield the entries of a report by their paths, with what the convergence test says of them."""
    round_ = get_round(str(report.usage), str(report.round))
    many = len({entry.organisation for entry in report.entries}) > 1
    for entry in report.entries:
        tested = entry.rcp.verdict != "not-required"
        margin = margin_of(entry, benchmark_tested(report, entry, round_), round_) if tested else None
        known = entry.benchmark in round_.benchmarks
        parts = (entry.organisation if many else None, entry.system, entry.scaling_type, entry.benchmark)
        yield (
            entry.path,
            EntryStatus(
                entry="/".join(part for part in parts if part),
                division=entry.division,
                runs=entry.runs,
                needed=entry_requirements(round_.usage, round_.name, entry.benchmark).runs if known else entry.runs,
                official=entry.official.value,
                rcp=entry.rcp.verdict if margin is None else margin.verdict,
                percent=None if margin is None else margin.percent,
                minutes=entry.minutes,
            ),
        )


def _round_fields(round_: Round, deadline: date | None, today: date) -> dict[str, Any]:
    """Return the fields of a status that say which round it is, and how far off its days are."""
    left = None if deadline is None else (deadline - today).days
    calendar = () if deadline is None else tuple(calendar_of(round_, deadline))
    fields = {"deadline": deadline, "days_left": left, "calendar": calendar}
    return {"usage": round_.usage, "round": round_.name, **fields}


def _reviews(report: Report | None) -> int:
    return 0 if report is None else len({each.defect for each in report.findings if each.kind is Kind.REVIEW})


def _package_fields(package: Path, tasks: tuple[Task, ...], write: str | None = None) -> dict[str, Any]:
    """Return the fields of a status that say what there is and what comes next.

    ``write`` is the command that makes the package anew, None where it is as planned.
    """
    state, sealed = "to-be-sealed", None
    if tasks:
        state, command, why = "unfinished", tasks[0].command, f"{tasks[0].words} ({tasks[0].where})"
    elif write is not None:
        state, command, why = "to-be-written", write, f"write the package to {package}"
    else:
        found, same = _sealed(package)
        if found is not None and same:
            state, sealed, command = "sealed", found, shlex.join(["mlsub", "verify", found])
            why = f"send {found} and its receipt"
        else:
            again = found is not None
            command = f"mlsub seal {shlex.quote(str(package))} --recipient KEY{' --force' * again}"
            why = "seal the package again, for it has changed since" if again else "seal the package for the committee"
    there = {"package": str(package), "written": _is_there(package), "sealed": sealed}
    return {**there, "tasks": tasks, "state": state, "next": command, "why": why}


def _sealed(package: Path) -> tuple[str | None, bool]:
    """Return the file beside a package that it is sealed in, and whether it is of the package as it is now."""
    before = None
    folder = Path(os.path.abspath(package))  # noqa: PTH100  (the name that people gave it)
    for ending in dict.fromkeys(form.ending for form in Form):
        file = package.parent / f"{folder.name}{ending}"
        manifest = file.with_name(file.name + MANIFEST_SUFFIX)
        with suppress(MlsubError):
            if file.is_file() and manifest.is_file():
                before = str(file)
                if not compare_tree(package.resolve(), read_checksums(manifest), sealed_from=True):
                    return before, True
    return before, False


def _is_there(folder: Path) -> bool:
    return is_folder(folder) and any(folder.iterdir())
