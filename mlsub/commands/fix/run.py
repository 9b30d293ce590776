"""Plan the repairs of several paths, one after the other, and make them where that is asked for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.commands.fix.document import header
from mlsub.commands.fix.model import ALL, REPEATED, Change, Plan
from mlsub.commands.fix.plan import plan_for
from mlsub.commands.fix.tree import renamed, targets_of
from mlsub.io.errors import MlsubError
from mlsub.io.write import sync_folder, temporary_folder
from mlsub.log.event import decode
from mlsub.log.reader import read_records
from mlsub.log.rewrite import rewrite
from mlsub.workspace import Settings


def fix(
    paths: Sequence[str], settings: Settings, wanted: tuple[str, ...], *, write: bool, diff: bool
) -> tuple[list[Plan], list[bytes], list[MlsubError]]:
    """Find out what would be repaired, and repair it.

    Args:
        paths: logs, descriptions and folders.
        settings: the round, None to read it off the folders.
        wanted: rules, or starts of them, to repair by; empty for all.
        write: whether the repairs are made.
        diff: whether a diff is wanted.

    Returns:
        The plans, the parts of the diff, and why paths could not be read or repaired.
    """
    plans: list[Plan] = []
    diffs: list[bytes] = []
    problems: list[MlsubError] = []
    with temporary_folder() as work:
        for number, path in enumerate(dict.fromkeys(paths)):
            try:
                here = work / str(number)
                here.mkdir()
                plan = plan_for(path, settings, wanted or ALL, here)
                # Before anything moves: of a folder that is renamed, the diff names every file.
                diffs += as_diff(plan) if diff else ()
                if write:
                    failed = apply(plan)
                    problems += failed.values()
                    plan = _with_failures(plan, failed)
                plans.append(plan)
            except MlsubError as error:
                problems.append(error)
            except OSError as error:
                reason = error.strerror or error
                problems.append(MlsubError(f"{path} cannot be read: {reason}. Nothing more was done."))
    return plans, diffs, problems


def as_diff(plan: Plan) -> Iterator[bytes]:
    """The plan as a diff that ``git apply`` takes in the plan's root; a renamed folder is all of its files."""
    contents = {change.path: change for change in plan.changes if change.content is not None}
    targets = targets_of(plan.changes)
    for file in sorted({*contents, *_moved(plan)}):
        change = contents.get(file)
        old, new = (path.relative_to(plan.root).as_posix() for path in (file, renamed(file, targets)))
        yield header(old, new, changed=change is not None, similarity=100 if change is None else 90)
        if change is not None:
            yield change.hunks


def _moved(plan: Plan) -> Iterator[Path]:
    """The files whose names change, by their own or by that of a folder."""
    for change in plan.changes:
        if change.target is None:
            continue
        if change.path.is_dir():
            yield from (file for file in change.path.rglob("*") if file.is_file() and not file.is_symlink())
        else:
            yield change.path


def apply(plan: Plan) -> dict[Path, MlsubError]:
    """Make the repairs, contents before names, and every one that can be made; gives the errors of the others."""
    failed: dict[Path, MlsubError] = {}
    # The deepest first, so that no path changes above one that is still to be renamed.
    deepest = sorted(plan.changes, key=lambda change: -len(change.path.parts))
    for change, make in [*((change, _write) for change in plan.changes), *((change, _rename) for change in deepest)]:
        try:
            if change.path not in failed:
                make(change)
        except MlsubError as error:
            failed[change.path] = error
    return failed


def _with_failures(plan: Plan, failed: dict[Path, MlsubError]) -> Plan:
    """The plan as it was carried out. The verdict after it is not known where a part of it failed."""
    if not failed:
        return plan
    errors = {path.relative_to(plan.root).as_posix(): str(error) for path, error in failed.items()}
    replace = msgspec.structs.replace
    changes = tuple(replace(change, failed=errors.get(change.path)) for change in plan.answer.changes)
    return replace(plan, answer=replace(plan.answer, after=None, changes=changes))


def _write(change: Change) -> None:
    """Put the new content in place, where there is one, each proven first."""
    content = change.content
    if content is None:
        return

    def write(source: BinaryIO, sink: BinaryIO) -> None:
        if hashlib.sha256(source.read()).hexdigest() != change.digest:
            raise MlsubError(f"{change.path} changed since it was read, and is left as it is. Try again.")
        sink.write(content.read_bytes())

    def prove(part: Path) -> None:
        if part.read_bytes() != content.read_bytes():
            raise MlsubError(f"{change.path} is left as it is: what was written is not what was planned.")
        if change.path.suffix.lower() != ".json":
            _prove_events(change, content)

    rewrite(change.path, write, prove)


def _prove_events(change: Change, content: Path) -> None:
    """Prove that a repaired log has the same events, except on the lines that only repeat one."""
    gone = {repair.line for repair in change.repairs if repair.rule.endswith(f".{REPEATED}")}
    if [event for line, event in _events(change.path) if line not in gone] != [event for _, event in _events(content)]:
        raise MlsubError(f"{change.path} is left as it is: its events would not be the same. Please report it.")


def _events(file: Path) -> Iterator[tuple[int, tuple[str, bool, bool]]]:
    """Line and event of each record, with what the official parser does not see; NaN is equal to itself here."""
    with file.open("rb") as stream:
        for batch in read_records(stream):
            for line, text, hidden, too_long in batch:
                yield line, (repr(decode(0, text)), hidden, too_long)


def _rename(change: Change) -> None:
    path, target = change.path, change.target
    if target is None:
        return
    try:
        if os.path.lexists(target):
            raise MlsubError(f"{path} keeps its name: {target.name} exists by now.")
        path.rename(target)
        sync_folder(target.parent)
        if path.parent != target.parent and not any(path.parent.iterdir()):
            path.parent.rmdir()
            sync_folder(path.parent.parent)
        elif path.parent != target.parent:
            sync_folder(path.parent)
    except OSError as error:
        raise MlsubError(f"{path} cannot become {target}: {error.strerror}.") from error
