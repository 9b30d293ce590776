"""What to rehearse: organisation, systems, divisions and hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from mlsub.io.yamlfile import FileProblemsError, Problem, content_of, node_at, read, twice

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
#: A message that quotes a long value.
_LONGEST = 300


class ManifestError(FileProblemsError):
    """A manifest that cannot be used."""


class DigitsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters of ``digits``, by their log keys; the defaults are those the Closed rules fix.

    ``global_batch_size`` is in samples, ``max_epochs`` the number of epochs after which a run is given up.
    """

    opt_name: Literal["sgd", "adam"] = "sgd"
    opt_base_learning_rate: float = 0.02
    opt_momentum: float = 0.9
    opt_weight_decay: float = 0.0001
    model_hidden_units: int = 64
    global_batch_size: int = 32
    max_epochs: int = 200


class VersesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters of ``verses``, likewise."""

    opt_name: Literal["sgd", "adam"] = "sgd"
    opt_base_learning_rate: float = 0.02
    opt_momentum: float = 0.9
    opt_weight_decay: float = 0.0001
    model_hidden_units: int = 64
    global_batch_size: int = 32
    max_epochs: int = 20


#: The benchmarks that can be rehearsed.
PARAMETERS: dict[str, type[DigitsParameters] | type[VersesParameters]] = {
    "digits": DigitsParameters,
    "verses": VersesParameters,
}


class RehearsalEntry(msgspec.Struct, frozen=True):
    """One system, division and benchmark to rehearse."""

    system: str
    division: Literal["closed", "open"]
    hyperparameters: DigitsParameters | VersesParameters = DigitsParameters()
    benchmark: str = "digits"


class Manifest(msgspec.Struct, frozen=True):
    """A whole rehearsal."""

    organisation: str
    entries: tuple[RehearsalEntry, ...]
    status: Literal["cloud", "onprem", "preview", "research"] = "research"


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry as it is written; its benchmark says what hyperparameters it has."""

    system: str
    division: Literal["closed", "open"]
    benchmark: Literal["digits", "verses"] = "digits"
    hyperparameters: dict[str, Any] = {}


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest as it is written."""

    organisation: str
    entries: tuple[_Entry, ...]
    status: Literal["cloud", "onprem", "preview", "research"] = "research"


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        ManifestError: it cannot be read, is no YAML, lacks a field or has one that is not known.
    """
    node, problems = read(path, kind="manifests", top="organisation and entries")
    if node is None:
        raise ManifestError(problems)
    doubled = [Problem(str(path), where.start_mark.line + 1, message) for where, message in twice(node)]
    if doubled:
        raise ManifestError(tuple(doubled))

    def refuse(message: str, *steps: str | int) -> NoReturn:
        raise ManifestError((Problem(str(path), node_at(node, steps).start_mark.line + 1, message),))

    try:
        written = msgspec.convert(content_of(node), _Manifest)
    except msgspec.ValidationError as error:
        refuse(str(error)[:_LONGEST], *_steps(str(error)))
    entries = []
    for number, entry in enumerate(written.entries):
        try:
            entries.append(_typed(entry))
        except msgspec.ValidationError as error:
            refuse(str(error)[:_LONGEST], "entries", number, "hyperparameters", *_steps(str(error)))
    manifest = Manifest(written.organisation, tuple(entries), written.status)
    places: list[tuple[str, tuple[str | int, ...]]] = [(manifest.organisation, ("organisation",))]
    places += [(entry.system, ("entries", number, "system")) for number, entry in enumerate(entries)]
    for name, steps in places:
        if not _NAME.fullmatch(name):
            refuse(f"{name[:80]!r} becomes a folder's name; use up to 100 letters, digits, '.', '_' and '-'", *steps)
    named = [(entry.system, entry.benchmark) for entry in entries]
    if not named or len(set(named)) != len(named):
        refuse("name at least one system, and each benchmark of a system once", "entries")
    if len({(entry.system, entry.division) for entry in entries}) > len({system for system, _ in named}):
        refuse("a system has one division; name another system for the other", "entries")
    return manifest


def _typed(entry: _Entry) -> RehearsalEntry:
    parameters = msgspec.convert(entry.hyperparameters, PARAMETERS[entry.benchmark])
    return RehearsalEntry(entry.system, entry.division, parameters, entry.benchmark)


def _steps(message: str) -> Iterator[str | int]:
    """The keys and positions of the place that a message of msgspec ends with, such as ``$.entries[0].system``."""
    place = re.search(r"`\$([^`]*)`$", message)
    for name, number in re.findall(r"\.([^.\[]+)|\[(\d+)\]", place[1] if place else ""):
        yield name or int(number)
