"""What to rehearse: organisation, systems, divisions and hyperparameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ManifestError(ValueError):
    """The manifest cannot be used; the text says what is wrong and where."""


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
    import yaml

    try:
        content: Any = yaml.safe_load(path.read_bytes())
        written = msgspec.convert(content, _Manifest)
        manifest = Manifest(written.organisation, tuple(map(_typed, written.entries)), written.status)
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ManifestError(f"{path}: {error}") from error
    for name in (manifest.organisation, *(entry.system for entry in manifest.entries)):
        if not _NAME.fullmatch(name):
            raise ManifestError(f"{path}: {name!r} becomes a folder's name; use letters, digits, '.', '_' and '-'")
    entries = [(entry.system, entry.benchmark) for entry in manifest.entries]
    if not entries or len(set(entries)) != len(entries):
        raise ManifestError(f"{path}: name at least one system, and each benchmark of a system once")
    if len({(entry.system, entry.division) for entry in manifest.entries}) > len({system for system, _ in entries}):
        raise ManifestError(f"{path}: a system has one division; name another system for the other")
    return manifest


def _typed(entry: _Entry) -> RehearsalEntry:
    parameters = msgspec.convert(entry.hyperparameters, PARAMETERS[entry.benchmark])
    return RehearsalEntry(entry.system, entry.division, parameters, entry.benchmark)
