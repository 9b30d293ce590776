"""What to rehearse: organisation, systems, divisions and hyperparameters."""

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

    system: Name
    division: Literal["closed", "open"]
    benchmark: Literal["digits", "verses"] = "digits"
    hyperparameters: dict[str, Any] = {}


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest as it is written."""

    organisation: Name
    entries: tuple[_Entry, ...]
    status: Literal["cloud", "onprem", "preview", "research"] = "research"


FORM = Form(type=_Manifest, kind="manifests", title="What mlsub demo runs")


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        FileProblemsError: it cannot be read, is not YAML, lacks a field or has one that is not known.
    """
    written, tree = read_document(path, FORM)
    entries = []
    for number, entry in enumerate(written.entries):
        kind = PARAMETERS[entry.benchmark]
        parameters = tree.read(kind, "entries", number, "hyperparameters") if entry.hyperparameters else kind()
        if parameters is not None:
            entries.append(RehearsalEntry(entry.system, entry.division, parameters, entry.benchmark))
    named = [(entry.system, entry.benchmark) for entry in written.entries]
    if not named or len(set(named)) != len(named):
        tree.flaw("name at least one system, and each benchmark of a system once", "entries")
    if len({(entry.system, entry.division) for entry in written.entries}) > len({system for system, _ in named}):
        tree.flaw("a system has one division; name another system for the other", "entries")
    tree.settle()
    return Manifest(written.organisation, tuple(entries), written.status)
