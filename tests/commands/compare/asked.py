"""Answers of compare as documents, which keep their published schemas."""

from __future__ import annotations

from typing import Any

from tools.support.runner import answer_schema, run


def document(*arguments: object) -> dict[str, Any]:
    """The JSON document of a comparison."""
    found = run("compare", *arguments, "--format", "json").document
    answer_schema(found["command"]).validate(found)
    return found


def trainings(*arguments: object) -> dict[str, Any]:
    """The document of a comparison of two trainings."""
    return document("--trainings", *arguments)


def packages(*arguments: object) -> dict[str, Any]:
    """The document of a comparison of two packages."""
    return document("--packages", *arguments)


def findings(purpose: str, *arguments: object) -> list[dict[str, Any]]:
    """What speaks against resubmitting or borrowing; the exit status tells whether anything does."""
    outcome = run("compare", "--trainings", *arguments, f"--{purpose}", "--format", "json")
    answer_schema("compare").validate(outcome.document)
    assert outcome.document["purpose"] == purpose
    found = list(outcome.document["findings"])
    assert outcome.status == int(bool(found))
    assert all(finding["kind"] == "review" for finding in found)
    return found
