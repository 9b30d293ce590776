"""``mlsub check``: the verdict."""

from __future__ import annotations

import sys

import click

from mlsub.cli.options import exit_with, path_and_round, run_check


@click.command("check")
@path_and_round
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Audit findings count too: exit status 1 if there are any.")
@click.option("--select", multiple=True, metavar="RULE", help="Show only findings of this rule or prefix.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not show findings of this rule or prefix.")
def command(
    paths: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    format_: str,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Check logs, benchmark folders, organisations' trees or folders of organisations.

    Nothing is written into what is checked. The verdict is that of the official checker of the round's day;
    --select and --ignore choose what is shown and what --strict counts, never the verdict.

    Exit status: 0 accepted, 1 rejected, 2 nothing could be checked.
    """
    _refuse_unknown_rules((*select, *ignore))
    reports = run_check(paths, round_, usage, jobs)
    if select or ignore:
        from mlsub.report.model import select as choose

        reports = [choose(report, select, ignore) for report in reports]
    if format_ == "json":
        from mlsub.report.json import render_json

        sys.stdout.write(render_json(reports))
    else:
        from mlsub.report.text import console, render_text

        render_text(reports, console())
    exit_with(reports, strict=strict)


def _refuse_unknown_rules(prefixes: tuple[str, ...]) -> None:
    if not prefixes:
        return
    from mlsub.rules.explain import suggestion

    for prefix in prefixes:
        hint = suggestion(prefix)
        if hint is not None:
            raise click.UsageError(hint)
