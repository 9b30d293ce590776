"""The catalogue of rules that are not demands on one key, and findings made from it.

What is not part of the official verdict runs by :func:`isolated` or :func:`reviewed`: a defect in it cannot change the
verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any, TypeVar

import msgspec

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.data import shipped

#: How much of an error a finding shows.
_SHOWN = 200
Result = TypeVar("Result")

#: The command that makes mechanical repairs, as remedies name it; PATH is what was checked.
FIX = "mlsub fix PATH --write"


class RuleInfo(msgspec.Struct, frozen=True):
    """What there is to know of one rule.

    ``message`` and ``expected`` are what a finding says where the code that finds it says nothing else; without a
    ``message`` that is the title. ``explains`` are patterns of the rules whose findings are consequences of this one.
    """

    id: str
    title: str
    severity: Severity
    blocks: Blocks
    why: str
    source: str
    example: str
    fix: str
    kind: Kind = Kind.OFFICIAL
    message: str = ""
    expected: str | None = None
    explains: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def catalogue() -> dict[str, RuleInfo]:
    """Every rule of the catalogue by its id."""
    return {name: _info(name) for name in _content()}


def _content() -> dict[str, dict[str, Any]]:
    return shipped(__file__, "catalogue.yaml", dict[str, dict[str, Any]])


@cache
def _info(rule: str) -> RuleInfo:
    """One rule: a check needs a few of the hundreds."""
    return msgspec.convert({"id": rule, **_content()[rule]}, RuleInfo)


def finding(
    rule: str,
    path: str,
    message: str | None = None,
    *,
    line: int | None = None,
    expected: str | None = None,
    actual: str | None = None,
    fix: str | None = None,
    severity: Severity | None = None,
    blocks: Blocks | None = None,
    source: str | None = None,
) -> Finding:
    """A finding of a rule of the catalogue; what is not given is the rule's usual.

    Raises:
        KeyError: the catalogue has no such rule.
    """
    info = _info(rule)
    return Finding(
        rule=rule,
        severity=info.severity if severity is None else severity,
        kind=info.kind,
        blocks=info.blocks if blocks is None else blocks,
        path=path,
        line=line,
        message=message or info.message or info.title,
        expected=info.expected if expected is None else expected,
        actual=actual,
        fix=info.fix if fix is None else fix,
        source=info.source if source is None else source,
    )


def find_causes(findings: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return the findings that others explain, each with its cause.

    A cause lies in the same file, in a folder above it, or in the folder that the finding is on; it is no note.
    """
    found = list(findings)
    explains = {one.rule: patterns for one in found if (patterns := _content().get(one.rule, {}).get("explains"))}
    if not explains:
        return {}
    on: dict[str, dict[str, Finding]] = {}
    below: dict[str, dict[str, Finding]] = {}
    for cause in found:
        if cause.rule in explains and cause.severity is not Severity.NOTE:
            on.setdefault(cause.path, {}).setdefault(cause.rule, cause)
            for folder in _folders_above(cause.path):
                below.setdefault(folder, {}).setdefault(cause.rule, cause)
    causes: dict[Finding, Finding] = {}
    for one in found:
        near = (*(on.get(path, {}) for path in (one.path, *_folders_above(one.path))), below.get(one.path, {}))
        for rule, cause in (item for place in near for item in place.items()):
            if any(fnmatchcase(one.rule, pattern) for pattern in explains[rule]):
                causes[one] = cause
                break
    return causes


def _folders_above(path: str) -> list[str]:
    """The folders that a path lies in, the nearest first; the last is the root of the report."""
    parts = path.split("/")
    return [*("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)), *([] if path == "." else ["."])]


def isolated(rule: str, path: str, work: Callable[[], Result], instead: Result) -> tuple[Result, tuple[Finding, ...]]:
    """What ``work`` returns, and no finding; where it raises, ``instead`` and the finding that says so.

    Args:
        rule: the id of the rule at work, or what is computed where several rules are.
        path: what is checked, relative to the report's root.
        work: what may fail.
        instead: the result in that case.
    """
    try:
        return work(), ()
    except Exception as error:
        return instead, (review_crashed(rule, path, error),)


def reviewed(rule: str, path: str, work: Callable[..., Iterable[Finding]], *of: Any) -> tuple[Finding, ...]:
    """The findings of a review rule; of one that raises, those before that, and the finding that says so."""
    found: list[Finding] = []
    try:
        found.extend(work(*of))
    except Exception as error:
        found.append(review_crashed(rule, path, error))
    return tuple(found)


def review_crashed(rule: str, path: str, error: Exception) -> Finding:
    """The finding on a review rule that raised."""
    return finding(
        "review.crashed",
        path,
        f"The review of {rule} failed to run; the official verdict does not depend on it",
        actual=f"{type(error).__name__}: {error}"[:_SHOWN],
    )
