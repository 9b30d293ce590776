"""Plan the repairs of several paths, one after the other, and make them where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsub.commands.fix.apply import apply
from mlsub.commands.fix.diff import header
from mlsub.commands.fix.model import ALL, Plan
from mlsub.commands.fix.plan import plan_for
from mlsub.commands.fix.shadow import renamed
from mlsub.io.errors import MlsubError
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
    with TemporaryDirectory(prefix="mlsub-") as work:
        for number, path in enumerate(dict.fromkeys(paths)):
            try:
                Path(work, str(number)).mkdir()
                plan = plan_for(path, settings, wanted or ALL, Path(work, str(number)))
                plans.append(plan)
                # Before anything moves: of a folder that is renamed, the diff names every file.
                diffs += as_diff(plan) if diff else ()
                problems += apply(plan) if write else []
            except MlsubError as error:
                problems.append(error)
            except OSError as error:
                reason = error.strerror or error
                problems.append(MlsubError(f"{path} cannot be read: {reason}. Nothing more was done."))
    return plans, diffs, problems


def as_diff(plan: Plan) -> Iterator[bytes]:
    """The plan as a diff that ``git apply`` takes in the plan's root; a renamed folder is all of its files."""
    contents = {change.path: change for change in plan.changes if change.content is not None}
    for file in sorted({*contents, *_moved(plan)}):
        change = contents.get(file)
        old, new = (path.relative_to(plan.root).as_posix() for path in (file, renamed(file, plan.changes)))
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
