"""Statements of the same quantity, held against one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from mlsub.commands.audit.model import Claim, ClaimsFile, Stated
from mlsub.commands.audit.verdict import Said
from mlsub.commands.audit.wording import accepted


def said(claim: Claim, file: ClaimsFile) -> tuple[Said, ...]:
    """All statements of a claim's quantity: its own, if it states one, and those beside it."""
    found: list[tuple[Stated, str]] = []
    if claim.same_quantity and claim.stated is not None:
        found.append((claim.stated, claim.id))
    others = {other.id: other for other in file.claims}
    for statement in claim.same_quantity:
        other = others.get(statement.claim or "")
        stated = statement.stated or (other.stated if other else None)
        if stated is not None:
            found.append((stated, " ".join(part for part in (statement.claim, statement.where) if part)))
    return tuple(
        Said(where=where or f"line {stated.line}", written=written(stated), accepted=accepted(stated))
        for stated, where in found
        if not isinstance(stated.value, bool)
    )


def written(stated: Stated) -> str:
    """A statement in its own words: ``over 5 x``."""
    words = "" if stated.wording == "exact" else f"{stated.wording} "
    unit = "" if stated.unit is None else stated.unit if stated.unit in ("x", "%") else f" {stated.unit}"
    return f"{words}{stated.written}{unit}"


def contradicts(statements: Sequence[Said]) -> bool:
    """Whether two of them have no value in common."""
    return any(not one.accepted.meets(other.accepted) for one, other in combinations(statements, 2))


def wording_differs(statements: Sequence[Said]) -> Iterator[str]:
    """A note where the same number is worded in two ways."""
    for one, other in combinations(statements, 2):
        same = one.written.split()[-1] == other.written.split()[-1]
        if same and one.written != other.written:
            yield f"worded in two ways: {one.written} ({one.where}), {other.written} ({other.where})"
