"""``mlsub site``: the results page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks, progress_bar
from mlsub.commands.lazy import Command
from mlsub.commands.options import exit_with, tell_unchecked
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlsub.commands.audit.audit import Audit
    from mlsub.commands.site.build import Built
    from mlsub.commands.site.pages import Page
    from mlsub.judge.log import NewFold
    from mlsub.workspace import Checked, Settings


@click.command("site", cls=Command, example="mlsub site v5.1 -o build/site")
@asks(rules=True, convergence=True)
@click.option("--output", "-o", required=True, type=click.Path(), metavar="DIR", help="The folder of the site.")
@click.option("--replace", "--force", "replace", is_flag=True, help="Replace an earlier site there.")
@click.option("--ids", type=click.Path(), metavar="FILE", help="CSV of the IDs of results; see docs/site.md.")
@click.option("--records", multiple=True, type=click.Path(), metavar="FILE", help="Figures beyond MLPerf; repeatable.")
@click.option("--claims", multiple=True, type=click.Path(), metavar="FILE", help="Claims to audit; repeatable.")
@click.option("--inspect", "inspected", is_flag=True, help="Tell what mlsub inspect finds of each result, too.")
@click.option("--title", metavar="TEXT", help="What it is called.")
def command(
    asked: Asked,
    output: str,
    replace: bool,
    ids: str | None,
    records: tuple[str, ...],
    claims: tuple[str, ...],
    inspected: bool,
    title: str | None,
) -> None:
    """Write the results below PATH as a site that opens in any browser, without a network.

    Tables to sort and to filter, and for each result its training curves, run timeline, convergence, hyperparameters,
    system and findings. Nothing is written into what is read. Needs Jinja2: pip install 'mlsub[report]'.

    --claims holds the claims of a file against the same results, as mlsub audit does, and shows what comes of it.

    Results are ranked by their published minutes, whatever the verdict, which stands beside.

    Exit status: 0 all accepted and no claim against the logs, 1 else (the site says what), 2 a PATH could not be
    checked, there is nothing to show, or it cannot be written.
    """
    from msgspec.structs import replace as replaced

    from mlsub.commands.db.records import read_records
    from mlsub.commands.site.build import Wanted, build_site, check_place
    from mlsub.commands.site.ids import read_ids
    from mlsub.commands.site.render import check_jinja

    check_jinja()
    check_place(Path(output), asked.paths, replace=replace)
    settings = asked.settings()
    wanted = Wanted(title=title, reference=asked.rcp, records=tuple(read_records(Path(file)) for file in records))
    if ids is not None:
        wanted = replaced(wanted, naming=read_ids(Path(ids)))
    audits = _audit(claims, asked)
    checked = _check(asked.paths, settings, inspected=inspected)
    if inspected:
        checked = _inspect(checked, asked)
    built = build_site(checked, Path(output), replaced(wanted, overlay=settings.overlay, more=_pages(audits)))
    _tell(built, output)
    if any(found.exit_status() for found in audits) and all(one.report.exit_status() < 2 for one in checked):
        sys.exit(1)
    exit_with([one.report for one in checked])


def _check(paths: Sequence[str], settings: Settings, *, inspected: bool) -> list[Checked]:
    """Read and judge; the end of the command where there is no result to show."""
    from msgspec.structs import replace

    from mlsub.workspace import check_with_logs

    folds: tuple[NewFold, ...] = ()
    if inspected:
        from mlsub.review.runs.trace import TraceFold

        folds = (TraceFold,)
    with progress_bar() as progress:
        checked = check_with_logs(paths, replace(settings, progress=progress, folds=folds))
    tell_unchecked([one.report for one in checked])
    if not any(one.report.entries for one in checked):
        if any(one.report.logs for one in checked):
            raise MlsubError("a log alone is no result. Name the folder of its benchmark.")
        raise MlsubError("there is no result to show, and no site was written.")
    return checked


def _inspect(checked: list[Checked], asked: Asked) -> list[Checked]:
    """The same with forensic findings; the end of the command where a path cannot be inspected."""
    from mlsub.commands.site.forensics import with_forensics
    from mlsub.workspace import Settings

    with progress_bar() as progress:
        return with_forensics(checked, asked.paths, Settings(asked.round, asked.usage, asked.jobs, progress))


def _audit(files: Sequence[str], asked: Asked) -> list[Audit]:
    """Audit claims files against what lies below the paths; the end of the command where one cannot be used."""
    if not files:
        return []
    from mlsub.commands.audit.audit import audit

    with progress_bar() as progress:
        return [audit(Path(file), asked.paths, jobs=asked.jobs, progress=progress) for file in files]


def _pages(audits: Sequence[Audit]) -> tuple[Page, ...]:
    if not audits:
        return ()
    from mlsub.commands.site.claims import claims_page

    return (claims_page(audits),)


def _tell(built: Built, output: str) -> None:
    from mlsub.io.plain import plain

    told = f"{_count(built.results, 'result')} of {_count(built.rounds, 'round')}, {_count(built.runs, 'run')}"
    click.echo(plain(f"{output}: {told}, on {_count(built.pages, 'page')}. Open {Path(output) / 'index.html'}"))


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"
