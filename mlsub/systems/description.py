"""System descriptions: read in the forms of every round, and checked by the rules of theirs.

In v0.6 the hardware stands in an object of ``hardware``, ``framework`` and ``nodes``. A description is that object
itself, its ``nodes`` a list; or it is records like those of a log, ``key: {"value": ...}``, one a line, where ``entry``
holds the object as Python writes it, and ``nodes`` in it as text again. Others have the fields of later rounds already.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io import reason_of
from mlsub.io.data import loads
from mlsub.io.look import read_bounded
from mlsub.io.show import show
from mlsub.rounds import Round, Statuses
from mlsub.rules.catalogue import FIX, finding, reviewed
from mlsub.systems.audit import SUMMARIZER_ENDS, audit, audit_status, find_crashes
from mlsub.systems.fields import fields, required_answer, status_spelling

_RECORD = re.compile(r"(\w+): (\{.*\})")
#: A name and a text in an object that Python wrote, however deep it stands in texts.
_PAIR = re.compile(r"'(\w+)': '([^']*)'")
_PROCESSORS = re.compile(r"(\d{1,3})x (.+)")
#: The later name of each field.
_FIELDS = {
    "org": "submitter",
    "hardware": "system_name",
    "platform": "system_name",
    "num_nodes": "number_of_nodes",
    "cpu": "host_processor_model_name",
    "num_vcpus": "host_processor_vcpu_count",
    "sys_mem_size": "host_memory_capacity",
    "sys_storage_type": "host_storage_type",
    "sys_storage_size": "host_storage_capacity",
    "interconnect": "host_networking",
    "accelerator": "accelerator_model_name",
    "num_accelerators": "accelerators_per_node",
    "cpu_accel_interconnect": "accelerator_host_interconnect",
    "os": "operating_system",
}
_PER_NODE = "host_processors_per_node"
#: What holds the others.
_NESTED = ("entry", "nodes", "libraries")


def read_records(text: str) -> dict[str, Any] | None:
    """Return the values of a description of records by their keys; None where it is none."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        match = _RECORD.fullmatch(line.strip())
        if match is None:
            return None
        try:
            record = loads(match[2])
        except (RecursionError, ValueError):
            return None
        if "value" not in record:
            return None
        found[match[1]] = record["value"]
    return found or None


def in_later_fields(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with what it says in the forms of v0.6; fields of later rounds stay as they are."""
    plain: list[tuple[str, Any]] = []
    nested: list[tuple[str, Any]] = []
    for name, value in content.items():
        first = value[0] if isinstance(value, list) and value else value
        if name not in _NESTED:
            plain.append((name, value))
        elif isinstance(first, str):
            nested += _PAIR.findall(first)
        elif isinstance(first, dict):
            nested += first.items()
    fields: dict[str, Any] = {}
    for name, value in (*plain, *nested):
        fields.setdefault(_FIELDS.get(name, name), value)
    model = fields.get("host_processor_model_name")
    several = _PROCESSORS.fullmatch(model) if isinstance(model, str) else None
    if several is not None and "host_processor_model_name" not in content:
        fields["host_processor_model_name"] = several[2]
        fields.setdefault(_PER_NODE, several[1])
    return fields | {name: value for name, value in content.items() if name not in (*_FIELDS, *_NESTED)}


#: Larger files are no system descriptions; real ones are below 20 KiB.
MAX_BYTES = 1 << 22


class SystemDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One ``systems/<name>.json``: its content (None where it is not an object), and what is wrong with it."""

    name: str
    path: str
    content: dict[str, Any] | None
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether the official tools take it: the checker of system descriptions, and the result summarizer."""
        return not any(f.rejects for f in self.findings)

    @property
    def division(self) -> str | None:
        """The division as written, which may be a misspelling."""
        value = (self.content or {}).get("division")
        return value if isinstance(value, str) else None

    def text(self, field: str) -> str:
        """Return a field as text; empty where it is missing or something else."""
        value = (self.content or {}).get(field)
        return value if isinstance(value, str) else ""


def read_description(
    file: Path, path: str, round_: Round | None = None, *, summarised: bool = True
) -> SystemDescription:
    """Read and judge a system description; bad input never raises.

    Args:
        file: where it is.
        path: what findings call it, relative to the report's root.
        round_: the round whose rules hold; None for the fields alone.
        summarised: whether the result summarizer reads it, as it does where results have its name.
    """
    name = file.name.removesuffix(".json")
    try:
        text = read_bounded(file, MAX_BYTES)
    except OSError as error:
        message = f"The system description cannot be read: {reason_of(error)}"
        unreadable = finding("system.unreadable", path, message)
        return SystemDescription(name=name, path=path, content=None, findings=(unreadable,))
    older = round_ is not None and round_.log_format == "mll"
    unchecked = round_ is not None and round_.summarizer is not None and not round_.descriptions_checked
    content, duplicates, problem = _parse(text, path, older=older, summarised_only=unchecked and summarised)
    if problem is not None:
        return SystemDescription(name=name, path=path, content=None, findings=(problem,))
    crashed = _find_summarizer_crashes(content, round_) if round_ is not None and summarised else {}
    usable = {name: value for name, value in content.items() if name not in crashed} if crashed else content
    problems = [*crashed.values(), *reviewed("system", path, lambda: audit(usable, duplicates))]
    if round_ is None or round_.descriptions_checked:
        problems = [*_check_fields(content), *problems]
    if round_ is None or round_.statuses is None:
        problems += reviewed("system.unknown-status", path, lambda: audit_status(usable))
    else:
        problems = [*_check_status(content, round_.statuses), *problems]
    lines = first_lines(text.decode("utf-8", "replace")) if problems else {}
    placed = (replace(found, path=path, line=lines.get(found.path)) for found in problems)
    return SystemDescription(name=name, path=path, content=content, findings=tuple(placed))


def read_content(file: Path, round_: Round | None = None) -> dict[str, Any] | None:
    """Return what a system description says, without judging it; None where it cannot be read.

    Args:
        file: where it is.
        round_: the round that it is of, for the forms of v0.6.
    """
    try:
        older = round_ is not None and round_.log_format == "mll"
        content, _, problem = _parse(read_bounded(file, MAX_BYTES), "", older=older)
    except OSError:
        return None
    return content if problem is None else None


_TEXT = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"|\n')


def first_lines(text: str) -> dict[str, int]:
    """Return the 1-based line of the first place that each name or value of text stands at.

    It is found in one pass, for a hostile description may name fields by the thousand.
    """
    first: dict[str, int] = {}
    line = 1
    for match in _TEXT.finditer(text):
        if match[1] is None:
            line += 1
        else:
            first.setdefault(match[1], line)
            line += match[1].count("\n")
    return first


def _parse(
    raw: bytes, path: str, *, older: bool, summarised_only: bool = False
) -> tuple[dict[str, Any], dict[str, bool], Finding | None]:
    """Return the content, the fields it has more than once and whether with several values, and why it is none.

    ``older``: it may have one of the forms of v0.6. ``summarised_only``: of the official tools, the result summarizer
    alone reads it.
    """
    duplicates: dict[str, bool] = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                duplicates[key] = duplicates.get(key, False) or seen[key] != value
            seen[key] = value
        return seen

    if older and (records := read_records(raw.decode("utf-8", "replace"))) is not None:
        return in_later_fields(records), duplicates, None
    try:
        content = loads(raw.decode("utf-8"), collect)
    except (RecursionError, ValueError) as error:
        line, reason, fix = None, "nested too deeply" if isinstance(error, RecursionError) else str(error)[:80], None
        if raw.startswith(BOM_UTF8):
            line, fix = 1, f"Remove the byte order mark; {FIX} does it."
        elif isinstance(error, json.JSONDecodeError):
            line, reason, fix = _explain_error(error)
        return {}, {}, finding("system.not-json", path, "The file is not JSON", line=line, actual=reason, fix=fix)
    if not isinstance(content, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(content), "a number")
        rule, message = "system.not-object", "The system description is not an object with fields"
        if summarised_only and (not isinstance(content, (list, str)) or "submitter" in content):
            rule, message = "official.crash", f"{SUMMARIZER_ENDS} a description that is not an object"
        return {}, {}, finding(rule, path, message, line=1, expected="an object", actual=kind)
    return in_later_fields(content) if older else content, duplicates, None


def _explain_error(error: json.JSONDecodeError) -> tuple[int, str, str | None]:
    """Return the line of the error, what is wrong there, and how to mend it where that is certain.

    A comma too many is named as such by every Python.
    """
    before = error.doc[: error.pos].rstrip()
    if before.endswith(",") and error.doc[error.pos :].lstrip()[:1] in ("}", "]", ","):
        line = before.count("\n") + 1
        return line, "a comma with nothing after it", f"Remove the last comma of line {line}."
    return error.lineno, error.msg, None


def _check_fields(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield what the official checker rejects: required fields that are missing, or no text."""
    required = fields().required
    others = [key for key in content if key not in required and len(key) < 64][:100]
    for name in required:
        if name not in content:
            close = next(iter(get_close_matches(name, others, n=1, cutoff=0.8)), None)
            if close:
                actual, fix = f"a field named {show(close)}", f"Rename {close} to {name}."
            else:
                answer = required_answer(name, content)
                actual = "no such field"
                fix = f"Add the field: {answer}." if answer else 'Add the field, with "N/A" if there is nothing to say.'
            message = f"The required field {name} is missing"
            yield finding("system.field-missing", close or ".", message, expected=name, actual=actual, fix=fix)
    for name in fields().text:
        if name in content and not isinstance(content[name], str):
            message = f"The field {name} is not text"
            yield finding("system.field-not-text", name, message, expected="text", actual=show(content[name]))


def _find_summarizer_crashes(content: dict[str, Any], round_: Round) -> dict[str, Finding]:
    """Return what the result summarizer of the round ends on, by field, but for what the checker rejects by itself."""
    summarizer = round_.summarizer
    if summarizer is None:
        return {}
    if not round_.descriptions_checked:
        # A row without one of its fields is left out.
        return find_crashes(content, summarizer) if content.keys() >= set(summarizer.printed) else {}
    rejected = {name for name in fields().text if not isinstance(content.get(name), str)}
    rejected |= {"status"} if round_.statuses is not None else set()
    return find_crashes({name: value for name, value in content.items() if name not in rejected}, summarizer)


def _check_status(content: dict[str, Any], statuses: Statuses) -> Iterator[Finding]:
    if "status" not in content or statuses.allow(content["status"]):
        return
    value = content["status"]
    plain = {name.lower(): name for name in statuses.one_of}
    close = get_close_matches(value[:80].strip().lower(), plain, n=1, cutoff=0.5) if isinstance(value, str) else []
    exact = status_spelling(value, statuses) if isinstance(value, str) else None
    fix = f"Write {plain[close[0]]} if that is what you mean." if close else None
    yield finding(
        "system.status",
        "status",
        "The status is none of those the round knows",
        expected=f"one of {', '.join(statuses.one_of)}",
        actual=show(value),
        fix=f"Write {exact}; {FIX} does it." if exact else fix,
    )
