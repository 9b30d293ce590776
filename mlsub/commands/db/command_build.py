"""``mlsub db build``: results and records as a database."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, format_option


@click.command("build", cls=Command, example="mlsub db build v5.0 v5.1 -o results.duckdb")
@click.argument("folders", metavar="DIR...", nargs=-1, type=click.Path())
@click.option("--output", "-o", type=click.Path(), metavar="FILE", default="results.duckdb", show_default=True)
@click.option("--records", type=click.Path(), metavar="FILE", multiple=True, help="Benchmark records; may be repeated.")
@click.option("--parquet", type=click.Path(), metavar="DIR", help="Write the tables there as well, one file each.")
@asks(None, convergence=True)
@click.option("--force", is_flag=True, help="Build FILE anew; what mlsub did not write there is kept as FILE.~1~.")
@format_option
def build(
    folders: tuple[str, ...],
    output: str,
    records: tuple[str, ...],
    parquet: str | None,
    asked: Asked,
    force: bool,
    format_: str,
) -> None:
    """Build a database of the submissions in DIR..., or bring one up to date.

    DIR is a folder of rounds, a round, or an organisation. Afterwards FILE holds what the DIRs and records hold, and no
    more. A submission whose files are the same as before is not read again, unless the convergence test is asked for
    something else. Whoever reads FILE meanwhile sees the old one or the new one.

    Exit status: 0 built, 1 built but submissions were left out, 2 not built.
    """
    if not folders and not records:
        raise click.UsageError("Name a folder of results, or --records FILE.")
    from mlsub.commands.db.build import Ask
    from mlsub.commands.db.build import build as build_database
    from mlsub.commands.db.document import built_document
    from mlsub.commands.options import tell

    settings = asked.settings()
    work = Ask(
        folders=tuple(map(Path, folders)),
        output=Path(output),
        records=tuple(map(Path, records)),
        parquet=Path(parquet) if parquet else None,
        round=asked.round,
        usage=asked.usage,
        jobs=asked.jobs,
        fresh=force,
        convergence=settings.convergence,
    )
    built = build_database(work)
    if built.aside is not None:
        tell(f"what {output} held before is kept as {built.aside}")
    for left_out in built.passed_over:
        tell(f"left out: {left_out}")
    Target("db build", format_).write(built, lambda: built_document(built))
    sys.exit(1 if built.passed_over else 0)
