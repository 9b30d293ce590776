"""Which findings are shown and how much of them: one set of options for all commands that answer with findings."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from mlsub.commands.asked import check_rule_names
from mlsub.commands.settings import setting


def choice_options(
    *, kinds: bool = True, check_rules: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--select, --ignore, --only, --severity, --quiet, --summary and --verbose.

    The function gets them as ``choice`` (:class:`mlsub.submission.report.Choice`) and ``detail``
    (:data:`mlsub.present.findings.Detail`, None if nothing was asked for).

    Args:
        kinds: there are official and review findings, so with --only and --verbose.
        check_rules: refuse names that no rule has; otherwise the command does so itself.
    """
    options = [
        setting("--select", multiple=True, metavar="RULE", help="Show only this rule or prefix; repeatable."),
        setting("--ignore", multiple=True, metavar="RULE", help="Hide this rule or prefix; repeatable."),
        click.option("--only", type=click.Choice(["official", "house", "review"]), help="Show only this kind.")
        if kinds
        else None,
        click.option(
            "--severity",
            type=click.Choice(["error", "warning", "info"]),
            default="info",
            help="Show only findings that are at least so severe.",
        ),
        click.option("-q", "--quiet", "detail", flag_value="quiet", help="Show only the last line, the verdict."),
        click.option("--summary", "detail", flag_value="summary", help="Show tables and counts, no findings."),
        click.option("-v", "--verbose", "detail", flag_value="full", help="Show all findings in full.")
        if kinds
        else None,
    ]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(
            select: tuple[str, ...], ignore: tuple[str, ...], severity: str, only: str | None = None, **others: Any
        ) -> None:
            from mlsub.findings import Kind, Severity
            from mlsub.submission.report import Choice

            if check_rules:
                check_rule_names((*select, *ignore))
            kind = None if only is None else Kind(only)
            function(choice=Choice(select=select, ignore=ignore, only=kind, severity=Severity(severity)), **others)

        for option in filter(None, reversed(options)):
            called = option(called)
        return called

    return decorate
