"""``mlsub review``: the peer review of a submission."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import asks, check_rule_names, choice_options, ready
from mlsub.commands.output import CheckCommand, Target, check_output_options, tell
from mlsub.commands.settings import apply_waivers_to_findings
from mlsub.present import FORMATS
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.submission.report import Choice, Detail
    from mlsub.workspace.places import Request


@click.command("review", cls=CheckCommand, example="mlsub review v5.1/ACME")
@asks()
@click.option(
    "--against", metavar="PATH", multiple=True, help="Compare with these runs too, but report only on PATH; repeatable."
)
@click.option("--table", metavar="FILE", help="Compare the round's results table with the logs: CSV or XLSX.")
@choice_options
@click.option("--rates", is_flag=True, help="Show how often each rule that compares runs applies instead.")
@check_output_options("review")
def command(
    asked: Request,
    against: tuple[str, ...],
    table: str | None,
    choice: Choice,
    detail: Detail | None,
    rates: bool,
    target: Target,
) -> None:
    """Review a submission as a careful reviewer would: what to ask, and tables to compare.

    PATH is an organisation's tree, a part of one, a folder of organisations, or a folder of rounds. All that check
    finds, and what the runs show beside each other, is asked as questions to the submitter. A question is not an
    accusation, and no answer changes the official verdict. A finding that is hidden does not count.

    Exit status: 0 nothing to ask, 1 errors or warnings, 2 something could not be read. With --rates 0 or 2.
    """
    from mlsub.commands.review.document import ci_results, document_of, rates_document
    from mlsub.commands.review.run import observe_sides, rates_of, review_of, sides_of

    if rates and target.for_ci:
        raise click.UsageError(f"--rates answers as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    with target.or_refused():
        check_rule_names((*choice.select, *choice.ignore))
        with progress_bar() as progress:
            context = ready(asked, progress)
            sides = sides_of(asked.paths, context.request, against, table)
            reading = observe_sides(sides, context)
        review = review_of(reading, sides, choice, lambda findings: apply_waivers_to_findings(findings, sides.root))
    for line in review.unread:
        tell(line, "review")
    if rates:
        frequencies = rates_of(reading)
        target.write(frequencies, lambda: rates_document(frequencies), "rates")
        sys.exit(2 if review.unread else 0)
    target.write(
        review,
        lambda: document_of(review, detail),
        page=lambda folder: document_of(review, detail, page=True, folder=folder),
        results=lambda: ci_results(review),
    )
    sys.exit(review.exit_status)
