"""Accelerators that are known from what was published: facts of a system description, each with its source."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from mlsub.io.data import shipped
from mlsub.systems.catalogue import System, Value, find_system, squeezed
from mlsub.systems.fields import fields
from mlsub.systems.names import find, registry

_MODEL, _NUMBER = "accelerator_model_name", "accelerators_per_node"


class Accelerator(msgspec.Struct, frozen=True, kw_only=True):
    """An accelerator: its model as it is to be spelled, the rounds with a description of it, and what is known of it.

    ``fields`` has the model too; ``unpublished`` are fields of an accelerator that none of the sources has.
    """

    name: str
    model: str
    published: tuple[str, ...]
    fields: dict[str, Value]
    unpublished: tuple[str, ...]


class _Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: str
    of: tuple[str, ...] = msgspec.field(name="from")
    note: str | None = None


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: str
    published: tuple[str, ...]
    facts: dict[str, _Fact]


class _Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: dict[str, str]
    accelerators: dict[str, _Entry]


@lru_cache(maxsize=1)
def accelerators() -> tuple[Accelerator, ...]:
    """The accelerators there are, those of a maker together."""
    catalogue = shipped(__file__, "accelerators.yaml", _Catalogue)
    return tuple(_accelerator(name, entry, catalogue.sources) for name, entry in catalogue.accelerators.items())


def find_accelerator(text: str) -> Accelerator | None:
    """The accelerator of a name: the catalogue's, the model's, or what tools print for it; None for an unknown one."""
    wanted, model = squeezed(text), find(registry().accelerators, text)
    return next((each for each in accelerators() if each.model == model or squeezed(each.name) == wanted), None)


def facts_of_model(model: Value | None) -> dict[str, Value]:
    """What is known of accelerators of a model, for a description that has it; nothing for an unknown model."""
    found = find_accelerator(str(model.value)) if model is not None else None
    if found is None:
        return {}
    facts = ((name, value) for name, value in found.fields.items() if name != _MODEL)
    return {name: Value(value.value, f"mlsub system show {found.name}: {value.source}") for name, value in facts}


def find_known(text: str) -> System | Accelerator:
    """The system or the accelerator of a name.

    Raises:
        MlsubError: there is none.
    """
    return find_accelerator(text) or find_system(text, beside=[each.name for each in accelerators()])


def _accelerator(name: str, entry: _Entry, sources: dict[str, str]) -> Accelerator:
    known = {field: Value(fact.value, _source(fact, sources)) for field, fact in entry.facts.items()}
    of = [field for field in fields().fields if field.startswith("accelerator") and field not in (_MODEL, _NUMBER)]
    return Accelerator(
        name=name,
        model=entry.model,
        published=entry.published,
        fields={_MODEL: Value(entry.model, "the spelling of the model in mlsub's list of names"), **known},
        unpublished=tuple(field for field in of if field not in known),
    )


def _source(fact: _Fact, sources: dict[str, str]) -> str:
    return "; ".join(sources[key] for key in fact.of) + (f" ({fact.note})" if fact.note else "")
