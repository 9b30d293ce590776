"""Put a package in its place: assembled and checked beside it, then moved there in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from mlsub.io import MlsubError, reason_of
from mlsub.io.folders import Piece, assemble, replace_folder
from mlsub.io.write import staging_beside
from mlsub.submission.find import is_organisation
from mlsub.submission.report import Report
from mlsub.workspace import check_paths
from mlsub.workspace.places import Context


def check_place(out: Path) -> None:
    """Refuse what is not a place for an organisation's tree.

    Raises:
        MlsubError: it is a file or a link, or a folder that holds something else.
    """
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise MlsubError(f"{out} is not a folder of its own. Name another.")
        if out.is_dir() and any(out.iterdir()) and not is_organisation(out):
            raise MlsubError(
                f"{out} holds something other than a submission (neither results nor systems). "
                f"Name the organisation's folder, such as {out / 'Organisation'}."
            )
    except (OSError, ValueError) as error:
        raise MlsubError(f"{out} cannot be used: {reason_of(error)}.") from error


def write_package(
    pieces: Iterable[Piece],
    organisation: str,
    out: Path,
    context: Context,
    *,
    wanted: Callable[[Report], bool],
) -> tuple[Report, bool]:
    """Write a package, if its check allows it.

    Args:
        pieces: its files, each with a place of its own.
        organisation: the name of its folder while it is checked, for logs name it as well.
        out: its folder; one that is there is replaced.
        context: of the check, with the round in its request.
        wanted: whether a package with this report is to be put in place.

    Returns:
        The report of the check, and whether the package is in place.

    Raises:
        MlsubError: something cannot be read or written, or ``out`` holds what somebody wrote or changed; then
            nothing has changed.
    """
    with staging_beside(out) as staging:
        folder = staging / organisation
        folder.mkdir()
        assemble(pieces, folder)
        (report,) = check_paths([folder], context)
        written = wanted(report)
        if written:
            replace_folder(folder, out)
    return report, written
