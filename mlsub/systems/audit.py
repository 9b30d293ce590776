"""What a reviewer asks of a system description, and the values on which the official result summarizer crashes.

The path of each finding is the name of the field that it is about, until the description that it is in takes it over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import islice, product
from typing import Any

import msgspec

from mlsub.divisions import DIVISIONS, OPEN, division_of
from mlsub.findings import Finding, Severity
from mlsub.io.show import several, show
from mlsub.rounds import Summarizer
from mlsub.rules.catalogue import finding
from mlsub.systems.fields import (
    category,
    close_category,
    count,
    expected_of,
    fields,
    is_empty,
    is_meaningful,
    is_not_applicable,
    is_placeholder,
    placeholders_in,
    required_answer,
)
from mlsub.systems.names import check_names, chip_of, find_name, find_slips, registry

#: What a finding says before what it is about.
SUMMARIZER_ENDS = "The official result summarizer ends with a traceback on"


def find_crashes(content: dict[str, Any], summarizer: Summarizer) -> dict[str, Finding]:
    """Return the fields that the summarizer cannot use, each with its finding."""
    counted = summarizer.counted
    if content.get("system_name") == summarizer.TPU:
        counted += summarizer.counted_of_tpu
    tests = (
        (counted, _is_whole_number, "a whole number"),
        (summarizer.joined, lambda value: isinstance(value, str) or not value, "text"),
        (summarizer.sorted, lambda value: not isinstance(value, (list, dict)), "text"),
        (summarizer.searched, _is_searchable, "text"),
        (summarizer.printed, is_printable, "text that UTF-8 can hold"),
    )
    bad: dict[str, str] = {}
    for names, passes, expected in tests:
        for name in names:
            if name in content and not passes(content[name]):
                bad.setdefault(name, expected)
    if summarizer.bits is not None and bad.keys().isdisjoint(counted):
        bad |= dict.fromkeys(_find_too_large(content, summarizer.bits, counted), f"a count below 2^{summarizer.bits}")
    found = {}
    for name, expected in bad.items():
        message, actual = f"{SUMMARIZER_ENDS} the field {name}", show(content[name])
        fix = f"Write {expected}, such as {show(fields().fields[name].example)}."
        source = "official result_summarizer"
        found[name] = finding("official.crash", name, message, expected=expected, actual=actual, fix=fix, source=source)
    return found


def _is_whole_number(value: Any) -> bool:
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_searchable(value: Any) -> bool:
    """Return whether a text can be looked for in it; where it is found, the value must be text itself."""
    return isinstance(value, str) or (isinstance(value, (list, dict)) and "TensorFlow" not in value)


def is_printable(value: Any) -> bool:
    """Return whether UTF-8 can hold the text of a value, as the official result summarizer prints it."""
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _find_too_large(content: dict[str, Any], bits: int, counted: tuple[str, ...]) -> Iterator[str]:
    """Yield the larger factor of each product, of nodes and of what a node has, that is too large."""
    nodes, *others = counted
    for other in others:
        if nodes in content and other in content:
            factors = {name: int(content[name]) for name in (nodes, other)}
            # The largest numbers are read without a sign.
            if not -(1 << bits - 1) <= factors[nodes] * factors[other] < 1 << bits:
                yield max(factors, key=lambda name: abs(factors[name]))


#: Where an Open entry explains what it did otherwise.
_NOTES = "notes"
_MOST_SHOWN = 40
#: Characters of a field's name that a finding quotes.
_LONGEST_NAME = 80


def audit(content: dict[str, Any], duplicates: Mapping[str, bool]) -> Iterator[Finding]:
    """Yield the review findings on a description's content.

    Args:
        content: of the description.
        duplicates: fields that it has more than once, and whether with several values.
    """
    for field, differ in duplicates.items():
        name = field[:_LONGEST_NAME]
        message, severity = f"The field {name} appears more than once", Severity.WARNING if differ else Severity.NOTE
        yield finding("system.duplicate-key", name, message + (", and not with one value" * differ), severity=severity)
    yield from _audit_division(content)
    yield from _audit_gaps(content)
    yield from _audit_meaning(content)
    yield from _audit_accelerators(content)
    yield from _audit_hosts(content)
    yield from _audit_cores(content)
    yield from _audit_known_figures(content)
    yield from _audit_memory(content)
    yield from _audit_spelling(content)


def audit_status(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield a status that no results table knows, in a round whose official checker takes any."""
    value = content.get("status")
    if not isinstance(value, str) or is_empty(value) or is_placeholder(value) or category(value) is not None:
        return
    close = close_category(value)
    yield finding(
        "system.unknown-status",
        "status",
        "The status is not an availability category of the results table",
        actual=show(value),
        fix=f"Write {close} if that is what you mean." if close else None,
    )


def _audit_division(content: dict[str, Any]) -> Iterator[Finding]:
    value = content.get("division")
    if "division" not in content or division_of(value) is not None or is_placeholder(value):
        return
    close = get_close_matches(value[:40].strip().lower(), DIVISIONS, n=1) if isinstance(value, str) else []
    yield finding(
        "system.division",
        "division",
        "The division is neither closed nor open, so the official seed and convergence checks skip it",
        expected="closed or open",
        actual=show(value),
        fix=f"Write {close[0]}, if that is what you submitted." if close else None,
    )


def _audit_gaps(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield placeholders and empty values; an Open entry's notes that explain nothing weigh more."""
    places = dict(islice(((place, field) for field, place in placeholders_in(content)), _MOST_SHOWN + 1))
    if content.get("division") == OPEN.name and _NOTES in places:
        del places[_NOTES]
        message = "The notes of an Open entry do not say how it differs from Closed"
        yield finding("system.open-notes", _NOTES, message, actual=show(content[_NOTES]))
    filled = [name for name, field in fields().fields.items() if not field.may_be_empty]
    empty = [name for name in filled if name in content and is_empty(content[name])]
    for rule, message, gaps in (
        ("system.placeholder", "Fields contain a placeholder", places),
        ("system.empty-value", "Required fields are empty", {name: name for name in empty}),
    ):
        if gaps:
            shown = several([place[:60] for place in gaps], _MOST_SHOWN)
            answers = ((place, required_answer(place, content)) for place in gaps)
            required = [f"{place}: {answer}" for place, answer in answers if answer is not None]
            fix = 'Fill them in. Write "N/A" where there is nothing to say'
            fix += f", but not in {'; '.join(required)}." if required else "."
            place, field = next(iter(gaps.items()))
            yield finding(rule, field or place, message, actual=shown, fix=fix)


def _audit_meaning(content: dict[str, Any]) -> Iterator[Finding]:
    for name, field in fields().fields.items():
        if name in content and not is_meaningful(field, content[name]):
            rule, what = "system.no-unit", "number with a unit"
            if field.kind == "count":
                rule, what = "system.not-a-count", "whole number"
            message = f"The field {name} is not a {what}"
            yield finding(rule, name, message, expected=expected_of(field), actual=show(content[name]))


def _audit_accelerators(content: dict[str, Any]) -> Iterator[Finding]:
    number, model = count(content.get("accelerators_per_node")), content.get("accelerator_model_name")
    if number is None or not isinstance(model, str) or is_placeholder(model):
        return
    named = not is_not_applicable(model) and not is_empty(model)
    if (number > 0) is named or (number > 0 and is_empty(model)):
        return
    found = f"{number} per node, model {show(model)}"
    if named:
        message = "An accelerator is named, but there are none"
        yield finding("system.accelerators", "accelerators_per_node", message, expected="N/A as model", actual=found)
    else:
        message, expected = "There are accelerators without a name", "the model of the accelerators"
        yield finding("system.accelerators", "accelerator_model_name", message, expected=expected, actual=found)


_NAME_FINDINGS = {
    "form": ("system.name-form", "The field {} has a known name in another form"),
    "spelling": ("system.spelling", "The field {} spells a name in an unusual way"),
    "unknown": ("system.name-unknown", "The field {} has a name that is not known"),
}


def _audit_spelling(content: dict[str, Any]) -> Iterator[Finding]:
    for name, value in content.items():
        if not isinstance(value, str) or name not in fields().fields:
            continue
        for slip, meant in find_slips(value):
            message = f"The field {name} has a typing error"
            yield finding("system.slip", name, message, expected=meant, actual=slip)
    for naming in check_names(content):
        # A name without a number is of no model: a family, or whatever somebody calls what is not for sale.
        if naming.how != "right" and (naming.wanted or any(map(str.isdigit, naming.written))):
            rule, message = _NAME_FINDINGS[naming.how]
            field, wanted, actual = naming.field, naming.wanted, naming.written
            found = finding(rule, field, message.format(field), expected=wanted, actual=actual)
            maker = registry().maker_of(wanted or actual)
            yield msgspec.structs.replace(found, source=f"{found.source}; {maker}") if maker else found


#: How many bytes a unit has at least and at most: people write GB for 10^9 and for 2^30.
_UNITS = {unit: (1000.0**power, 1024.0**power) for power, unit in ((2, "m"), (3, "g"), (4, "t"))}
_SIZE = re.compile(
    r"(?<![\w.])(?:\d{1,3} ?x ?)?(\d{1,7}(?:\.\d{1,12})?) ?([mgt])(i?)(b?)(?![a-z0-9])", re.IGNORECASE | re.ASCII
)
#: Drivers keep a part for themselves.
_RESERVED = 0.03
_CAPACITY = "accelerator_memory_capacity"


def _audit_hosts(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding on more processors in a node than a host can have: the node is several hosts."""
    number, model = count(content.get("host_processors_per_node")), content.get("host_processor_model_name")
    if number is None or not isinstance(model, str):
        return
    known = find_name(registry().processors, model) or model
    most = next((most for start, most in registry().sockets.items() if known.startswith(start)), None)
    if most is None or number <= most:
        return
    nodes = count(content.get("number_of_nodes"))
    truth = f", as {nodes * number // most} hosts with {most} each" if nodes and number % most == 0 else ""
    found = f"{nodes or '?'} {'node' if nodes == 1 else 'nodes'} with {number} each"
    message = f"A node has more processors than go into one host ({known}: {most}), so it is several hosts"
    yield finding("system.host-count", "host_processors_per_node", message, actual=found + truth)


def _audit_cores(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield another number of cores than one processor of the model has."""
    number, model = count(content.get("host_processor_core_count")), content.get("host_processor_model_name")
    name = find_name(registry().processors, model) if isinstance(model, str) else None
    cores = registry().processors.names[name].cores if name is not None else None
    if number and cores is not None and number != cores:
        expected = f"{cores}, the cores of one {name}"
        yield finding("system.core-count", "host_processor_core_count", expected=expected, actual=str(number))


def _audit_memory(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield sizes of the memory of one accelerator that no number of bytes can be."""
    number = count(content.get("accelerators_per_node")) or 1
    model = content.get("accelerator_model_name")
    # A size as it is written, and how many bytes it means at least and at most, by where it is stated.
    stated: dict[str, tuple[str, float, float]] = {}
    for field in ("system_name", "accelerator_model_name", _CAPACITY):
        text = content.get(field)
        sizes = list(_SIZE.finditer(text[:200])) if isinstance(text, str) else []
        # A name also has speeds of a network, such as 400G.
        sizes = [size for size in sizes if field == _CAPACITY or (size[2] in "gG" and size[4])]
        if len(sizes) == 1:
            size = sizes[0]
            least, most = _UNITS[size[2].lower()]
            # What is written to the MB is what a tool printed, and tools count in MiB.
            least = most if size[3] or size[2] in "mM" else least
            stated[field] = (size[0], float(size[1]) * least, float(size[1]) * most)
    chip = chip_of(model) if isinstance(model, str) and stated.keys() == {_CAPACITY} else None
    if chip is not None and (known := chip.memory_of(model or "")) is not None:
        stated[f"one {chip.name}"] = (f"{known} GB", known * 1e9, known * 2.0**30)
    if len(stated) < 2 or _CAPACITY not in stated or _can_agree([bounds for _, *bounds in stated.values()], number):
        return
    actual = ", ".join(f"{field}: {text}" for field, (text, _, _) in stated.items())
    yield finding("system.memory", _CAPACITY, actual=actual)


def _can_agree(sizes: list[list[float]], number: int) -> bool:
    """Return whether one number of bytes fits all sizes, each being that of one accelerator or of all of a node."""
    return any(
        max(least / shared for (least, _), shared in zip(sizes, divisors, strict=True)) * (1 - _RESERVED)
        <= min(most / shared for (_, most), shared in zip(sizes, divisors, strict=True))
        for divisors in product((1, number), repeat=len(sizes))
    )


def _audit_known_figures(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield a figure other than that of every other published description of the same accelerator."""
    model = content.get("accelerator_model_name")
    name = find_name(registry().accelerators, model) if isinstance(model, str) else None
    if name is None:
        return
    for field, known in registry().accelerators.names[name].facts.items():
        value = content.get(field)
        if not isinstance(value, str) or is_empty(value) or is_placeholder(value) or is_not_applicable(value):
            continue
        if "".join(value[:200].lower().split()) != "".join(known[:200].lower().split()):
            message = f"The field {field} differs from what is known about {name}"
            yield finding("system.figure", field, message, expected=known, actual=show(value))
