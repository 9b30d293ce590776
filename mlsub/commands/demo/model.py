"""What to rehearse: organisation, systems, divisions and hyperparameters; and the parts of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mlsub.io.documents import Form, read_document

Name = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        extra_json_schema={
            "patternErrorMessage": "becomes a folder's name; use up to 100 letters, digits, '.', '_' and '-'"
        },
    ),
]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters by their log keys; the defaults are those the Closed rules fix.

    ``global_batch_size`` is in samples; ``max_epochs`` is the number of epochs after which a run is given up, None for
    the usual one of the benchmark.
    """

    opt_name: Literal["sgd", "adam"] = "sgd"
    opt_base_learning_rate: float = 0.02
    opt_momentum: float = 0.9
    opt_weight_decay: float = 0.0001
    model_hidden_units: int = 64
    global_batch_size: int = 32
    max_epochs: int | None = None


class RehearsalEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system, division and benchmark to rehearse."""

    system: Name
    division: Literal["closed", "open"]
    hyperparameters: Parameters = Parameters()
    benchmark: Literal["digits", "verses"] = "digits"


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole rehearsal."""

    organisation: Name
    status: Literal["cloud", "onprem", "preview", "research"]
    entries: tuple[RehearsalEntry, ...]


class Part(msgspec.Struct, frozen=True):
    """A part of a training, in the words of the recorder: what its block says, and its evaluation."""

    block: dict[str, Any]
    evaluation: dict[str, Any]


FORM = Form(type=Manifest, kind="manifests", title="What mlsub demo runs")


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        FileProblemsError: it cannot be read, is not YAML, lacks a field or has one that is not known.
    """
    manifest, tree = read_document(path, FORM)
    named = {(entry.system, entry.benchmark) for entry in manifest.entries}
    if not named or len(named) < len(manifest.entries):
        tree.flaw("name at least one system, and each benchmark of a system once", "entries")
    systems = {entry.system for entry in manifest.entries}
    if len({(entry.system, entry.division) for entry in manifest.entries}) > len(systems):
        tree.flaw("a system has one division; name another system for the other", "entries")
    tree.settle()
    return manifest
