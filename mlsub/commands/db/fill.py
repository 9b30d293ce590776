"""Write a database, whole or not at all: only what changed is read. Imported where there is something to write."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.commands.db.batch import Batch, insert
from mlsub.commands.db.content import counts, known_of, named, without_logs
from mlsub.commands.db.dimensions import dimensions
from mlsub.commands.db.discover import Discovered
from mlsub.commands.db.model import Ask, Known, Plan
from mlsub.commands.db.rows import add_package
from mlsub.commands.db.schema import Rows, create, remove, stored
from mlsub.io import version
from mlsub.io.errors import MlsubError
from mlsub.io.write import put_file, staging_beside, sync_file
from mlsub.io.written import back_up_foreign, check_free, digest, foreign_files, record, replace_folder
from mlsub.workspace import check_apart

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def write(
    ask: Ask, found: Discovered, records: Rows, options: Mapping[str, Any], plan: Plan, known: Known | None
) -> tuple[dict[str, int], list[str], str | None]:
    """Do what is planned on a copy of what is there, or on an empty database, and put it in place.

    Returns:
        Rows by table, folders without logs, and the name under which a file is kept that this program had not written.
    """
    with staging_beside(ask.output) as staging:
        part = staging / "results.duckdb"
        if known is not None:
            with named(f"{ask.output} cannot be copied"):
                shutil.copyfile(ask.output, part)
            if known_of(part) != known:
                raise MlsubError(f"{ask.output} was written by somebody else meanwhile. Run the command again.")
        rows, missing = _fill(part, ask, found, records, options, plan, fresh=known is None)
        with named(f"{ask.output} cannot be written"):
            with part.open("rb") as stream:
                sync_file(stream)
            return rows, missing, _put(part, ask.output, fresh=known is None)


def _put(part: Path, output: Path, *, fresh: bool) -> str | None:
    """Put a database in place, and keep what was there if it is not brought up to date and was not written here."""
    aside = back_up_foreign(output, [output]) if fresh else ()
    # What somebody added to a database stays somebody's when it is brought up to date.
    ours = fresh or not foreign_files(output, {output.name: digest(output)})
    record(output, {output.name: digest(part)} if ours else {})
    put_file(part, output, force=True)
    return aside[0].name if aside else None


def export(database: Path, folder: Path) -> None:
    """Write one Parquet file a table; the folder is put in place whole.

    Raises:
        MlsubError: it cannot be written.
    """
    import duckdb

    with staging_beside(folder) as staging:
        new = staging / "tables"
        new.mkdir()
        with (
            named(f"{folder} cannot be written"),
            closing(duckdb.connect(database, read_only=True)) as connection,
        ):
            for table in stored():
                connection.table(table.name).write_parquet(str(new / f"{table.name}.parquet"))
        replace_folder(new, folder)


def check_parquet(folder: Path) -> None:
    """A folder that is replaced must be one that this program has written."""
    names = {f"{table.name}.parquet" for table in stored()}
    try:
        foreign = folder.is_symlink() or any(child.name not in names for child in folder.iterdir())
    except OSError:
        foreign = True
    if foreign:
        raise MlsubError(f"{folder} exists and contains other files. Name a new folder.")
    check_free(folder)


def _fill(
    part: Path,
    ask: Ask,
    found: Discovered,
    records: Rows,
    options: Mapping[str, Any],
    plan: Plan,
    *,
    fresh: bool,
) -> tuple[dict[str, int], list[str]]:
    """Fill a file; how many rows its tables have then, and which folders have no logs."""
    import duckdb

    with (
        named(f"{ask.output} cannot be built", "" if fresh else " Add --force to build it anew."),
        # One thread: reading logs forks, and nothing may run beside it then.
        closing(duckdb.connect(part, config={"threads": 1})) as connection,
    ):
        # An error throws the copy away: what was committed before it needs not be undone.
        with _whole(connection):
            if fresh:
                create(connection, version.VERSION)
            else:
                for key in (*plan.gone, *((one.round_key, one.organisation) for one, _ in plan.read)):
                    remove(connection, *key)
        # Each insertion by itself: what is not committed stays in memory.
        _read(connection, ask, plan, options)
        if plan.records:
            _replace(connection, records)
        if plan.read or plan.gone:
            _replace(connection, dimensions(connection, found.packages))
        # All of it in the one file that takes the name.
        connection.execute("CHECKPOINT")
        return counts(connection), without_logs(connection)


def _read(connection: DuckDBPyConnection, ask: Ask, plan: Plan, options: Mapping[str, Any]) -> None:
    """Read submissions, and add the rows of each as soon as it is judged."""
    batch = Batch(connection)
    settings = msgspec.structs.replace(ask.settings, progress=ask.progress)
    for at, checked in check_apart([package.found for package, _ in plan.read], settings):
        package, print_ = plan.read[at]
        add_package(batch, package, checked, print_, options)
    batch.flush()


def _replace(connection: DuckDBPyConnection, rows: Rows) -> None:
    """Give the tables of the rows these rows alone."""
    for name in rows:
        connection.execute(f"DELETE FROM {name}")  # noqa: S608  (our own name)
    insert(connection, rows)


@contextmanager
def _whole(connection: DuckDBPyConnection) -> Iterator[None]:
    """What is done inside is written at once."""
    connection.begin()
    yield
    connection.commit()
