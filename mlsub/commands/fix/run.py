"""From paths to what would be repaired in them, with the official verdict before and after; and make the repairs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import msgspec

from mlsub.commands.fix import model
from mlsub.commands.fix.document import header, hunks
from mlsub.commands.fix.repairs import Edit, edited, fix_description, fix_log, lines_of
from mlsub.commands.fix.tree import Files, has_other_logs, renamed, root_of, shadow
from mlsub.findings import Effect, Finding, Kind, Verdict
from mlsub.io import MlsubError, reason_of
from mlsub.io.look import failing_as, open_regular
from mlsub.io.write import sync_folder
from mlsub.log.reader import TOKEN_MLL
from mlsub.log.rewrite import check_source, prove_same, rewrite
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import demanded_key, finding, has_effect
from mlsub.submission.find import PathKind, Place, locate
from mlsub.submission.report import Report
from mlsub.systems.description import MAX_BYTES, read_description
from mlsub.workspace import Context, check_paths
from mlsub.workspace.runs import round_of

#: Logs above are reported and left: no result may be as large.
MAX_LOG = 128 << 20


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
                plan = RepairPlan(path, context, wanted or model.ALL, here)
                # Before anything moves: of a folder that is renamed, the diff names every file.
                diffs += plan.diff() if diff else ()
                if write:
                    plan.apply()
                problems += plan.failed.values()
                plans.append(plan)
            except MlsubError as error:
                problems.append(error)
            except OSError as error:
                problems.append(MlsubError(f"{path} cannot be read: {reason_of(error)}. Nothing more was done."))
    return plans, diffs, problems


def _place(path: str) -> Place:
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
    """What is to happen at one path: repairs of contents come first, then those of names.

    ``repairs`` has those of each file and folder that is repaired, ``hunks`` the diffs of the files that change by
    their paths below the root, and ``failed`` the errors of repairs that could not be made.

    Args:
        path: a log, a description, or a folder.
        context: the round, None to read it off the folders.
        wanted: rules, or starts of them, to repair by.
        work: an empty folder for what is built meanwhile.

    Raises:
        MlsubError: there is nothing at the path that could be looked at.
    """

    def __init__(self, path: str, context: Context, wanted: tuple[str, ...], work: Path) -> None:
        self._place = _place(path)
        self._root = root_of(self._place)
        self._context, self._wanted, self._work = context, wanted, work
        self._left: list[Finding] = []
        self._notes: list[str] = []
        self.repairs: dict[Path, list[model.Repair]] = {}
        self.hunks: dict[str, bytes] = {}
        self.failed: dict[Path, MlsubError] = {}
        #: The new content of files, and the new paths of files and folders, below folders by the names they have now.
        self._contents: dict[Path, Path] = {}
        self._targets: dict[Path, Path] = {}
        self._before = self._after = before = self._checked(self._place.path)
        self._round = self._round_of(before)
        self._look()
        if before is None or self._round is None:
            note = "no round is known, so repairs of names, status and repeated keys are left out; say --round"
            self._notes.append(note)
        else:
            self._context = context.in_round(self._round)
            self._after = after = self._judge(before)
            self._leave_the_rest(after)

    def answer(self) -> model.Fixed:
        """Return what is proposed, or was made. The verdict after it is not known where a part of it failed."""
        changed = [
            model.Changed(
                path=self._below(path),
                renamed_to=self._below(renamed(path, self._targets)) if path in self._targets else None,
                repairs=tuple(repairs),
                failed=str(self.failed[path]) if path in self.failed else None,
            )
            for path, repairs in sorted(self.repairs.items())
        ]
        return model.Fixed(
            root=str(self._root),
            before=self._before.official if self._before else None,
            after=self._after.official if self._after and not self.failed else None,
            changes=tuple(changed),
            not_repaired=tuple(self._left),
            notes=tuple(self._notes),
        )

    def _below(self, file: Path) -> str:
        return file.relative_to(self._root).as_posix()

    def _round_of(self, report: Report | None) -> Round | None:
        if report is None or report.usage is None or report.round is None:
            with suppress(MlsubError):  # Of logs by another name nothing is checked, but their round may be known.
                return round_of([self._place.path], self._context.request)
            return None
        return get_round(report.usage, report.round, self._context.request.overlay)

    def _checked(self, path: Path) -> Report | None:
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

    def _look(self) -> None:
        """Find out what is to be repaired."""
        files = Files(self._place, self._round)
        misnamed = [path for path in files.moves if path.is_file()]
        for file in dict.fromkeys((*files.descriptions, *files.logs, *misnamed)):
            try:
                self._look_into(file)
            except OSError as error:
                self._left.append(finding("log.unreadable", self._below(file), actual=error.strerror or str(error)))
        for path, (target, repair) in files.moves.items():
            if repair.rule.startswith(self._wanted):
                self._targets[path] = target
                self.repairs.setdefault(path, []).append(repair)
        self._left += [one for one in files.left if one.rule.startswith(self._wanted)]

    def _look_into(self, file: Path) -> None:
        """Find out what of the content of a file is to be repaired."""
        description = file.suffix.lower() == ".json"
        limit = MAX_BYTES if description else MAX_LOG
        with open_regular(file) as stream:
            old = stream.read(limit + 1)
        if len(old) > limit:
            raise OSError(f"larger than {limit >> 20} MiB")
        if not description and TOKEN_MLL not in old:
            if self._round is None and file == self._place.path:
                named = f"{file} has no MLPerf record, so it is no log"
                raise MlsubError(f"{named}. Name a log, a system description, or a folder of results.")
            return
        lines = lines_of(old)
        edits, repairs = self._edits(file, lines)
        if edits:
            content = self._work / f"{len(self._contents)}{file.suffix}"
            with failing_as(f"{content} cannot be written"):
                content.write_bytes(edited(lines, edits))
            self._contents[file] = content
            self.repairs[file], self.hunks[self._below(file)] = repairs, hunks(lines, edits)

    def _edits(self, file: Path, lines: list[bytes]) -> tuple[list[Edit], list[model.Repair]]:
        if file.suffix.lower() == ".json":
            return fix_description(lines, self._round.statuses if self._round else None, self._wanted)
        return fix_log(lines, self._round, self._wanted)

    def _judge(self, before: Report) -> Report:
        """The verdict after the changes; new names that would make it worse are taken back."""
        after = self._judged_after(before, "all")
        if self._is_worse(before, after):
            self._targets = {}
            self.repairs = {path: [one for one in self.repairs[path] if one.line] for path in self._contents}
            self._notes.append("new names would make the official verdict worse, so names are left as they are")
            after = self._judged_after(before, "kept")
        if self._is_worse(before, after):
            message = "the repairs would make the official verdict worse. Nothing is done; please report."
            raise MlsubError(f"{self._root}: {message}")
        return after

    def _is_worse(self, before: Report, after: Report) -> bool:
        """Whether anything that was accepted no longer is, the whole included; a log may have a new name."""
        kept = {self._below(renamed(self._root / path, self._targets)) for path in _logs(before)}
        lost = (kept - _logs(after)) | (_entries(before) - _entries(after))
        return max(before.official, after.official, key=list(Verdict).index) is not before.official or bool(lost)

    def _judged_after(self, before: Report, name: str) -> Report:
        if not self.repairs:
            return before
        work = self._work / name
        work.mkdir()
        top = shadow(self._root, self._contents, self._targets, work)
        report = self._checked(top / renamed(self._place.path, self._targets).relative_to(self._root))
        assert report is not None  # noqa: S101  (the context has a round)
        return report

    def _leave_the_rest(self, after: Report) -> None:
        """Report what still rejects, and the findings that have a repair in other cases."""
        seen = {(one.rule, one.path) for one in self._left}
        for found in after.findings:
            repeated = found.kind is Kind.OFFICIAL and demanded_key(found.rule, model.REPEATED)
            repairable = repeated or has_effect(found, Effect.REPAIRABLE)
            if (found.rejects or repairable) and found.rule.startswith(self._wanted):
                self._left += [found] if (found.rule, found.path) not in seen else []

    def diff(self) -> Iterator[bytes]:
        """Give the parts of a diff that ``git apply`` takes in the root; a renamed folder is all of its files."""
        for file in sorted({*self._contents, *self._moved()}):
            old, new = self._below(file), self._below(renamed(file, self._targets))
            yield header(old, new, changed=file in self._contents) + self.hunks.get(old, b"")

    def _moved(self) -> Iterator[Path]:
        """The files whose names change, by their own or by that of a folder."""
        for path in self._targets:
            if path.is_dir():
                yield from (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
            else:
                yield path

    def apply(self) -> None:
        """Make the repairs, contents before names, and every one that can be made."""
        # The deepest first, so that no path changes above one that is still to be renamed.
        deepest = sorted(sorted(self._targets), key=lambda path: -len(path.parts))
        writes = [(path, self._write) for path in sorted(self._contents)]
        for path, make in [*writes, *((path, self._rename) for path in deepest)]:
            try:
                if path not in self.failed:
                    make(path)
            except MlsubError as error:
                self.failed[path] = error

    def _write(self, path: Path) -> None:
        """Put the new content of a file in place, proven first."""
        content = self._contents[path].read_bytes()

        def write(source: BinaryIO, sink: BinaryIO) -> None:
            lines = source.readlines()
            if edited(lines, self._edits(path, lines)[0]) != content:
                raise MlsubError(f"{path} changed since it was read, and is left as it is. Try again.")
            sink.write(content)

        gone = {repair.line or 0 for repair in self.repairs[path] if demanded_key(repair.rule, model.REPEATED)}
        rewrite(path, write, lambda part: prove_same(path, part, repaired=gone))

    def _rename(self, path: Path) -> None:
        target = self._targets[path]
        with failing_as(f"{path} cannot become {target}", "."):
            if os.path.lexists(target):
                raise MlsubError(f"{path} keeps its name: {target.name} exists by now.")
            path.rename(target)
            sync_folder(target.parent)
            if path.parent != target.parent and not any(path.parent.iterdir()):
                path.parent.rmdir()
                sync_folder(path.parent.parent)
            elif path.parent != target.parent:
                sync_folder(path.parent)


def _logs(report: Report) -> set[str]:
    return {log.path for log in report.logs if log.official == "compliant"}


def _entries(report: Report) -> set[tuple[str, ...]]:
    return {
        (entry.organisation, entry.system, entry.benchmark, entry.scaling_type or "")
        for entry in report.entries
        if entry.official is Verdict.ACCEPTED
    }
