"""What a database holds: asked of the file, or remembered as long as that has not changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mlsub.commands.db.model import Known
from mlsub.commands.db.query import message_of
from mlsub.commands.db.schema import ABOUT, FORMAT, stored
from mlsub.io import version
from mlsub.io.errors import MlsubError
from mlsub.workspace.memory import Memory, file_state

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def remembered(file: Path, memory: Memory | None) -> Known | None:
    """What :func:`known_of` says; of a database that has not changed since the last time, without opening it."""
    if memory is None:
        return known_of(file)
    words = ("db build", str(file.absolute()), str(FORMAT), version.VERSION)
    drawer = memory.drawer("answers", words, partial(file_state, file))
    known = drawer.recall(Known)
    if known is None and (known := known_of(file)) is not None:
        drawer.keep(known)
    return known


def known_of(file: Path) -> Known | None:
    """What a database was made of; None for one that this version cannot bring up to date.

    Raises:
        MlsubError: it is not a database of this program at all.
    """
    import duckdb

    try:
        with closing(duckdb.connect(file, read_only=True, config={"threads": 1})) as connection:
            about = connection.execute(f"SELECT format, mlsub FROM {ABOUT}").fetchone()  # noqa: S608  (our own name)
            if about != (FORMAT, version.VERSION):
                return None
            there = connection.execute("SELECT round, organisation, fingerprint FROM submissions").fetchall()
            files = connection.execute("SELECT file, sha256 FROM record_files").fetchall()
            prints = {(round_, organisation): digest for round_, organisation, digest in there}
            return Known(prints, sorted(files), counts(connection), without_logs(connection))
    except duckdb.Error as error:
        raise MlsubError(
            f"{file} is not a database of mlsub db, or is in use. Name another file, or add --force to replace it."
        ) from error


def without_logs(connection: DuckDBPyConnection) -> list[str]:
    """The folders of benchmarks without logs, by round, organisation and path."""
    columns = "round, organisation, file"
    query = f"SELECT concat_ws('/', {columns}) FROM folders_without_logs ORDER BY {columns}"  # noqa: S608  (our own names)
    return [folder for (folder,) in connection.execute(query).fetchall()]


def counts(connection: DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table has."""
    counts = ", ".join(f"(SELECT count(*) FROM {table.name})" for table in stored())  # noqa: S608  (our own names)
    [row] = connection.execute(f"SELECT {counts}").fetchall()
    return dict(zip((table.name for table in stored()), row, strict=True))


@contextmanager
def named(what: str, remedy: str = "") -> Iterator[None]:
    """Say what failed where the system or DuckDB only says why."""
    try:
        yield
    except OSError as error:
        raise MlsubError(f"{what}: {error.strerror or error}{remedy}") from error
    except Exception as error:
        # Importing it takes longer than to find out that nothing has changed.
        import duckdb

        if not isinstance(error, duckdb.Error):
            raise
        raise MlsubError(f"{what}: {message_of(error)}{remedy}") from error
