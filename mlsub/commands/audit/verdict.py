"""An audit of claims, as it is shown and as JSON has it: results, figures on every basis, verdicts, findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from mlsub.commands.audit.claims import Claim, ClaimSource, Input
from mlsub.commands.audit.wording import AcceptedRange
from mlsub.log.changes import Change
from mlsub.present.envelope import EXACT, Answer

if TYPE_CHECKING:
    Figure = Fraction | bool
    NearFigure = Fraction | bool | str | None
else:
    # msgspec has no unions with a type that JSON lacks, so their schema is written out.
    Figure = Annotated[Any, Meta(extra_json_schema={"anyOf": [EXACT, {"type": "boolean"}]})]
    NearFigure = Annotated[Any, Meta(extra_json_schema={"anyOf": [EXACT, {"type": ["boolean", "string", "null"]}]})]


class ClaimVerdict(StrEnum):
    """The verdict on a claim, the best first: one that states several figures is as good as the worst of them."""

    HOLDS = "holds"
    FRAGILE = "holds-fragile"
    ONLY_FOR = "holds-only-for"
    NOT_VERIFIABLE = "not-verifiable"
    IN_PART = "holds-in-part"
    DEPENDS = "depends-on-basis"
    FAILS = "fails"
    NOT_COMPARABLE = "not-comparable"
    CONTRADICTION = "contradiction"
    NOT_CHECKED = "not-checked"


HOLDING = frozenset((ClaimVerdict.HOLDS, ClaimVerdict.FRAGILE, ClaimVerdict.ONLY_FOR))
#: Verdicts that make the audit find something where it is strict, and those that do so always.
DOUBTFUL = frozenset((ClaimVerdict.FRAGILE, ClaimVerdict.ONLY_FOR, ClaimVerdict.NOT_VERIFIABLE))
AGAINST = frozenset(ClaimVerdict) - DOUBTFUL - {ClaimVerdict.HOLDS, ClaimVerdict.NOT_CHECKED}


#: The bases in words, in the order in which they are shown.
BASES = {"published": "published", "unscaled": "unscaled", "expected": "expected", "rcp_mean": "at the RCP mean"}


def score_words(basis: str) -> str:
    """Return a basis in words: the published score."""
    return f"score {BASES[basis]}" if basis == "rcp_mean" else f"{BASES[basis]} score"


class ShownResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result; where it is not ``found``, ``reason`` says why, and what follows is unknown. Times are in minutes.

    Who, what and on what is what the claims file and the folders say: ``system`` is the folder's name, ``system_name``
    the description's, ``category`` its availability as in the results table, ``chips`` the accelerators that it counts
    (host processors, where it has none), ``id`` its MLPerf ID.

    ``rcp`` is the verdict of the convergence test, and ``rcp_factor`` takes the time to the mean of the reference.
    ``minutes`` are the time to train on each basis, ``run_minutes`` those of the runs in the order of their files, null
    for a run that counts as slowest. ``edit_factor`` is what all times were multiplied by after the runs, null where
    they were not; ``scaling_json`` the factor of that file. ``unpublished`` is the score of a table that the user gives
    where it is not that of the logs: it decides nothing. ``footnote`` is what a text that uses the result has to say.
    """

    name: str
    usage: str = "training"
    round: str
    submitter: str | None = None
    system: str | None = None
    benchmark: str | None = None
    division: str | None = None
    id: str | None = None
    found: bool = False
    reason: str | None = None
    path: str | None = None
    system_name: str | None = None
    category: str | None = None
    chips: int | None = None
    division_in_logs: tuple[str, ...] = ()
    runs: int | None = None
    converged: int | None = None
    rcp: str | None = None
    rcp_factor: Fraction | None = None
    edit_factor: Fraction | None = None
    scaling_json: Fraction | None = None
    published_source: str | None = None
    unpublished: Fraction | None = None
    minutes: dict[str, Fraction | None] = {}
    run_minutes: tuple[Fraction | None, ...] = ()
    remarks: tuple[str, ...] = ()
    footnote: str | None = None


class BasisOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A reading on one basis, in the unit that is stated.

    ``decides`` says whether the basis counts for the verdict; ``truncated`` that it holds with digits cut off.
    """

    basis: str
    value: Figure
    holds: bool
    decides: bool
    truncated: bool = False


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a claim on every basis that makes a difference, and what distinguishes it.

    ``decides`` is false where the claim itself rules the reading out; ``holds`` is null where it depends on the basis.
    ``low`` and ``high`` are the ends that the uncertainty of ``inputs`` allows on the first deciding basis; the reading
    is ``fragile`` if it does not hold for all of them.
    """

    expr: str
    label: str | None = None
    decides: bool = True
    holds: bool | None
    fragile: bool = False
    low: Fraction | None = None
    high: Fraction | None = None
    inputs: tuple[str, ...] = ()
    bases: tuple[BasisOutcome, ...]

    @property
    def deciding(self) -> tuple[BasisOutcome, ...]:
        """The outcomes that count."""
        return tuple(outcome for outcome in self.bases if outcome.decides)


class BreakEven(msgspec.Struct, frozen=True, kw_only=True):
    """The value of an input at which a claim begins or ends to hold; ``bound`` is the end of the accepted interval."""

    input: str
    unit: str | None
    at: Fraction
    stated: Fraction
    bound: Fraction
    within_uncertainty: bool


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A figure shown for scale; where there is none, ``reason`` says why."""

    expr: str
    label: str | None
    value: NearFigure
    reason: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One of several statements of a quantity, where it stands, and the values it allows."""

    where: str
    written: str
    accepted: AcceptedRange


class TextDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A name in the words of a claim that none of its results has: its kind, as written, and the results' own."""

    what: str
    said: str
    results: tuple[str, ...]


class JudgedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim and its verdict; ``computed`` is the figure on ``basis``, the first that decides.

    Of a claim that states several figures, ``further`` are the others, and ``verdict`` is the worst. ``only_for`` names
    what it holds for, ``reason`` says why it cannot be verified or checked, why it fails where the figures do not, or
    what the parts of a condition come to that are not true.
    """

    claim: Claim
    verdict: ClaimVerdict
    only_for: str | None = None
    reason: str | None = None
    accepted: AcceptedRange | None = None
    basis: str | None = None
    computed: Figure | None = None
    readings: tuple[Variant, ...] = ()
    break_even: tuple[BreakEven, ...] = ()
    nearest: tuple[Near, ...] = ()
    changed: tuple[Change, ...] = ()
    statements: tuple[Said, ...] = ()
    differences: tuple[TextDifference, ...] = ()
    notes: tuple[str, ...] = ()
    further: tuple[JudgedClaim, ...] = ()


def tally(judged: Collection[JudgedClaim]) -> Mapping[str, int]:
    """Return how many claims have which verdict, in the order of the verdicts."""
    counts = {verdict.value: sum(one.verdict is verdict for one in judged) for verdict in ClaimVerdict}
    return {verdict: count for verdict, count in counts.items() if count}


class Audit(Answer, frozen=True, kw_only=True):
    """Claims checked against published results; ``bases`` are those that were asked for.

    ``verdicts`` counts the claims that are confirmed, ``proposed`` those that nobody has confirmed yet.
    """

    SCHEMA: ClassVar[int] = 15

    file: str
    source: ClaimSource
    bases: tuple[str, ...] = ()
    verdicts: dict[str, int] = msgspec.field(default_factory=dict)
    proposed: dict[str, int] = msgspec.field(default_factory=dict)
    results: tuple[ShownResult, ...]
    inputs: tuple[Input, ...]
    claims: tuple[JudgedClaim, ...]

    def __post_init__(self) -> None:
        for name, proposed in (("verdicts", False), ("proposed", True)):
            of = [one for one in self.claims if one.claim.proposed is proposed]
            msgspec.structs.force_setattr(self, name, dict(tally(of)))

    def exit_status(self, *, strict: bool = False) -> int:
        """0 all hold, 1 some do not, or in part alone (strict: or are doubtful), 2 not checked.

        Claims that are only proposed do not count, except that a file without any other has nothing that holds.
        """
        verdicts = {ClaimVerdict(name) for name in self.verdicts}
        if ClaimVerdict.NOT_CHECKED in verdicts:
            return 2
        doubtful = strict and (bool(verdicts & DOUBTFUL) or bool(self.proposed))
        return int(bool(verdicts & AGAINST) or doubtful or not verdicts)
