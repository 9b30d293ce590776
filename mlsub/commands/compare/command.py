"""``mlsub compare``: two packages, or two trainings: what is different, and why one is faster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks, progress_bar
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, output_options

if TYPE_CHECKING:
    from mlsub.commands.compare.packages.model import PackageDiff
    from mlsub.commands.compare.trainings.model import Comparison
    from mlsub.workspace import Settings


@click.command("compare", cls=Command, example="mlsub compare v1.0/Graphcore v1.1/Graphcore")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="[B]", required=False, type=click.Path())
@click.option(
    "--packages/--trainings",
    "packages",
    default=None,
    help="Compare the files, or the trainings; else packages where A and B are organisations or rounds.",
)
@click.option("--pair", "pairs", metavar="A_ENTRY=B_ENTRY", multiple=True, help="Compare these two; repeatable.")
@click.option("--borrow", is_flag=True, help="Check B, a resubmission of A, by the rules on borrowed hyperparameters.")
@click.option("--from", "source", metavar="C", type=click.Path(), help="The entry that --borrow borrows from.")
@click.option("--resubmit", is_flag=True, help="Check A, an old result, for a new round; B may be left out.")
@asks(None)
@output_options("compare")
def command(
    old: str,
    new: str | None,
    packages: bool | None,
    pairs: tuple[str, ...],
    borrow: bool,
    source: str | None,
    resubmit: bool,
    asked: Asked,
    target: Target,
) -> None:
    """Compare two packages or two trainings, A and B.

    Organisations and rounds are compared as packages: what changes in entries, scores, hyperparameters, systems,
    findings and files. Benchmark folders and systems are compared as trainings: entries are paired by benchmark,
    division, name and number of accelerators, and the difference in time is shared out among the length of the
    training, its speed, and the phases of a run. Nothing is written.

    Exit status: packages: 0 no difference, 1 differences; trainings: 0 compared, and nothing found against --borrow or
    --resubmit, 1 findings; 2 could not compare.
    """
    from mlsub.io.errors import MlsubError

    of_trainings = bool(pairs or borrow or source or resubmit)
    if packages and of_trainings:
        raise MlsubError("--pair, --borrow, --from and --resubmit compare trainings. Leave out --packages.")
    if packages is None:
        packages = new is not None and not of_trainings and _are_packages(old, new)
    with progress_bar() as progress:
        settings = asked.settings(progress)
        if packages:
            changes = _changes(old, new, settings)
        else:
            found = _compare(old, new, source, settings, pairs, borrow=borrow, resubmit=resubmit)
    if packages:
        from mlsub.commands.compare.packages.document import document_of as changes_document

        target.write(changes, lambda: changes_document(changes), "packages")
        sys.exit(1 if changes.different else 0)
    from mlsub.commands.compare.trainings.document import document_of

    target.write(found, lambda: document_of(found))
    sys.exit(0 if found.passed else 1)


def _changes(old: str, new: str | None, settings: Settings) -> PackageDiff:
    """What changes from one package to another."""
    from mlsub.commands.compare.packages.compare import compare
    from mlsub.io.errors import MlsubError

    if new is None:
        raise MlsubError("Two packages are compared: name A and B.")
    return compare(old, new, settings)


def _are_packages(*paths: str) -> bool:
    """Whether each path is an organisation or a round."""
    from pathlib import Path

    from mlsub.submission.locate import Target, locate

    try:
        return all(locate(Path(path)).target in (Target.ORGANISATION, Target.ORGANISATIONS) for path in paths)
    except (OSError, ValueError):
        return False


def _compare(
    old: str,
    new: str | None,
    source: str | None,
    settings: Settings,
    pairs: tuple[str, ...],
    *,
    borrow: bool,
    resubmit: bool,
) -> Comparison:
    """Do what is asked for."""
    from mlsub.commands.compare.trainings.borrow import check_borrowing
    from mlsub.commands.compare.trainings.compare import compare
    from mlsub.commands.compare.trainings.resubmit import check_resubmission
    from mlsub.io.errors import MlsubError

    if borrow and resubmit:
        raise MlsubError("--borrow is about this round, --resubmit about a later one. Ask for one of them.")
    if borrow != (source is not None):
        raise MlsubError("--borrow and --from belong together: A as submitted, B resubmitted, --from C.")
    if resubmit:
        if new is None and settings.round is None:
            raise MlsubError("--resubmit needs the new round, as --round, or B that lies in it.")
        return check_resubmission(old, old if new is None else new, settings, pairs)
    if new is None:
        raise MlsubError("Two trainings are compared: name A and B.")
    if source is not None:
        return check_borrowing(old, new, source, settings, pairs)
    return compare(old, new, settings, pairs)
