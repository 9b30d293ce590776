"""``mlsub check``: the verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.check.baseline import baseline_options, check_baseline, with_baseline
from mlsub.commands.options import Asked, asks, check_rule_names, choice_options, require_paths
from mlsub.commands.output import CheckCommand, Target, check_output_options, exit_with, tell, tell_unchecked
from mlsub.commands.settings import check_settings, current, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlsub.present.ci import CiReport
    from mlsub.present.document import Document
    from mlsub.present.findings import Detail
    from mlsub.submission.report import Choice, Report


@click.command("check", cls=CheckCommand, example="mlsub check v5.1/ACME", shows_settings=True)
@asks(rules=True, convergence=True, required=False)
@setting("--strict/--no-strict", help="Exit with 1 if there are review findings.")
@choice_options(check_rules=False)
@baseline_options
@click.option("--show-settings", is_flag=True, help="Show each setting, its value and its source; check nothing.")
@check_output_options("check")
def command(
    asked: Asked,
    strict: bool,
    choice: Choice,
    detail: Detail | None,
    baseline: str | None,
    write_baseline: bool,
    show_settings: bool,
    target: Target,
) -> None:
    """Check logs, benchmark folders, organisations' trees or folders of organisations.

    Nothing is written into what is checked. The verdict is that of the official checker in force for the round, and no
    option that chooses findings changes it; a finding that is hidden does not count for --strict or --rules.

    What rejects is shown in full, as are official warnings and your own rules; review findings are counted, unless
    --verbose, --strict, --select or --only review asks for them. Settings may come from a file or MLSUB_ variables;
    see docs/configuration.md.

    Exit status: 0 accepted, 1 rejected or against --rules, 2 something could not be checked.
    """
    if show_settings:
        from mlsub.commands.check.shown import shown, shown_document

        check_settings()
        found = shown(click.get_current_context())
        target.write(found, lambda: shown_document(found), "settings")
        return
    require_paths(asked.paths)
    from mlsub.commands.check.document import document_of
    from mlsub.present.entries import Reports
    from mlsub.present.findings import View, hidden
    from mlsub.submission.report import choose

    own = current()
    if target.only_text and detail != "quiet" and baseline is None and not write_baseline and not own.has_waivers:
        from mlsub.commands.check.document import write_each

        check_settings()
        check_rule_names((*choice.select, *choice.ignore))
        sys.exit(write_each(asked, target, View.of(choice, detail, strict=strict), own.summary))
    with target.or_refused():
        check_baseline(baseline, write=write_baseline)
        reports = _unknown_rules((*choice.select, *choice.ignore), for_machines=target.for_machines)
        if not reports:
            reports = with_baseline(asked.check(), baseline, asked.paths, write=write_baseline)
    chosen = tuple(choose(report, choice) for report in reports)

    def document(*, page: bool) -> Document:
        view = View.of(choice, detail, strict=strict, page=page)
        return document_of(reports, view, verdict_last=not page, settings=own.summary)

    target.write(
        Reports(reports=chosen, settings=str(own.loaded.file) if own.loaded else None),
        lambda: document(page=False),
        page=lambda: document(page=True),
        results=lambda: _results(chosen, strict=strict),
    )
    if own.summary and target.for_ci:
        tell(f"settings: {own.summary}", "check")
        for report in chosen:
            for label, words in hidden(report):
                tell(f"{label}: {words}", "check")
    if target.format != "text" or detail == "quiet":
        tell_unchecked(reports)
    exit_with(chosen, strict=strict)


def _results(reports: Sequence[Report], *, strict: bool) -> CiReport:
    """What CI reads."""
    from mlsub.present.ci import ci_report

    return ci_report("check", reports, strict=strict)


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
