"""What a path is, which round and organisation it belongs to, and which packages lie in it."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.io.show import LONGEST, Spellings, flat, spellings
from mlsub.rounds import usages
from mlsub.submission.listing import Listing
from mlsub.submission.templates import content_of

if TYPE_CHECKING:
    from mlsub.submission.manifest import ManifestHead

#: What ``mlsub unseal`` puts beside a tree, and how its first line begins where the round was known.
SEALED, ROUND = "MANIFEST.sha256", "# round\t"


def known_organisations() -> dict[str, tuple[str, ...]]:
    """Return the spellings of each organisation, by its name."""
    return shipped(__file__, "organisations.yaml", dict[str, tuple[str, ...]])


@lru_cache(maxsize=1)
def organisation_spellings() -> Spellings:
    """Return the organisations by their spellings."""
    return spellings((text, [name]) for name, texts in known_organisations().items() for text in texts)


@lru_cache(maxsize=1024)
def organisation(name: str) -> str:
    """Return the name of an organisation by its folder's name or what a file says; several are joined with ``+``.

    A name with parts that are not organisations stays as it is: ``Umbrella Computing`` is not known here.
    """
    text = name[:LONGEST]
    found = [(match, values) for match, values in organisation_spellings().find(text) if len(values) == 1]
    rest = flat(text)
    for match, _ in reversed(found):
        rest = rest[: match.start()] + rest[match.end() :]
    if not found or any(letter.isalnum() for letter in rest.replace(" and ", " ")):
        return _in_full(text) or name
    return "+".join(dict.fromkeys(value for _, values in found for value in values))


def _in_full(text: str) -> str | None:
    """Return the one organisation that a longer name begins with, such as one with its department behind it."""
    match = organisation_spellings().pattern.match(flat(text))
    values = organisation_spellings().meanings[match[1]] if match else frozenset()
    rest = flat(text)[match.end() :] if match else ""
    return next(iter(values)) if len(values) == 1 and rest.startswith(_DEPARTMENTS) else None


#: What may follow the name of an organisation without making it another one.
_DEPARTMENTS = (" research", " university", " system", " inc", " corporation", " corp", " ltd", " labs", " laborator")


#: A version in the name of a round's folder; with an underscore only where the name has other words.
_VERSION = re.compile(r"(?:^|(?<=[-_]))v?(\d{1,3})(?:\.|(?<=[-_]v\d)_)(\d{1,3})(?:\.0)?(?=[-_]|$)", re.I | re.A)
#: What else such a name may hold, besides a usage: words of repositories (``submissions_training_v3.1``), of their
#: branches when they are downloaded (``training_results_v5.1-main``), and of people's own (``mlperf_training_5.1``).
_BESIDE = {"mlperf", "mlcommons", "results", "result", "submissions", "submission", "round", "pre", "main", "master"}
_PARTS = re.compile(r"([0-9]{1,18})|([^0-9]+)")
#: HPC results lie one folder deeper than those of training, below one of these.
SCALING_FOLDERS = ("strong", "weak")


class PathKind(StrEnum):
    """The kinds of path that can be checked."""

    LOG = "log"
    BENCHMARK = "benchmark"
    SYSTEM = "system"
    SCALING = "scaling"
    ORGANISATION = "organisation"
    ORGANISATIONS = "organisations"
    NOTHING = "nothing"


class Place(msgspec.Struct, frozen=True):
    """A path, what it is, and its round.

    ``organisation`` is the folder of the organisation it lies in, if any. ``listed``: it is an organisation found in a
    folder of several, and not asked for by itself; ``deep``: and lies in the folder of another one. ``usage`` and
    ``round`` are empty where they are not known; ``round_from`` is the name of the folder or manifest that they were
    read off. ``problem`` says why the place cannot be checked; None where it can. ``listing`` is what was looked at
    to find out; who reads the place goes on from there.
    """

    path: Path
    kind: PathKind
    organisation: Path | None = None
    listed: bool = False
    deep: bool = False
    usage: str = ""
    round: str = ""
    round_from: str | None = None
    problem: Finding | None = None
    listing: Listing = msgspec.field(default_factory=Listing)

    @property
    def root(self) -> Path:
        """The folder that paths of the report are relative to."""
        if self.kind is PathKind.LOG:
            return self.path.parent
        return self.organisation or self.path

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (getattr(self, name) for name in self.__struct_fields__[:-1])
        return Place, (*fields, self.listing.below(self.root))


def named_round(folder: str) -> tuple[str, str] | None:
    """Return the usage and round that a folder is named like: one version, at most one usage, words that fit."""
    before, *rest = _VERSION.split(folder, maxsplit=1)
    if not rest:
        return None
    words = [word for word in re.split("[-_]", f"{before}-{rest[2]}".lower()) if word]
    named = [word for word in words if word in usages()]
    if len(named) > 1 or not set(words) <= {*_BESIDE, *named}:
        return None
    return (*named, "training")[0], f"{rest[0]}.{rest[1]}"


def is_organisation(folder: Path, listing: Listing | None = None, *, unseen: bool | None = None) -> bool:
    """Return whether a folder is laid out like an organisation's tree.

    Args:
        folder: where to look.
        listing: what was looked at before.
        unseen: the answer where that cannot be looked at; None to raise.

    Raises:
        OSError: it cannot be looked at.
    """
    listing = listing or Listing()
    try:
        return listing.is_folder(folder / "results") or listing.is_folder(folder / "systems")
    except OSError:
        if unseen is None:
            raise
        return unseen


def too_deep(folder: Path, listing: Listing | None = None) -> list[Path]:
    """Return the organisations' folders in a folder that is one itself by its name or its place; as a rule none.

    It has the name of one of them, or lies in a round's folder beside organisations.

    Raises:
        OSError: it cannot be looked at.
    """
    listing = listing or Listing()

    def organisations_in(above: Path) -> list[Path]:
        return [child for child in listing.folders_in(above) if is_organisation(child, listing, unseen=False)]

    if is_organisation(folder, listing) or named_round(folder.name):
        return []
    inside = organisations_in(folder)
    named = any(child.name.lower() == folder.name.lower() for child in inside)
    return inside if named or (inside and named_round(folder.parent.name) and organisations_in(folder.parent)) else []


def find(path: Path) -> Place:
    """Return what a path is, with its round where a folder or a manifest names one.

    Raises:
        OSError: that cannot be found out, since the system does not let us look.
    """
    return infer_round(locate(path))


def locate(path: Path) -> Place:
    """Return what a path is, without its round, by the layout around it.

    An organisation's folder is the one that holds ``results``. A part of ``results`` belongs to an organisation where
    ``systems`` lies beside that; without it the folder is like any other: its logs are an entry alone, whatever the
    folders above are called.

    Raises:
        OSError: what it is cannot be found out, since the system does not let us look.
    """
    # Without "..", or the folders above would not be those the path lies in.
    path = Path(os.path.abspath(path))  # noqa: PTH100
    parents, listing = path.parents, Listing()

    def is_described(organisation: Path) -> bool:
        return listing.is_folder(organisation / "systems")

    def place(kind: PathKind, organisation: Path | None = None, at: Path = path) -> Place:
        return Place(at, kind, organisation, listing=listing)

    if not listing.is_folder(path):
        below = _below_results(path.parent)
        organisation = parents[below + 1] if below in (2, 3) and len(parents) > below + 2 else None
        return place(PathKind.LOG, organisation if organisation and is_described(organisation) else None)
    loose = any(fnmatchcase(name, "result_*.txt") for name in listing.names_in(path))
    if is_organisation(path, listing):
        # Logs beside an empty folder of one of these names are logs alone.
        systems = listing.folders_in(path / "results") if loose and not is_described(path) else ()
        if not loose or is_described(path) or any(listing.folders_in(system) for system in systems):
            return place(PathKind.ORGANISATION, path)
    unseen: OSError | None = None
    for child in _children(path, listing):
        try:
            # Before anything that goes by names: organisations may lie in a folder called results, or too deep in one.
            if listing.is_folder(child) and (is_organisation(child, listing) or too_deep(child, listing)):
                return place(PathKind.ORGANISATIONS)
        except OSError as error:
            # A folder that is closed does not change what a folder is by its own place.
            unseen = unseen or error
    if path.name == "results" and not (loose and not is_described(path.parent)):
        return place(PathKind.ORGANISATION, path.parent, at=path.parent)
    if path.parent.name == "results" and not (loose and not is_described(path.parent.parent)):
        return place(PathKind.SYSTEM, path.parent.parent)
    below = _below_results(path)
    if below in (2, 3) and len(parents) > below and not (loose and not is_described(parents[below])):
        kind = PathKind.SCALING if below == 2 and path.name in SCALING_FOLDERS else PathKind.BENCHMARK
        return place(kind, parents[below])
    if unseen is not None and not loose:
        raise unseen
    return place(PathKind.BENCHMARK if loose else PathKind.NOTHING)


def _below_results(path: Path) -> int:
    """Return how deep a benchmark's folder lies in ``results``: 2 in training, 3 in HPC; 0 for another place."""
    parents = path.parents
    if len(parents) > 2 and parents[1].name == "results":
        return 2
    if len(parents) > 3 and parents[2].name == "results" and parents[0].name in SCALING_FOLDERS:
        return 3
    return 0


def infer_round(place: Place) -> Place:
    """Return the place with the round that the nearest folder above the organisation names.

    That is its name, or the manifest beside a tree that ``mlsub unseal`` made. Where none is named like a round, it is
    that of the manifest of the organisation: in its folder, or beside or above it; of loose runs that of the nearest
    manifest above. Names inside ``results/`` are never looked at: ``n8_v5.0`` and ``TF2.0`` are names of real systems.

    Raises:
        OSError: a manifest that may name it cannot be read.
    """
    if place.organisation is not None:
        above = list(place.organisation.parents)
    elif place.kind is PathKind.ORGANISATIONS:
        above = [place.path, *place.path.parents]
    else:
        above = list(place.path.parents)
        inside = next((folder for folder in above if folder.name == "results"), None)
        if inside is not None:
            above = list(inside.parents)[1:]
    for at, folder in enumerate(above):
        if named := named_round(folder.name):
            return replace(place, usage=named[0], round=named[1], round_from=folder.name)
        if at < 2 and (sealed := _sealed_round(folder)):
            return replace(place, usage=sealed[0], round=sealed[1], round_from=SEALED)
    near = manifest_near(place)
    if near is None:
        return place
    return replace(place, usage=near.usage, round=near.round, round_from=near.file.name)


def _sealed_round(folder: Path) -> tuple[str, str] | None:
    """Return the usage and round that the first line of the manifest of an unsealed tree names, if there is one.

    Raises:
        OSError: it cannot be read.
    """
    first, end, _ = content_of(folder / SEALED, 100).decode("ascii", "replace").partition("\n")
    return named_round(first.removeprefix(ROUND)) if end and first.startswith(ROUND) else None


def manifest_near(place: Place) -> ManifestHead | None:
    """Return the manifest of what lies at a place, in its folder, beside it or above it; None where there is none.

    Raises:
        OSError: what may be one cannot be read.
    """
    from mlsub.submission.manifest import nearest

    if place.organisation is not None:
        return nearest((place.organisation, *place.organisation.parents), (place.organisation.name,))
    if place.kind is PathKind.ORGANISATIONS:
        return nearest((place.path, *place.path.parents), [one.path.name for one in organisations(place)])
    return nearest(place.path.parents)


def packages(place: Place) -> list[Place]:
    """Return the packages in a place, unread; a broken link counts as one.

    Raises:
        OSError: the place cannot be looked at.
    """
    if place.kind is not PathKind.ORGANISATIONS:
        return [place] if place.organisation is not None or place.kind in (PathKind.LOG, PathKind.BENCHMARK) else []
    listing = place.listing

    def listed(folder: Path, *, deep: bool = False) -> Place:
        return replace(place, path=folder, kind=PathKind.ORGANISATION, organisation=folder, listed=True, deep=deep)

    found = [listed(inner, deep=True) for inner in too_deep(place.path, listing)]
    for child in [] if found else _children(place.path, listing):
        try:
            if listing.is_folder(child) or listing.is_link(child):
                found += [listed(inner, deep=True) for inner in too_deep(child, listing)] or [listed(child)]
        except OSError:
            found.append(listed(child))  # It says so when it is read.
    return found


def organisations(place: Place) -> list[Place]:
    """Return the organisations of a place, each as if asked for by itself: those of a round, else the place itself.

    Raises:
        OSError: the place cannot be looked at.
    """
    if place.kind is not PathKind.ORGANISATIONS:
        return [place]
    found = [one for one in packages(place) if is_organisation(one.path, place.listing, unseen=True)]
    return [replace(one, listed=False, deep=False) for one in found]


def folders(path: Path) -> list[Path]:
    """Return the folders in a folder as they are now, see :meth:`Listing.folders_in`."""
    return Listing().folders_in(path)


def rounds_in(place: Place) -> list[Path]:
    """Return the folders of rounds, and of organisations beside them, in a folder that is no round itself; else none.

    Raises:
        OSError: the folder cannot be looked at.
    """
    if place.kind is PathKind.ORGANISATIONS and infer_round(place).round:
        return []
    if place.kind not in (PathKind.NOTHING, PathKind.ORGANISATIONS):
        return []
    inside = place.listing.folders_in(place.path)
    rounds = [child for child in inside if named_round(child.name)]
    beside = [child for child in inside if child not in rounds and is_organisation(child, place.listing, unseen=True)]
    return [*rounds, *beside] if rounds else []


def _children(folder: Path, listing: Listing) -> list[Path]:
    return [folder / name for name in listing.names_in(folder) if not name.startswith(".")]


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder, or a link to one; not where that cannot be found out.

    Only for those on whom no verdict depends: a verdict asks :mod:`mlsub.io.look`, or a listing.
    """
    return os.path.isdir(path)  # noqa: PTH112  (a path object raises what it does not know)


def counted(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by the numbers in them: ``result_2`` comes before ``result_10``."""
    return [(int(digits) if digits else -1, text) for digits, text in _PARTS.findall(name)]
