"""``mlsub db``: a database of results, and questions to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mlsub.commands import LazyGroup
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, format_option, output_options, tell
from mlsub.present import FORMATS, columnar
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.group("db", cls=LazyGroup)
def command() -> None:
    """A database of published results: build it, ask it.

    Needs: pip install '.[db]'. Worked questions are in docs/db.md.

    Exit status: 0, 1 if submissions had to be left out, 2 if it could not be done.
    """


@command.command("build", example="mlsub db build v5.0 v5.1 -o results.duckdb")
@click.argument("paths", metavar="DIR...", nargs=-1, type=click.Path())
@click.option(
    "--output",
    "-o",
    type=click.Path(),
    metavar="FILE",
    default="results.duckdb",
    show_default=True,
    help="Write the database to FILE.",
)
@click.option(
    "--parquet", type=click.Path(), metavar="DIR", help="Also write Parquet files, and an RO-Crate of them, in DIR."
)
@asks(None, convergence=True)
@click.option("--force", is_flag=True, help="Build FILE anew; a file that mlsub did not write is kept as FILE.~1~.")
@format_option
def build_command(asked: Request, output: str, parquet: str | None, force: bool, format_: str) -> None:
    """Build a database of the submissions in DIR....

    DIR is a folder of rounds, a round, or an organisation. Afterwards FILE has what the DIRs have, and no more. If
    no file or option has changed, FILE stays as it is; else it is built anew, and whoever reads it
    meanwhile sees the old one or the new one.

    Exit status: 0 built, 1 built but submissions were left out, 2 not built.
    """
    if not asked.paths:
        raise click.UsageError("Name a folder of results.")
    from mlsub.commands.db import build, document

    with progress_bar("reading submissions") as progress:
        built = build.build(
            list(map(Path, asked.paths)),
            Path(output),
            ready(asked, progress),
            Path(parquet) if parquet else None,
            fresh=force,
        )
    if built.older:
        tell(f"{output} was made by another version of mlsub, and is built anew")
    if built.aside is not None:
        tell(f"what {output} held before is kept as {built.aside}")
    for left_out in built.passed_over:
        tell(f"left out: {left_out}")
    Target("db build", format_).write(built, lambda: document.built_document(built))
    sys.exit(1 if built.passed_over else 0)


_database = click.option(
    "--db", "database", type=click.Path(), metavar="FILE", default="results.duckdb", show_default=True, help="Ask FILE."
)


@command.command("query", example="mlsub db query 'select * from entries limit 5'")
@click.argument("statement", metavar="SQL")
@_database
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000_000),
    metavar="N",
    default=1000,
    show_default=True,
    help="Show at most N rows.",
)
@click.option(
    "--timeout",
    type=click.IntRange(1, 86_400),
    metavar="SECONDS",
    default=60,
    show_default=True,
    help="End a question that takes longer.",
)
@output_options("db query", (*FORMATS, "csv", *columnar.FORMATS))
def query_command(statement: str, database: str, limit: int, timeout: int, target: Target) -> None:
    """Answer a question in SQL, one SELECT; - reads it from standard input.

    The database is opened only for reading, without files, network and extensions; open only databases that you built.
    Numbers have six decimals at most; csv and json have them whole, and arrow (an IPC stream) and parquet the types of
    the columns as well. mlsub db tables shows what there is to ask.

    Exit status: 0 answered, 2 not.
    """
    from mlsub.commands.db import document, query

    if target.format in columnar.FORMATS:
        target.refuse_terminal()
        table, more = query.query_arrow(Path(database), _read_statement(statement), limit, timeout)
        target.put(columnar.render(table, target.format))
    else:
        rows = query.query_rows(Path(database), _read_statement(statement), limit, timeout)
        more = rows.more
        if target.format == "csv":
            target.put(document.as_csv(rows))
        else:
            target.write(rows, lambda: document.result_document(rows))
    if more:
        tell(f"only the first {limit} rows; --limit N shows more")


def _read_statement(text: str) -> str:
    # What is not UTF-8 is refused as it is in an argument.
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape") if text == "-" else text


def _complete_tables(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The names of tables, for completion."""
    from mlsub.commands.db.schema import tables

    return [table.name for table in tables() if table.name.startswith(incomplete)]


@command.command("tables", example="mlsub db tables entries")
@click.argument("names", metavar="[TABLE]...", nargs=-1, shell_complete=_complete_tables)
@_database
@format_option
def tables(names: tuple[str, ...], database: str, format_: str) -> None:
    """Show the tables and views of a database, your own among them, and what their columns mean.

    Where there is no FILE yet, those that mlsub db build makes.

    Exit status: 0 shown, 2 no such table, or FILE is named and is not there.
    """
    from mlsub.commands.db import document, query, schema

    named = click.get_current_context().get_parameter_source("database") is not ParameterSource.DEFAULT
    known = query.tables_of(Path(database)) if named or Path(database).is_file() else schema.tables()
    shown = schema.Tables(tables=schema.find_tables(names, known))
    Target("db tables", format_).write(shown, lambda: document.tables_document(shown))
