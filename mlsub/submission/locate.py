"""What a path is, and which round it belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from mlsub.io import look
from mlsub.rounds import usages
from mlsub.submission.manifest import Named, nearest

#: A version in the name of a round's folder; with an underscore only where the name has other words.
_VERSION = re.compile(r"(?:^|(?<=[-_]))v?(\d{1,3})(?:\.|(?<=[-_]v\d)_)(\d{1,3})(?:\.0)?(?=[-_]|$)", re.I | re.A)
#: What else such a name may hold, besides a usage: words of repositories (``submissions_training_v3.1``), of their
#: branches when they are downloaded (``training_results_v5.1-main``), and of people's own (``mlperf_training_5.1``).
_BESIDE = {"mlperf", "mlcommons", "results", "result", "submissions", "submission", "round", "pre", "main", "master"}
_PARTS = re.compile(r"([0-9]{1,18})|([^0-9]+)")
#: HPC results lie one folder deeper than those of training, below one of these.
SCALING_FOLDERS = ("strong", "weak")


class Target(StrEnum):
    """The kinds of path that can be checked."""

    LOG = "log"
    BENCHMARK = "benchmark"
    SYSTEM = "system"
    SCALING = "scaling"
    ORGANISATION = "organisation"
    ORGANISATIONS = "organisations"
    NOTHING = "nothing"


class Place(msgspec.Struct, frozen=True):
    """A path and what it is; ``organisation`` is the folder of the organisation it lies in, if any."""

    path: Path
    target: Target
    organisation: Path | None

    @property
    def root(self) -> Path:
        """The folder that paths of the report are relative to."""
        if self.target is Target.LOG:
            return self.path.parent
        return self.organisation or self.path


class InferredRound(msgspec.Struct, frozen=True):
    """A round read off the name of a folder, or off a manifest; ``folder`` is the name of either."""

    usage: str
    round: str
    folder: str


def names_round(folder: str) -> bool:
    """Whether a folder's name is that of a round."""
    return named_round(folder) is not None


def named_round(folder: str) -> InferredRound | None:
    """The round that a folder is named like: one version, at most one usage, and words that go with them."""
    before, *rest = _VERSION.split(folder, maxsplit=1)
    if not rest:
        return None
    words = [word for word in re.split("[-_]", f"{before}-{rest[2]}".lower()) if word]
    named = [word for word in words if word in usages()]
    if len(named) > 1 or not set(words) <= {*_BESIDE, *named}:
        return None
    return InferredRound((*named, "training")[0], f"{rest[0]}.{rest[1]}", folder)


def is_organisation(folder: Path) -> bool:
    """Whether a folder is laid out like an organisation's tree.

    Raises:
        OSError: that cannot be looked at.
    """
    return look.is_folder(folder / "results") or look.is_folder(folder / "systems")


def may_be_organisation(folder: Path) -> bool:
    """The same, and also where that cannot be looked at: who then reads the folder says why not."""
    try:
        return is_organisation(folder)
    except OSError:
        return True


def too_deep(folder: Path) -> list[Path]:
    """The organisations' folders in a folder that is one itself by its name or its place; as a rule none.

    It has the name of one of them, or lies in a round's folder beside organisations.

    Raises:
        OSError: that cannot be looked at.
    """
    if is_organisation(folder) or names_round(folder.name):
        return []
    inside, failed = [], None
    for child in folders(folder):
        try:
            if is_organisation(child):
                inside.append(child)
        except OSError as error:
            failed = failed or error
    if failed is not None and not inside:
        raise failed
    named = any(child.name.lower() == folder.name.lower() for child in inside)
    if inside and (named or (names_round(folder.parent.name) and _any(is_organisation, folders(folder.parent)))):
        return inside
    return []


def locate(path: Path) -> Place:
    """What a path is, by the layout around it: an organisation's folder is the one that holds ``results``.

    A part of ``results`` belongs to an organisation where ``systems`` lies beside that; without it the folder is like
    any other: its logs are an entry alone, whatever the folders above are called.

    Raises:
        OSError: what it is cannot be found out, since the system does not let us look.
    """
    # Without "..", or the folders above would not be those the path lies in.
    path = Path(os.path.abspath(path))  # noqa: PTH100
    parents = path.parents
    if not look.is_folder(path):
        below = _below_results(path.parent)
        organisation = path.parents[below + 1] if below in (2, 3) and len(parents) > below + 2 else None
        return Place(path, Target.LOG, organisation if organisation and _is_described(organisation) else None)
    loose = any(fnmatchcase(name, "result_*.txt") for name in look.names_in(path))
    if is_organisation(path) and not (loose and _holds_nothing(path)):
        return Place(path, Target.ORGANISATION, path)
    unseen: OSError | None = None
    try:
        inside = _any(_holds_organisation, _children(path))
    except OSError as error:
        # A folder that is closed does not change what a folder is by its own place.
        inside, unseen = False, error
    if inside:
        # Before anything that goes by names: organisations may lie in a folder called results.
        return Place(path, Target.ORGANISATIONS, None)
    if path.name == "results" and not (loose and not _is_described(path.parent)):
        return Place(path.parent, Target.ORGANISATION, path.parent)
    if path.parent.name == "results" and not (loose and not _is_described(path.parent.parent)):
        return Place(path, Target.SYSTEM, path.parent.parent)
    below = _below_results(path)
    if below in (2, 3) and len(parents) > below and not (loose and not _is_described(parents[below])):
        target = Target.SCALING if below == 2 and path.name in SCALING_FOLDERS else Target.BENCHMARK
        return Place(path, target, parents[below])
    if unseen is not None and not loose:
        raise unseen
    return Place(path, Target.BENCHMARK if loose else Target.NOTHING, None)


def _any(is_so: Callable[[Path], object], paths: Iterable[Path]) -> bool:
    """Whether something is so of any path.

    Raises:
        OSError: it is so of none that can be looked at, and one cannot be.
    """
    failed: OSError | None = None
    for path in paths:
        try:
            if is_so(path):
                return True
        except OSError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return False


def _holds_organisation(path: Path) -> bool:
    """Whether a path is an organisation's folder, or one in which their folders lie too deep."""
    return look.is_folder(path) and (is_organisation(path) or bool(too_deep(path)))


def _is_described(organisation: Path) -> bool:
    """Whether an organisation's folder has a place for system descriptions."""
    return look.is_folder(organisation / "systems")


def _holds_nothing(folder: Path) -> bool:
    """Whether a folder laid out like an organisation's has neither descriptions nor results of any system."""
    return not _is_described(folder) and not any(map(folders, folders(folder / "results")))


def _below_results(path: Path) -> int:
    """How deep a folder lies in ``results``: 2 for a benchmark's of training, 3 for one of HPC; 0 for no such place."""
    parents = path.parents
    if len(parents) > 2 and parents[1].name == "results":
        return 2
    if len(parents) > 3 and parents[2].name == "results" and parents[0].name in SCALING_FOLDERS:
        return 3
    return 0


def infer_round(place: Place) -> InferredRound | None:
    """The round named by the nearest folder above the organisation (a folder of organisations counts itself).

    Where none is named like a round, it is that of the manifest of the organisation: in its folder, or beside or above
    it; of loose runs that of the nearest manifest above. Names inside ``results/`` are never looked at: ``n8_v5.0`` and
    ``TF2.0`` are names of real systems.

    Raises:
        OSError: a manifest that may name it cannot be read.
    """
    if place.organisation is not None:
        folders = list(place.organisation.parents)
    elif place.target is Target.ORGANISATIONS:
        folders = [place.path, *place.path.parents]
    else:
        folders = list(place.path.parents)
        inside = next((folder for folder in folders if folder.name == "results"), None)
        if inside is not None:
            folders = list(inside.parents)[1:]
    for folder in folders:
        if found := named_round(folder.name):
            return found
    near = manifest_near(place)
    return InferredRound(near.usage, near.round, near.file.name) if near is not None else None


def manifest_near(place: Place) -> Named | None:
    """The manifest of what lies at a place, in its folder, beside it or above it; None where there is none.

    Raises:
        OSError: what may be one cannot be read.
    """
    if place.organisation is not None:
        return nearest((place.organisation, *place.organisation.parents), (place.organisation.name,))
    if place.target is Target.ORGANISATIONS:
        inside = [child.name for child in folders(place.path) if may_be_organisation(child)]
        return nearest((place.path, *place.path.parents), inside)
    return nearest(place.path.parents)


def folders(path: Path) -> list[Path]:
    """The folders in a folder, and links to folders, without hidden ones; none where there is no folder.

    Raises:
        OSError: it cannot be listed, or what lies in it cannot be looked at.
    """
    return [child for child in _children(path) if look.is_folder(child)]


def _children(folder: Path) -> list[Path]:
    return sorted(folder / name for name in look.names_in(folder) if not name.startswith("."))


def below(folder: Path, path: Path) -> str:
    """A path as seen from a folder that it lies in, with ``/`` between names; ``.`` for the folder itself.

    Raises:
        ValueError: it does not lie there.
    """
    # A tree has thousands of them, and path objects take ten times as long.
    whole, start = str(path), f"{folder}/"
    return whole[len(start) :] if whole.startswith(start) else path.relative_to(folder).as_posix()


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, or a link to one; not where that cannot be found out.

    Only for those on whom no verdict depends: a verdict asks :mod:`mlsub.io.look`.
    """
    try:
        return look.is_folder(path)
    except OSError:
        return False


def counted(name: str) -> list[tuple[int, str]]:
    """A key that sorts names as people count, by the numbers in them: ``result_2`` comes before ``result_10``."""
    return [(int(digits) if digits else -1, text) for digits, text in _PARTS.findall(name)]
