"""What a reviewer asks of a system description, and the values on which the official result summarizer crashes.

The path of each finding is the name of the field that it is about, until the description that it is in takes it over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

import msgspec

from mlsub.divisions import DIVISIONS, OPEN, division_of
from mlsub.findings import Finding
from mlsub.io.show import show
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
    is_placeholder,
    is_unsaid,
    owed,
    placeholders_in,
)
from mlsub.systems.figures import audit_figures
from mlsub.systems.names import Naming, namings, registry, slips


def crashes(content: dict[str, Any], summarizer: Summarizer) -> dict[str, Finding]:
    """Return the fields that the summarizer cannot use, each with its finding."""
    counted = summarizer.counted
    if content.get("system_name") == summarizer.TPU:
        counted += summarizer.counted_of_tpu
    tests = (
        (counted, _is_counted, "a whole number"),
        (summarizer.joined, lambda value: isinstance(value, str) or not value, "text"),
        (summarizer.sorted, lambda value: not isinstance(value, (list, dict)), "text"),
        (summarizer.searched, _is_searched, "text"),
        (summarizer.printed, _is_printed, "text that UTF-8 can hold"),
    )
    bad: dict[str, str] = {}
    for names, passes, expected in tests:
        for name in names:
            if name in content and not passes(content[name]):
                bad.setdefault(name, expected)
    if summarizer.bits is not None and bad.keys().isdisjoint(counted):
        bad |= dict.fromkeys(_too_large(content, summarizer.bits, counted), f"a count below 2^{summarizer.bits}")
    return {name: _crash(name, content[name], expected) for name, expected in bad.items()}


def _crash(name: str, value: Any, expected: str) -> Finding:
    message = f"The official result summarizer ends with a traceback on the field {name}"
    fix = f"Write {expected}, such as {show(fields().fields[name].example)}."
    source = "official result_summarizer"
    return finding("official.crash", name, message, expected=expected, actual=show(value), fix=fix, source=source)


def _is_counted(value: Any) -> bool:
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_searched(value: Any) -> bool:
    """Return whether a text can be looked for in it; where it is found, the value must be text itself."""
    return isinstance(value, str) or (isinstance(value, (list, dict)) and "TensorFlow" not in value)


def _is_printed(value: Any) -> bool:
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _too_large(content: dict[str, Any], bits: int, counted: tuple[str, ...]) -> Iterator[str]:
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


def audit(content: dict[str, Any], duplicates: Sequence[str]) -> Iterator[Finding]:
    """Yield the review findings on a description's content."""
    for name in dict.fromkeys(duplicates):
        yield finding("system.duplicate-key", name, f"The field {name} appears more than once")
    for part in (_division, _silence, _meaning, _accelerators, audit_figures, _spelling):
        yield from part(content)


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


def _division(content: dict[str, Any]) -> Iterator[Finding]:
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


def _silence(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield placeholders and empty values; an Open entry's notes that explain nothing weigh more."""
    held = dict(islice(((place, field) for field, place in placeholders_in(content)), _MOST_SHOWN + 1))
    if content.get("division") == OPEN.name and _NOTES in held:
        del held[_NOTES]
        message = "The notes of an Open entry do not say how it differs from Closed"
        yield finding("system.open-notes", _NOTES, message, actual=show(content[_NOTES]))
    if held:
        message = "Fields contain a placeholder"
        yield _listing("system.placeholder", list(held), message, content, next(iter(held.values())))
    table = fields()
    empty = [n for n in table.required if n not in table.may_be_empty and n in content and is_empty(content[n])]
    if empty:
        yield _listing("system.empty-value", empty, "Required fields are empty", content)


def _listing(rule: str, names: list[str], message: str, content: dict[str, Any], first: str | None = None) -> Finding:
    """Return a finding on fields, or on places in them of which the first lies in the field ``first``."""
    shown = ", ".join(name[:60] for name in names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    definite = [f"{name}: {what}" for name in names if (what := owed(name, content)) is not None]
    fix = 'Fill them in. Write "N/A" where there is nothing to say'
    fix += f", but not in {'; '.join(definite)}." if definite else "."
    return finding(rule, first or names[0], message, actual=shown, fix=fix)


def _meaning(content: dict[str, Any]) -> Iterator[Finding]:
    for name, field in fields().fields.items():
        if name in content and not is_meaningful(field, content[name]):
            rule, what = "system.no-unit", "number with a unit"
            if field.kind == "count":
                rule, what = "system.not-a-count", "whole number"
            message = f"The field {name} is not a {what}"
            yield finding(rule, name, message, expected=expected_of(field), actual=show(content[name]))


def _accelerators(content: dict[str, Any]) -> Iterator[Finding]:
    number, model = count(content.get("accelerators_per_node")), content.get("accelerator_model_name")
    if number is None or not isinstance(model, str) or is_placeholder(model):
        return
    named = not is_unsaid(model) and not is_empty(model)
    if (number > 0) is named or (number > 0 and is_empty(model)):
        return
    found = f"{number} per node, model {show(model)}"
    if named:
        message = "An accelerator is named, but there are none"
        yield finding("system.accelerators", "accelerators_per_node", message, expected="N/A as model", actual=found)
    else:
        message, expected = "There are accelerators without a name", "the model of the accelerators"
        yield finding("system.accelerators", "accelerator_model_name", message, expected=expected, actual=found)


def _spelling(content: dict[str, Any]) -> Iterator[Finding]:
    for name, value in content.items():
        if not isinstance(value, str) or name not in fields().fields:
            continue
        for slip, meant in slips(value):
            message = f"The field {name} has a typing error"
            yield finding("system.slip", name, message, expected=meant, actual=slip)
    for naming in namings(content):
        # A name without a number is of no model: a family, or whatever somebody calls what is not for sale.
        if naming.how != "right" and (naming.wanted or any(map(str.isdigit, naming.written))):
            yield _named(naming)


_NAMED = {
    "form": ("system.name-form", "The field {} has a known name in another form"),
    "spelling": ("system.spelling", "The field {} spells a name in an unusual way"),
    "unknown": ("system.name-unknown", "The field {} has a name that is not known"),
}


def _named(naming: Naming) -> Finding:
    rule, message = _NAMED[naming.how]
    maker = registry().maker_of(naming.wanted or naming.written)
    found = finding(rule, naming.field, message.format(naming.field), expected=naming.wanted, actual=naming.written)
    return msgspec.structs.replace(found, source=f"{found.source}; {maker}") if maker else found
