"""A description in the making: values with their sources, from the catalogue, a capture or an older description."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mlsub.divisions import CLOSED
from mlsub.io import MlsubError
from mlsub.io.show import likely_name
from mlsub.systems.catalogue import Accelerator, KnownSystem, Software, SourcedValue, facts_of_model, find_software
from mlsub.systems.description import read_description
from mlsub.systems.fields import category, close_category, fields, is_empty, is_placeholder
from mlsub.systems.names import find_name, registry, suggest_name

#: What stands where an answer is still to be given; every check reports it.
TO_FILL_IN = "TODO"
NOT_PUBLISHED = "not published"
#: Ends the source of what may be otherwise in a new submission.
LOOK_OVER = " (taken over: look it over)"
_YOURS = "given on the command line"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the person who makes a description says of it; None where they do not."""

    submitter: str | None = None
    division: str | None = None
    status: str | None = None
    framework: str | None = None
    hosts: int | None = None
    changes: tuple[tuple[str, str], ...] = ()


class Draft(msgspec.Struct, frozen=True):
    """Every required field in the official order, each with its source; and remarks for the person."""

    values: dict[str, SourcedValue]
    remarks: tuple[str, ...] = ()

    def description(self) -> dict[str, Any]:
        """Return the description alone."""
        return {name: value.value for name, value in self.values.items()}

    def to_fill_in(self) -> list[str]:
        """Return the fields whose answer is still to be given."""
        return [name for name, value in self.values.items() if value.value == TO_FILL_IN]

    def taken_over(self) -> list[str]:
        """Return the fields taken over from what was published that may be otherwise in a new submission."""
        return [name for name, value in self.values.items() if value.source.endswith(LOOK_OVER)]

    def not_published(self) -> list[str]:
        """Return the fields nobody has published a value of."""
        return [name for name, value in self.values.items() if value.value == NOT_PUBLISHED]


def check_field(name: str) -> None:
    """Check that a description may have a field.

    Raises:
        MlsubError: it may not; with a did-you-mean.
    """
    if name not in fields().fields and name != "notes":
        close = likely_name(name, fields().required, {})
        raise MlsubError(f"no field {name[:60]!r}." + (f" Did you mean {close}?" if close else ""))


def draft(source: KnownSystem | Accelerator | Path, asked: Asked, *, published: bool = False) -> Draft:
    """Return a description from what is known of a system, of an accelerator, or from another description's file.

    It is one to submit with this hardware: what is the submitter's to say is left to be filled in. ``published`` is
    the system as it was published, with its submitter and software; of an accelerator, what is known of it alone.

    Raises:
        MlsubError: the file is not a description, or the person asks for what cannot be.
    """
    if isinstance(source, Path):
        return _draft_from_file(source, asked)
    nobody = "it has not been published" if isinstance(source, KnownSystem) else "none of the sources has it"
    found = {name: SourcedValue(NOT_PUBLISHED, nobody) for name in source.unpublished} | source.fields
    if isinstance(source, KnownSystem):
        return finish(found | _software(source, asked, published=published), asked)
    if published:
        rounds = ", ".join(source.published)
        remark = f"Described in MLPerf Training {rounds}" if rounds else "No description in MLPerf Training is known"
        return Draft({name: found[name] for name in fields().fields if name in found}, (remark,))
    return finish(found | _given(asked), asked)


def _given(asked: Asked) -> dict[str, SourcedValue]:
    """Return the framework and the number of hosts that the person names."""
    given = {
        "framework": asked.framework and _spell_framework(asked.framework),
        "number_of_nodes": asked.hosts and str(asked.hosts),
    }
    return {name: SourcedValue(value, _YOURS) for name, value in given.items() if value}


def _software(system: KnownSystem, asked: Asked, *, published: bool) -> dict[str, SourcedValue]:
    """Return what a system was published with, or is to be submitted with, and the counts that follow."""
    software = find_software(system, asked.framework) if asked.framework else None
    values: dict[str, SourcedValue] = {}
    if published:
        if asked.framework and software is None:
            known = ", ".join(s.name for s in system.software) or "no framework"
            raise MlsubError(f"{system.name} was not published with {asked.framework[:40]!r}, but with {known}.")
        if not asked.framework:
            # What was published on so many hosts, else the first.
            same_hosts = (s for s in system.software if s.hosts == asked.hosts)
            software = next(same_hosts, next(iter(system.software), None))
        if software is not None:
            values = {
                "submitter": SourcedValue(system.submitter, "the published example"),
                "division": SourcedValue(CLOSED.name, "the published example"),
                "status": SourcedValue("Available on-premise", "the published example, which spells it onprem"),
                **software.fields,
            }
    elif software is not None:
        values = {name: SourcedValue(v.value, f"{v.source}{LOOK_OVER}") for name, v in software.fields.items()}
    elif asked.framework:
        values = {"framework": _given(asked)["framework"]}
    return values | _count_hardware(system, software, asked)


def _spell_framework(text: str) -> str:
    """Return the framework as it is spelled, whatever case it was given in; anything else as it stands."""
    first, _, rest = text.strip().partition(" ")
    known = find_name(registry().frameworks, first)
    return text if known is None else f"{known} {rest}".strip()


def finish(found: Mapping[str, SourcedValue], asked: Asked) -> Draft:
    """Return a draft of every field: what was found, over it what the person says, and what remains is to be filled in.

    Raises:
        MlsubError: the person says what cannot be.
    """
    given: dict[str, SourcedValue] = {}
    remarks = []
    first = (asked.framework or "").split(" ")[0]
    known = tuple(registry().frameworks.names)
    unknown = bool(first) and find_name(registry().frameworks, first) is None
    if unknown and (close := likely_name(first, known, {})):
        remarks.append(_remark_on("framework", asked.framework, close))
    answers = [("submitter", asked.submitter), ("division", asked.division), ("status", asked.status), *asked.changes]
    for name, value in answers:
        if value is not None:
            given[name] = SourcedValue(_spell_status(value) if name == "status" else value, _YOURS)
            kinds = [kind for kind in registry().kinds if name in kind.fields and kind.whole]
            remarks += [_remark_on(name, value, close) for kind in kinds if (close := suggest_name(kind, value))]
    values: dict[str, SourcedValue] = {}
    for name, field in fields().fields.items():
        missing = ("", "nothing to say") if field.may_be_empty else (TO_FILL_IN, "yours to fill in")
        values[name] = given.get(name) or found.get(name) or SourcedValue(*missing)
    values |= {name: value for name, value in given.items() if name not in values}
    return Draft(values, tuple(remarks))


def _count_hardware(system: KnownSystem, software: Software | None, asked: Asked) -> dict[str, SourcedValue]:
    """Return hosts and accelerators of each, so that their product is true."""
    published = sorted({s.hosts for s in system.software})
    hosts = asked.hosts or (software.hosts if software else published[0] if published else 1)
    possible = system.possible_hosts()
    if possible and hosts not in possible:
        raise MlsubError(
            f"{system.accelerators} accelerators cannot be shared evenly among {hosts} hosts; "
            f"{', '.join(map(str, possible))} can."
        )
    as_published = [f"{s.used} with {s.name}" for s in system.software if s.hosts == hosts]
    source = f"as published for {' and '.join(as_published)}"
    if not as_published:
        source = _YOURS if asked.hosts else "one host"
    each = system.accelerators if system.per_host else system.accelerators // hosts
    shared = f"{system.accelerators} in all, shared by {hosts} hosts" if hosts > 1 else "all on one host"
    return {
        "number_of_nodes": SourcedValue(str(hosts), source),
        "accelerators_per_node": SourcedValue(str(each), "in each host" if system.per_host else shared),
    }


def _remark_on(name: str, value: str | None, close: str) -> str:
    return f"{name} is {(value or '')[:60]!r}. Did you mean {close}?"


def _spell_status(text: str) -> str:
    """Return the availability as every round takes it.

    Raises:
        MlsubError: the text is not a known status.
    """
    known = category(text)
    if known is None:
        close = close_category(text)
        hint = f" Did you mean {close}?" if close else " Known are onprem, cloud, preview and rdi."
        raise MlsubError(f"{text[:40]!r} is not a known status.{hint}")
    return known


#: Of the submission it was made for.
_LEFT_OUT = frozenset(("submitter", "division", "status", "system_name", "sw_notes", "notes"))
#: True of that submission, and often of the next.
_SOFTWARE = ("framework", "framework_name", "other_software_stack", "operating_system", "hw_notes")


def _draft_from_file(file: Path, asked: Asked) -> Draft:
    """Return a description with the hardware of another.

    Kept is what describes the machine, also in fields beyond the required ones; its software and notes on its hardware
    are to be looked over, and another framework leaves the old one's software out. Placeholders and empty values are
    to be filled in, but for what the catalogue has of its accelerators.
    """
    if not os.path.lexists(file):
        raise MlsubError(f"There is no {file}. Name a system description, or a system that mlsub system list shows.")
    description = read_description(file, str(file))
    if not description.content:
        raise MlsubError(*(f"{file}: {finding.message}." for finding in description.findings[:1]))
    found = {
        name: _keep_value(name, value, file)
        for name, value in description.content.items()
        if name not in _LEFT_OUT and not is_placeholder(value) and not is_empty(value)
    }
    found = facts_of_model(found.get("accelerator_model_name")) | found
    if asked.framework:
        found = {name: one for name, one in found.items() if name not in ("framework_name", "other_software_stack")}
    found |= _given(asked)
    made = finish(found, asked)
    return Draft({**made.values, **{name: found[name] for name in found if name not in made.values}}, made.remarks)


def _keep_value(name: str, value: Any, file: Path) -> SourcedValue:
    """Return a value as it was; a number where the field must be text is its digits."""
    field = fields().fields.get(name)
    if field is not None and field.text and not isinstance(value, str):
        value = str(value) if isinstance(value, (int, float)) else TO_FILL_IN
    look_over = name in _SOFTWARE or field is None
    return SourcedValue(value, f"{file.name}{LOOK_OVER if look_over else ''}")
