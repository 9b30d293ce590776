"""From a path to what would be repaired in it, with the official verdict before and after."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from mlsub.commands.fix.document import hunks, stretches
from mlsub.commands.fix.model import (
    BENCHMARK,
    DESCRIPTION,
    DUPLICATE,
    RESULT_NAME,
    STATUS,
    Change,
    Changed,
    Fixed,
    Plan,
)
from mlsub.commands.fix.repairs import edited, fix_description, fix_log, lines_of
from mlsub.commands.fix.tree import Names, files_of, renamed, root_of, shadow, targets_of
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.reader import TOKEN_MLL
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import finding
from mlsub.submission.find import Place, Target, locate
from mlsub.submission.report import Report
from mlsub.systems.description import MAX_BYTES, read_description
from mlsub.workspace import Settings, check_paths

#: Logs above are reported and left: no result may be as large.
MAX_LOG = 128 << 20
#: Findings that have a mechanical repair in some cases; where they are left, people read of them.
_FAMILIES = (
    DUPLICATE,
    STATUS,
    BENCHMARK,
    DESCRIPTION,
    RESULT_NAME,
    "system.not-json",
    "params.unknown-flag",
    "params.line-end",
)
_RANK = {Verdict.NOT_CHECKED: 0, Verdict.REJECTED: 1, Verdict.ACCEPTED: 2}


def plan_for(path: str, settings: Settings, wanted: tuple[str, ...], work: Path) -> Plan:
    """Find out what would be repaired.

    Args:
        path: a log, a description, or a folder.
        settings: the round, None to read it off the folders.
        wanted: rules, or starts of them, to repair by.
        work: an empty folder for what is built meanwhile.

    Raises:
        MlsubError: there is nothing at the path that could be looked at.
    """
    return _Planner(_place(path), settings, wanted, work).plan()


def _place(path: str) -> Place:
    if "\0" in path or not os.path.lexists(path):
        raise MlsubError(f"There is no {path}. Name a log, a system description, or a folder of results.")
    place = locate(Path(path))
    if place.target is Target.NOTHING:
        raise MlsubError(f"There is neither a result nor an organisation in {path}. Name a folder of results.")
    if place.target is Target.LOG and (place.path.is_symlink() or not place.path.is_file()):
        raise MlsubError(f"{path} is not a regular file. Name a log or a system description.")
    if place.path.suffix == ".gz":
        raise MlsubError(f"{path} is compressed, and results are submitted uncompressed. Decompress it first.")
    return place


class _Planner:
    """Looks at one place; repairs of contents come first, then those of names."""

    def __init__(self, place: Place, settings: Settings, wanted: tuple[str, ...], work: Path) -> None:
        self._place, self._root = place, root_of(place)
        self._settings, self._wanted, self._work = settings, wanted, work
        self._left: list[Finding] = []
        self._notes: list[str] = []

    def plan(self) -> Plan:
        before = after = self._checked(self._place.path)
        round_ = self._round_of(before)
        changes = self._changes(round_)
        if before is None or round_ is None:
            note = "no round is known, so repairs of names, status and repeated keys are left out; say --round"
            self._notes.append(note)
        else:
            self._settings = msgspec.structs.replace(self._settings, round=before.round, usage=before.usage)
            changes, after = self._judged(before, changes)
            self._leave_the_rest(after)
        targets = targets_of(changes)
        changed = [
            Changed(
                path=self._below(one.path),
                renamed_to=self._below(renamed(one.path, targets)) if one.target else None,
                repairs=one.repairs,
            )
            for one in changes
        ]
        answer = Fixed(
            root=str(self._root),
            before=before.official if before else None,
            after=after.official if after else None,
            changes=tuple(changed),
            not_repaired=tuple(self._left),
            notes=tuple(self._notes),
        )
        return Plan(self._root, changes, answer)

    def _below(self, file: Path) -> str:
        return file.relative_to(self._root).as_posix()

    def _round_of(self, report: Report | None) -> Round | None:
        if report is None or report.usage is None or report.round is None:
            return None
        return get_round(report.usage, report.round, self._settings.overlay)

    def _checked(self, path: Path) -> Report | None:
        """The official verdict on a path; None where no round is known."""
        [report] = check_paths([path], self._settings)
        for found in report.findings:
            if found.rule in ("check.unknown-round", "check.no-such-path"):
                raise MlsubError(f"{found.message}: expected {found.expected}.")
            if found.rule == "check.no-round":
                return None
        if path.suffix.lower() != ".json" or not path.is_file():
            return report
        # A system description that is named by itself.
        description = read_description(path, path.name, self._round_of(report))
        official = Verdict.ACCEPTED if description.accepted else Verdict.REJECTED
        return msgspec.structs.replace(report, official=official, logs=(), entries=(), findings=description.findings)

    def _changes(self, round_: Round | None) -> tuple[Change, ...]:
        """One change a path."""
        files, names = files_of(self._place, round_), Names(self._root)
        if round_ is not None:
            for folder in files.benchmarks:
                names.benchmark(folder, round_)
            for organisation in files.organisations:
                names.organisation(organisation)
        changes: dict[Path, Change] = {}
        misnamed = [change.path for change in names.changes if change.path.is_file()]
        for file in dict.fromkeys((*files.descriptions, *files.logs, *misnamed)):
            try:
                change = self._content(file, round_)
            except OSError as error:
                self._left.append(finding("log.unreadable", self._below(file), actual=error.strerror or str(error)))
                continue
            if change is not None:
                changes[file] = change
        for change in names.changes:
            if change.repairs[0].rule.startswith(self._wanted):
                known = changes.get(change.path, msgspec.structs.replace(change, repairs=()))
                both = (*known.repairs, *change.repairs)
                changes[change.path] = msgspec.structs.replace(known, target=change.target, repairs=both)
        self._left += [one for one in names.left if one.rule.startswith(self._wanted)]
        return tuple(changes[path] for path in sorted(changes))

    def _content(self, file: Path, round_: Round | None) -> Change | None:
        description = file.suffix.lower() == ".json"
        limit = MAX_BYTES if description else MAX_LOG
        with file.open("rb") as stream:
            old = stream.read(limit + 1)
        if len(old) > limit:
            raise OSError(f"larger than {limit >> 20} MiB")
        if not description and TOKEN_MLL not in old:
            return None  # whatever it is, it is not a log
        lines = lines_of(old)
        if description:
            fixed = fix_description(old, round_.statuses if round_ else None, self._wanted)
            new, repairs = fixed.after, fixed.repairs
            changed = stretches(lines, lines_of(new))
        else:
            edits, found = fix_log(lines, round_, self._wanted)
            new, repairs = edited(lines, edits), tuple(found)
            changed = [(place, place + 1, [] if line is None else [line]) for place, line in sorted(edits.items())]
        if new == old:
            return None
        content = self._work / f"{len(list(self._work.iterdir()))}{file.suffix}"
        content.write_bytes(new)
        digest = hashlib.sha256(old).hexdigest()
        return Change(path=file, repairs=repairs, content=content, digest=digest, hunks=hunks(lines, changed))

    def _judged(self, before: Report, changes: tuple[Change, ...]) -> tuple[tuple[Change, ...], Report]:
        """The changes and the verdict after them; new names that would make it worse are taken back."""
        after = self._after(changes, before, "all")
        if self._worse(before, after, changes):
            changes = tuple(_without_names(change) for change in changes if change.content)
            self._notes.append("new names would make the official verdict worse, so names are left as they are")
            after = self._after(changes, before, "kept")
        if self._worse(before, after, changes):
            message = "the repairs would make the official verdict worse. Nothing is done; please report."
            raise MlsubError(f"{self._root}: {message}")
        return changes, after

    def _worse(self, before: Report, after: Report, changes: tuple[Change, ...]) -> bool:
        """Whether anything that was accepted no longer is, the whole included; a log may have a new name."""
        targets = targets_of(changes)
        kept = {self._below(renamed(self._root / path, targets)) for path in _logs(before)}
        lost = (kept - _logs(after)) | (_entries(before) - _entries(after))
        return _RANK[after.official] < _RANK[before.official] or bool(lost)

    def _after(self, changes: tuple[Change, ...], before: Report, name: str) -> Report:
        if not changes:
            return before
        work = self._work / name
        work.mkdir()
        top = shadow(self._root, changes, work)
        report = self._checked(top / renamed(self._place.path, targets_of(changes)).relative_to(self._root))
        assert report is not None  # noqa: S101  (the settings name a round)
        return report

    def _leave_the_rest(self, after: Report) -> None:
        """Report what still rejects, and the findings that have a repair in other cases."""
        seen = {(one.rule, one.path) for one in self._left}
        for found in after.findings:
            repairable = found.rule in _FAMILIES or (found.rule.startswith("key.") and found.rule.endswith(".repeated"))
            if (found.rejects or repairable) and found.rule.startswith(self._wanted):
                self._left += [found] if (found.rule, found.path) not in seen else []


def _without_names(change: Change) -> Change:
    kept = tuple(repair for repair in change.repairs if repair.line is not None)
    return msgspec.structs.replace(change, target=None, repairs=kept)


def _logs(report: Report) -> set[str]:
    return {log.path for log in report.logs if log.official == "compliant"}


def _entries(report: Report) -> set[tuple[str, ...]]:
    return {
        (entry.organisation, entry.system, entry.benchmark, entry.scaling_type or "")
        for entry in report.entries
        if entry.official is Verdict.ACCEPTED
    }
