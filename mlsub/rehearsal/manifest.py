"""What to rehearse: organisation, systems, divisions and hyperparameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ManifestError(ValueError):
    """The manifest cannot be used; the text says what is wrong and where."""


class Hyperparameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters of a run, by their log keys; the defaults are those the Closed rules fix.

    ``global_batch_size`` is in samples, ``max_epochs`` the number of epochs after which a run is given up.
    """

    opt_name: Literal["sgd", "adam"] = "sgd"
    opt_base_learning_rate: float = 0.02
    opt_momentum: float = 0.9
    opt_weight_decay: float = 0.0001
    model_hidden_units: int = 64
    global_batch_size: int = 32
    max_epochs: int = 200


class RehearsalEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system and division to rehearse."""

    system: str
    division: Literal["closed", "open"]
    hyperparameters: Hyperparameters = Hyperparameters()


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole rehearsal."""

    organisation: str
    entries: tuple[RehearsalEntry, ...]
    status: Literal["cloud", "onprem", "preview", "research"] = "research"


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        ManifestError: it cannot be read, is no YAML, lacks a field or has one that is not known.
    """
    import yaml

    try:
        content: Any = yaml.safe_load(path.read_bytes())
        manifest = msgspec.convert(content, Manifest)
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ManifestError(f"{path}: {error}") from error
    for name in (manifest.organisation, *(entry.system for entry in manifest.entries)):
        if not _NAME.fullmatch(name):
            raise ManifestError(f"{path}: {name!r} becomes a folder's name; use letters, digits, '.', '_' and '-'")
    systems = [entry.system for entry in manifest.entries]
    if not systems or len(set(systems)) != len(systems):
        raise ManifestError(f"{path}: name at least one system, and each once")
    return manifest
