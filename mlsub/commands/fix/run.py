"""From paths to what would be repaired in them, with the official verdict before and after; and make the repairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import msgspec

from mlsub.commands.fix.repairs import ALL, REPEATED, Repair, fix_description, fix_log
from mlsub.commands.fix.tree import Files, has_other_logs, root_of, shadow
from mlsub.findings import Effect, Finding, Kind, Verdict
from mlsub.io import MlsubError, reason_of
from mlsub.io.look import failing_as, open_regular
from mlsub.log.reader import TOKEN_MLL
from mlsub.log.rewrite import FileEdit, check_source
from mlsub.packing.edits import EditPlan, diff_hunks, edited, lines_of
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import demanded_key, finding, has_effect
from mlsub.submission.find import PathKind, Place, locate
from mlsub.submission.report import Report
from mlsub.systems.description import MAX_BYTES, read_description
from mlsub.workspace import Context, check_paths
from mlsub.workspace.runs import round_of

#: Logs above are reported and left: no result may be as large.
MAX_LOG = 128 << 20


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that is repaired: its path below the root, and its new one, null where that stays.

    ``failed`` says why the repairs could not be made, null where they were or are only proposed.
    """

    path: str
    renamed_to: str | None
    repairs: tuple[Repair, ...]
    failed: str | None = None


class Fixed(msgspec.Struct, frozen=True, kw_only=True):
    """The repairs below one root, and the official verdict before and after.

    Both are null where no round is known; ``after`` also where a repair failed. ``not_repaired`` is left to people.
    """

    root: str
    before: Verdict | None
    after: Verdict | None
    changes: tuple[Changed, ...]
    not_repaired: tuple[Finding, ...]
    notes: tuple[str, ...]


class Fix(Answer, frozen=True, kw_only=True):
    """Repairs that are proposed, or made where ``written`` says so."""

    SCHEMA: ClassVar[int] = 4

    written: bool
    plans: tuple[Fixed, ...]


def fix(
    paths: Sequence[str], context: Context, wanted: tuple[str, ...], *, write: bool, diff: bool
) -> tuple[list[RepairPlan], list[bytes], list[MlsubError]]:
    """Find out what would be repaired, and repair it.

    Args:
        paths: logs, descriptions and folders.
        context: the round, None to read it off the folders.
        wanted: rules, or starts of them, to repair by; empty for all.
        write: whether the repairs are made.
        diff: whether a diff is wanted.

    Returns:
        The plans, the parts of the diff, and why paths could not be read or repaired.
    """
    plans: list[RepairPlan] = []
    diffs: list[bytes] = []
    problems: list[MlsubError] = []
    with TemporaryDirectory(prefix="mlsub-") as work:
        for number, path in enumerate(dict.fromkeys(paths)):
            try:
                here = Path(work, str(number))
                here.mkdir()
                repairs = RepairPlan(path, context, wanted or ALL, here)
                # Before anything moves: of a folder that is renamed, the diff names every file.
                diffs += repairs.plan.diff() if diff else ()
                if write:
                    repairs.plan.apply()
                problems += repairs.plan.failed.values()
                plans.append(repairs)
            except MlsubError as error:
                problems.append(error)
            except OSError as error:
                problems.append(MlsubError(f"{path} cannot be read: {reason_of(error)}. Nothing more was done."))
    return plans, diffs, problems


def _find_place(path: str) -> Place:
    if "\0" in path or not os.path.lexists(path):
        raise MlsubError(f"There is no {path}. Name a log, a system description, or a folder of results.")
    place = locate(Path(path))
    if place.kind is PathKind.NOTHING and has_other_logs(place.path):
        return msgspec.structs.replace(place, kind=PathKind.BENCHMARK)
    if place.kind is PathKind.NOTHING:
        raise MlsubError(f"There is neither a result nor an organisation in {path}. Name a folder of results.")
    if place.kind is PathKind.LOG:
        check_source(place.path)
    return place


class RepairPlan:
    """The repairs at one path, with the official verdict before and after them, and what is left to people.

    ``repairs`` has those of each file and folder that is repaired; ``plan`` makes them.

    Args:
        path: a log, a description, or a folder.
        context: the round, None to read it off the folders.
        wanted: rules, or starts of them, to repair by.
        work: an empty folder for what is built meanwhile.

    Raises:
        MlsubError: there is nothing at the path that could be looked at.
    """

    def __init__(self, path: str, context: Context, wanted: tuple[str, ...], work: Path) -> None:
        self._place = _find_place(path)
        self._context, self._wanted, self._work = context, wanted, work
        self._left: list[Finding] = []
        self._notes: list[str] = []
        self.repairs: dict[Path, list[Repair]] = {}
        self.plan = EditPlan(root_of(self._place))
        #: Files with the new content of those that change.
        self._contents: dict[Path, Path] = {}
        self._before = self._after = before = self._check(self._place.path)
        self._round = self._round_of(before)
        self._find_repairs()
        if before is None or self._round is None:
            note = "no round is known, so repairs of names, status and repeated keys are left out; say --round"
            self._notes.append(note)
        else:
            self._context = context.in_round(self._round)
            self._after = after = self._judge(before)
            self._leave_the_rest(after)

    def answer(self) -> Fixed:
        """Return what is proposed, or was made. The verdict after it is not known where a part of it failed."""
        plan = self.plan
        changed = [
            Changed(
                path=plan.below(path),
                renamed_to=plan.below(plan.renamed(path)) if path in plan.renames else None,
                repairs=tuple(repairs),
                failed=str(plan.failed[path]) if path in plan.failed else None,
            )
            for path, repairs in sorted(self.repairs.items())
        ]
        return Fixed(
            root=str(plan.root),
            before=self._before.official if self._before else None,
            after=self._after.official if self._after and not plan.failed else None,
            changes=tuple(changed),
            not_repaired=tuple(self._left),
            notes=tuple(self._notes),
        )

    def hunks(self) -> dict[str, bytes]:
        """Return the hunks of the diffs of files, by their paths below the root."""
        return {self.plan.below(file): edit.hunks for file, edit in self.plan.edits.items()}

    def _round_of(self, report: Report | None) -> Round | None:
        if report is None or report.usage is None or report.round is None:
            with suppress(MlsubError):  # Of logs by another name nothing is checked, but their round may be known.
                return round_of([self._place.path], self._context.request)
            return None
        return get_round(report.usage, report.round, self._context.request.overlay)

    def _check(self, path: Path) -> Report | None:
        """The official verdict on a path; None where no round is known."""
        [report] = check_paths([path], self._context)
        for found in report.findings:
            if has_effect(found, Effect.UNKNOWN_ROUND) or has_effect(found, Effect.MISSING):
                raise MlsubError(f"{found.message}: expected {found.expected}.")
            if has_effect(found, Effect.NO_ROUND):
                return None
            if has_effect(found, Effect.UNCHECKED) and self._place.kind is PathKind.LOG:
                raise MlsubError(f"{found.message}: {found.fix}")
        if path.suffix.lower() != ".json" or not path.is_file():
            return report
        # A system description that is named by itself.
        description = read_description(path, path.name, self._round_of(report))
        official = Verdict.ACCEPTED if description.accepted else Verdict.REJECTED
        return msgspec.structs.replace(report, official=official, logs=(), entries=(), findings=description.findings)

    def _find_repairs(self) -> None:
        """Find out what is to be repaired."""
        files = Files(self._place, self._round)
        misnamed = [path for path in files.moves if path.is_file()]
        for file in dict.fromkeys((*files.descriptions, *files.logs, *misnamed)):
            try:
                self._find_repairs_in(file)
            except OSError as error:
                self._left.append(finding("log.unreadable", self.plan.below(file), actual=reason_of(error)))
        for path, (target, repair) in files.moves.items():
            if repair.rule.startswith(self._wanted):
                self.plan.renames[path] = target
                self.repairs.setdefault(path, []).append(repair)
        self._left += [one for one in files.left if one.rule.startswith(self._wanted)]

    def _find_repairs_in(self, file: Path) -> None:
        """Find out what of the content of a file is to be repaired."""
        description = file.suffix.lower() == ".json"
        limit = MAX_BYTES if description else MAX_LOG
        with open_regular(file) as stream:
            read, old = os.fstat(stream.fileno()), stream.read(limit + 1)
        if len(old) > limit:
            raise OSError(f"larger than {limit >> 20} MiB")
        if not description and TOKEN_MLL not in old:
            if self._round is None and file == self._place.path:
                named = f"{file} has no MLPerf record, so it is no log"
                raise MlsubError(f"{named}. Name a log, a system description, or a folder of results.")
            return
        lines = lines_of(old)
        if description:
            edits, repairs = fix_description(lines, self._round.statuses if self._round else None, self._wanted)
        else:
            edits, repairs = fix_log(lines, self._round, self._wanted)
        if edits:
            content = self._work / f"{len(self._contents)}{file.suffix}"
            with failing_as(f"{content} cannot be written"):
                content.write_bytes(edited(lines, edits))
            self._contents[file], self.repairs[file] = content, repairs
            self.plan.edits[file] = FileEdit(
                write=lambda _, sink: sink.write(content.read_bytes()),
                removed={repair.line or 0 for repair in repairs if demanded_key(repair.rule, REPEATED)},
                read=read,
                hunks=diff_hunks(lines, edits),
            )

    def _judge(self, before: Report) -> Report:
        """The verdict after the changes; new names that would make it worse are taken back."""
        after = self._judged_after(before, "all")
        if self._is_worse(before, after):
            self.plan.renames.clear()
            self.repairs = {path: [one for one in self.repairs[path] if one.line] for path in self.plan.edits}
            self._notes.append("new names would make the official verdict worse, so names are left as they are")
            after = self._judged_after(before, "kept")
        if self._is_worse(before, after):
            message = "the repairs would make the official verdict worse. Nothing is done; please report."
            raise MlsubError(f"{self.plan.root}: {message}")
        return after

    def _is_worse(self, before: Report, after: Report) -> bool:
        """Whether anything that was accepted no longer is, the whole included; a log may have a new name."""
        plan = self.plan
        kept = {plan.below(plan.renamed(plan.root / path)) for path in _accepted_logs(before)}
        lost = (kept - _accepted_logs(after)) | (_accepted_entries(before) - _accepted_entries(after))
        return max(before.official, after.official, key=list(Verdict).index) is not before.official or bool(lost)

    def _judged_after(self, before: Report, name: str) -> Report:
        if not self.repairs:
            return before
        work = self._work / name
        work.mkdir()
        top = shadow(self.plan, self._contents, work)
        report = self._check(top / self.plan.below(self.plan.renamed(self._place.path)))
        assert report is not None  # noqa: S101  (the context has a round)
        return report

    def _leave_the_rest(self, after: Report) -> None:
        """Report what still rejects, and the findings that have a repair in other cases."""
        seen = {(one.rule, one.path) for one in self._left}
        for found in after.findings:
            repeated = found.kind is Kind.OFFICIAL and demanded_key(found.rule, REPEATED)
            repairable = repeated or has_effect(found, Effect.REPAIRABLE)
            if (found.rejects or repairable) and found.rule.startswith(self._wanted):
                self._left += [found] if (found.rule, found.path) not in seen else []


def _accepted_logs(report: Report) -> set[str]:
    return {log.path for log in report.logs if log.official == "compliant"}


def _accepted_entries(report: Report) -> set[tuple[str, ...]]:
    return {
        (entry.organisation, entry.system, entry.benchmark, entry.scaling_type or "")
        for entry in report.entries
        if entry.official is Verdict.ACCEPTED
    }
