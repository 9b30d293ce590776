"""``mlsub site``: the results page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, exit_with, format_option
from mlsub.io import MlsubError
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace import Request


@click.command("site", cls=Command, example="mlsub site v5.1 -o build/site")
@asks(rules=True, convergence=True)
@click.option("--output", "-o", required=True, type=click.Path(), metavar="DIR", help="Write the site into DIR.")
@click.option("--force", is_flag=True, help="Replace an earlier site in DIR.")
@click.option("--title", metavar="TEXT", help="Give the site a title.")
@click.option("--url", metavar="URL", help="Where the site will be: its pages then say their address.")
@click.option(
    "--source",
    metavar="URL",
    help="Where folders of results lie on the web: {path} stands for ORGANISATION/results/SYSTEM/BENCHMARK, {round} "
    "and {usage} for these.  [default: the repositories of MLCommons]",
)
@click.option("--open", "open_", is_flag=True, help="Show the first page in the browser.")
@format_option
def command(
    asked: Request,
    output: str,
    force: bool,
    title: str | None,
    url: str | None,
    source: str | None,
    open_: bool,
    format_: str,
) -> None:
    """Write the results below PATH as a site that opens in any browser, without a network.

    Tables to sort and to filter, and for each result its training curves, run timeline, convergence, hyperparameters,
    system and findings. Nothing is written into what is read.

    Results are ranked by their published minutes, whatever their verdict, which has a column of its own.

    Exit status: 0 all results accepted; 1 otherwise, as the site says; 2 a PATH could not be
    checked, there is nothing to show, or the site cannot be written.
    """
    from msgspec.structs import replace

    from mlsub.commands.site import build, result_page

    for address in filter(None, (url, source)):
        if not address.startswith(("https://", "http://")):
            raise MlsubError(f"{address} is no address of a site. It begins with https://.")
    if source and not result_page.is_pattern(source):
        raise MlsubError(f"--source {source}: it has {{path}}, and of other braces {{round}} and {{usage}} alone.")
    build.check_place(Path(output), asked.paths, force=force)
    context = ready(asked)
    checked = build.read_results(asked.paths, context)
    with progress_bar("writing pages") as progress:
        shown = replace(context, progress=progress)
        where = f"{url.rstrip('/')}/" if url else ""
        built = build.build_site(checked, Path(output), shown, title=title, url=where, source=source or "")
    Target("site", format_).write(built, lambda: build.document_of(built))
    if open_:
        import webbrowser

        webbrowser.open(Path(built.index).resolve().as_uri())
    exit_with([one.report for one in checked])
