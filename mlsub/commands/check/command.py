"""``mlsub check``: the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks, check_rule_names
from mlsub.commands.options import CheckCommand, Target, check_output_options, exit_with, tell_unchecked

if TYPE_CHECKING:
    from mlsub.submission.report import Report


@click.command("check", cls=CheckCommand, example="mlsub check v5.1/ACME")
@asks(rules=True, convergence=True)
@click.option("--strict", is_flag=True, help="Exit with 1 if there are review findings.")
@click.option("--select", multiple=True, metavar="RULE", help="Show only findings of this rule or prefix; repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Hide findings of this rule or prefix; repeatable.")
@check_output_options("check")
def command(
    asked: Asked,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    target: Target,
) -> None:
    """Check logs, benchmark folders, organisations' trees or folders of organisations.

    Nothing is written into what is checked. The verdict is that of the official checker in force for the round;
    --select and --ignore choose what is shown and what --strict counts, never the verdict.

    Exit status: 0 accepted, 1 rejected or against --rules, 2 something could not be checked.
    """
    from mlsub.commands.check.document import document_of
    from mlsub.present.entries import Reports
    from mlsub.present.results import of_reports

    reports = _unknown_rules((*select, *ignore), for_machines=target.for_machines)
    if not reports:
        reports = asked.check()
        if select or ignore:
            from mlsub.submission.report import select as choose

            reports = [choose(report, select, ignore) for report in reports]
    target.write(
        Reports(reports=tuple(reports)),
        lambda: document_of(reports, verdict_last=True),
        page=lambda: document_of(reports, verdict_last=False),
        results=lambda: of_reports("check", reports, strict=strict),
    )
    if target.format != "text":
        tell_unchecked(reports)
    exit_with(reports, strict=strict)


def _unknown_rules(prefixes: tuple[str, ...], *, for_machines: bool) -> list[Report]:
    """A report that says so where a rule to select or ignore does not exist; else nothing.

    Raises:
        click.UsageError: the same for people, who need no document.
    """
    if not prefixes or not for_machines:
        check_rule_names(prefixes)
        return []
    from mlsub.rules.catalogue import finding
    from mlsub.rules.explain import suggestion
    from mlsub.workspace import not_checked

    hints = filter(None, map(suggestion, prefixes))
    problems = [finding("check.unknown-rule", ".", f"There is {hint}") for hint in hints]
    return [not_checked(".", problems)] if problems else []
