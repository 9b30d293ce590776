"""The catalogue: systems whose hardware is known from what was published, each value with its source.

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

from mlsub.io.data import load_yaml
from mlsub.io.errors import MlsubError

_FOLDER = Path(__file__).with_name("catalogue")


class Value(msgspec.Struct, frozen=True):
    """A value, and where it is from."""

    value: Any
    source: str


class Software(msgspec.Struct, frozen=True):
    """What a system was published with: for which benchmark, on how many hosts, and the fields that follow."""

    name: str
    hosts: int
    used: str
    fields: dict[str, Value]


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A system of the catalogue; ``accelerators`` are those of each host if ``per_host``, else in all."""

    name: str
    title: str
    submitter: str
    accelerators: int
    per_host: bool
    fields: dict[str, Value]
    unpublished: tuple[str, ...]
    software: tuple[Software, ...]

    def possible_hosts(self) -> tuple[int, ...]:
        """How many hosts can share the accelerators evenly; empty where any number can."""
        if self.per_host:
            return ()
        return tuple(n for n in range(1, self.accelerators + 1) if self.accelerators % n == 0)


def system_names() -> tuple[str, ...]:
    """The systems there are, small ones first."""
    return tuple(sorted((file.stem for file in _FOLDER.glob("*.yaml")), key=_in_order))


def find_system(text: str, beside: Sequence[str] = ()) -> System:
    """The system of a name, however it is capitalised, with or without its hyphens.

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
        return _system(plain[wanted])
    plain |= {squeezed(name): name for name in beside}
    close = get_close_matches(wanted, plain, n=1)
    hint = f" Did you mean {plain[close[0]]}?" if close else ""
    raise MlsubError(f"no system {text[:40]!r}; mlsub system list shows those there are.{hint}")


def find_software(system: System, framework: str) -> Software | None:
    """What the system was published with, if that is the framework meant: by its name alone or by the whole text."""
    wanted = framework.strip().lower()
    spelled = ((each, (each.name, str(each.fields["framework"].value))) for each in system.software)
    return next((each for each, names in spelled if wanted in map(str.lower, names)), None)


@lru_cache(maxsize=16)
def _system(name: str) -> System:
    raw = _raw(name)
    sources = raw["sources"]
    unpublished = tuple(raw.get("unpublished", ()))
    return System(
        name=name,
        title=raw["title"],
        submitter=raw["submitter"],
        accelerators=raw.get("accelerators_per_host") or raw["accelerators"],
        per_host="accelerators_per_host" in raw,
        fields={
            field: Value(entry["value"], _source(entry, sources))
            for field, entry in raw["fields"].items()
            if field not in unpublished
        },
        unpublished=unpublished,
        software=tuple(_software(of, entry, sources) for of, entry in raw["software"].items() if entry is not None),
    )


def _software(name: str, entry: dict[str, Any], sources: dict[str, str]) -> Software:
    source = _source(entry, sources)
    fields = {field: Value(value, source) for field, value in entry["fields"].items()}
    return Software(name, entry["hosts"], entry["used"], fields)


def _raw(name: str) -> dict[str, Any]:
    """The file of a system, laid over that of the one it is like."""
    own = load_yaml(_FOLDER / f"{name}.yaml")
    base = _raw(own["like"]) if "like" in own else {}
    merged: dict[str, Any] = {**base, **own}
    for part in ("sources", "fields"):
        merged[part] = {**base.get(part, {}), **own.get(part, {})}
    software = {**base.get("software", {}), **own["software"]}
    merged["software"] = {
        of: entry if entry is None else {**(base.get("software", {}).get(of) or {}), **entry}
        for of, entry in software.items()
    }
    return merged


def _source(entry: dict[str, Any], sources: dict[str, str]) -> str:
    keys = [entry["source"]] if isinstance(entry["source"], str) else entry["source"]
    note = f" ({entry['note']})" if "note" in entry else ""
    return "; ".join(sources[key] for key in keys) + note


def squeezed(text: str) -> str:
    """The letters and digits of a name, in lower case, for comparison."""
    return "".join(char for char in text[:80].lower() if char.isalnum())


def _in_order(name: str) -> tuple[str, int]:
    digits = "".join(char if char.isdigit() else " " for char in name).split()
    family = name.rstrip("0123456789")
    return family, int(digits[-1]) if digits else 0
