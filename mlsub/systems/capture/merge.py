"""Join the captures of several hosts to one description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.rules.catalogue import finding
from mlsub.systems.capture.machine import Capture
from mlsub.systems.capture.tools import Found
from mlsub.systems.catalogue import Value
from mlsub.systems.fields import fields


def merge(captures: Sequence[tuple[str, Capture]]) -> tuple[Found, tuple[Finding, ...]]:
    """One host for all, and what contradicts that.

    A host that was captured by several processes counts once. Where hosts differ, most of them are right, and each
    of the others is a finding that names its capture.

    Args:
        captures: each with where it is from; at least one.
    """
    hosts: dict[str, tuple[str, Capture]] = {}
    for where, capture in captures:
        hosts.setdefault(capture.host, (where, capture))
    count = len(hosts)
    merged: Found = {"number_of_nodes": Value(str(count), f"{'one host' if count == 1 else f'{count} hosts'} captured")}
    findings: list[Finding] = []
    for name in fields().required:
        values = {where: capture.values[name] for where, capture in hosts.values() if name in capture.values}
        if not values:
            continue
        most, agreeing = Counter(one.value for one in values.values()).most_common(1)[0]
        source = next(one.source for one in values.values() if one.value == most)
        merged[name] = Value(most, source if count == 1 else f"{source} ({agreeing} of {count} hosts)")
        for where, one in values.items():
            if one.value != most:
                message = f"A host differs from most in {name}"
                findings.append(
                    finding("system.hosts-differ", where, message, expected=show(most), actual=show(one.value))
                )
    return merged, tuple(findings)
