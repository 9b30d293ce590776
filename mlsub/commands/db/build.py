"""Build a database, or bring one up to date: only what changed is read, and the file is put in place whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from mlsub.commands.db.discover import Found, Package, discover
from mlsub.commands.db.fingerprint import fingerprint, options_of
from mlsub.commands.db.query import check_ready, message_of
from mlsub.commands.db.rows import record_rows, rows_of
from mlsub.commands.db.schema import ABOUT, FORMAT, Rows, create, insert, remove, replace, stored
from mlsub.io.errors import MlsubError
from mlsub.io.output import check_output, put_in_place
from mlsub.io.output_folder import recover_folder, staging_beside
from mlsub.io.version import VERSION
from mlsub.io.written import check_free, digest, record, replace_folder, set_aside_foreign, somebodys
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress, part_of
from mlsub.workspace import Settings, check_with_logs

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What to build.

    ``fresh`` builds anew what is there already; ``parquet`` is a folder for one file a table; ``settings`` say of which
    round the folders are, how many processes read, and what the convergence test is to do; ``progress`` is called
    while submissions are read.
    """

    folders: tuple[Path, ...]
    output: Path
    records: tuple[Path, ...] = ()
    parquet: Path | None = None
    fresh: bool = False
    settings: Settings = Settings()
    progress: Progress | None = None


class Built(Answer, frozen=True, kw_only=True):
    """What came of it: submissions read, kept and gone (``round/organisation``), rows by table, and what was left out.

    ``written`` is False where nothing had changed: then the file is as it was. ``aside`` is the name under which a file
    is kept that was replaced, and that this program had not written as it was.
    """

    SCHEMA: ClassVar[int] = 2

    output: str
    read: tuple[str, ...]
    kept: tuple[str, ...]
    gone: tuple[str, ...]
    passed_over: tuple[str, ...]
    rows: dict[str, int]
    written: bool
    aside: str | None = None


def build(ask: Ask) -> Built:
    """Build the database: afterwards it holds what the folders and files of records hold, and no more.

    Raises:
        MlsubError: there is nothing to build it from, or what is there is not a database of this program.
        FileProblemsError: a file of records cannot be read.
        MlsubError: it cannot be written.
    """
    places = [ask.output, *([ask.parquet] if ask.parquet else [])]
    check_ready(*places)
    found = discover(ask.folders, ask.settings) if ask.folders else Found((), ())
    records = record_rows(ask.records)
    _check_places(ask, found.packages)
    with staging_beside(ask.output) as staging:
        part = staging / "results.duckdb"
        old = not ask.fresh and ask.output.exists() and is_ours(ask.output)
        if old:
            with _named(f"{ask.output} cannot be copied"):
                shutil.copyfile(ask.output, part)
        built = _fill(part, ask, found, records, fresh=not old)
        if built.written:
            with _named(f"{ask.output} cannot be written"):
                with part.open("rb") as stream:
                    os.fsync(stream.fileno())
                built = msgspec.structs.replace(built, aside=_put(part, ask.output, fresh=not old))
    if ask.parquet is not None:
        export(ask.output, ask.parquet)
    return built


@contextmanager
def _named(what: str, remedy: str = "") -> Iterator[None]:
    """Say what failed where the system or DuckDB only says why."""
    import duckdb

    try:
        yield
    except OSError as error:
        raise MlsubError(f"{what}: {error.strerror or error}{remedy}") from error
    except duckdb.Error as error:
        raise MlsubError(f"{what}: {message_of(error)}{remedy}") from error


def _put(part: Path, output: Path, *, fresh: bool) -> str | None:
    """Put a database in place, and keep what was there if it is not brought up to date and was not written here."""
    aside = set_aside_foreign(output, [output]) if fresh else ()
    # What somebody added to a database stays somebody's when it is brought up to date.
    ours = fresh or not somebodys(output, {output.name: digest(output)})
    new = {output.name: digest(part)} if ours else {}
    record(output, new, besides=True)
    put_in_place(part, output, force=True)
    record(output, new)
    return aside[0].name if aside else None


def is_ours(file: Path) -> bool:
    """Whether a file is a database that this version can bring up to date.

    Raises:
        MlsubError: it is not a database of this program at all.
    """
    import duckdb

    try:
        with closing(duckdb.connect(file, read_only=True, config={"threads": 1})) as connection:
            row = connection.execute(f"SELECT format, mlsub FROM {ABOUT}").fetchone()  # noqa: S608  (our own name)
    except duckdb.Error as error:
        raise MlsubError(
            f"{file} is not a database of mlsub db, or is in use. Name another file, or add --force to replace it."
        ) from error
    return row == (FORMAT, VERSION)


def export(database: Path, folder: Path) -> None:
    """Write one Parquet file a table; the folder is put in place whole.

    Raises:
        MlsubError: it cannot be written.
    """
    import duckdb

    with staging_beside(folder) as staging:
        recover_folder(folder)
        new = staging / "tables"
        new.mkdir()
        with (
            _named(f"{folder} cannot be written"),
            closing(duckdb.connect(database, read_only=True)) as connection,
        ):
            for table in stored():
                connection.table(table.name).write_parquet(str(new / f"{table.name}.parquet"))
        replace_folder(new, folder)


def _check_places(ask: Ask, packages: Sequence[Package]) -> None:
    """Refuse, before any reading, what cannot be written or lies where it must not."""
    check_output(ask.output, force=True)
    journal = ask.output.with_name(f"{ask.output.name}.wal")
    if os.path.lexists(journal):
        # DuckDB would replay it into whatever file has the name.
        raise MlsubError(f"{journal} exists: {ask.output} is open for writing. Close it, or remove {journal}.")
    for place in (ask.output, ask.parquet):
        for package in packages:
            if place is not None and place.resolve().is_relative_to(package.folder.resolve()):
                raise MlsubError(f"{place} lies in a submission, {package.folder}. Name a place beside it.")
    if ask.parquet is not None and os.path.lexists(ask.parquet):
        _check_parquet(ask.parquet)


def _check_parquet(folder: Path) -> None:
    """A folder that is replaced must be one that this program has written."""
    names = {f"{table.name}.parquet" for table in stored()}
    try:
        foreign = folder.is_symlink() or any(child.name not in names for child in folder.iterdir())
    except OSError:
        foreign = True
    if foreign:
        raise MlsubError(f"{folder} exists and contains other files. Name a new folder.")
    check_free(folder)


def _fill(part: Path, ask: Ask, found: Found, records: Rows, *, fresh: bool) -> Built:
    import duckdb

    with (
        _named(f"{ask.output} cannot be built", "" if fresh else " Add --force to build it anew."),
        # One thread: reading logs forks, and nothing may run beside it then.
        closing(duckdb.connect(part, config={"threads": 1})) as connection,
    ):
        if fresh:
            create(connection, VERSION)
        read, kept, gone = _update(connection, ask, found.packages)
        other = _records_differ(connection, records)
        if other:
            with _whole(connection):
                replace(connection, records)
        if read or gone:
            with _whole(connection):
                replace(connection, _round_rows(found.packages))
        rows = {
            table.name: connection.table(table.name).count("*").fetchall()[0][0]  # One row, one cell.
            for table in stored()
        }
        # All of it in the one file that takes the name.
        connection.execute("CHECKPOINT")
    return Built(
        output=str(ask.output),
        read=tuple(read),
        kept=tuple(kept),
        gone=tuple(gone),
        passed_over=found.passed_over,
        rows=rows,
        written=bool(fresh or read or gone or other),
    )


def _update(
    connection: DuckDBPyConnection, ask: Ask, packages: Sequence[Package]
) -> tuple[list[str], list[str], list[str]]:
    """Bring submissions up to date, one after the other, so that one alone is in memory: read, kept, gone."""
    there = connection.execute("SELECT round, organisation, fingerprint FROM submissions").fetchall()
    known = {(round_, organisation): digest for round_, organisation, digest in there}
    read, kept = [], []
    with _named(f"{ask.settings.convergence.reference} cannot be read"):
        options = options_of(ask.settings.convergence)
    for number, package in enumerate(packages):
        key = (package.round_key, package.organisation)
        name = "/".join(key)
        with _named(f"{package.folder} cannot be read"):
            part = package.path.relative_to(package.folder).as_posix()
            print_ = fingerprint(package.folder, VERSION, *key, part, json.dumps(options))
        if known.pop(key, None) == print_.digest:
            kept.append(name)
            continue
        of = msgspec.structs.replace(
            ask.settings,
            round=package.round.name,
            usage=package.round.usage,
            progress=part_of(ask.progress, number, len(packages)),
        )
        [checked] = check_with_logs([package.path], of)
        with _whole(connection):
            remove(connection, *key)
            for rows in rows_of(package, checked, print_, options):
                insert(connection, rows)
        read.append(name)
    for key in known:
        with _whole(connection):
            remove(connection, *key)
    return read, kept, ["/".join(key) for key in sorted(known)]


def _round_rows(packages: Sequence[Package]) -> Rows:
    rounds = {package.round_key: package.round for package in packages}
    rows = [
        {"round": key, "usage": r.usage, "number": r.name, "title": r.title, "benchmarks": list(r.benchmarks)}
        for key, r in sorted(rounds.items())
    ]
    return {"rounds": rows}


def _records_differ(connection: DuckDBPyConnection, records: Rows) -> bool:
    there = connection.execute("SELECT file, sha256 FROM record_files").fetchall()
    return sorted(there) != sorted((row["file"], row["sha256"]) for row in records["record_files"])


@contextmanager
def _whole(connection: DuckDBPyConnection) -> Iterator[None]:
    """What is done inside is done whole; an error throws the copy away, so nothing needs to be undone."""
    connection.begin()
    yield
    connection.commit()
