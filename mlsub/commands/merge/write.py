"""Write a merge: build it beside its place, check it there, and put it in place in one step."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.merge.model import Plan, Source, Step
from mlsub.findings import Verdict
from mlsub.io.errors import MlsubError
from mlsub.io.output_folder import staging_beside
from mlsub.io.written import replace_folder
from mlsub.submission.layout.model import ItemKind
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths


def write_merge(
    plan: Plan, sources: Sequence[Source], output: Path, settings: Settings, *, rejected_too: bool
) -> tuple[Report, bool]:
    """Write the merged package, unless a check rejects it.

    Args:
        plan: without findings.
        sources: those of the plan.
        output: the organisation's folder to be; one that is there is replaced.
        settings: of the check, with the round.
        rejected_too: whether a package that is rejected is put in place as well.

    Returns:
        The report of the check, with the paths it will have, and whether the package is in place.

    Raises:
        MlsubError: something cannot be read or written, or ``output`` holds what somebody wrote or changed; then
            nothing has changed.
    """
    with staging_beside(output) as staging:
        # By its own name, for the check holds the folder against the organisation in the logs.
        folder = staging / output.name
        folder.mkdir()
        for step in plan.steps:
            _copy(sources[step.source].folder / step.item.path, folder / step.item.path, step)
        (report,) = check_paths([folder], settings)
        good = report.official is Verdict.ACCEPTED or (rejected_too and report.official is Verdict.REJECTED)
        if good:
            replace_folder(folder, output)
    return msgspec.structs.replace(report, root=str(output)), good


def _copy(source: Path, target: Path, step: Step) -> None:
    """Copy a file, or a link as the link it is; what is no regular file any more is refused."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if step.item.kind is ItemKind.LINK:
            target.symlink_to(step.item.target or "")
            return
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(descriptor, "rb") as reading:  # noqa: PTH123  (a descriptor, which no path can stand for)
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size != step.item.size:
                raise MlsubError(f"{source} has changed since it was looked at. Merge again.")
            with target.open("xb") as writing:
                shutil.copyfileobj(reading, writing, 1 << 20)
        target.chmod(0o755 if step.item.executable else 0o644)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MlsubError(f"{source} cannot be copied: {reason}") from error
