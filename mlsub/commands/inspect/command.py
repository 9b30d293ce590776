"""``mlsub inspect``: run forensics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import asks, check_rule_names, choice_options, ready
from mlsub.commands.output import CheckCommand, Target, check_output_options, tell
from mlsub.commands.settings import apply_waivers_to_findings
from mlsub.io.errors import MlsubError
from mlsub.present import FORMATS
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.commands.inspect.run import Inspection
    from mlsub.submission.report import Choice, Detail
    from mlsub.workspace.places import Settings


@click.command("inspect", cls=CheckCommand, example="mlsub inspect v5.1/ACME --select run.")
@asks()
@click.option(
    "--against", metavar="PATH", multiple=True, help="Compare with these runs too, but report only on PATH; repeatable."
)
@choice_options(kinds=False, check_rules=False)
@click.option("--rates", is_flag=True, help="Show how often each rule applies instead of the findings.")
@check_output_options("inspect")
def command(
    asked: Settings,
    against: tuple[str, ...],
    choice: Choice,
    detail: Detail | None,
    rates: bool,
    target: Target,
) -> None:
    """Compare runs with each other as a careful reviewer would: times, copies, seeds, pauses, changes between rounds.

    PATH is an organisation's tree, a part of one, a folder of organisations, or a folder of rounds. A finding is not an
    accusation and not part of any verdict; each has its numbers, and what would explain it. A finding that is hidden
    does not count for the exit status.

    Exit status: 0 nothing to ask, 1 findings, 2 something could not be inspected. With --rates 0 or 2.
    """
    from mlsub.commands.inspect.document import document_of, rates_document, results_of
    from mlsub.commands.inspect.run import inspection_of, select, sides_of
    from mlsub.commands.inspect.run import rates as rates_of

    if rates and target.for_ci:
        raise click.UsageError(f"--rates answers as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    skipped: list[str] = []
    with target.or_refused():
        check_rule_names((*choice.select, *choice.ignore))
        with progress_bar() as progress:
            settings = ready(asked, progress)
            sides = sides_of(asked.paths, settings, beside=against, skip=skipped.append)
            inspection = inspection_of(sides, settings)
        inspection = select(inspection, choice, lambda findings: apply_waivers_to_findings(findings, sides.root))
        if not inspection.read:
            raise MlsubError(_nothing_read(inspection))
    for line in skipped:
        tell(line)
    _tell_unreadable(inspection)
    if rates:
        frequencies = rates_of(inspection)
        target.write(frequencies, lambda: rates_document(frequencies), "rates")
    else:
        target.write(
            inspection,
            lambda: document_of(inspection, detail),
            results=lambda: results_of(inspection, sides.root, skipped),
        )
    sys.exit(2 if skipped else 1 if inspection.found and not rates else 0)


def _nothing_read(inspection: Inspection) -> str:
    first = next((f"{path}: {why}" for e in inspection.entries for path, why in e.unreadable.items()), None)
    return f"No log has a record{f' ({first})' if first else ''}. Name the result logs of a round mlsub check knows."


def _tell_unreadable(inspection: Inspection) -> None:
    unreadable = [(path, why) for entry in inspection.entries for path, why in entry.unreadable.items()]
    if unreadable:
        path, why = unreadable[0]
        more = f", and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        tell(f"{path} was left out: {why}{more}; mlsub check says how to fix it")
