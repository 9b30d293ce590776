"""From a path to what would be repaired in it, with the official verdict before and after."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.fix.description import fix_description
from mlsub.commands.fix.diff import Stretch, hunks, stretches
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
    Untouched,
)
from mlsub.commands.fix.repair_log import fix_log
from mlsub.commands.fix.shadow import renamed, shadow
from mlsub.commands.fix.text import edited, lines_of
from mlsub.commands.fix.tree import Names, files_of, root_of, systems_of
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.log.reader import TOKEN_MLL
from mlsub.rounds import Round, get_round
from mlsub.submission.locate import Place, Target, locate
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
    place = _place(path)
    before = _checked(place.path, settings)
    round_ = _round_of(before, settings)
    changes, untouched = _changes(place, round_, wanted, work)
    if before is None or round_ is None:
        note = "no round is known, so repairs of names, status and repeated keys are left out; say --round"
        return _plan(root_of(place), changes, untouched, None, None, (note,))
    same_round = msgspec.structs.replace(settings, round=before.round, usage=before.usage)
    return _judged(place, before, changes, untouched, same_round, wanted, work)


def _plan(
    root: Path,
    changes: tuple[Change, ...],
    untouched: tuple[Untouched, ...],
    before: Verdict | None,
    after: Verdict | None,
    notes: tuple[str, ...],
) -> Plan:
    changed = tuple(
        Changed(
            path=below(each.path, root),
            renamed_to=None if each.target is None else each.target.name,
            repairs=each.repairs,
        )
        for each in changes
    )
    answer = Fixed(root=str(root), before=before, after=after, changes=changed, not_touched=untouched, notes=notes)
    return Plan(root, changes, answer)


def _round_of(report: Report | None, settings: Settings) -> Round | None:
    if report is None or report.usage is None or report.round is None:
        return None
    return get_round(report.usage, report.round, settings.overlay)


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


def _checked(path: Path, settings: Settings) -> Report | None:
    """The official verdict on a path; None where no round is known."""
    [report] = check_paths([path], settings)
    unknown = [finding for finding in report.findings if finding.rule in ("check.unknown-round", "check.no-such-path")]
    if unknown:
        raise MlsubError(f"{unknown[0].message}: expected {unknown[0].expected}.")
    if any(finding.rule == "check.no-round" for finding in report.findings):
        return None
    if path.suffix.lower() == ".json" and path.is_file():
        return _description_alone(path, report, settings)
    return report


def _description_alone(file: Path, report: Report, settings: Settings) -> Report:
    """The verdict on a system description that is named by itself."""
    description = read_description(file, file.name, _round_of(report, settings))
    official = Verdict.ACCEPTED if description.accepted else Verdict.REJECTED
    return msgspec.structs.replace(report, official=official, logs=(), entries=(), findings=description.findings)


def _changes(
    place: Place, round_: Round | None, wanted: tuple[str, ...], work: Path
) -> tuple[tuple[Change, ...], tuple[Untouched, ...]]:
    """Repairs of contents, then of names; one change a path."""
    root, files = root_of(place), files_of(place, round_)
    changes: dict[Path, Change] = {}
    untouched: list[Untouched] = []
    names = Names(root)
    if round_ is not None:
        for folder in files.benchmarks:
            names.results(folder)
            names.benchmark(folder, round_)
        for organisation in files.organisations:
            names.descriptions(organisation / "systems", systems_of(organisation))
    misnamed = [change.path for change in names.changes if change.path.is_file()]
    for file in dict.fromkeys((*files.descriptions, *files.logs, *misnamed)):
        try:
            change = _content(file, round_, wanted, work)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            untouched.append(Untouched(rule="log.unreadable", path=below(file, root), line=None, reason=reason))
            continue
        if change is not None:
            changes[file] = change
    for change in names.changes:
        if not change.repairs[0].rule.startswith(wanted):
            continue
        known = changes.get(change.path)
        both = known and msgspec.structs.replace(known, target=change.target, repairs=known.repairs + change.repairs)
        changes[change.path] = both or change
    left = [one for one in names.untouched if one.rule.startswith(wanted)]
    return tuple(changes[path] for path in sorted(changes)), (*untouched, *left)


def _content(file: Path, round_: Round | None, wanted: tuple[str, ...], work: Path) -> Change | None:
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
        fixed = fix_description(old, round_.statuses if round_ else None, wanted)
        new, repairs = fixed.after, fixed.repairs
        changed = stretches(lines, lines_of(new))
    else:
        edits, found = fix_log(lines, round_, wanted)
        new, repairs = edited(lines, edits), tuple(found)
        changed = [(place, place + 1, [] if line is None else [line]) for place, line in sorted(edits.items())]
    if new == old:
        return None
    content = work / f"{len(list(work.iterdir()))}{file.suffix}"
    content.write_bytes(new)
    return Change(
        path=file,
        repairs=repairs,
        content=content,
        digest=hashlib.sha256(old).hexdigest(),
        hunks=hunks(lines, _merged(changed)),
    )


def _merged(changed: Sequence[Stretch]) -> list[Stretch]:
    """Neighbouring changes as one, so that a diff shows what goes before what comes."""
    merged: list[Stretch] = []
    for start, end, new in changed:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], end, [*merged[-1][2], *new])
        else:
            merged.append((start, end, new))
    return merged


def _judged(
    place: Place,
    before: Report,
    changes: tuple[Change, ...],
    untouched: tuple[Untouched, ...],
    settings: Settings,
    wanted: tuple[str, ...],
    work: Path,
) -> Plan:
    """The plan with its verdict; repairs that would make it worse are taken back."""
    root, notes = root_of(place), list[str]()
    after = before
    if changes:
        after = _after(place, changes, settings, work / "all")
        if _worse(before, after):
            kept = tuple(msgspec.structs.replace(change, target=None) for change in changes if change.content)
            kept = tuple(_without_names(change) for change in kept)
            notes.append("new names would make the official verdict worse, so names are left as they are")
            changes, after = kept, _after(place, kept, settings, work / "kept") if kept else before
        if _worse(before, after):
            raise MlsubError(
                f"{root}: the repairs would make the official verdict worse. Nothing is done; please report."
            )
    seen = {(one.rule, one.path) for one in untouched}
    left = [
        Untouched(rule=finding.rule, path=finding.path, line=finding.line, reason=_reason(finding))
        for finding in after.findings
        if _family(finding.rule) and finding.rule.startswith(wanted)
        if (finding.rule, finding.path) not in seen
    ]
    return _plan(root, changes, (*untouched, *left), before.official, after.official, tuple(notes))


def _without_names(change: Change) -> Change:
    kept = tuple(repair for repair in change.repairs if repair.line is not None)
    return msgspec.structs.replace(change, repairs=kept)


def _after(place: Place, changes: tuple[Change, ...], settings: Settings, work: Path) -> Report:
    root = root_of(place)
    work.mkdir()
    top = shadow(root, changes, work)
    report = _checked(top / renamed(place.path, changes).relative_to(root), settings)
    assert report is not None  # noqa: S101  (the settings name a round)
    return report


def _worse(before: Report, after: Report) -> bool:
    """Whether anything that was accepted no longer is, the whole included."""
    if _RANK[after.official] < _RANK[before.official]:
        return True
    return bool(_accepted(before) - _accepted(after))


def _accepted(report: Report) -> set[tuple[str, ...]]:
    logs = {("log", log.path) for log in report.logs if log.official == "compliant"}
    entries = {
        ("entry", entry.organisation, entry.system, entry.benchmark, entry.scaling_type or "")
        for entry in report.entries
        if entry.official is Verdict.ACCEPTED
    }
    return {*logs, *entries}


def _family(rule: str) -> bool:
    return rule in _FAMILIES or (rule.startswith("key.") and rule.endswith(".repeated"))


def _reason(finding: Finding) -> str:
    parts = (finding.message, finding.actual and f"found {finding.actual}")
    return "; ".join(part for part in parts if part)


def below(file: Path, root: Path) -> str:
    """The path of a file, relative to the root."""
    return file.relative_to(root).as_posix()
