"""Compare two packages or two trainings, as they are and as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.compare.packages.compare import compare as compare_packages
from mlsub.commands.compare.packages.model import PackageDiff
from mlsub.commands.compare.trainings.borrow import check_borrowing
from mlsub.commands.compare.trainings.compare import compare as compare_trainings
from mlsub.commands.compare.trainings.model import Comparison
from mlsub.commands.compare.trainings.resubmit import check_resubmission
from mlsub.io.errors import MlsubError
from mlsub.submission.locate import Target, locate
from mlsub.workspace import Settings


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What to find out: ``packages`` is None for what the paths are; ``source`` is what ``borrow`` borrows from."""

    packages: bool | None = None
    pairs: Sequence[str] = ()
    borrow: bool = False
    source: str | None = None
    resubmit: bool = False


def run(old: str, new: str | None, wanted: Wanted, settings: Settings) -> PackageDiff | Comparison:
    """What differs between two packages, or between two trainings.

    Args:
        old: the one, A.
        new: the other, B; None where a resubmission of A is not there yet.
        wanted: what to find out.
        settings: with the round to judge both by, None for each side's own.

    Raises:
        MlsubError: the options contradict each other, or a side holds nothing to compare.
    """
    of_trainings = bool(wanted.pairs or wanted.borrow or wanted.source or wanted.resubmit)
    if wanted.packages and of_trainings:
        raise MlsubError("--pair, --borrow, --from and --resubmit compare trainings. Leave out --packages.")
    if wanted.packages or (wanted.packages is None and not of_trainings and _are_packages(old, new)):
        if new is None:
            raise MlsubError("Two packages are compared: name A and B.")
        return compare_packages(old, new, settings)
    if wanted.borrow and wanted.resubmit:
        raise MlsubError("--borrow is about this round, --resubmit about a later one. Ask for one of them.")
    if wanted.borrow != (wanted.source is not None):
        raise MlsubError("--borrow and --from belong together: A as submitted, B resubmitted, --from C.")
    if wanted.resubmit:
        if new is None and settings.round is None:
            raise MlsubError("--resubmit needs the new round, as --round, or B that lies in it.")
        return check_resubmission(old, old if new is None else new, settings, wanted.pairs)
    if new is None:
        raise MlsubError("Two trainings are compared: name A and B.")
    if wanted.source is not None:
        return check_borrowing(old, new, wanted.source, settings, wanted.pairs)
    return compare_trainings(old, new, settings, wanted.pairs)


def _are_packages(*paths: str | None) -> bool:
    """Whether each path is an organisation or a round."""
    places = (Target.ORGANISATION, Target.ORGANISATIONS)
    try:
        return all(path is not None and locate(Path(path)).target in places for path in paths)
    except (OSError, ValueError):
        return False
