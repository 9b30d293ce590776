"""Build a database, or bring one up to date; what takes long to import is, where something is to be written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mlsub.commands.db.content import named, remembered
from mlsub.commands.db.discover import Discovered, Package, discover
from mlsub.commands.db.fingerprint import files_below, fingerprint, options_of
from mlsub.commands.db.model import Ask, Built, Known, Plan
from mlsub.commands.db.query import check_ready
from mlsub.commands.db.rows import record_rows
from mlsub.commands.db.schema import Rows
from mlsub.io import version
from mlsub.io.errors import MlsubError
from mlsub.io.write import check_output


def build(ask: Ask) -> Built:
    """Build the database: afterwards it holds what the folders and files of records hold, and no more.

    Raises:
        MlsubError: there is nothing to build it from, or what is there is not a database of this program.
        FileProblemsError: a file of records cannot be read.
        MlsubError: it cannot be written.
    """
    places = [ask.output, *([ask.parquet] if ask.parquet else [])]
    check_ready(*places)
    found = discover(ask.folders, ask.settings) if ask.folders else Discovered((), ())
    records = record_rows(ask.records)
    _check_places(ask, found.packages)
    known = None if ask.fresh or not ask.output.exists() else remembered(ask.output, ask.settings.memory)
    with named(f"{ask.settings.convergence.reference} cannot be read"):
        options = options_of(ask.settings.convergence)
    plan = _planned(ask, found.packages, records, options, known or Known({}, [], {}, []))
    built = Built(
        output=str(ask.output),
        read=tuple(f"{package.round_key}/{package.organisation}" for package, _ in plan.read),
        kept=tuple(map("/".join, plan.kept)),
        gone=tuple(map("/".join, plan.gone)),
        passed_over=found.passed_over,
        rows=known.rows if known is not None else {},
        without_logs=tuple(known.without_logs) if known is not None else (),
        written=known is None or plan.anything,
    )
    if built.written:
        from mlsub.commands.db.fill import write

        rows, missing, aside = write(ask, found, records, options, plan, known)
        built = msgspec.structs.replace(built, rows=rows, without_logs=tuple(missing), aside=aside)
    if ask.parquet is not None:
        from mlsub.commands.db.fill import export

        export(ask.output, ask.parquet)
    return built


def _check_places(ask: Ask, packages: Sequence[Package]) -> None:
    """Refuse, before any reading, what cannot be written or lies where it must not."""
    check_output(ask.output, force=True)
    journal = ask.output.with_name(f"{ask.output.name}.wal")
    if os.path.lexists(journal):
        # DuckDB would replay it into whatever file has the name.
        raise MlsubError(f"{journal} exists: {ask.output} is open for writing. Close it, or remove {journal}.")
    folders = [(package.folder, package.folder.resolve()) for package in packages]
    for place in filter(None, (ask.output, ask.parquet)):
        resolved = place.resolve()
        for folder, its in folders:
            if resolved.is_relative_to(its):
                raise MlsubError(f"{place} lies in a submission, {folder}. Name a place beside it.")
    if ask.parquet is not None and os.path.lexists(ask.parquet):
        from mlsub.commands.db.fill import check_parquet

        check_parquet(ask.parquet)


def _planned(ask: Ask, packages: Sequence[Package], records: Rows, options: Mapping[str, Any], known: Known) -> Plan:
    """Which submissions are to be read: those of which any file is another, or a setting."""
    read, kept = [], []
    found = files_below([package.folder for package in packages], ask.settings)
    for package, files in zip(packages, found, strict=True):
        key = (package.round_key, package.organisation)
        if isinstance(files, OSError):
            raise MlsubError(f"{package.folder} cannot be read: {files.strerror or files}") from files
        part = package.path.relative_to(package.folder).as_posix()
        print_ = fingerprint(files, version.VERSION, *key, part, json.dumps(options))
        if known.prints.get(key) == print_.digest:
            kept.append(key)
        else:
            read.append((package, print_))
    gone = sorted(known.prints.keys() - set(kept) - {(one.round_key, one.organisation) for one, _ in read})
    other = known.records != sorted((row["file"], row["sha256"]) for row in records["record_files"])
    return Plan(read=read, kept=kept, gone=gone, records=other)
