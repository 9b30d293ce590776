"""Redaction of several logs: learn from all of them, then list and write one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mlsub.commands.fix.put import find_logs, root_of
from mlsub.commands.redact.model import Kind, Redaction
from mlsub.commands.redact.redactor import Redactor, Wanted
from mlsub.io.errors import MlsubError
from mlsub.io.show import plain
from mlsub.present.terminal import Progress, part_of

#: How often all logs are looked through at most, where each look finds names and secrets that stand elsewhere too.
_SURVEYS = 5


def redact(
    paths: Sequence[str],
    wanted: Wanted,
    *,
    write: bool = False,
    output: str | None = None,
    progress: Progress | None = None,
) -> tuple[Redaction | None, list[MlsubError]]:
    """Find what is private in logs, and replace it where that is asked for.

    Args:
        paths: logs, and folders of them.
        wanted: what to replace besides.
        write: replace in place.
        output: a new folder for redacted copies.
        progress: called with each log that is looked at.

    Returns:
        What was found, None where no log could be read, and why logs could not be read or written.

    Raises:
        MlsubError: a path or the folder for copies cannot be used, or what is wanted is not a pattern.
    """
    try:
        redactor = Redactor(wanted)
        files = find_logs(paths)
        write_one = _copier(redactor, files, output) if output is not None else redactor.write if write else None
    except ValueError as error:
        raise MlsubError(str(error)) from error
    failed = dict(redactor.learn(files, part_of(progress, 0, 3)))
    for _ in range(_SURVEYS):
        _each(files, failed, redactor.survey, part_of(progress, 1, 3))
        if not redactor.learned_more():
            break
    if write_one is not None:
        _each(files, failed, write_one, part_of(progress, 2, 3))
    problems = list(failed.values())
    if len(failed) == len(files):
        return None, problems
    # By kind, then by number.
    kinds = list(Kind)
    items = sorted(redactor.items.values(), key=lambda of: (kinds.index(of.kind), len(of.placeholder), of.placeholder))
    written = output or ("in place" if write else None)
    return Redaction(
        root=plain(str(root_of(files))), logs=len(files) - len(failed), written=written, items=tuple(items)
    ), problems


def _each(
    files: Sequence[Path],
    failed: dict[Path, MlsubError],
    work: Callable[[Path], None],
    progress: Progress | None,
) -> None:
    """Do something with each log that has not failed, and note those with which it fails."""
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        if file in failed:
            continue
        try:
            work(file)
        except MlsubError as error:
            failed[file] = error


def _copier(redactor: Redactor, files: list[Path], output: str) -> Callable[[Path], None]:
    """What writes one log into a new folder that holds the same folders.

    Raises:
        MlsubError: the folder for copies exists and is not empty, or cannot be made.
    """
    out, root = Path(output), root_of(files)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise MlsubError(f"{out} is not empty. Name a folder that is not there yet.")
    except (OSError, ValueError) as error:
        raise MlsubError(f"{out} cannot be a folder for copies: {error}. Name another.") from error

    def copy(file: Path) -> None:
        target = out / file.relative_to(root)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MlsubError(f"{target.parent} cannot be made: {error.strerror}.") from error
        redactor.write(file, target)

    return copy
