"""``mlsub site``: the results page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, exit_with, format_option, tell_unchecked
from mlsub.commands.settings import apply_waivers
from mlsub.io.errors import MlsubError
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlsub.workspace import Checked, Context, Request


@click.command("site", cls=Command, example="mlsub site v5.1 -o build/site")
@asks(rules=True, convergence=True)
@click.option("--output", "-o", required=True, type=click.Path(), metavar="DIR", help="Write the site into DIR.")
@click.option("--force", is_flag=True, help="Replace an earlier site in DIR.")
@click.option("--title", metavar="TEXT", help="Give the site a title.")
@click.option("--url", metavar="URL", help="Where the site will be: links that are shared then have pictures.")
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
    system and findings. Nothing is written into what is read. Needs Jinja2 and Pillow: pip install '.[report]'.

    Results are ranked by their published minutes, whatever their verdict, which has a column of its own.

    Exit status: 0 all results accepted; 1 otherwise, as the site says; 2 a PATH could not be
    checked, there is nothing to show, or the site cannot be written.
    """
    from msgspec.structs import replace

    from mlsub.commands.site.build import build_site, check_place, document_of
    from mlsub.commands.site.render import check_libraries

    check_libraries()
    if url is not None and not url.startswith(("https://", "http://")):
        raise MlsubError(f"{url} is no address of a site. It begins with https://.")
    check_place(Path(output), asked.paths, force=force)
    context = ready(asked)
    checked = _check(asked.paths, context)
    with progress_bar("writing pages") as progress:
        shown = replace(context, progress=progress)
        where = f"{url.rstrip('/')}/" if url else ""
        built = build_site(checked, Path(output), shown, title=title, url=where)
    Target("site", format_).write(built, lambda: document_of(built))
    exit_with([one.report for one in checked])


def _check(paths: Sequence[str], context: Context) -> list[Checked]:
    """Read and judge, each log once.

    Raises:
        MlsubError: there is no result to show.
    """
    from msgspec.structs import replace

    from mlsub.workspace import check_with_logs

    with progress_bar() as progress:
        read = check_with_logs(paths, replace(context, progress=progress))
    reports = apply_waivers([one.report for one in read], paths)
    checked = [replace(one, reports=(report,)) for one, report in zip(read, reports, strict=True)]
    tell_unchecked([one.report for one in checked])
    if not any(one.report.entries for one in checked):
        if any(one.report.logs for one in checked):
            raise MlsubError("a log alone is not a result. Name the folder of its benchmark.")
        raise MlsubError("there is no result to show, and no site was written.")
    return checked
