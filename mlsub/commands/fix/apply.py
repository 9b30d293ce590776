"""Make the repairs that were planned: file by file, contents before names, each proven first."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mlsub.commands.fix.model import REPEATED, Change, Plan
from mlsub.commands.fix.put import rewrite
from mlsub.io.errors import MlsubError
from mlsub.log.event import decode
from mlsub.log.reader import read_records


def apply(plan: Plan) -> list[MlsubError]:
    """Make the repairs; gives those that failed, after which the others are made all the same."""
    failed = []
    for change in plan.changes:
        if change.content is not None:
            try:
                _write(change)
            except MlsubError as error:
                failed.append(error)
    # The deepest first, so that no path changes above one that is still to be renamed.
    for change in sorted(plan.changes, key=lambda change: -len(change.path.parts)):
        if change.target is not None:
            try:
                _rename(change.path, change.target)
            except MlsubError as error:
                failed.append(error)
    return failed


def _write(change: Change) -> None:
    content = change.content
    assert content is not None  # noqa: S101  (only those with content come here)

    def write(source: BinaryIO, sink: BinaryIO) -> None:
        if hashlib.sha256(source.read()).hexdigest() != change.digest:
            raise MlsubError(f"{change.path} changed since it was read, and is left as it is. Try again.")
        sink.write(content.read_bytes())

    def prove(part: Path) -> None:
        if part.read_bytes() != content.read_bytes():
            raise MlsubError(f"{change.path} is left as it is: what was written is not what was planned.")
        if change.path.suffix.lower() != ".json":
            prove_events(change)

    rewrite(change.path, write, prove)


def prove_events(change: Change) -> None:
    """Prove that a repaired log has the same events, except on the lines that only repeat one.

    Raises:
        MlsubError: it does not.
    """
    assert change.content is not None  # noqa: S101  (see _write)
    gone = {repair.line for repair in change.repairs if repair.rule.endswith(f".{REPEATED}")}
    before = (event for line, event in _events(change.path) if line not in gone)
    after = (event for _, event in _events(change.content))
    if list(before) != list(after):
        raise MlsubError(f"{change.path} is left as it is: its events would not be the same. Please report it.")


def _events(file: Path) -> Iterator[tuple[int, tuple[str, bool, bool]]]:
    """Line and event of each record, with what the official parser does not see; NaN is equal to itself here."""
    with file.open("rb") as stream:
        for batch in read_records(stream):
            for line, text, hidden, too_long in batch:
                yield line, (repr(decode(0, text)), hidden, too_long)


def _rename(path: Path, target: Path) -> None:
    try:
        if os.path.lexists(target):
            raise MlsubError(f"{path} keeps its name: {target.name} exists by now.")
        if path.is_dir():
            path.rename(target)
        else:
            os.link(path, target)
            path.unlink()
    except OSError as error:
        raise MlsubError(f"{path} cannot be renamed to {target.name}: {error.strerror}.") from error
