"""How to repair what lies in the wrong place or has the wrong name: with the command, where one does it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import join, quote

from mlsub.divisions import DIVISIONS
from mlsub.io.show import several
from mlsub.rounds import usages
from mlsub.rules.catalogue import FIX
from mlsub.submission.find import known_organisations, organisation
from mlsub.submission.listing import Listing
from mlsub.submission.model import RESULT_PATTERN, Entry

#: Names of logs that are almost those of results: ``Result_0.txt``, ``result-0.log``.
ALMOST_RESULT = re.compile(r"results?[ _.-]?(\d{1,9})\.(?:txt|log|out)", re.IGNORECASE)
#: What logs are called that are named by another habit; only where a folder has none that is named like a result.
OTHER_LOG = re.compile(r"(?:[a-z][a-z_-]{0,40}[_.-]?)??(\d{1,9})\.(?:txt|log|out)", re.IGNORECASE)
#: The names alone do not show which files have records; fix reads them.
_RENAMES = f"{FIX} does it for MLPerf logs"
#: Paths that a remedy names.
_MOST_NAMED = 5
#: What people call folders around an organisation's tree, besides divisions and usages; no organisation is called so.
_AROUND = {"results", "result", "systems", "submission", "submissions"}
#: Names of other rounds and of frameworks that people use for a benchmark.
OTHER_NAMES = {
    "resnet50": "resnet",
    "rn50": "resnet",
    "imageclassification": "resnet",
    "singlestagedetector": "ssd",
    "objectdetection": "maskrcnn",
    "languagemodel": "bert",
    "recommendation": "dlrm",
    "speechrecognition": "rnnt",
    "imagesegmentation": "unet3d",
    "3dunet": "unet3d",
    "unet": "unet3d",
}


def plain_name(name: str) -> str:
    """Return a benchmark's name for comparison: case, hyphens, blanks, dots and underscores never count."""
    return re.sub(r"[-_. ]", "", name.lower())


def renamed_benchmark(name: str, known: Iterable[str]) -> str | None:
    """Return the benchmark that a folder's name means beyond doubt; None where it is not certain."""
    plain = plain_name(name)
    meant = [other for other in known if plain_name(other) == plain or OTHER_NAMES.get(plain) == other]
    return meant[0] if len(meant) == 1 else None


def logs_in(folder: Path, listing: Listing) -> int:
    """Return how many results lie in a folder.

    Raises:
        OSError: it cannot be listed.
    """
    return sum(fnmatchcase(name, RESULT_PATTERN) for name in listing.names_in(folder))


def fix_for_run_count(entry: Entry, needed: int) -> str | None:
    """Return what to do where an entry has another number of results than it needs; None for the rule's usual words.

    Raises:
        OSError: what lies beside the results cannot be looked at.
    """
    if entry.system.startswith("."):
        return _hidden(entry.system)
    if len(entry.results) > needed:
        return (
            "Leave out all but the runs that count: mlsub pack picks them where the manifest says "
            "choose: median-window (docs/package.md)."
        )
    if any(name.endswith(".gz") for name in entry.strays):
        return fix_for_names(entry.strays)
    if _misnamed(entry.strays, alone=not entry.results):
        return f"Name the logs result_<n>.txt; {_RENAMES}."
    if other := other_logs(entry.strays, needed - len(entry.results)):
        named = several(list(other), 5)
        return f"If these are the logs of the runs that are missing, name them result_<n>.txt: {named}; {_RENAMES}."
    inside = [name for name in entry.strays if entry.listing.is_folder(entry.folder / name)]
    deeper = next((name for name in inside if logs_in(entry.folder / name, entry.listing)), None)
    if deeper is not None and not entry.results:
        if len(inside) == 1:
            return f"Move the logs one folder up; {FIX} does it."
        return f"Move the logs one folder up: mv {quote(deeper)}/{RESULT_PATTERN} . in that folder."
    return "Add the runs that are missing, named result_<anything>.txt; a run that was never made has to be made."


def fix_for_names(names: Iterable[str]) -> str | None:
    """Return what to do with logs that are not named like results, by the names in a folder; None without any."""
    names = list(names)
    if any(name.endswith(".gz") for name in names):
        return "Decompress the logs in that folder: gunzip *.gz"
    return "Name the logs result_<n>.txt." if _misnamed(names, alone=True) else None


def _misnamed(names: Iterable[str], *, alone: bool) -> bool:
    """Return whether there are logs by another name; beside results (not ``alone``) only almost right ones count."""
    forms = (ALMOST_RESULT, OTHER_LOG) if alone else (ALMOST_RESULT,)
    return any(form.fullmatch(name) for form in forms for name in names)


def other_logs(names: Iterable[str], missing: int) -> dict[str, str]:
    """Return what may be the logs of the missing runs, and the number in each name; none where there are more."""
    found = {name: match[1] for name in sorted(names) if (match := OTHER_LOG.fullmatch(name))}
    return found if len(found) <= missing else {}


def _hidden(system: str) -> str:
    return f"Remove results/{system}: the official checker takes each folder in results for a system."


def fix_for_too_deep(inner: Path, outer: Path, listing: Listing, *, alone: bool) -> str:
    """Return how to get an organisation's tree up, with a command only where that overwrites and mixes nothing.

    Args:
        inner: the folder with its tree.
        outer: the folder that has its place: beside it belong the other organisations.
        listing: what was looked at before.
        alone: whether no other organisation lies in ``outer``.
    """
    above = outer.parent
    if alone and outer.name.lower() not in DIVISIONS:
        return fix_for_inner(inner, outer, above, listing)
    deep = inner.relative_to(above).as_posix()
    if os.path.lexists(above / inner.name):
        return _taken([inner.name], above)
    return f"Move the organisation's folder up: mv {quote(deep)} . in the folder {above.name}."


def _taken(names: Sequence[str], above: Path) -> str:
    return f"{above.name} contains another {several(names, _MOST_NAMED)}: join them with mlsub merge, or rename one."


def _named_organisation(inner: Path, above: Path) -> Path | None:
    """Return the folder on the way to an organisation's tree that has its name; None where that is not certain."""
    way = [inner, *(folder for folder in inner.parents if folder.is_relative_to(above) and folder != above)]
    may = [folder for folder in way if folder.name.lower() not in {*DIVISIONS, *usages(), *_AROUND}]
    same = len({folder.name.lower() for folder in may}) == 1
    known = [folder for folder in may if organisation(folder.name) in known_organisations()]
    return may[-1] if same else known[0] if len(known) == 1 else None


def fix_for_divided(deep: Sequence[Path], above: Path, listing: Listing) -> str:
    """Return how to get several organisations' trees up to the folder above all of them."""
    named = [_named_organisation(inner, above) for inner in deep]
    if len(deep) == 1 and named[0] is not None and named[0].parent == above:
        return fix_for_inner(deep[0], named[0], above, listing)
    if named != list(deep):
        paths = several([inner.relative_to(above).as_posix() for inner in deep], _MOST_NAMED)
        each = "what this folder contains" if len(deep) == 1 else "what each of these contains"
        return f"Move {each} to {above.name}/<organisation>, with the name of its organisation: {paths}."
    names = [inner.name for inner in deep]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        parts = [typed(inner) for inner in deep if inner.name == twice]
        command = join(["mlsub", "merge", *parts, "-o", typed(above / twice), "--write"])
        return f"Join the packages of {twice}, and remove both afterwards: {command}"
    if taken := [name for name in names if os.path.lexists(above / name)]:
        return _taken(taken, above)
    if len(deep) > _MOST_NAMED:
        return f"Move each organisation's folder up to {above.name}."
    command = join(["mv", *(inner.relative_to(above).as_posix() for inner in deep), "."])

    def holds_only_these(folder: Path) -> bool:
        try:
            return {folder / name for name in listing.names_in(folder)} <= set(deep)
        except OSError:
            return False

    if emptied := list(filter(holds_only_these, dict.fromkeys(inner.parent for inner in deep))):
        command = f"{command} && {_rmdir(emptied, above)}"
    return f"Move the organisations' folders up: {command} in the folder {above.name}."


def fix_for_elsewhere(deep: Sequence[Path]) -> str:
    """Return what to name in the place of a folder that has organisations' trees somewhere below it."""
    named = join(map(typed, deep[:_MOST_NAMED]))
    return f"Name the packages{' one by one' if len(deep) > _MOST_NAMED else ''}: {named}"


def typed(path: Path) -> str:
    """Return a path as one types it in the current folder."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def find_missing_folder(
    organisation: Path, name: str, benchmarks: Collection[str], listing: Listing
) -> tuple[str, str] | None:
    """Return the folder in which the files of a missing ``results`` or ``systems`` lie, and what to do with it.

    Raises:
        OSError: a folder cannot be looked at.
    """
    there = [
        child for child in listing.folders_in(organisation) if child.name not in ("results", "systems", "benchmarks")
    ]
    close = get_close_matches(name, [child.name.lower() for child in there], n=1, cutoff=0.8)
    for child in there:
        if child.name.lower() in close:
            does = f"; {FIX} does it." if name == "results" else "."
            return child.name, f"Rename {child.name} to {name}{does}"
    for child in there:
        if listing.is_folder(child / name):
            return child.name, fix_for_inner(child, organisation, organisation, listing)
    if name == "results":

        def has_logs(system: Path) -> bool:
            inside = listing.folders_in(system)
            return any(one.name in benchmarks and logs_in(one, listing) for one in inside)

        systems = list(filter(has_logs, there))
        if systems:
            moved = join([child.name for child in systems])
            where = f"in the folder {organisation.name}"
            return systems[0].name, f"Move the systems into results: mkdir results && mv {moved} results/ {where}."
    return None


def fix_for_inner(inner: Path, outer: Path, where: Path, listing: Listing) -> str:
    """Return how to move what a folder contains to one above it, with a command only where no name is there twice."""
    deep, to = inner.relative_to(where).as_posix(), outer.relative_to(where).as_posix()
    moved = f"Move what {deep} contains up to {outer.name}"
    try:
        both = sorted({*listing.names_in(inner)} & {*listing.names_in(outer)})
    except OSError:
        return f"{moved}."
    if both:
        return f"{moved}, and join what both have: {several(both, 5)}."
    emptied = [inner, *(folder for folder in inner.parents if folder.is_relative_to(outer) and folder != outer)]
    command = f"mv {quote(deep)}/* {'.' if to == '.' else f'{quote(to)}/'} && {_rmdir(emptied, where)}"
    return f"{moved}: {command} in the folder {where.name}."


def _rmdir(folders_: Iterable[Path], where: Path) -> str:
    return join(["rmdir", *(folder.relative_to(where).as_posix() for folder in folders_)])


def to_capture(file: str, system: str, submitter: str, division: str | None = None) -> str:
    """Return the command that describes a system on the machine itself, and says what is known of it already."""
    said = ["--submitter", submitter, *(["--division", division] if division else []), "--set", f"system_name={system}"]
    return join(["mlsub", "system", "capture", *said, "-o", file])


def find_missing_description(
    organisation: Path, system: str, unused: Collection[str], *, only: bool
) -> tuple[str | None, str]:
    """Return the description that was probably meant, of those that no system uses, and what to do.

    Args:
        organisation: the organisation's folder.
        system: the system without a description.
        unused: the names of descriptions that belong to no system with results.
        only: whether no other system lacks a description, so that the only unused one must be meant.
    """
    if system.startswith("."):
        return None, _hidden(system)
    where = f"in the folder {organisation.name}"
    if system.strip() in unused and not os.path.lexists(results := organisation / "results" / system.strip()):
        # Nobody means a blank at the end of a name, which some file systems cannot even hold.
        renamed = join(["mv", f"results/{system}", f"results/{results.name}"])
        return results.name, f"Rename the folder of the system: {renamed} {where}; {FIX} does it."
    close = get_close_matches(system.lower(), [name.lower() for name in unused], n=1)
    meant = [name for name in unused if name.lower() in close] or (list(unused) if only and len(unused) == 1 else [])
    if meant:
        does = f"; {FIX} does it" if meant[0].lower() == system.lower() else ", if it describes this system"
        return meant[0], f"Rename systems/{meant[0]}.json to {system}.json{does}."
    file = f"systems/{system}.json"
    command = to_capture(file, system, organisation.name)
    return None, f"Add {file}: {command} writes it, on the machine and {where}. Or remove results/{system}."
