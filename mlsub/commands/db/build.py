"""Build a database: what the folders hold, and no more; whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from mlsub import io
from mlsub.commands.db.query import check_ready, message_of
from mlsub.commands.db.rows import insert_rows, package_rows
from mlsub.commands.db.schema import ABOUT, FORMAT, create_tables, stored
from mlsub.findings import Effect
from mlsub.io import MlsubError
from mlsub.io.folders import back_up_foreign, check_free, path_digest, replace_folder, write_record
from mlsub.io.look import failing_as, open_regular
from mlsub.io.write import check_output, put_file, staging_beside, sync_file
from mlsub.present.dataset import CRATE, ResultSource, Variable, build_dataset, data_file, render_crate
from mlsub.present.envelope import Answer
from mlsub.rounds import get_round
from mlsub.rules.catalogue import has_effect
from mlsub.submission.find import PathKind, Place, organisations
from mlsub.submission.result import round_key
from mlsub.workspace import Context, Request, check_apart, find_places, in_one_line
from mlsub.workspace.cache import scan_tree

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


#: The state of a database that another version of this program has made.
_OLDER = "older"
_WITHOUT_LOGS = "SELECT usage, round, organisation, file FROM folders_without_logs ORDER BY ALL"
_SOURCES = """SELECT usage, round, publication_date, publication_precision, organisation_name
    FROM entries ORDER BY entry"""


class BuiltDatabase(Answer, frozen=True, kw_only=True):
    """What came of it: submissions (``round/organisation``), rows by table, and what was left out.

    ``without_logs`` are the folders of benchmarks that have none. ``written`` is False where nothing had changed: then
    the file is as it was. ``older`` says that the file was one of another version. ``aside`` is the name under which a
    file is kept that was replaced, and that this program had not written as it was.
    """

    SCHEMA: ClassVar[int] = 4

    output: str
    submissions: tuple[str, ...]
    passed_over: tuple[str, ...]
    rows: dict[str, int]
    without_logs: tuple[str, ...]
    written: bool
    older: bool = False
    aside: str | None = None


def build(
    folders: Sequence[Path],
    output: Path,
    context: Context,
    parquet: Path | None = None,
    *,
    fresh: bool = False,
) -> BuiltDatabase:
    """Build the database, unless it is there already and nothing has changed.

    Args:
        folders: of rounds, a round, or organisations.
        output: the database's file.
        context: of which round the folders are, how many processes read, and what the convergence test is to do.
        parquet: a folder for one file a table.
        fresh: build anew what is there already.

    Raises:
        MlsubError: there is nothing to build it from, what is there is not a database of this program, or it cannot be
            written.
    """
    check_ready(*filter(None, (output, parquet)))
    packages, passed_over = find_packages(folders, context.request)
    _check_places(output, parquet, packages.values())
    state = _state(context.request, packages)
    known = None if fresh or not output.exists() else _known_state(output)
    written, aside = not state or known != state, None
    if written:
        aside = _write(output, context, packages.values(), state)
    with _connected(output, f"{output} cannot be read") as connection:
        if parquet is not None:
            _export(connection, parquet)
        return BuiltDatabase(
            output=str(output),
            submissions=tuple(packages),
            passed_over=passed_over,
            rows={table.name: len(connection.table(table.name)) for table in stored()},
            without_logs=tuple(
                "/".join((round_key(usage, round_), *where))
                for usage, round_, *where in connection.execute(_WITHOUT_LOGS).fetchall()
            ),
            written=written,
            older=known == _OLDER,
            aside=aside,
        )


def find_packages(paths: Sequence[Path], request: Request) -> tuple[dict[str, Place], tuple[str, ...]]:
    """Return the submissions below paths by round and name, in this order, and in words what was left out.

    Raises:
        MlsubError: a path does not exist or holds nothing, or one submission is there twice.
    """
    found, failed = find_places(paths, request)
    problems = {place.path: place.problem for place in failed if place.problem}
    nothing = [problem for problem in problems.values() if not has_effect(problem, Effect.UNKNOWN_ROUND)]
    passed = [f"{path}: {in_one_line(problem)}" for path, problem in problems.items()]
    if any(has_effect(problem, Effect.MISSING) for problem in nothing) or (nothing and not found):
        raise MlsubError(*map(in_one_line, nothing))
    packages: dict[str, Place] = {}
    for one in found:
        if one.kind is PathKind.LOG:
            passed.append(f"{one.path}: a log alone is not a result; name its folder")
            continue
        for place in organisations(one):
            name = (place.root.name or ".").encode("utf-8", "backslashreplace").decode()
            key = f"{round_key(place.usage, place.round)}/{name}"
            other = packages.setdefault(key, place).path
            if other != place.path:
                raise MlsubError(f"{key} is there twice: {other} and {place.path}. Name one.")
    return dict(sorted(packages.items())), tuple(passed)


def _check_places(output: Path, parquet: Path | None, packages: Iterable[Place]) -> None:
    """Refuse, before any reading, what cannot be written or lies where it must not."""
    check_output(output, force=True)
    journal = output.with_name(f"{output.name}.wal")
    if os.path.lexists(journal):
        # DuckDB would replay it into whatever file has the name.
        raise MlsubError(f"{journal} exists: {output} is open for writing. Close it, or remove {journal}.")
    for place, package in product(filter(None, (output, parquet)), packages):
        if place.resolve().is_relative_to(package.root.resolve()):
            raise MlsubError(f"{place} lies in a submission, {package.root}. Name a place beside it.")
    if parquet is not None and os.path.lexists(parquet):
        # A folder that is replaced must be one that this program has written.
        names = {CRATE, *(f"{table.name}.parquet" for table in stored())}
        try:
            foreign = parquet.is_symlink() or any(child.name not in names for child in parquet.iterdir())
        except OSError:
            foreign = True
        if foreign:
            raise MlsubError(f"{parquet} exists and contains other files. Name a new folder.")
        check_free(parquet)


def _known_state(file: Path) -> str:
    """Return what the database of a file was made of.

    Raises:
        MlsubError: it is not a database of this program at all.
    """
    remedy = " Name another file, or add --force to replace it."
    with _connected(file, f"{file} is not a database of mlsub db, or is in use", remedy) as connection:
        about = connection.execute(f"SELECT * FROM {ABOUT}").fetchone()  # noqa: S608  (our own name)
        current = about is not None and about[:2] == (FORMAT, io.VERSION)
        return str(about[2]) if about is not None and current else _OLDER


def _state(request: Request, packages: Mapping[str, Place]) -> str:
    """Return what a database is made of, as a digest; no file of a submission is opened for it.

    Empty where a change from now on may not show, as files have changed only just now.
    """
    parts = [msgspec.json.encode(request.convergence)]
    for file in filter(None, (request.convergence.reference, request.overlay)):
        with _failing_as(f"{file} cannot be read"), open_regular(file) as stream:
            parts.append(stream.read())
    for key, place in packages.items():
        fingerprint = scan_tree(place.root, place.listing).fingerprint
        if fingerprint is None:
            return ""
        parts += [key.encode(), os.fsencode(place.path.relative_to(place.root)), fingerprint]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _write(output: Path, context: Context, packages: Collection[Place], state: str) -> str | None:
    """Make the database beside its place, and put it there.

    Returns:
        The name under which a file is kept that this program had not written as it was.
    """
    about: list[int | str] = [FORMAT, io.VERSION, state]
    with staging_beside(output) as staging:
        part = staging / "results.duckdb"
        # One thread: reading logs forks, and nothing may run beside it then.
        with _connected(part, f"{output} cannot be built", config={"threads": 1}) as connection:
            create_tables(connection)
            overlay = context.request.overlay
            checked = zip(packages, check_apart(list(packages), context), strict=True)
            rows = (package_rows(of.root, get_round(of.usage, of.round, overlay), one) for of, one in checked)
            insert_rows(connection, chain.from_iterable(rows))
            connection.execute(f"CREATE TABLE {ABOUT} AS SELECT ? AS format, ? AS mlsub, ? AS state", about)
            # All of it in the one file that takes the name.
            connection.execute("CHECKPOINT")
        with _failing_as(f"{output} cannot be written"):
            with part.open("rb") as stream:
                sync_file(stream)
            aside = back_up_foreign(output, [output])
            write_record(output, {output.name: path_digest(part)})
            put_file(part, output, force=True)
            return aside[0].name if aside else None


def _export(connection: DuckDBPyConnection, folder: Path) -> None:
    """Write one Parquet file a table, and what they are; the folder is put in place whole."""
    with staging_beside(folder) as staging:
        new = staging / "tables"
        new.mkdir()
        with _failing_as(f"{folder} cannot be written"):
            for table in stored():
                connection.table(table.name).write_parquet(str(new / f"{table.name}.parquet"))
            (new / CRATE).write_bytes(_describe(connection, new))
        replace_folder(new, folder)


def _describe(connection: DuckDBPyConnection, folder: Path) -> bytes:
    """Return the tables in a folder as an RO-Crate."""
    columns = [
        Variable(f"{table.name}.{column.name}", column.meaning) for table in stored() for column in table.columns
    ]
    named = ((f"{table.name}.parquet", table.meaning) for table in stored())
    files = [data_file(name, (folder / name).read_bytes(), meaning) for name, meaning in named]
    rows = connection.execute(_SOURCES).fetchall()
    sources = [ResultSource(round_key(usage, round_), *of) for usage, round_, *of in rows]
    ended = connection.execute("SELECT epoch_ms(max(run_stop)) FROM runs").fetchall()
    return render_crate(build_dataset(sources, columns, files), (time for (time,) in ended))


@contextmanager
def _connected(
    file: Path, failed: str, remedy: str = "", config: dict[str, Any] | None = None
) -> Iterator[DuckDBPyConnection]:
    """Yield a connection to a database: to read it, or with a configuration to write a new one."""
    import duckdb

    with (
        _failing_as(failed, remedy),
        closing(duckdb.connect(file, read_only=not config, config=config or {})) as connection,
    ):
        yield connection


@contextmanager
def _failing_as(what: str, remedy: str = "") -> Iterator[None]:
    """Say what failed where the system or DuckDB only says why."""
    import duckdb

    with failing_as(what, remedy):
        try:
            yield
        except duckdb.Error as error:
            raise MlsubError(f"{what}: {message_of(error)}.{remedy}") from error
