"""``mlsub check``: the verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from mlsub.commands.options import asks, check, check_rule_names, choice_options, require_paths
from mlsub.commands.output import (
    CheckCommand,
    Target,
    check_output_options,
    exit_with,
    tell,
    tell_unchecked,
    write_output,
)
from mlsub.commands.settings import check_settings, current, fail_on_options, setting
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlsub.config.baseline import Baseline
    from mlsub.findings import Severity
    from mlsub.present.ci import CiReport
    from mlsub.present.document import Document
    from mlsub.submission.report import Choice, Detail, Report
    from mlsub.workspace.places import Request

F = TypeVar("F", bound=Callable[..., Any])


def baseline_options(function: F) -> F:
    """--baseline and --write-baseline."""
    known = setting("--baseline", metavar="FILE", help="Count only findings that are not in FILE.")
    write = click.option("--write-baseline", is_flag=True, help="Write all findings to the --baseline FILE first.")
    return known(write(function))


def with_baseline(
    reports: Sequence[Report], baseline: str | None, paths: Sequence[str], *, write: bool
) -> list[Report]:
    """Reports with the findings marked that the baseline has, which is written first if that is asked for.

    Raises:
        MlsubError: the baseline cannot be read or written.
    """
    if baseline is None:
        return list(reports)
    from mlsub.config.baseline import read_baseline, suppress

    file = Path(baseline)
    if write:
        _write(reports, file, paths)
    marked, gone = suppress(reports, read_baseline(file), file, paths)
    if gone:
        many = f"{gone} findings in {file} are gone; --write-baseline removes them"
        tell(many if gone > 1 else f"1 finding in {file} is gone; --write-baseline removes it", "check")
    return marked


def check_baseline(baseline: str | None, *, write: bool) -> None:
    """Find out before gigabytes are read what would keep the baseline from being read or replaced.

    Raises:
        click.UsageError: the call does not name the file to write.
        MlsubError: it cannot be.
    """
    source = click.get_current_context().get_parameter_source("baseline")
    if write and source not in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        raise click.UsageError("--write-baseline needs --baseline FILE, or MLSUB_BASELINE.")
    if baseline is not None and (not write or Path(baseline).exists()):
        _known(Path(baseline), write=write)


def _known(file: Path, *, write: bool) -> Baseline | None:
    """The baseline that is there; None where there is none to keep anything of."""
    from mlsub.config.baseline import read_baseline

    try:
        return read_baseline(file)
    except MlsubError as error:
        if not write or (file.exists() and not _force()):
            more = " Name another file, or add --force to replace it." if write else ""
            raise MlsubError(f"{error}{more}") from error
        return None


def _write(reports: Sequence[Report], file: Path, paths: Sequence[str]) -> None:
    from mlsub.config.baseline import make_baseline
    from mlsub.findings import Verdict

    if any(report.official is Verdict.NOT_CHECKED for report in reports):
        raise MlsubError(f"Not everything could be checked, so {file} was not written. Fix that first.")
    old = _known(file, write=True)
    made = make_baseline(reports, file, paths, old)
    write_output(file, made.content(), force=old is not None or _force())


def _force() -> bool:
    """Whether the call has --force, which is for all files that it writes."""
    return bool(click.get_current_context().params["force"])


@click.command("check", cls=CheckCommand, example="mlsub check v5.1/ACME", shows_settings=True)
@asks(rules=True, convergence=True, required=False)
@fail_on_options
@choice_options
@baseline_options
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
    from mlsub.commands.check.document import document_of
    from mlsub.present.entries import Reports
    from mlsub.present.findings import hidden, shown_of
    from mlsub.submission.report import choose

    own = current()
    if target.only_text and detail != "quiet" and baseline is None and not write_baseline and not own.has_waivers:
        from mlsub.commands.check.document import write_each

        check_settings()
        check_rule_names((*choice.select, *choice.ignore))
        sys.exit(write_each(asked, target, shown_of(choice, detail, fail_on=fail_on), own.summary))
    with target.or_refused():
        check_baseline(baseline, write=write_baseline)
        reports = _unknown_rules((*choice.select, *choice.ignore), for_machines=target.for_machines)
        if not reports:
            reports = with_baseline(check(asked), baseline, asked.paths, write=write_baseline)
    chosen = tuple(choose(report, choice) for report in reports)

    def document(*, page: bool) -> Document:
        shown = shown_of(choice, detail, fail_on=fail_on, page=page)
        return document_of(reports, shown, verdict_last=not page, settings=own.summary)

    target.write(
        Reports(reports=chosen, settings=str(own.loaded.file) if own.loaded else None),
        lambda: document(page=False),
        page=lambda: document(page=True),
        results=lambda: _results(chosen, fail_on=fail_on),
    )
    if own.summary and target.for_ci:
        tell(f"settings: {own.summary}", "check")
        for report in chosen:
            for label, words in hidden(report):
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
    from mlsub.rules.catalogue import finding
    from mlsub.rules.explain import suggestion
    from mlsub.workspace import not_checked

    hints = filter(None, map(suggestion, prefixes))
    problems = [finding("check.unknown-rule", ".", f"There is {hint}") for hint in hints]
    return [not_checked(".", problems)] if problems else []
