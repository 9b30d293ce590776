"""Capture this host, and join captures of several."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.io import VERSION, MlsubError
from mlsub.io.read import read_text as read_document_text
from mlsub.io.show import show
from mlsub.rules.catalogue import finding
from mlsub.systems.capture.accelerators import find_accelerators
from mlsub.systems.capture.host import find_memory, find_network, find_processor, find_software, find_storage
from mlsub.systems.capture.tools import Found, read_text, unknown
from mlsub.systems.catalogue import SourcedValue
from mlsub.systems.fields import fields

#: A capture is below 10 KiB.
MAX_BYTES = 1 << 20
_LONGEST = 2000


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """What one host reports. ``host`` distinguishes hosts without naming them: a digest of the kernel's boot id."""

    mlsub: str
    host: str
    values: dict[str, SourcedValue]


def capture_here(root: Path = Path("/")) -> Capture:
    """Describe this host. Nothing is written, nothing asks for root, and no name of host or user is looked at.

    Args:
        root: where /proc, /sys and /etc lie.
    """
    accelerators = find_accelerators(root)
    driver = accelerators.pop("driver", None)
    found: Found = {
        **find_processor(),
        **find_memory(root),
        **find_storage(),
        **find_network(root),
        **accelerators,
        **find_software(root, driver),
        "system_name": unknown("yours to choose; the name of the host is not looked at"),
        "cooling": unknown("no tool reports it"),
    }
    values = {name: SourcedValue(str(one.value)[:_LONGEST], one.source) for name, one in found.items()}
    # A host that has nothing of the kind is new each time.
    ids = (read_text(root / place) for place in ("proc/sys/kernel/random/boot_id", "etc/machine-id"))
    host = next(filter(None, ids), secrets.token_hex(8))
    return Capture(mlsub=VERSION, host=hashlib.sha256(f"mlsub {host}".encode()).hexdigest()[:16], values=values)


def to_json(capture: Capture) -> str:
    """Return the document of a capture, plain ASCII."""
    return json.dumps(msgspec.to_builtins(capture), indent=2) + "\n"


def read_capture(file: Path) -> Capture:
    """Return a capture from a file.

    Raises:
        MlsubError: it cannot be read, or is not a capture.
    """
    text, why = read_document_text(file, most=MAX_BYTES), None
    try:
        capture = msgspec.json.decode(text, type=Capture)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        why = str(error)
    else:
        for name, one in capture.values.items():
            if name not in fields().fields:
                why = f"it has a field {name[:40]!r}"
            elif not (isinstance(one.value, str) and len(one.value) <= _LONGEST):
                why = "a value is no text, or too long"
    if why is not None:
        raise MlsubError(f"{file} is not a capture ({why}). Make one with mlsub system capture --format json.")
    return capture


def merge_captures(captures: Sequence[tuple[str, Capture]]) -> tuple[Found, tuple[Finding, ...]]:
    """Return one host for all, and what contradicts that.

    A host that was captured by several processes counts once. Where hosts differ, most of them are right, and each
    of the others is a finding that names its capture.

    Args:
        captures: each with where it is from; at least one.
    """
    hosts: dict[str, tuple[str, Capture]] = {}
    for where, capture in captures:
        hosts.setdefault(capture.host, (where, capture))
    count = len(hosts)
    source = "one host captured" if count == 1 else f"{count} hosts captured"
    merged: Found = {"number_of_nodes": SourcedValue(str(count), source)}
    findings: list[Finding] = []
    for name in fields().required:
        values = {where: capture.values[name] for where, capture in hosts.values() if name in capture.values}
        if not values:
            continue
        most, agreeing = Counter(one.value for one in values.values()).most_common(1)[0]
        source = next(one.source for one in values.values() if one.value == most)
        merged[name] = SourcedValue(most, source if count == 1 else f"{source} ({agreeing} of {count} hosts)")
        for where, one in values.items():
            if one.value != most:
                message = f"A host differs from most in {name}"
                findings.append(
                    finding("system.hosts-differ", where, message, expected=show(most), actual=show(one.value))
                )
    return merged, tuple(findings)
