"""The catalogue: systems and accelerators that are known from what was published, each value with its source.

A file of ``catalogue/`` is one system. ``like`` names the one it inherits from; ``accelerators`` is their number in
all, to be shared out evenly among the hosts, ``accelerators_per_host`` that of each; ``fields`` hold values that do not
depend on a submission, each with one of the ``sources`` and a ``note`` where it is not word for word what was
published; ``unpublished`` are fields that every published description leaves empty; ``software`` is what
it was published with, and on how many hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.io import MlsubError
from mlsub.io.data import load_yaml
from mlsub.io.show import squeezed
from mlsub.systems.fields import fields
from mlsub.systems.names import find_name, registry

_FOLDER = Path(__file__).with_name("catalogue")


class SourcedValue(msgspec.Struct, frozen=True):
    """A value, and where it is from."""

    value: Any
    source: str


class Software(msgspec.Struct, frozen=True):
    """What a system was published with: for which benchmark, on how many hosts, and the fields that follow."""

    name: str
    hosts: int
    used: str
    fields: dict[str, SourcedValue]


class KnownSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system of the catalogue; ``accelerators`` are those of each host if ``per_host``, else in all."""

    name: str
    title: str
    submitter: str
    accelerators: int
    per_host: bool
    fields: dict[str, SourcedValue]
    unpublished: tuple[str, ...]
    software: tuple[Software, ...]

    def possible_hosts(self) -> tuple[int, ...]:
        """Return how many hosts can share the accelerators evenly; empty where any number can."""
        if self.per_host:
            return ()
        return tuple(n for n in range(1, self.accelerators + 1) if self.accelerators % n == 0)


def system_names() -> tuple[str, ...]:
    """Return the systems there are, small ones first."""

    def family_and_size(name: str) -> tuple[str, int]:
        digits = "".join(char if char.isdigit() else " " for char in name).split()
        return name.rstrip("0123456789"), int(digits[-1]) if digits else 0

    return tuple(sorted((file.stem for file in _FOLDER.glob("*.yaml")), key=family_and_size))


def find_system(text: str, beside: Sequence[str] = ()) -> KnownSystem:
    """Return the system of a name, however it is capitalised, with or without its hyphens.

    Args:
        text: the name.
        beside: what else could have been meant by an unknown one.

    Raises:
        MlsubError: there is none.
    """
    names = system_names()
    wanted = squeezed(text)
    plain = {squeezed(name): name for name in names}
    if wanted in plain:
        return _load_system(plain[wanted])
    plain |= {squeezed(name): name for name in beside}
    close = get_close_matches(wanted, plain, n=1)
    hint = f" Did you mean {plain[close[0]]}?" if close else ""
    raise MlsubError(f"no system {text[:40]!r}; mlsub system list shows those there are.{hint}")


def find_software(system: KnownSystem, framework: str) -> Software | None:
    """Return what the system was published with that a framework means, by its name alone or by the whole text."""
    wanted = framework.strip().lower()
    spelled = ((each, (each.name, str(each.fields["framework"].value))) for each in system.software)
    return next((each for each, names in spelled if wanted in map(str.lower, names)), None)


@lru_cache(maxsize=16)
def _load_system(name: str) -> KnownSystem:
    raw = _read_inherited(name)
    sources, unpublished = raw["sources"], tuple(raw.get("unpublished", ()))
    return KnownSystem(
        name=name,
        title=raw["title"],
        submitter=raw["submitter"],
        accelerators=raw.get("accelerators_per_host") or raw["accelerators"],
        per_host="accelerators_per_host" in raw,
        fields={n: value for n, value in _add_sources(raw["fields"], sources).items() if n not in unpublished},
        unpublished=unpublished,
        software=tuple(
            Software(
                name=software,
                hosts=entry["hosts"],
                used=entry["used"],
                fields=_add_sources({n: {**entry, "value": value} for n, value in entry["fields"].items()}, sources),
            )
            for software, entry in raw["software"].items()
            if entry is not None
        ),
    )


def _read_inherited(name: str) -> dict[str, Any]:
    """Return the file of a system, laid over that of the one it is like."""
    content = load_yaml(_FOLDER / f"{name}.yaml")
    base = _read_inherited(content["like"]) if "like" in content else {}
    merged: dict[str, Any] = {**base, **content}
    for part in ("sources", "fields", "software"):
        merged[part] = {**base.get(part, {}), **content.get(part, {})}
    inherited = base.get("software", {})
    merged["software"] = {
        software: entry if entry is None else {**(inherited.get(software) or {}), **entry}
        for software, entry in merged["software"].items()
    }
    return merged


def _add_sources(entries: dict[str, dict[str, Any]], sources: dict[str, str]) -> dict[str, SourcedValue]:
    """Return the values of a file, each with its sources and its note in words."""
    found = {}
    for field, entry in entries.items():
        keys = [entry["source"]] if isinstance(entry["source"], str) else entry["source"]
        note = f" ({entry['note']})" if "note" in entry else ""
        found[field] = SourcedValue(entry["value"], "; ".join(sources[key] for key in keys) + note)
    return found


_MODEL, _NUMBER = "accelerator_model_name", "accelerators_per_node"


class Accelerator(msgspec.Struct, frozen=True, kw_only=True):
    """An accelerator: its model as it is to be spelled, the rounds with a description of it, and what is known of it.

    ``fields`` has the model too; ``unpublished`` are fields of an accelerator that none of the sources has.
    """

    name: str
    model: str
    published: tuple[str, ...]
    fields: dict[str, SourcedValue]
    unpublished: tuple[str, ...]


@lru_cache(maxsize=1)
def accelerators() -> tuple[Accelerator, ...]:
    """Return the accelerators there are, those of a maker together."""
    raw = load_yaml(Path(__file__).with_name("accelerators.yaml"))
    asked = [field for field in fields().fields if field.startswith("accelerator") and field not in (_MODEL, _NUMBER)]
    found = []
    for name, entry in raw["accelerators"].items():
        known = _add_sources(entry["facts"], raw["sources"])
        model = SourcedValue(entry["model"], "the spelling of the model in mlsub's list of names")
        found.append(
            Accelerator(
                name=name,
                model=entry["model"],
                published=tuple(entry["published"]),
                fields={_MODEL: model, **known},
                unpublished=tuple(field for field in asked if field not in known),
            )
        )
    return tuple(found)


def find_accelerator(text: str) -> Accelerator | None:
    """Return the accelerator of a name, of a model, or of what tools print; None for an unknown one."""
    wanted, model = squeezed(text), find_name(registry().accelerators, text)
    return next((each for each in accelerators() if each.model == model or squeezed(each.name) == wanted), None)


def facts_of_model(model: SourcedValue | None) -> dict[str, SourcedValue]:
    """Return what is known of accelerators of a model, for a description that has it; nothing for an unknown model."""
    found = find_accelerator(str(model.value)) if model is not None else None
    if found is None:
        return {}
    facts = ((name, value) for name, value in found.fields.items() if name != _MODEL)
    return {name: SourcedValue(value.value, f"mlsub system show {found.name}: {value.source}") for name, value in facts}


def find_known(text: str) -> KnownSystem | Accelerator:
    """Return the system or the accelerator of a name.

    Raises:
        MlsubError: there is none.
    """
    return find_accelerator(text) or find_system(text, beside=[each.name for each in accelerators()])
