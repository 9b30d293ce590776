"""From paths to places and rounds: the one meaning that PATH has in every command.

A path is a log, a benchmark's folder, a system's results, an organisation, a round (a folder of organisations) or a
folder of rounds. Its round is the one asked for, else the one that a folder above it is named like.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from mlsub.convergence import USUAL, Options
from mlsub.findings import Finding
from mlsub.io import look, reason_of
from mlsub.io.show import display_path, plural
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.rules.catalogue import finding
from mlsub.submission.find import PathKind, Place, infer_round, is_organisation, locate, named_round, rounds_in
from mlsub.submission.listing import Listing
from mlsub.submission.remedies import fix_for_divided, fix_for_elsewhere, fix_for_names, fix_for_too_deep
from mlsub.workspace.cache import Cache

#: Folders of one that are looked into for organisations that lie deeper.
_MOST_LOOKED_AT = 20
#: Of those as many are shown.
_MOST_SHOWN = 5
T = TypeVar("T")
#: Called with the number of logs done and the number of all.
Progress = Callable[[int, int], None]


class Request(msgspec.Struct, frozen=True):
    """What is asked for: plain data, which travels to the processes that read.

    A round and usage, None to infer them; ``overlay`` is a file of the caller's own rules, checked before;
    ``convergence`` what the convergence test is to do. ``paths`` are those of a command line. ``trace`` and
    ``intervals`` ask for these of each log besides.
    """

    round: str | None = None
    usage: str | None = None
    overlay: str | None = None
    convergence: Options = USUAL
    trace: bool = False
    intervals: bool = False
    paths: tuple[str, ...] = ()


#: Nothing but what the folders say.
ANY = Request()


class Context(msgspec.Struct, frozen=True):
    """A request, and what this process has to answer it; only the request leaves this process.

    ``cache`` knows what was read before, and keeps what is read; None for none. ``jobs`` processes read, None for as
    many as pay; ``executor`` names where else, see :func:`mlsub.workspace.executors.open_pool`. ``progress`` hears of
    the logs that are done.
    """

    request: Request = ANY
    cache: Cache | None = None
    jobs: int | None = None
    executor: str | None = None
    progress: Progress | None = None

    def in_round(self, round_: Round) -> Context:
        """The same where the round is known."""
        return replace(self, request=replace(self.request, usage=round_.usage, round=round_.name))


#: Nothing asked for, no cache, and as many processes as pay.
AS_FOUND = Context()


def in_one_line(problem: Finding) -> str:
    """What is wrong, what is expected, and how to fix it."""
    expected = f"; expected {problem.expected}" if problem.expected else ""
    end = "" if f"{problem.message}{expected}".endswith("?") else "."
    return f"{problem.message}{expected}{end} {problem.fix or ''}".rstrip()


def find_places(paths: Sequence[str | os.PathLike[str]], request: Request) -> tuple[list[Place], list[Place]]:
    """Return what lies at the paths, each place once and with its round, and the places that have a problem.

    A folder of rounds is all of its rounds, and organisations that lie beside them.
    """
    found = [place for path in paths for place in _places_at(Path(path))]
    known = [_with_round(place, request) for place in _distinct(found)]
    return [place for place in known if place.problem is None], [place for place in known if place.problem is not None]


def known_round(usage: str, name: str, overlay: str | None, where: str) -> Round | Finding:
    """A round by the names a person types, or the finding at ``where`` that says what there is instead."""
    known = known_rounds(usage, overlay)
    if not known:
        return _unknown(where, f"There is no usage {usage[:40]}", usage, usages(), "")
    asked = normalise_round(name) or name
    if asked not in known:
        return _unknown(where, f"There are no rules for {usage} round {name[:40]}", name, known, "one of ")
    return get_round(usage, asked, overlay)


def _unknown(where: str, message: str, name: str, known: Sequence[str], lead: str) -> Finding:
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else None
    expected = lead + ", ".join(known)
    return finding("check.unknown-round", where, message, expected=expected, actual=name[:40], fix=hint)


def _places_at(path: Path) -> list[Place]:
    place = _located(path)
    try:
        inside = rounds_in(place) if place.problem is None else []
    except OSError as error:
        return [_unreadable(error, place)]
    return [_located(child) for child in inside] or [place]


def _located(path: Path) -> Place:
    try:
        return locate(path)
    except OSError as error:
        return _unreadable(error, Place(Path(os.path.abspath(path)), PathKind.NOTHING))  # noqa: PTH100


def _unreadable(error: OSError, place: Place) -> Place:
    """A place that the system does not let us look at."""
    name = place.path if error.filename is None else os.fsdecode(error.filename)
    message = f"{name} cannot be accessed: {reason_of(error)}"
    return replace(place, problem=finding("tree.unreadable", place.path.name, message))


def _distinct(places: Iterable[Place]) -> list[Place]:
    """Places without those that lie in another one: what is named twice is looked at once."""
    once = list(dict.fromkeys(places))
    folders = {place.path for place in once if place.kind is not PathKind.LOG and place.problem is None}
    return [
        place
        for place in once
        if place.kind in (PathKind.LOG, PathKind.NOTHING) or not any(above in folders for above in place.path.parents)
    ]


def _with_round(place: Place, request: Request) -> Place:
    """A place with its round, or the problem that says why there is none."""
    if place.problem is not None:
        return place
    try:
        if not look.exists(place.path):
            return replace(place, problem=_no_such_path(place.path))
        if place.kind is PathKind.NOTHING:
            return replace(place, problem=_nothing_in(place))
        if place.path.suffix in (".yaml", ".yml"):
            from mlsub.submission.manifest import manifest_at

            if manifest_at(place.path) is not None:
                return replace(place, problem=_manifest(place.path))
        place = infer_round(place)
    except OSError as error:
        return _unreadable(error, place)
    usage = request.usage or place.usage or "training"
    asked, named_by, known = request.round or place.round, place.round_from, known_rounds(usage, request.overlay)
    if request.round is not None:
        named_by = None
    elif not asked and request.usage and len(known) == 1:
        asked = known[0]
    elif not asked and known:
        expected = f"--round with one of {', '.join(known)}"
        actual = "no folder named like vX.Y or training_vX.Y, and no submission.yaml beside it"
        problem = finding("check.no-round", place.path.name, expected=expected, actual=actual)
        return replace(place, problem=problem)
    round_ = known_round(usage, asked, request.overlay, place.path.name)
    if isinstance(round_, Finding):
        return replace(place, problem=round_)
    return replace(place, usage=round_.usage, round=round_.name, round_from=named_by)


def _nothing_in(place: Place) -> Finding:
    folder = place.path
    if deep := list(_deeper(folder, 3, place.listing)):
        return _too_deep(deep, place)
    return finding(
        "check.no-logs",
        ".",
        f"There is neither a result log nor an organisation in {folder.name}",
        actual="none",
        fix=fix_for_names(_listed(place.listing.names_in, folder)),
    )


def _manifest(file: Path) -> Finding:
    shown = shlex.quote(display_path(file))
    fix = f"mlsub pack {shown} shows the package that it describes, mlsub status {shown} what is left to do."
    return finding("check.no-logs", file.name, f"{file.name} is a manifest, not a log", actual="a manifest", fix=fix)


def _too_deep(deep: Sequence[Path], place: Place) -> Finding:
    """What to do with organisations' trees some folders down: one gets to its place, of others that is not known."""
    folder, first = place.path, deep[0]
    round_ = named_round(folder.name) is not None
    steps = [named_round(above.name) for one in deep for above in one.relative_to(folder).parents]
    its_own = first.name.lower() == folder.name.lower() or named_round(folder.parent.name)
    found = ", ".join(one.relative_to(folder.parent).as_posix() + "/results" for one in deep[:_MOST_SHOWN])
    message, expected = f"The organisations' folders lie too deep below {folder.name}", None
    if len(deep) == 1:
        count = len(first.relative_to(folder).parts) - round_
        message = f"The files of {first.name} are {plural(count, 'folder')} too deep"
    if any(steps) or not (round_ or (its_own and len(deep) == 1)):
        fix = fix_for_elsewhere(deep)
    elif round_:
        expected, fix = f"{folder.name}/<organisation>/results", fix_for_divided(deep, folder, place.listing)
    else:
        expected, fix = f"{folder.name}/results", fix_for_too_deep(first, folder, place.listing, alone=True)
    return finding("check.no-logs", ".", message, expected=expected, actual=found, fix=fix)


def _deeper(folder: Path, levels: int, listing: Listing) -> Iterator[Path]:
    """The organisations' folders some levels down, as far as they can be looked at."""
    inside = _listed(listing.folders_in, folder) if levels else []
    for child in inside[:_MOST_LOOKED_AT]:
        if is_organisation(child, listing, unseen=False):
            yield child
        else:
            yield from _deeper(child, levels - 1, listing)


def _no_such_path(path: Path) -> Finding:
    close = get_close_matches(path.name, sorted(_listed(look.names_in, path.parent)), n=1)
    hint = f"Did you mean {path.parent / close[0]}?" if close else None
    return finding("check.no-such-path", path.name, f"There is no {path}", fix=hint)


def _listed(list_of: Callable[[Path], list[T]], folder: Path) -> list[T]:
    """What lies in a folder, for a hint alone."""
    try:
        return list_of(folder)
    except OSError:
        return []
