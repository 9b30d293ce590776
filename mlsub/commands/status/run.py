"""From a manifest, or a package, to where it stands: the plan of pack, the check, and the margins, put together."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec

from mlsub.commands.status.tasks import EntryStatus, Task, fill_in, rejections, tasks_of_plan
from mlsub.convergence.margin import margins_of
from mlsub.findings import Kind, Says, Verdict
from mlsub.io.errors import MlsubError
from mlsub.packing.manifest import Manifest
from mlsub.packing.names import MANIFEST_SUFFIX
from mlsub.packing.pack import Request, deciding, pack
from mlsub.packing.tree import compare_tree, read_manifest
from mlsub.present.envelope import Answer
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark
from mlsub.submission.find import Place, Target, folders, is_folder, locate, manifest_near, named_round, organisations
from mlsub.submission.manifest import MANIFEST
from mlsub.submission.report import EntryResult, Report
from mlsub.submission.unfilled import Unfilled, unfilled_in
from mlsub.workspace import AS_FOUND, Settings, check_paths, in_one_line

#: As mlsub seal names its files beside a package.
_SEALED = (".tar.gz.age", ".tar.gz.enc", ".tar.gz")

State = Literal["unfinished", "to-be-written", "to-be-sealed", "sealed"]


class Status(Answer, frozen=True, kw_only=True):
    """Where a submission stands.

    ``manifest`` is null where there is none, ``package`` the folder of the package, ``sealed`` the file that the
    package is sealed in as it is now. ``days_left`` are those until the deadline, 0 on its day, negative after it.
    ``official`` is the verdict on what there is, null where there is no run yet. ``tasks`` are in the order in which
    they are done; ``next`` is the command to run, and ``why`` says what for.
    """

    SCHEMA: ClassVar[int] = 1

    organisation: str
    usage: str
    round: str
    manifest: str | None
    package: str
    written: Annotated[bool, Says("Whether there is a package.")]
    sealed: str | None
    deadline: date | None
    days_left: int | None
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


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a submission came to; ``as_planned`` says that the package is there, and is what would be sealed."""

    organisation: str
    usage: str
    round: str
    manifest: str | None
    package: Path
    as_planned: bool
    report: Report | None
    entries: tuple[EntryStatus, ...]
    tasks: tuple[Task, ...]
    deadline: date | None


def manifest_of(path: Path) -> Path | None:
    """The manifest that a path is, or that lies in it; None for a package or a part of one.

    Raises:
        MlsubError: there is neither a manifest nor a package.
    """
    if path.suffix in (".yaml", ".yml"):
        return path
    if (path / MANIFEST).is_file() and not is_folder(path / "results"):
        return path / MANIFEST  # System descriptions beside it do not make a package of its folder.
    rounds = any(named_round(child.name) for child in folders(path))
    if is_folder(path) and locate(path).target is Target.NOTHING and not rounds:
        where = "here" if str(path) == "." else f"in {path}"
        raise MlsubError(f"There is neither a {MANIFEST} nor a package {where}. Write a manifest with mlsub init.")
    return None


def status_of_manifest(manifest: Manifest, out: Path, today: date, settings: Settings = AS_FOUND) -> Status:
    """Where the submission of a manifest stands.

    Args:
        manifest: the submission.
        out: where its package is, or is going to be.
        today: for the deadline, and for waivers.
        settings: how logs are read.

    Raises:
        MlsubError: ``out`` is not a folder for a submission.
    """
    plan, packed = pack(manifest, out, Request(today=today, partly=True, templates=True, settings=settings))
    round_ = manifest.round
    entries = {
        f"results/{of.entry.name}": EntryStatus(
            entry=of.entry.name,
            division=of.entry.division,
            runs=len(of.runs),
            needed=benchmark(round_.usage, round_.name, of.entry.benchmark).runs,
        )
        for of in plan.runs
    }
    if packed.report is not None:
        for path, entry in _entries(packed.report):
            if path in entries:
                division = entries[path].division or entry.division
                entries[path] = msgspec.structs.replace(entry, division=division)
    usual = [] if out == manifest.usual_out else ["-o", str(out)]
    look = shlex.join(["mlsub", "pack", str(manifest.file), *usual])
    found = Found(
        organisation=manifest.organisation,
        usage=round_.usage,
        round=round_.name,
        manifest=str(manifest.file),
        package=out,
        as_planned=_is_there(out) and plan.sound and packed.difference.none,
        report=packed.report,
        entries=tuple(entries.values()),
        tasks=tuple(tasks_of_plan(plan, packed, tuple(entries.values()), look)),
        deadline=manifest.deadline,
    )
    return _status(found, today, f"{look} --write")


def status_of_package(path: Path, settings: Settings, today: date) -> Status:
    """Where a package stands, or a part of one, or all packages of a round.

    Args:
        path: see :mod:`mlsub.workspace.places`.
        settings: how it is judged.
        today: for the deadline, where a manifest near has one.

    Raises:
        MlsubError: it cannot be checked.
    """
    reports = check_paths([path], settings)
    report, place = reports[0], locate(path)
    if report.official is Verdict.NOT_CHECKED or report.usage is None or report.round is None:
        raise MlsubError(next(in_one_line(found) for found in report.findings if found.rejects))
    if len(reports) > 1 or not report.entries:
        raise MlsubError(
            f"{path} is {'a log' if len(reports) == 1 else 'several rounds'}. Name a package of one round."
        )
    entries, look = dict(_entries(report)), shlex.join(["mlsub", "check", str(path)])
    incomplete = [path for path, entry in entries.items() if entry.missing]
    near = manifest_near(place)
    found = Found(
        organisation=", ".join(dict.fromkeys(entry.organisation for entry in report.entries)),
        usage=report.usage,
        round=report.round,
        manifest=None if near is None else os.path.relpath(near.file),
        package=path,
        as_planned=True,
        report=report,
        entries=tuple(entries.values()),
        tasks=(
            *(_missing(entry, path) for entry in entries.values() if entry.missing),
            *rejections(deciding(report), incomplete, look),
            *fill_in(_left_in(place), path),
        ),
        deadline=None if near is None else _day(near.deadline),
    )
    return _status(found, today, look)


def _missing(entry: EntryStatus, path: Path) -> Task:
    words = f"{entry.missing} run{'s' * (entry.missing > 1)} missing ({entry.runs} of {entry.needed})"
    return Task("runs", entry.entry, words, shlex.join(["mlsub", "check", str(path)]))


def _left_in(place: Place) -> Iterator[Unfilled]:
    """What is not filled in in a package; a part of one is looked at by its logs alone."""
    if place.target in (Target.ORGANISATION, Target.ORGANISATIONS):
        for each in organisations(place):
            for left in unfilled_in(each.path):
                inside = (each.path / left.path).relative_to(place.path).as_posix()
                yield msgspec.structs.replace(left, path=inside)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        return None


def _entries(report: Report) -> Iterator[tuple[str, EntryStatus]]:
    """The entries of a report by their paths, with what the convergence test says of them."""
    margins = {margin.path: margin for margin in margins_of(report).entries} if report.entries else {}
    many = len({entry.organisation for entry in report.entries}) > 1
    for entry in report.entries:
        margin = margins.get(entry.path)
        yield (
            entry.path,
            EntryStatus(
                entry=_name(entry, many=many),
                division=entry.division,
                runs=entry.runs,
                needed=_needed(report, entry),
                official=entry.official.value,
                rcp=entry.rcp.verdict if margin is None else margin.verdict,
                percent=None if margin is None else margin.percent,
                minutes=entry.minutes,
            ),
        )


def _name(entry: EntryResult, *, many: bool) -> str:
    parts = (entry.organisation if many else None, entry.system, entry.scaling_type, entry.benchmark)
    return "/".join(part for part in parts if part)


def _needed(report: Report, entry: EntryResult) -> int:
    round_ = get_round(str(report.usage), str(report.round))
    if entry.benchmark not in round_.benchmarks:
        return entry.runs
    return benchmark(round_.usage, round_.name, entry.benchmark).runs


def _status(found: Found, today: date, write: str) -> Status:
    """The state, and the next command; ``write`` is the one that writes the package."""
    report, there = found.report, _is_there(found.package)
    before, same = _sealed(found.package) if found.as_planned and not found.tasks else (None, False)
    sealed = before if same else None
    state, command, why = _next(found, write, sealed, again=before is not None)
    return Status(
        organisation=found.organisation,
        usage=found.usage,
        round=found.round,
        manifest=found.manifest,
        package=str(found.package),
        written=there,
        sealed=sealed,
        deadline=found.deadline,
        days_left=None if found.deadline is None else (found.deadline - today).days,
        state=state,
        official=None if report is None else report.official.value,
        entries=found.entries,
        tasks=found.tasks,
        review=0 if report is None else sum(each.kind is Kind.REVIEW for each in report.findings),
        next=command,
        why=why,
    )


def _next(found: Found, write: str, sealed: str | None, *, again: bool) -> tuple[State, str, str]:
    package = str(found.package)
    if found.tasks:
        first = found.tasks[0]
        return "unfinished", first.command, f"{first.words} ({first.where})"
    if not found.as_planned:
        return "to-be-written", write, f"write the package to {package}"
    if sealed is None:
        why = "seal the package again, for it has changed since" if again else "seal the package for the committee"
        command = f"mlsub seal {shlex.quote(package)} --recipient KEY{' --force' * again}"
        return "to-be-sealed", command, why
    return "sealed", shlex.join(["mlsub", "verify", sealed]), f"send {sealed} and its receipt"


def _sealed(package: Path) -> tuple[str | None, bool]:
    """The file beside a package that it is sealed in, and whether it is of the package as it is now."""
    before = None
    folder = Path(os.path.abspath(package))  # noqa: PTH100  (the name that people gave it)
    for file in (package.parent / f"{folder.name}{ending}" for ending in _SEALED):
        manifest = file.with_name(file.name + MANIFEST_SUFFIX)
        try:
            if file.is_file() and manifest.is_file():
                before = str(file)
                if not compare_tree(package, read_manifest(manifest))[1]:
                    return before, True
        except MlsubError:
            continue
    return before, False


def _is_there(folder: Path) -> bool:
    return is_folder(folder) and any(folder.iterdir())
