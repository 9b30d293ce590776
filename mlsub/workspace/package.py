"""Put a package in its place: assembled and checked beside it, then moved there in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from mlsub.io.folders import Piece, Way, assemble, replace_folder
from mlsub.io.write import staging_beside
from mlsub.submission.report import Report
from mlsub.workspace.check import check_paths
from mlsub.workspace.places import Settings


def write_package(
    pieces: Iterable[Piece],
    organisation: str,
    out: Path,
    settings: Settings,
    *,
    wanted: Callable[[Report], bool],
    way: Way = Way.COPY,
) -> tuple[Report, bool]:
    """Write a package, if its check allows it.

    Args:
        pieces: its files, each with a place of its own.
        organisation: the name of its folder while it is checked, for logs name it as well.
        out: its folder; one that is there is replaced.
        settings: of the check, with the round.
        wanted: whether a package with this report is to be put in place.
        way: how the files are copied.

    Returns:
        The report of the check, and whether the package is in place.

    Raises:
        MlsubError: something cannot be read or written, or ``out`` holds what somebody wrote or changed; then
            nothing has changed.
    """
    with staging_beside(out) as staging:
        folder = staging / organisation
        folder.mkdir()
        assemble(pieces, folder, way)
        (report,) = check_paths([folder], settings)
        written = wanted(report)
        if written:
            replace_folder(folder, out)
    return report, written
