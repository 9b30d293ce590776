"""What no official tool asks of a system description: whether what it says means something, and can be true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from mlsub.divisions import DIVISIONS, OPEN, division_of
from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.rules.catalogue import finding
from mlsub.systems.availability import category, close_category
from mlsub.systems.facts import count
from mlsub.systems.fields import fields
from mlsub.systems.lines import Lines
from mlsub.systems.names import find, registry, slips, spellings
from mlsub.systems.values import expected_of, is_empty, is_meaningful, is_placeholder, is_unsaid

#: Where an Open entry explains what it did otherwise.
_NOTES = "notes"
_MOST_SHOWN = 40


def audit(content: dict[str, Any], path: str, lines: Lines, duplicates: Sequence[str]) -> Iterator[Finding]:
    """The review findings on a description's content."""
    for name in dict.fromkeys(duplicates):
        yield finding("system.duplicate-key", path, f"The field {name} appears more than once", line=lines.of(name))
    yield from _division(content, path, lines)
    yield from _silence(content, path, lines)
    yield from _meaning(content, path, lines)
    yield from _accelerators(content, path, lines)
    yield from _hosts(content, path, lines)
    yield from _spelling(content, path, lines)
    yield from _figures(content, path, lines)


def audit_status(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    """A status that no results table knows, in a round whose official checker takes any."""
    value = content.get("status")
    if not isinstance(value, str) or is_empty(value) or is_placeholder(value) or category(value) is not None:
        return
    close = close_category(value)
    yield finding(
        "system.unknown-status",
        path,
        "The status is no availability that the results table knows",
        line=lines.of("status"),
        actual=show(value),
        fix=f"Write {close}, if that is what is meant." if close else None,
    )


def _division(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    value = content.get("division")
    if "division" not in content or division_of(value) is not None or is_placeholder(value):
        return
    close = get_close_matches(value[:40].strip().lower(), DIVISIONS, n=1) if isinstance(value, str) else []
    yield finding(
        "system.division",
        path,
        "The division is neither closed nor open, so the official seed and convergence checks pass it over",
        line=lines.of("division"),
        expected="closed or open",
        actual=show(value),
        fix=f"Write {close[0]}, if that is what was submitted." if close else None,
    )


def _silence(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    """Placeholders and empty values; an Open entry's notes that explain nothing weigh more."""
    held = [name for name, value in content.items() if is_placeholder(value)]
    if content.get("division") == OPEN.name and _NOTES in held:
        held.remove(_NOTES)
        message = "The notes of an Open entry do not say yet what it did otherwise"
        yield finding("system.open-notes", path, message, line=lines.of(_NOTES), actual=show(content[_NOTES]))
    if held:
        yield _listing("system.placeholder", path, lines, held, "Fields hold a placeholder")
    table = fields()
    empty = [n for n in table.required if n not in table.may_be_empty and n in content and is_empty(content[n])]
    if empty:
        yield _listing("system.empty-value", path, lines, empty, "Required fields are empty")


def _listing(rule: str, path: str, lines: Lines, names: list[str], message: str) -> Finding:
    shown = ", ".join(name[:60] for name in names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    return finding(rule, path, message, line=lines.of(names[0]), actual=shown)


def _meaning(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    for name, field in fields().fields.items():
        if name in content and not is_meaningful(field, content[name]):
            counted = field.kind == "count"
            yield finding(
                "system.not-a-count" if counted else "system.no-unit",
                path,
                f"The field {name} holds no {'whole number' if counted else 'number with its unit'}",
                line=lines.of(name),
                expected=expected_of(field),
                actual=show(content[name]),
            )


def _accelerators(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    number, model = count(content.get("accelerators_per_node")), content.get("accelerator_model_name")
    if number is None or not isinstance(model, str) or is_placeholder(model):
        return
    named = not is_unsaid(model) and not is_empty(model)
    if (number > 0) is named or (number > 0 and is_empty(model)):
        return
    yield finding(
        "system.accelerators",
        path,
        "An accelerator is named, and there are none" if named else "There are accelerators without a name",
        line=lines.of("accelerators_per_node" if named else "accelerator_model_name"),
        expected="N/A as model" if named else "the model of the accelerators",
        actual=f"{number} per node, model {show(model)}",
    )


def _hosts(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    """More processors in a node than a host can have: the node is several hosts."""
    number, model = count(content.get("host_processors_per_node")), content.get("host_processor_model_name")
    if number is None or not isinstance(model, str):
        return
    known = find(registry().processors, model) or model
    most = next((most for start, most in registry().sockets.items() if known.startswith(start)), None)
    if most is None or number <= most:
        return
    nodes = count(content.get("number_of_nodes"))
    truth = f"{nodes * number // most} hosts with {most} each" if nodes and number % most == 0 else f"at most {most}"
    yield finding(
        "system.host-count",
        path,
        f"A node has more processors than go into one host ({known}: {most}), so it is several",
        line=lines.of("host_processors_per_node"),
        expected=truth,
        actual=f"{nodes or '?'} {'node' if nodes == 1 else 'nodes'} with {number} each",
    )


def _spelling(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    for name, value in content.items():
        if not isinstance(value, str) or name not in fields().fields:
            continue
        for slip, meant in slips(value):
            message = f"The field {name} has a slip of the pen"
            yield finding("system.slip", path, message, line=lines.of(name), expected=meant, actual=slip)
        for other in spellings(name, value):
            yield finding(
                "system.spelling",
                path,
                f"The field {name} spells a name otherwise than it is known",
                line=lines.of(name),
                expected=other.name,
                actual=other.found,
            )


def _figures(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    """A figure other than that of every other published description of the same accelerator."""
    model = content.get("accelerator_model_name")
    name = find(registry().accelerators, model) if isinstance(model, str) else None
    if name is None:
        return
    for field, known in registry().accelerators.names[name].facts.items():
        value = content.get(field)
        if not isinstance(value, str) or is_empty(value) or is_placeholder(value) or is_unsaid(value):
            continue
        if _squeezed(value) != _squeezed(known):
            message = f"The field {field} says otherwise than is known of {name}"
            yield finding("system.figure", path, message, line=lines.of(field), expected=known, actual=show(value))


def _squeezed(text: str) -> str:
    return "".join(text[:200].lower().split())
