"""``mlsub db query`` and ``mlsub db tables``: questions to the database, and what there is to ask."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, format_option

#: A longer question is none.
_MAX_STATEMENT = 1 << 20


@click.command("query", cls=Command, example="mlsub db query 'select * from entries limit 5'")
@click.argument("statement", metavar="SQL")
@click.option("--db", "database", type=click.Path(), metavar="FILE", default="results.duckdb", show_default=True)
@click.option("--limit", type=click.IntRange(1, 10_000_000), metavar="N", default=1000, show_default=True)
@click.option(
    "--format", "format_", type=click.Choice(["text", "csv", "json", "markdown"]), default="text", show_default=True
)
def query(statement: str, database: str, limit: int, format_: str) -> None:
    """Answer a question in SQL, one SELECT; - reads it from standard input.

    The database is opened for reading alone, without files, network and extensions. text and markdown round numbers to
    six decimals; csv and json have them whole. mlsub db tables shows what there is to ask.

    Exit status: 0 answered, 2 not.
    """
    from mlsub.commands.db.query import ask
    from mlsub.commands.options import tell, write_text

    answer = ask(Path(database), _statement(statement), limit)
    from mlsub.commands.db.render import as_csv, as_json, as_markdown, print_table

    if format_ == "text":
        from mlsub.present.report import console

        print_table(answer, console())
    elif format_ == "csv":
        write_text(as_csv(answer))
    else:
        write_text(as_json(answer) if format_ == "json" else as_markdown(answer))
    for note in answer.notes:
        tell(note)
    if answer.more:
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
        raise MlsubError("The question is no UTF-8 text") from error


@click.command("tables", cls=Command, example="mlsub db tables entries")
@click.argument("names", metavar="[TABLE]...", nargs=-1)
@format_option
def tables(names: tuple[str, ...], format_: str) -> None:
    """Show the tables and views of a database, and what their columns mean.

    Exit status: 0 shown, 2 no such table.
    """
    from mlsub.commands.db.document import tables_document, tables_of
    from mlsub.commands.db.schema import tables as known
    from mlsub.io.errors import MlsubError
    from mlsub.io.yamlfile import meant

    by_name = {table.name: table for table in known()}
    for name in names:
        if name not in by_name:
            raise MlsubError(f"no table {name!r}{meant(name, by_name)}")
    shown = tables_of([by_name[name] for name in names] or list(known()))
    Target("db tables", format_).write(shown, lambda: tables_document(shown))
