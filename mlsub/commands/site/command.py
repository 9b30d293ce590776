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
@format_option
def command(
    asked: Request,
    output: str,
    force: bool,
    title: str | None,
    url: str | None,
    format_: str,
) -> None:
    """Write the results below PATH as a site that opens in any browser, without a network.

    Tables to sort and to filter, and for each result its training curves, run timeline, convergence, hyperparameters,
    system and findings. Nothing is written into what is read. Needs Jinja2: pip install '.[report]'.

    Results are ranked by their published minutes, whatever their verdict, which has a column of its own.

    Exit status: 0 all results accepted; 1 otherwise, as the site says; 2 a PATH could not be
    checked, there is nothing to show, or the site cannot be written.
    """
    from msgspec.structs import replace

    from mlsub.commands.site import build, page

    page.check_libraries()
    if url is not None and not url.startswith(("https://", "http://")):
        raise MlsubError(f"{url} is no address of a site. It begins with https://.")
    build.check_place(Path(output), asked.paths, force=force)
    context = ready(asked)
    checked = build.read_results(asked.paths, context)
    with progress_bar("writing pages") as progress:
        shown = replace(context, progress=progress)
        where = f"{url.rstrip('/')}/" if url else ""
        built = build.build_site(checked, Path(output), shown, title=title, url=where)
    Target("site", format_).write(built, lambda: build.document_of(built))
    exit_with([one.report for one in checked])
