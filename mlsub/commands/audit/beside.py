"""What is said beside a verdict: break-even values of inputs, other changes, other statements, names of readings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from mlsub.commands.audit.evaluate import Band, EvaluationError, World, evaluate
from mlsub.commands.audit.expression import Expression
from mlsub.commands.audit.facts import Facts, hyperparameters
from mlsub.commands.audit.model import Claim, ClaimsFile, Input, Stated
from mlsub.commands.audit.verdict import BreakEven, Change, Outcome, Said
from mlsub.commands.audit.wording import Interval, accepted
from mlsub.io.show import readable, show

#: No claim is about more inputs than this, and each costs a few evaluations.
MAX_INPUTS = 10
#: Fields of a system description that are shown where everything is asked for.
_FIELDS = (
    "system_name",
    "number_of_nodes",
    "accelerators_per_node",
    "accelerator_model_name",
    "host_processors_per_node",
    "framework",
    "other_software_stack",
)
#: Logged values that are measurements, not settings.
_MEASURED = frozenset(("throughput", "tracked_stats", "train_samples", "eval_samples", "train_checkpoint"))

_Curve = Callable[[Fraction], Fraction]


def break_even(expr: Expression, headline: Outcome, window: Interval | None, world: World) -> tuple[BreakEven, ...]:
    """Where each uncertain input takes a reading of a claim to an end of what is accepted, the others as stated.

    Only where the figure is linear in the input, or one over it is: then the answer is exact.
    """
    found: list[BreakEven] = []
    uncertain = [given for given in world.file.inputs_in(expr) if given.plus_minus]
    for given in uncertain[:MAX_INPUTS]:

        def curve(x: Fraction, name: str = given.name) -> Fraction:
            answer = evaluate(expr.tree, world, headline.basis, instead={name: x})
            if not isinstance(answer, Band):
                raise EvaluationError("not a number")
            return answer.low

        try:
            if window is not None and given.value != 0:
                nominal = curve(given.value)
                # A figure in another unit than its expression's, a percentage say, is a multiple of it.
                scale = Fraction(headline.value) / nominal if nominal else Fraction(1)
                found.extend(_solved(given, window, curve, scale))
        except EvaluationError:
            continue
    return tuple(found)


def _solved(given: Input, window: Interval, curve: _Curve, scale: Fraction) -> Iterator[BreakEven]:
    for bound in (window.low, window.high):
        at = None if bound is None else _crossing(curve, given.value, bound / scale)
        if bound is not None and at is not None and at > 0:
            yield BreakEven(
                input=given.name,
                unit=given.unit,
                at=at,
                stated=given.value,
                bound=bound,
                within_uncertainty=given.low <= at <= given.high,
            )


def _crossing(curve: _Curve, start: Fraction, target: Fraction) -> Fraction | None:
    """Where a curve takes a value, if it is a straight line or one over such a line."""
    heights = [curve(x) for x in (start, 2 * start, 3 * start)]
    if heights[2] - heights[1] == heights[1] - heights[0] != 0:
        return start + (target - heights[0]) * start / (heights[1] - heights[0])
    if target == 0 or not all(heights):
        return None
    turned = [1 / height for height in heights]
    if turned[2] - turned[1] == turned[1] - turned[0] != 0:
        return start + (1 / target - turned[0]) * start / (turned[1] - turned[0])
    return None


def changes(claim: Claim, world: World) -> tuple[Change, ...]:
    """What differs between the first two results of a claim, of the names that its context asks for."""
    named = world.file.results_in(claim.expr) if claim.expr else ()
    known = [facts for name in named[:2] if (facts := world.facts[name]).shown.found]
    if not claim.context or len(known) < 2:
        return ()
    first, second = known
    names = tuple(_names(first, second)) if claim.context == ("all",) else claim.context
    found = (Change(name=name, first=_value(first, name), second=_value(second, name)) for name in names)
    return tuple(change for change in found if change.first != change.second)


def _names(*both: Facts) -> Iterator[str]:
    yield from ("division", "epochs", *_FIELDS)
    keys = {key for facts in both for log in facts.logs for key in log.run.hyperparameters}
    yield from sorted(keys - _MEASURED)


def _value(facts: Facts, name: str) -> str:
    if name == "epochs":
        values = sorted({run.timeline.epochs for run in facts.converged})
        return "-".join(str(value) for value in values) if any(values) else "not stated"
    if name == "division":
        return facts.shown.division or "not stated"
    if logged := hyperparameters(facts, name):
        return ", ".join(_plain(value) for value in logged[:5])
    return _plain(facts.description[name]) if name in facts.description else "not stated"


def _plain(value: object) -> str:
    return readable(value) if isinstance(value, str) else show(value)


def labels(expressions: Sequence[Expression], world: World) -> list[str | None]:
    """What distinguishes each reading from the others: division, system, benchmark, ...; None for a single one."""
    if len(expressions) < 2:
        return [None] * len(expressions)
    for key in ("division", "benchmark", "round", "submitter", "system"):
        values = [_described(expression, key, world) for expression in expressions]
        if len(set(values)) == len(values):
            return [f"{key} {value}" for value in values]
    return [expression.text for expression in expressions]


def _described(expression: Expression, key: str, world: World) -> str:
    known = [facts.shown for name in world.file.results_in(expression) if (facts := world.facts[name]).shown.found]
    return "/".join(dict.fromkeys(str(value) for one in known if (value := getattr(one, key))))


def statements(claim: Claim, file: ClaimsFile) -> tuple[Said, ...]:
    """All statements of a claim's quantity: its own, if it states one, and those beside it."""
    found: list[tuple[Stated | None, str]] = []
    if claim.same_quantity:
        found.append((claim.stated, claim.id))
    others = {other.id: other.stated for other in file.claims}
    for one in claim.same_quantity:
        where = " ".join(part for part in (one.claim, one.where) if part)
        found.append((one.stated or others.get(one.claim or ""), where))
    return tuple(
        Said(where=where or f"line {stated.line}", written=stated.words, accepted=accepted(stated))
        for stated, where in found
        if stated is not None and not isinstance(stated.value, bool)
    )


def contradicts(said: Sequence[Said]) -> bool:
    """Whether two statements have no value in common."""
    return any(not one.accepted.meets(other.accepted) for one, other in combinations(said, 2))


def wording_differs(said: Sequence[Said]) -> Iterator[str]:
    """A note where the same number is worded in two ways."""
    for one, other in combinations(said, 2):
        same = one.written.split()[-1] == other.written.split()[-1]
        if same and one.written != other.written:
            yield f"worded in two ways: {one.written} ({one.where}), {other.written} ({other.where})"
