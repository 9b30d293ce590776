"""What is not part of the official verdict runs here, so that a defect in it cannot change the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

Result = TypeVar("Result")
_SHOWN = 200


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
