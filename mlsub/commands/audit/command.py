"""``mlsub audit``: are the claims true?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.ending import COULD_NOT
from mlsub.commands.options import asks, ready
from mlsub.commands.output import CheckCommand, Target, check_output_options, tell
from mlsub.commands.settings import setting
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.workspace.places import Request


@click.command("audit", cls=CheckCommand, example="mlsub audit claims.yaml --results v1.0")
@click.argument("claims", metavar="CLAIMS.yaml", type=click.Path(path_type=Path))
@click.option(
    "--results",
    required=True,
    multiple=True,
    metavar="DIR",
    help="Look for results in DIR: a folder of rounds, a round or an organisation; repeatable.",
)
@click.option(
    "--basis",
    multiple=True,
    type=click.Choice(["published", "unscaled", "expected", "rcp_mean"]),
    help="Decide by this score; repeatable. By default published, and unscaled too where logs were edited.",
)
@check_output_options("audit")
@setting("--strict/--no-strict", help="Also count fragile, partly true and unverifiable claims.")
@click.option("--footnote", is_flag=True, help="Print the footnotes that the results used need, and no verdicts.")
@asks(None, rounds=False)
def command(
    claims: Path,
    results: tuple[str, ...],
    basis: tuple[str, ...],
    target: Target,
    strict: bool,
    footnote: bool,
    asked: Request,
) -> None:
    """Check the claims of a file against the logs of published results.

    Each claim gets a verdict: holds, holds-fragile, holds-only-for, holds-in-part, fails, not-comparable,
    depends-on-basis, not-verifiable or contradiction, with the figure on every basis and what would change it. Words
    such as fastest, record, first and only need an expression over all results given. Nothing is written. Claims
    marked proposed: true count apart. mlsub schema claims prints the form of the file.

    Exit status: 0 all hold, 1 some do not, or in part alone, 2 something could not be checked.
    """
    from mlsub.commands.audit import document, run, verdict

    with target.or_refused(), progress_bar() as progress:
        found = run.audit(claims, results, bases=dict.fromkeys(basis), context=ready(asked, progress))
    shown = document.build_footnotes if footnote else document.build_document
    target.write(found, lambda: shown(found), results=lambda: document.build_ci_report(found, strict=strict))
    status = found.exit_status(strict=strict)
    if status == COULD_NOT:
        lost = [
            one for one in found.claims if one.verdict is verdict.ClaimVerdict.NOT_CHECKED and not one.claim.proposed
        ]
        first = f"{lost[0].claim.id}: {lost[0].reason}"
        tell(f"{len(lost)} of {len(found.claims)} claims could not be checked; {first}", "audit")
    sys.exit(status)
