"""``mlsub check``: the verdict."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import asks, check, check_rule_names, choice_options, require_paths
from mlsub.commands.output import (
    CheckCommand,
    Target,
    check_output_options,
    exit_with,
    tell,
    tell_unchecked,
)
from mlsub.commands.settings import check_settings, current, fail_on_options, setting

if TYPE_CHECKING:
    from mlsub.findings import Severity
    from mlsub.present.ci import CiReport
    from mlsub.present.document import Document
    from mlsub.submission.report import Choice, Detail, Report
    from mlsub.workspace.places import Request


@click.command("check", cls=CheckCommand, example="mlsub check v5.1/ACME", shows_settings=True)
@asks(rules=True, convergence=True, required=False)
@fail_on_options
@choice_options
@setting("--baseline", metavar="FILE", help="Count only findings that are not in FILE.")
@click.option("--write-baseline", is_flag=True, help="Write all findings to the --baseline FILE first.")
@click.option("--show-settings", is_flag=True, help="Show each setting, its value and its source; check nothing.")
@check_output_options("check")
def command(
    asked: Request,
    fail_on: Severity | None,
    choice: Choice,
    detail: Detail | None,
    baseline: str | None,
    write_baseline: bool,
    show_settings: bool,
    target: Target,
) -> None:
    """Check logs, benchmark folders, organisations' trees or folders of organisations.

    Nothing is written into what is checked. The verdict is that of the official checker in force for the round, and no
    option that chooses findings changes it; a finding that is hidden does not count for --fail-on or --rules.

    What rejects is shown in full, as are official warnings, your own rules and review errors; other review findings are
    counted, unless --verbose, --fail-on, --select or --only review asks for them. Settings may come from a file or
    MLSUB_ variables; see docs/configuration.md.

    Exit status: 0 accepted, 1 rejected or against --rules, 2 something could not be checked.
    """
    if show_settings:
        from mlsub.commands.check.shown import shown, shown_document

        check_settings()
        found = shown(click.get_current_context())
        target.write(found, lambda: shown_document(found), "settings")
        return
    require_paths(asked.paths)
    from mlsub.commands.check import document
    from mlsub.present import findings

    own = current()
    if target.only_text and detail != "quiet" and baseline is None and not write_baseline and not own.has_waivers:
        check_settings()
        check_rule_names((*choice.select, *choice.ignore))
        sys.exit(document.write_each(asked, target, findings.shown_of(choice, detail, fail_on=fail_on), own.summary))
    from mlsub.present.envelope import Reports
    from mlsub.submission.report import choose

    with target.or_refused():
        if baseline is not None or write_baseline:
            from mlsub.commands.check.baseline import check_baseline, with_baseline

            check_baseline(baseline, write=write_baseline)
        reports = _unknown_rules((*choice.select, *choice.ignore), for_machines=target.for_machines)
        if not reports:
            reports = check(asked)
            if baseline is not None:
                reports = with_baseline(reports, Path(baseline), asked.paths, write=write_baseline)
    chosen = tuple(choose(report, choice) for report in reports)

    def build(*, page: bool) -> Document:
        shown = findings.shown_of(choice, detail, fail_on=fail_on, page=page)
        return document.document_of(reports, shown, verdict_last=not page, settings=own.summary)

    target.write(
        Reports(reports=chosen, settings=str(own.loaded.file) if own.loaded else None),
        lambda: build(page=False),
        page=lambda _: build(page=True),
        results=lambda: _results(chosen, fail_on=fail_on),
    )
    if own.summary and target.for_ci:
        tell(f"settings: {own.summary}", "check")
        for report in chosen:
            for label, words in findings.hidden(report):
                tell(f"{label}: {words}", "check")
    if target.format != "text" or detail == "quiet":
        tell_unchecked(reports)
    exit_with(chosen, fail_on=fail_on)


def _results(reports: Sequence[Report], *, fail_on: Severity | None) -> CiReport:
    """What CI reads."""
    from mlsub.present.ci import ci_report

    return ci_report("check", reports, fail_on=fail_on)


def _unknown_rules(prefixes: tuple[str, ...], *, for_machines: bool) -> list[Report]:
    """A report that says so where a rule to select or ignore does not exist; else nothing.

    Raises:
        click.UsageError: the same for people, who need no document.
    """
    if not prefixes or not for_machines:
        check_rule_names(prefixes)
        return []
    from mlsub.commands.broken import unknown_rules

    return unknown_rules(prefixes)
