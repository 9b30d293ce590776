"""``mlsub merge``: join packages that teams have prepared apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import Target, format_option

if TYPE_CHECKING:
    from mlsub.commands.merge.model import Merge


@click.command("merge")
@click.argument("paths", metavar="A B...", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", required=True, metavar="OUT", type=click.Path(path_type=Path), help="The folder to be.")
@click.option("--write", is_flag=True, help="Write it; without this only the plan is shown.")
@click.option("--replace", is_flag=True, help="Replace OUT where mlsub wrote all that is in it.")
@click.option("--even-rejected", is_flag=True, help="Put the result in place even if mlsub check rejects it.")
@click.option("--round", "round_", metavar="ROUND", help="1.0, 1.0.0 or v1.0; else read off the folders.")
@click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal; else read off the folders.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@format_option
def command(
    paths: tuple[str, ...],
    output: Path,
    write: bool,
    replace: bool,
    even_rejected: bool,
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    format_: str,
) -> None:
    """Join packages A, B, ... of one organisation into OUT, the organisation's folder.

    Files that are alike are joined; anything that differs is a conflict, and then nothing is written. With --write the
    result is checked beside OUT and put in place in one step. A, B, ... are never changed.

    Exit status: 0 no conflict (with --write: written and accepted), 1 conflicts or rejected, 2 could not be done.
    """
    from mlsub.commands.merge.document import document_of

    outcome = _merge(paths, output, round_, usage, jobs, write=write, replace=replace, even_rejected=even_rejected)
    Target("merge", format_).write(outcome, lambda: document_of(outcome))
    sys.exit(outcome.exit_status)


def _merge(
    paths: tuple[str, ...],
    output: Path,
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    *,
    write: bool,
    replace: bool,
    even_rejected: bool,
) -> Merge:
    from mlsub.commands.merge.model import merge_of
    from mlsub.commands.merge.plan import plan_merge
    from mlsub.commands.merge.sources import check_place, read_sources, round_of
    from mlsub.commands.merge.write import write_merge
    from mlsub.commands.options import progress_bar
    from mlsub.io.written import check_free
    from mlsub.workspace import Settings

    sources = read_sources(paths)
    rules = round_of(sources, round_, usage)
    check_place(output, sources, replace=replace)
    plan = plan_merge(sources, rules)
    check_free(output, {step.item.path: sources[step.source].folder / step.item.path for step in plan.steps})
    if plan.findings or not write:
        return merge_of(plan, rules, output)
    with progress_bar() as progress:
        settings = Settings(rules.name, rules.usage, jobs, progress)
        report, written = write_merge(plan, sources, output.absolute(), settings, rejected_too=even_rejected)
    return merge_of(plan, rules, output, report, written=written)
