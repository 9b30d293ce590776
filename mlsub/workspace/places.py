"""From paths to places and rounds: the one meaning that PATH has in every command.

A path is a log, a benchmark's folder, a system's results, an organisation, a round (a folder of organisations) or a
folder of rounds. Its round is the one asked for, else the one that a folder above it is named like.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.findings import Finding
from mlsub.io import look
from mlsub.io.errors import reason_of
from mlsub.judge.log import NewFold
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.rules.catalogue import finding
from mlsub.submission.locate import (
    Place,
    Target,
    folders,
    infer_round,
    is_organisation,
    locate,
    may_be_organisation,
    names_round,
)
from mlsub.submission.remedies import of_divided, of_elsewhere, of_names, of_too_deep
from mlsub.workspace.cache import Cache

#: Folders of one that are looked into for organisations that lie deeper.
_MOST_LOOKED_AT = 20
#: Of those as many are shown.
_MOST_SHOWN = 5
#: Called with the number of logs done and the number of all.
Progress = Callable[[int, int], None]


class Settings(msgspec.Struct, frozen=True):
    """What the caller asked for: a round and usage (None to infer them), and how many processes may read.

    ``overlay`` is a file of the caller's own rules, checked before; ``convergence`` what the convergence test is to do.
    ``folds`` are what to find out of each log besides, see :class:`mlsub.judge.log.LogTask`. ``executor`` names where
    logs are read, see :func:`mlsub.workspace.executors.open_pool`. ``cache`` knows what was read before, and keeps what
    is read; None for none.
    """

    round: str | None = None
    usage: str | None = None
    jobs: int | None = None
    progress: Progress | None = None
    overlay: str | None = None
    convergence: Options = USUAL
    folds: tuple[NewFold, ...] = ()
    executor: str | None = None
    cache: Cache | None = None


#: Nothing asked for.
AS_FOUND = Settings()


class Found(msgspec.Struct, frozen=True):
    """A place and its round; ``inferred_from`` is the folder or manifest that gave it, None where it was asked for."""

    place: Place
    round: Round
    inferred_from: str | None


class Problem(msgspec.Struct, frozen=True):
    """A place that cannot be looked at, and why."""

    place: Place
    finding: Finding


def in_one_line(problem: Finding) -> str:
    """What is wrong, what is expected, and how to fix it."""
    expected = f"; expected {problem.expected}" if problem.expected else ""
    return f"{problem.message}{expected}. {problem.fix or ''}".rstrip()


def find(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> tuple[list[Found], list[Problem]]:
    """What lies at the paths, each place once and with its round, and the places that cannot be looked at."""
    found: list[Found] = []
    problems: list[Problem] = []
    for place in _distinct([place for path in paths for place in _places(Path(path), problems)]):
        try:
            outcome = _look(place, settings)
        except OSError as error:
            outcome = _unreadable(error, place.path)
        if isinstance(outcome, Finding):
            problems.append(Problem(place, outcome))
        else:
            found.append(outcome)
    return found, problems


def organisations(place: Place) -> list[Place]:
    """The organisations of a place: those of a round, else the place itself, which is one or a part of one.

    What may be one, but cannot be looked at, is told by whoever reads it.

    Raises:
        OSError: the place cannot be looked at.
    """
    if place.target is not Target.ORGANISATIONS:
        return [place]
    found: list[Place] = []
    for child in filter(may_be_organisation, folders(place.path)):
        try:
            found.append(locate(child))
        except OSError:
            found.append(Place(child, Target.ORGANISATION, child))
    return found


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


def _places(path: Path, problems: list[Problem]) -> list[Place]:
    """What a path is; a folder of rounds is all of its rounds, and organisations that lie beside them.

    Args:
        path: as it was asked for.
        problems: what cannot be looked at is added to them.
    """
    try:
        place = locate(path)
        if place.target is Target.NOTHING or (place.target is Target.ORGANISATIONS and infer_round(place) is None):
            inside = folders(place.path)
            rounds = [child for child in inside if names_round(child.name)]
            if rounds:
                beside = [child for child in inside if not names_round(child.name) and may_be_organisation(child)]
                return [place for child in (*rounds, *beside) for place in _located(child, problems)]
    except OSError as error:
        problems.append(_problem(error, path))
        return []
    return [place]


def _located(path: Path, problems: list[Problem]) -> list[Place]:
    """The place of a folder; none where it cannot be looked at, which is added to the problems."""
    try:
        return [locate(path)]
    except OSError as error:
        problems.append(_problem(error, path))
        return []


def _problem(error: OSError, path: Path) -> Problem:
    path = Path(os.path.abspath(path))  # noqa: PTH100
    return Problem(Place(path, Target.NOTHING, None), _unreadable(error, path))


def _unreadable(error: OSError, path: Path) -> Finding:
    """The finding on a place that the system does not let us look at."""
    name = path if error.filename is None else os.fsdecode(error.filename)
    return finding("tree.unreadable", path.name, f"{name} cannot be accessed: {reason_of(error)}")


def _distinct(places: Iterable[Place]) -> list[Place]:
    """Places without those that lie in another one: what is named twice is looked at once."""
    once = list(dict.fromkeys(places))
    folders = {place.path for place in once if place.target is not Target.LOG}
    return [
        place
        for place in once
        if place.target in (Target.LOG, Target.NOTHING) or not any(above in folders for above in place.path.parents)
    ]


def _look(place: Place, settings: Settings) -> Found | Finding:
    """A place with its round, or the finding that says why there is none."""
    name = place.path.name
    if not look.is_there(place.path):
        return _no_such_path(place.path)
    if place.target is Target.NOTHING:
        return _nothing_in(place)
    inferred = infer_round(place)
    usage = settings.usage or (inferred.usage if inferred else "training")
    if settings.round is not None:
        asked, inferred_from = settings.round, None
    elif inferred is not None:
        asked, inferred_from = inferred.round, inferred.folder
    else:
        known = known_rounds(usage, settings.overlay)
        if settings.usage and len(known) == 1:
            asked, inferred_from = known[0], None
        elif known:
            return _no_round(name, known)
        else:
            asked, inferred_from = "", None
    round_ = known_round(usage, asked, settings.overlay, name)
    return round_ if isinstance(round_, Finding) else Found(place, round_, inferred_from)


def _no_round(where: str, known: Sequence[str]) -> Finding:
    return finding(
        "check.no-round",
        where,
        expected=f"--round with one of {', '.join(known)}",
        actual="no folder named like vX.Y or training_vX.Y, and no submission.yaml beside it",
    )


def _nothing_in(place: Place) -> Finding:
    folder = place.path
    if deep := list(_deeper(folder, 3)):
        return _too_deep(deep, folder)
    there = _names(folder)
    return finding(
        "check.no-logs",
        ".",
        f"There is neither a result log nor an organisation in {folder.name}",
        actual="none",
        fix=of_names(there),
    )


def _too_deep(deep: Sequence[Path], folder: Path) -> Finding:
    """What to do with organisations' trees some folders down: one gets to its place, of others that is not known."""
    first, round_ = deep[0], names_round(folder.name)
    steps = [names_round(above.name) for one in deep for above in one.relative_to(folder).parents]
    its_own = first.name.lower() == folder.name.lower() or names_round(folder.parent.name)
    found = ", ".join(one.relative_to(folder.parent).as_posix() + "/results" for one in deep[:_MOST_SHOWN])
    message, expected = f"The organisations' folders lie too deep below {folder.name}", None
    if len(deep) == 1:
        count = len(first.relative_to(folder).parts) - round_
        message = f"The files of {first.name} are {count} folder{'s' * (count > 1)} too deep"
    if any(steps) or not (round_ or (its_own and len(deep) == 1)):
        fix = of_elsewhere(deep)
    elif round_:
        expected, fix = f"{folder.name}/<organisation>/results", of_divided(deep, folder)
    else:
        expected, fix = f"{folder.name}/results", of_too_deep(first, folder, alone=True)
    return finding("check.no-logs", ".", message, expected=expected, actual=found, fix=fix)


def _deeper(folder: Path, levels: int) -> Iterator[Path]:
    """The organisations' folders some levels down, as far as they can be looked at."""
    for child in _folders(folder)[:_MOST_LOOKED_AT] if levels else []:
        if _is_organisation(child):
            yield child
        else:
            yield from _deeper(child, levels - 1)


def _no_such_path(path: Path) -> Finding:
    close = get_close_matches(path.name, _names(path.parent), n=1)
    hint = f"Did you mean {path.parent / close[0]}?" if close else None
    return finding("check.no-such-path", path.name, f"There is no {path}", fix=hint)


def _names(folder: Path) -> list[str]:
    """For a hint alone."""
    try:
        return sorted(look.names_in(folder))
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    """For a hint alone."""
    try:
        return folders(folder)
    except OSError:
        return []


def _is_organisation(folder: Path) -> bool:
    try:
        return is_organisation(folder)
    except OSError:
        return False
