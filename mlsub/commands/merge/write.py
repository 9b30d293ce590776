"""Write a merge: build it beside its place, check it there, and put it in place in one step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.findings import Verdict
from mlsub.io.assemble import Piece, assemble
from mlsub.io.write import staging_beside
from mlsub.io.written import replace_folder
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths


def write_merge(
    pieces: Sequence[Piece], output: Path, settings: Settings, *, rejected_too: bool
) -> tuple[Report, bool]:
    """Write the merged package, unless a check rejects it.

    Args:
        pieces: of a plan without findings.
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
        # By its own name, for the check compares the folder with the organisation in the logs.
        folder = staging / output.name
        folder.mkdir()
        assemble(pieces, folder)
        (report,) = check_paths([folder], settings)
        good = report.official is Verdict.ACCEPTED or (rejected_too and report.official is Verdict.REJECTED)
        if good:
            replace_folder(folder, output)
    return msgspec.structs.replace(report, root=str(output)), good
