"""Planned repairs for people, for ``git apply`` and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mlsub.commands.fix.diff import header
from mlsub.commands.fix.model import Change, Repair
from mlsub.commands.fix.plan import Plan
from mlsub.commands.fix.shadow import renamed
from mlsub.io.plain import plain

#: Lines of a diff that people are shown of one file; ``--format diff`` has all.
MAX_LINES = 40


def as_diff(plan: Plan) -> Iterator[bytes]:
    """The plan as a diff that ``git apply`` takes in the plan's root; a renamed folder is all of its files."""
    contents = {change.path: change for change in plan.changes if change.content is not None}
    for file in sorted({*contents, *_moved(plan)}):
        change = contents.get(file)
        old, new = _below(file, plan.root), _below(renamed(file, plan.changes), plan.root)
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


def as_text(plan: Plan, *, written: bool) -> Iterator[str]:
    """Lines for people."""
    yield f"{plain(str(plan.root))}:"
    for change in plan.changes:
        yield plain(_below(change.path, plan.root))
        for repair in change.repairs:
            yield f"  {_where(repair)}{plain(repair.action)} [{repair.rule}]"
        lines = change.hunks.split(b"\n")[:-1]
        for line in lines[:MAX_LINES]:
            yield f"    {plain(line.decode('utf-8', 'backslashreplace'))}"
        if len(lines) > MAX_LINES:
            yield f"    ... and {len(lines) - MAX_LINES} more lines; --format diff has all"
    for one in plan.untouched:
        place = plain(one.path) + (f":{one.line}" if one.line is not None else "")
        yield f"not touched: {place}: {plain(one.reason)} [{one.rule}]"
    for note in plan.notes:
        yield f"note: {plain(note)}"
    yield summary(plan, written=written)


def summary(plan: Plan, *, written: bool) -> str:
    """One line: how much there is, and what it does to the official verdict."""
    repairs = [repair for change in plan.changes for repair in change.repairs]
    count, lines = len(repairs), sum(repair.count for repair in repairs if repair.line is not None)
    verdict = "the official verdict is not known"
    if plan.before is not None and plan.after is not None:
        stays = plan.before is plan.after
        verdict = f"official verdict: {plan.before}" + ("" if stays else f" before, {plan.after} after")
    if not plan.changes:
        return f"nothing to repair; {verdict}"
    places = f"{len(plan.changes)} place{'s' * (len(plan.changes) != 1)}"
    on = f" on {lines} lines" if lines > count else ""
    done = f"{count} repair{'s' * (count != 1)}{on} {'made' if written else 'proposed'} in {places}; {verdict}"
    return done + ("" if written else ". To make them: --write")


def as_json(plans: Sequence[Plan], *, written: bool) -> str:
    """All plans as one document."""
    return json.dumps({"written": written, "plans": [_plan(plan) for plan in plans]}, indent=2) + "\n"


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "root": plain(str(plan.root)),
        "before": plan.before,
        "after": plan.after,
        "changes": [_change(change, plan.root) for change in plan.changes],
        "not_touched": [
            {"rule": one.rule, "path": plain(one.path), "line": one.line, "reason": plain(one.reason)}
            for one in plan.untouched
        ],
        "notes": [plain(note) for note in plan.notes],
    }


def _change(change: Change, root: Path) -> dict[str, Any]:
    return {
        "path": plain(_below(change.path, root)),
        "renamed_to": plain(change.target.name) if change.target is not None else None,
        "repairs": [
            {"rule": repair.rule, "line": repair.line, "action": plain(repair.action), "count": repair.count}
            for repair in change.repairs
        ],
    }


def _where(repair: Repair) -> str:
    if repair.line is None:
        return ""
    return f"line {repair.line}: " if repair.count == 1 else f"{repair.count} lines from line {repair.line} on: "


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
