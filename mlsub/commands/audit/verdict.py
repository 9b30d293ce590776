"""What judging a claim comes to: its figures on every basis, its verdict, and what would change it."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import msgspec

from mlsub.commands.audit.model import Claim
from mlsub.commands.audit.wording import Interval


class ClaimVerdict(StrEnum):
    """The verdict on a claim."""

    HOLDS = "holds"
    FRAGILE = "holds-fragile"
    ONLY_FOR = "holds-only-for"
    FAILS = "fails"
    DEPENDS = "depends-on-basis"
    NOT_VERIFIABLE = "not-verifiable"
    CONTRADICTION = "contradiction"
    NOT_CHECKED = "not-checked"


#: Verdicts that make the audit find something, and those that do so where it is strict.
AGAINST = frozenset((ClaimVerdict.FAILS, ClaimVerdict.DEPENDS, ClaimVerdict.CONTRADICTION))
DOUBTFUL = frozenset((ClaimVerdict.FRAGILE, ClaimVerdict.ONLY_FOR, ClaimVerdict.NOT_VERIFIABLE))


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One expression on one basis, in the unit that is stated.

    ``decides`` says whether the basis counts for the verdict; ``truncated`` that it holds with digits cut off.
    """

    basis: str
    value: Fraction | bool
    holds: bool
    decides: bool
    truncated: bool = False


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a claim on every basis that makes a difference, and what distinguishes it.

    ``decides`` is False where the claim itself rules the reading out. ``low`` and ``high`` are the ends that the
    uncertainty of inputs allows on the first deciding basis, None without such inputs.
    """

    expr: str
    outcomes: tuple[Outcome, ...]
    label: str | None = None
    decides: bool = True
    low: Fraction | None = None
    high: Fraction | None = None
    fragile: bool = False

    @property
    def deciding(self) -> tuple[Outcome, ...]:
        """The outcomes that count."""
        return tuple(outcome for outcome in self.outcomes if outcome.decides)

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None where that depends on the basis."""
        answers = {outcome.holds for outcome in self.deciding}
        return answers.pop() if len(answers) == 1 else None


class BreakEven(msgspec.Struct, frozen=True, kw_only=True):
    """The value of an input at which a claim begins or ends to hold; ``bound`` is the end of the accepted interval."""

    input: str
    unit: str | None
    at: Fraction
    stated: Fraction
    bound: Fraction
    within: bool


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A figure shown for scale. ``value`` is None where there is none, ``why`` says why."""

    expr: str
    label: str | None
    value: Fraction | bool | str | None
    why: str | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What else is not the same in two results: a name and both values as text."""

    name: str
    first: str
    second: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One statement of a quantity, where it stands, and the values it allows."""

    where: str
    written: str
    accepted: Interval


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A name in the words of a claim that none of its results has: what it is of, as written, and the results' own."""

    what: str
    said: str
    results: tuple[str, ...]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A claim and what came of it.

    ``only_for`` names what it holds for, ``reason`` says why it cannot be verified or checked, or why it fails where
    the figures do not; ``differences`` are names in its words that belong to none of its results.
    """

    claim: Claim
    verdict: ClaimVerdict
    accepted: Interval | None = None
    only_for: str | None = None
    reason: str | None = None
    variants: tuple[Variant, ...] = ()
    break_evens: tuple[BreakEven, ...] = ()
    nearest: tuple[Near, ...] = ()
    changes: tuple[Change, ...] = ()
    statements: tuple[Said, ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> Outcome | None:
        """The figure to show first: on the first deciding basis, of the first reading that holds, else of the first."""
        counted = [variant for variant in self.variants if variant.decides and variant.deciding]
        chosen = next((variant for variant in counted if variant.holds), counted[0] if counted else None)
        return chosen.deciding[0] if chosen else None
