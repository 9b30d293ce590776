"""Redaction of several logs: learn from all of them, then list and write one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.io import MlsubError
from mlsub.io.read import read_text
from mlsub.io.show import plain
from mlsub.io.write import make_folder
from mlsub.log.private.known import MAX_ALIKE, MAX_MEMBERS, MAX_NAMES, MAX_SECRETS
from mlsub.log.private.model import Private, PrivateKind, Where
from mlsub.log.private.patterns import LOOKS
from mlsub.log.rewrite import common_folder, find_logs, for_each
from mlsub.packing.edits import EditPlan
from mlsub.packing.manifest import Redact
from mlsub.packing.redactor import Redactor
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress, part_of
from mlsub.submission.file_tree import FileTree, ItemKind, is_stray_folder, read_file_tree

_LEFT_OUT = (
    f"There are more than {MAX_NAMES:,} users and hosts, {MAX_MEMBERS:,} hosts in one list, "
    f"{MAX_SECRETS:,} secrets, or {MAX_ALIKE} that begin and end alike. The others are replaced only where they stand "
    "as such, not as words in other lines. Name fewer logs, or use --pattern."
)


class Unsearched(msgspec.Struct, frozen=True):
    """A path that was not searched, relative to the root, and why."""

    path: str
    reason: str


class Redaction(Answer, frozen=True, kw_only=True):
    """What is private, by kind.

    ``logs`` and ``files`` count those that were searched below ``root``; other files than logs are never written.
    ``written`` says where redacted logs went, null for nowhere. ``looked_for`` is all that can have been found.
    ``unsure`` is what is not replaced and may be private, masked, with its handle as placeholder. ``more_unsure``
    counts the places of what is not listed there, and ``unknown_handles`` are those that nothing in the logs has.
    """

    SCHEMA: ClassVar[int] = 4

    root: str
    logs: int
    files: int
    written: str | None
    items: tuple[Private, ...]
    unsearched: tuple[Unsearched, ...]
    looked_for: tuple[str, ...]
    unsure: tuple[Private, ...]
    more_unsure: int
    unknown_handles: tuple[str, ...]

    @property
    def remains(self) -> bool:
        """Whether anything private is still there, or may be in what was not searched."""
        left = {where for item in self.items for where in item.counts} - ({Where.FREE} if self.written else set())
        return bool(self.unsearched or left)


def build_redactor(words: Redact, also: str | None) -> Redactor:
    """Return what replaces these words, and those that the file ``also`` has, one a line.

    Raises:
        MlsubError: the file cannot be read, or something is too short or too common to be replaced.
    """
    lines = read_text(Path(also)).splitlines() if also is not None else []
    return Redactor(words, [line for line in map(str.strip, lines) if line])


def redact(
    paths: Sequence[str],
    redactor: Redactor,
    *,
    write: bool = False,
    output: str | None = None,
    progress: Progress | None = None,
) -> tuple[Redaction | None, list[MlsubError]]:
    """Find what is private in logs, and replace it where that is asked for.

    Args:
        paths: logs, and folders of them.
        redactor: what to replace.
        write: replace in place.
        output: a new folder for redacted copies.
        progress: called with each log that is looked at.

    Returns:
        What was found, None where no log could be read, and why logs could not be read or written.

    Raises:
        MlsubError: a path or the folder for copies cannot be used.
    """
    files = find_logs(paths)
    others, unsearched = _find_other_files(paths, files)
    root = common_folder([*files, *others, *unsearched])
    copies = _new_folder(output) if output is not None else None
    plan = EditPlan(common_folder(files))
    plan.failed = redactor.survey(files, part_of(progress, 0, 2), root)
    plan.edits = {file: redactor.edit() for file in files if file not in plan.failed}
    if copies is not None:
        plan.write_copies(copies)
    elif write:
        plan.apply(part_of(progress, 1, 2))
    problems = list(plan.failed.values())
    closed: dict[Path, MlsubError] = {}
    for_each(others, closed, redactor.look_into, None)
    unsearched |= {file: str(error) for file, error in closed.items()}
    if len(problems) == len(files):
        return None, problems
    logs = len(files) - len(problems)
    problems += [MlsubError(_LEFT_OUT)] if redactor.left_out else []
    # Those of a kind are in the order of their numbers.
    items = sorted(redactor.items.values(), key=lambda item: list(PrivateKind).index(item.kind))
    written = output or ("in place" if write else None)
    paths_left = sorted((plain(path.relative_to(root).as_posix()), reason) for path, reason in unsearched.items())
    return Redaction(
        root=plain(str(root)),
        logs=logs,
        files=len(others) - len(closed),
        written=written,
        items=tuple(items),
        unsearched=tuple(Unsearched(path, reason) for path, reason in paths_left),
        looked_for=LOOKS.looked_for,
        unsure=tuple(redactor.unsure),
        more_unsure=redactor.more_unsure,
        unknown_handles=tuple(sorted(redactor.unknown_handles)),
    ), problems


def _find_other_files(paths: Sequence[str], logs: Sequence[Path]) -> tuple[list[Path], dict[Path, str]]:
    """The other files below the folders that are named, and what is not searched, with the reason."""
    others: list[Path] = []
    unsearched: dict[Path, str] = {}
    known = set(logs)
    for folder in (Path(os.path.abspath(path)) for path in paths):  # noqa: PTH100  (links keep their names)
        file_tree = read_file_tree(folder) if folder.is_dir() else FileTree(items=())
        unsearched |= {folder / path: reason for path, reason in (file_tree.closed | file_tree.unread).items()}
        unsearched |= {folder: file_tree.cut} if file_tree.cut else {}
        for item in file_tree.items:
            file = folder / item.path
            if item.kind is ItemKind.LINK or is_stray_folder(item) or item.kind is ItemKind.OTHER:
                unsearched[file] = {"link": "a link", "folder": "a folder nobody submits"}.get(item.kind, "no file")
            elif item.kind is ItemKind.FILE and file not in known and file not in unsearched:
                others.append(file)
    return others, unsearched


def _new_folder(output: str) -> Path:
    """Return the folder for copies, which is not there yet or empty; those above it are made.

    Raises:
        MlsubError: it is not empty, or cannot be made.
    """
    out = Path(os.path.abspath(output))  # noqa: PTH100  (links keep their names)
    try:
        if out.is_dir() and any(out.iterdir()):
            raise MlsubError(f"{output} is not empty. Name a folder that is not there yet.")
        make_folder(out.parent)
    except (OSError, ValueError) as error:
        raise MlsubError(f"{output} cannot be a folder for copies: {error}. Name another.") from error
    return out
