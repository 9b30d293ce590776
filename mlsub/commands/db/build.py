"""Build a database, or bring one up to date: only what changed is read, and the file is put in place whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from mlsub.commands.db.batch import Batch, insert
from mlsub.commands.db.discover import Discovered, Package, discover
from mlsub.commands.db.fingerprint import Fingerprint, fingerprint, options_of
from mlsub.commands.db.query import check_ready, message_of
from mlsub.commands.db.rows import add_package, record_rows
from mlsub.commands.db.schema import ABOUT, FORMAT, Rows, create, remove, stored
from mlsub.io.errors import MlsubError
from mlsub.io.output import check_output, put_in_place
from mlsub.io.output_folder import recover_folder, staging_beside
from mlsub.io.version import VERSION
from mlsub.io.written import check_free, digest, record, replace_folder, set_aside_foreign, somebodys
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress
from mlsub.workspace import Settings, check_apart

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


class Known(NamedTuple):
    """What a database was made of: fingerprints by round and organisation, files of records with their sums."""

    prints: dict[tuple[str, str], str]
    records: list[tuple[str, str]]


class Plan(NamedTuple):
    """What is to be done: submissions to read, to keep and to remove, and whether records are other ones."""

    read: list[tuple[Package, Fingerprint]]
    kept: list[tuple[str, str]]
    gone: list[tuple[str, str]]
    records: bool

    @property
    def anything(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.read or self.gone or self.records)


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
    found = discover(ask.folders, ask.settings) if ask.folders else Discovered((), ())
    records = record_rows(ask.records)
    _check_places(ask, found.packages)
    old = not ask.fresh and ask.output.exists() and is_ours(ask.output)
    with _named(f"{ask.settings.convergence.reference} cannot be read"):
        options = options_of(ask.settings.convergence)
    plan = _planned(ask, found.packages, records, options, _known(ask.output) if old else Known({}, []))
    if old and not plan.anything:
        built = _built(ask.output, ask, found, plan)
    else:
        built = _rebuilt(ask, found, records, options, plan, old=old)
    if ask.parquet is not None:
        export(ask.output, ask.parquet)
    return built


def _rebuilt(ask: Ask, found: Discovered, records: Rows, options: Mapping[str, Any], plan: Plan, *, old: bool) -> Built:
    """Do what is planned on a copy of what is there, or on an empty database, and put it in place."""
    with staging_beside(ask.output) as staging:
        part = staging / "results.duckdb"
        if old:
            with _named(f"{ask.output} cannot be copied"):
                shutil.copyfile(ask.output, part)
        _fill(part, ask, found, records, options, plan, fresh=not old)
        built = _built(part, ask, found, plan, written=True)
        with _named(f"{ask.output} cannot be written"):
            with part.open("rb") as stream:
                os.fsync(stream.fileno())
            return msgspec.structs.replace(built, aside=_put(part, ask.output, fresh=not old))


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


def _known(database: Path) -> Known:
    """What a database was made of."""
    import duckdb

    with (
        _named(f"{database} cannot be read", " Add --force to build it anew."),
        closing(duckdb.connect(database, read_only=True, config={"threads": 1})) as connection,
    ):
        there = connection.execute("SELECT round, organisation, fingerprint FROM submissions").fetchall()
        files = connection.execute("SELECT file, sha256 FROM record_files").fetchall()
    return Known({(round_, organisation): digest for round_, organisation, digest in there}, sorted(files))


def _planned(ask: Ask, packages: Sequence[Package], records: Rows, options: Mapping[str, Any], known: Known) -> Plan:
    """Which submissions are to be read: those of which any file is another, or a setting."""
    read, kept = [], []
    for package in packages:
        key = (package.round_key, package.organisation)
        with _named(f"{package.folder} cannot be read"):
            part = package.path.relative_to(package.folder).as_posix()
            print_ = fingerprint(package.folder, VERSION, *key, part, json.dumps(options))
        if known.prints.get(key) == print_.digest:
            kept.append(key)
        else:
            read.append((package, print_))
    gone = sorted(known.prints.keys() - set(kept) - {(one.round_key, one.organisation) for one, _ in read})
    other = known.records != sorted((row["file"], row["sha256"]) for row in records["record_files"])
    return Plan(read=read, kept=kept, gone=gone, records=other)


def _fill(
    part: Path,
    ask: Ask,
    found: Discovered,
    records: Rows,
    options: Mapping[str, Any],
    plan: Plan,
    *,
    fresh: bool,
) -> None:
    import duckdb

    with (
        _named(f"{ask.output} cannot be built", "" if fresh else " Add --force to build it anew."),
        # One thread: reading logs forks, and nothing may run beside it then.
        closing(duckdb.connect(part, config={"threads": 1})) as connection,
    ):
        with _whole(connection):
            if fresh:
                create(connection, VERSION)
            for key in (*plan.gone, *((one.round_key, one.organisation) for one, _ in plan.read)):
                if not fresh:
                    remove(connection, *key)
            _read(connection, ask, plan, options)
            if plan.records:
                _replace(connection, records)
            if plan.read or plan.gone:
                _replace(connection, _round_rows(found.packages))
        # All of it in the one file that takes the name.
        connection.execute("CHECKPOINT")


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


def _built(database: Path, ask: Ask, found: Discovered, plan: Plan, *, written: bool = False) -> Built:
    """What came of a plan, and how many rows there are now."""
    import duckdb

    with (
        _named(f"{ask.output} cannot be read"),
        closing(duckdb.connect(database, read_only=True, config={"threads": 1})) as connection,
    ):
        rows = {
            table.name: connection.table(table.name).count("*").fetchall()[0][0]  # One row, one cell.
            for table in stored()
        }
    return Built(
        output=str(ask.output),
        read=tuple(f"{package.round_key}/{package.organisation}" for package, _ in plan.read),
        kept=tuple(map("/".join, plan.kept)),
        gone=tuple(map("/".join, plan.gone)),
        passed_over=found.passed_over,
        rows=rows,
        written=written,
    )


def _round_rows(packages: Sequence[Package]) -> Rows:
    rounds = {package.round_key: package.round for package in packages}
    rows = [
        {"round": key, "usage": r.usage, "number": r.name, "title": r.title, "benchmarks": list(r.benchmarks)}
        for key, r in sorted(rounds.items())
    ]
    return {"rounds": rows}


@contextmanager
def _whole(connection: DuckDBPyConnection) -> Iterator[None]:
    """What is done inside is done whole; an error throws the copy away, so nothing needs to be undone."""
    connection.begin()
    yield
    connection.commit()
