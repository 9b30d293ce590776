"""``mlsub db query`` and ``mlsub db tables``: questions to the database, and what there is to ask."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlsub.commands.options import Target, format_option
from mlsub.present import FORMATS

#: A longer question is none.
_MAX_STATEMENT = 1 << 20


@click.command("query")
@click.argument("statement", metavar="SQL")
@click.option("--db", "database", type=click.Path(), metavar="FILE", default="results.duckdb", show_default=True)
@click.option("--limit", type=click.IntRange(1, 10_000_000), metavar="N", default=1000, show_default=True)
@click.option("--format", "format_", type=click.Choice([*FORMATS, "csv"]), default="text", show_default=True)
def query(statement: str, database: str, limit: int, format_: str) -> None:
    """Answer a question in SQL, one SELECT; - reads it from standard input.

    The database is opened for reading alone, without files, network and extensions. Numbers have six
    decimals at most; csv and json have them whole. mlsub db tables shows what there is to ask.

    Exit status: 0 answered, 2 not.
    """
    from mlsub.commands.db.document import as_csv, result_document
    from mlsub.commands.db.query import ask
    from mlsub.commands.options import tell

    found = ask(Path(database), _statement(statement), limit)
    target = Target("db query", format_)
    if format_ == "csv":
        target.put(as_csv(found))
    else:
        target.write(found, lambda: result_document(found))
    for note in found.notes:
        tell(note)
    if found.more:
        tell(f"only the first {limit} rows; --limit N shows more")


def _statement(text: str) -> str:
    if text != "-":
        return text
    from mlsub.io.errors import MlsubError

    raw = sys.stdin.buffer.read(_MAX_STATEMENT + 1)
    if len(raw) > _MAX_STATEMENT:
        raise MlsubError(f"The question is longer than {_MAX_STATEMENT >> 20} MiB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MlsubError("The question is not UTF-8 text") from error


@click.command("tables")
@click.argument("names", metavar="[TABLE]...", nargs=-1)
@format_option
def tables(names: tuple[str, ...], format_: str) -> None:
    """Show the tables and views of a database, and what their columns mean.

    Exit status: 0 shown, 2 no such table.
    """
    from mlsub.commands.db.document import tables_document
    from mlsub.commands.db.schema import Tables
    from mlsub.commands.db.schema import tables as known
    from mlsub.io.errors import MlsubError
    from mlsub.io.yamlfile import meant

    by_name = {table.name: table for table in known()}
    for name in names:
        if name not in by_name:
            raise MlsubError(f"There is no table {name!r}{meant(name, by_name)}")
    shown = Tables(tables=tuple(by_name[name] for name in names or by_name))
    Target("db tables", format_).write(shown, lambda: tables_document(shown))
