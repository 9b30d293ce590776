"""Compare two packages or two trainings, as they are and as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mlsub.commands.compare.borrow import check_borrowing
from mlsub.commands.compare.model import Comparison, PackageDiff
from mlsub.commands.compare.packages import compare as compare_packages
from mlsub.commands.compare.resubmit import check_resubmission
from mlsub.commands.compare.trainings import compare as compare_trainings
from mlsub.io import MlsubError
from mlsub.submission.find import PathKind, Place, find, organisation
from mlsub.systems.description import read_content
from mlsub.workspace import Context


def run(
    old: str,
    new: str | None,
    context: Context,
    *,
    packages: bool | None = None,
    pairs: Sequence[str] = (),
    borrow: bool = False,
    source: str | None = None,
    resubmit: bool = False,
) -> PackageDiff | Comparison:
    """Return what differs between two packages, or between two trainings.

    Args:
        old: the one, A.
        new: the other, B; None where a resubmission of A is not there yet.
        context: with the round to judge both by, None for each side's own.
        packages: whether they are compared as packages; None for what the paths are.
        pairs: entries of trainings that belong together, ``A_ENTRY=B_ENTRY``.
        borrow: check B, a resubmission of A, by the rules on borrowed hyperparameters.
        source: what B borrows from.
        resubmit: check A for a new round.

    Raises:
        MlsubError: the options contradict each other, or a side holds nothing to compare.
    """
    of_trainings = bool(pairs or borrow or source or resubmit)
    if packages and of_trainings:
        raise MlsubError("--pair, --borrow, --from and --resubmit compare trainings. Leave out --packages.")
    if packages is None and not of_trainings:
        kinds = (PathKind.ORGANISATION, PathKind.ORGANISATIONS)
        with suppress(OSError, ValueError):
            places = [find(Path(path)) for path in (old, new) if path is not None]
            packages = len(places) > 1 and all(one.kind in kinds for one in places) and not _are_rivals(places, context)
    if packages:
        if new is None:
            raise MlsubError("Two packages are compared: name A and B.")
        return compare_packages(old, new, context)
    if borrow and resubmit:
        raise MlsubError("--borrow is about this round, --resubmit about a later one. Ask for one of them.")
    if borrow != (source is not None):
        raise MlsubError("--borrow and --from belong together: A as submitted, B resubmitted, --from C.")
    if resubmit:
        if new is None and context.request.round is None:
            raise MlsubError("--resubmit needs the new round, as --round, or B that lies in it.")
        return check_resubmission(old, old if new is None else new, context, pairs)
    if new is None:
        raise MlsubError("Two trainings are compared: name A and B.")
    if source is not None:
        return check_borrowing(old, new, source, context, pairs)
    return compare_trainings(old, new, context, pairs)


def _are_rivals(places: Sequence[Place], context: Context) -> bool:
    """Return whether these are two organisations of one round, none of which went on from the other."""
    rounds = {(place.usage, context.request.round or place.round) for place in places}
    if len(rounds) > 1 or any(place.kind is not PathKind.ORGANISATION for place in places):
        return False
    submitters: list[set[str]] = []
    for place in places:
        descriptions = filter(None, map(read_content, Path(place.root, "systems").glob("*.json")))
        submitters.append({organisation(str(content.get("submitter"))) for content in descriptions})
    return all(submitters) and not set.intersection(*submitters)
