"""The value of an expression, on one basis: exact, and an interval where inputs are taken within their uncertainty.

Kinds of arguments of functions and operations: result, number, truth, text, any, basis, round, submitter. ``...``
repeats the last one, a leading ``?`` makes one optional; ``named`` are given as ``name='text'``. ``unit`` is what the
value is measured in, as in units.yaml: ``x`` is a plain ratio, ``same`` the unit that all arguments have, ``*`` and
``/`` their product and quotient, ``trainings/price`` one over minutes and the second argument, None any or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.commands.audit.claims import ClaimsFile
from mlsub.commands.audit.expression import Call, Constant, Name, Node, parse
from mlsub.commands.audit.facts import Facts, exact
from mlsub.commands.audit.places import RoundFolder, organisation_folder, product, result_sets
from mlsub.commands.audit.verdict import ClaimVerdict
from mlsub.io.errors import MlsubError
from mlsub.io.show import show
from mlsub.rounds import normalise_round
from mlsub.workspace import AS_FOUND, Checked, Settings

#: A number of more bits is not a figure of a claim; the bound keeps a hostile file from using up the memory.
MAX_BITS = 8192


#: The verdict on a claim where neither logs nor description say what it needs, and where a result is not there.
UNSAID, ABSENT = ClaimVerdict.NOT_VERIFIABLE, ClaimVerdict.NOT_CHECKED


class NoValueError(ValueError):
    """An expression has no value; ``verdict`` is that on a claim which rests on it.

    None where the expression is at fault: it divides by zero, or compares what cannot be.
    """

    def __init__(self, reason: str, verdict: ClaimVerdict | None = None) -> None:
        self.verdict = verdict
        super().__init__(reason)


class Band(msgspec.Struct, frozen=True):
    """All numbers from ``low`` to ``high``; where both are the same, a number.

    Operations raise ZeroDivisionError where a divisor may be zero, OverflowError where there are too many digits.
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, *values: Fraction) -> Band:
        """Return the band from the least to the greatest of some numbers."""
        band = cls(min(values), max(values))
        if any(part.bit_length() > MAX_BITS for end in (band.low, band.high) for part in end.as_integer_ratio()):
            raise OverflowError
        return band

    @property
    def certain(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    def __neg__(self) -> Band:
        return Band(-self.high, -self.low)

    def __add__(self, other: Band) -> Band:
        return Band.of(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Band) -> Band:
        return Band.of(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Band) -> Band:
        return Band.of(*(one * another for one in (self.low, self.high) for another in (other.low, other.high)))

    def __truediv__(self, other: Band) -> Band:
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        return Band.of(*(one / another for one in (self.low, self.high) for another in (other.low, other.high)))


#: What an expression comes to: numbers as bands; None is a truth that depends on the inputs' uncertainty.
Answer = Band | str | bool | None
ONE = Band(Fraction(1), Fraction(1))
#: The fields of a system description whose product is a count.
COUNTS = {
    "chips": ("number_of_nodes", "accelerators_per_node"),
    "nodes": ("number_of_nodes",),
    "cpus": ("number_of_nodes", "host_processors_per_node"),
}


def _counted(what: str, _: Any, of: Facts) -> Fraction:
    for field in COUNTS[what]:
        if product(of.description, field) is None:
            raise NoValueError(f"the system description of {of.name} gives no number for {field}", UNSAID)
    return Fraction(product(of.description, *COUNTS[what]) or 0)


def _epochs(_: Any, of: Facts) -> Fraction:
    values = [run.timeline.epochs for run in of.converging]
    if not values or not all(values):
        raise NoValueError(f"the logs of {of.name} do not state epochs", UNSAID)
    return Fraction(sum(values), len(values))


def _samples(_: Any, of: Facts) -> Fraction:
    """Return the mean without the least and the most."""
    if of.benchmark == "bert":
        said: list[Any] = [run.hyperparameters.get("train_samples") for run in of.converging]
    else:
        said = [run.evaluations[-1].samples_count if run.evaluations else None for run in of.converging]
    values = sorted(_numbers(of, "samples", said))
    # Runs that did not converge count as slowest, and fall out first.
    kept = values[1 : len(of.logs) - 1] or values
    return Fraction(sum(kept)) / len(kept)


def _quality(_: Any, of: Facts) -> Fraction:
    last = [run.evaluations[-1].value if run.evaluations else None for run in of.converging]
    return min(_numbers(of, "an evaluation", last))


def _numbers(of: Facts, what: str, values: Sequence[Any]) -> list[Fraction]:
    """Numbers of runs, all of them."""
    numbers = [one for value in values if isinstance(one := _plain(value), Fraction)]
    if not numbers or len(numbers) < len(values):
        raise NoValueError(f"the logs of {of.name} do not state {what}", UNSAID)
    return numbers


def _rcp(_: Any, of: Facts) -> Fraction:
    if of.rcp is None or of.rcp_factor is None:
        raise NoValueError(f"{of.name} is not compared with reference convergence points", UNSAID)
    return of.rcp_factor


def _hyper(_: Any, of: Facts, name: str) -> Fraction | str | bool:
    values = of.hyperparameters(name)
    if len(values) != 1:
        why = "no such hyperparameter" if not values else "several values of it"
        raise NoValueError(f"the logs of {of.name} have {why}: {name[:60]}", UNSAID)
    return _plain(values[0])


def _field(_: Any, of: Facts, name: str) -> Fraction | str | bool:
    if name not in of.description:
        raise NoValueError(f"the system description of {of.name} has no field {name[:60]!r}", UNSAID)
    return _plain(of.description[name])


def _plain(value: Any) -> Fraction | str | bool:
    """Return a logged value: a number that is finite exactly, text and truth as they are, all else as text."""
    if isinstance(value, bool | str):
        return value
    try:
        return exact(value)
    except (TypeError, ValueError, OverflowError):
        return show(value, 2000)


def _submitted(what: str, at: Any, round_: str, submitter: str, **only: str) -> Fraction:
    """Return how many result sets there are (``""``), or different names of systems or benchmarks."""
    name = normalise_round(round_) or round_
    try:
        folder = organisation_folder(submitter, "training", name, at.rounds)
    except MlsubError as error:
        raise NoValueError(str(error), ABSENT) from error
    sets = [one for one in result_sets(folder, "training", name) if all(one[key] == only[key] for key in only)]
    return Fraction(len({one[what] for one in sets}) if what else len(sets))


class Function(msgspec.Struct, frozen=True):
    """What a function takes and gives; ``how`` is called with the evaluation, arguments, and those given by name."""

    takes: str
    unit: str | None
    how: Callable[..., Answer | Fraction]
    gives: str = "number"
    named: tuple[str, ...] = ()

    def kinds(self, count: int) -> list[str] | None:
        """Return the kind of each of so many arguments; None where it does not take so many."""
        takes = [kind for kind in self.takes.split() if kind != "..."]
        more = count - len(takes) if self.takes.endswith("...") else 0
        kinds = [kind.lstrip("?") for kind in (*takes, *takes[-1:] * more)]
        return kinds[:count] if self.least <= count <= len(kinds) else None

    @property
    def least(self) -> int:
        """The number of arguments that it needs."""
        return sum(kind[0] not in "?." for kind in self.takes.split())


def compare(sign: str, left: Any, right: Any) -> bool | None:
    """Return whether a comparison is true; None where it depends on the inputs' uncertainty."""
    if sign in (">", ">="):
        return compare("<" if sign == ">" else "<=", right, left)
    if not isinstance(left, Band):
        return bool(left == right) == (sign == "==")
    if sign in ("==", "!="):
        apart = left.high < right.low or right.high < left.low
        same = left.certain and left == right
        return None if not apart and not same else same == (sign == "==")
    surely = left.high < right.low or (sign == "<=" and left.high == right.low)
    never = left.low > right.high or (sign == "<" and left.low == right.high)
    return True if surely else False if never else None


def _joined(decides: bool, _: Any, left: bool | None, right: bool | None) -> bool | None:
    if left is decides or right is decides:
        return decides
    return None if left is None or right is None else not decides


#: Operations by their signs; one argument of ``-`` is negated.
OPERATIONS = {
    "+": Function("number number", "same", lambda _, a, b: a + b),
    "-": Function("number ?number", "same", lambda _, a, b=None: -a if b is None else a - b),
    "*": Function("number number", "*", lambda _, a, b: a * b),
    "/": Function("number number", "/", lambda _, a, b: a / b),
    "not": Function("truth", None, lambda _, a: None if a is None else not a, "truth"),
    "and": Function("truth truth", None, partial(_joined, False), "truth"),
    "or": Function("truth truth", None, partial(_joined, True), "truth"),
    **{
        sign: Function(f"{kind} {kind}", "same", lambda _, a, b, sign=sign: compare(sign, a, b), "truth")
        for kind, signs in (("number", ("<", "<=", ">", ">=")), ("any", ("==", "!=")))
        for sign in signs
    },
}
#: What result sets may be counted by.
_OF_SETS = ("division", "benchmark", "system")
FUNCTIONS = {
    "minutes": Function("result ?basis", "min", lambda at, *a: at.minutes(*a)),
    "ratio": Function("result result", "x", lambda at, a, b: at.minutes(a) / at.minutes(b)),
    "reduction": Function("result result", "x", lambda at, a, b: ONE - at.minutes(b) / at.minutes(a)),
    "speedup": Function("result result", "x", lambda at, a, b: at.minutes(a) / at.minutes(b) - ONE),
    "per_dollar": Function("result number", "trainings/price", lambda at, a, by: ONE / (at.minutes(a) * by)),
    "per_chip": Function(
        "result",
        "1/min/chips",
        lambda at, a: ONE / (at.minutes(a) * Band.of(_counted("chips", at, a))),
    ),
    "best": Function("result ...", "min", lambda at, *a: min(map(at.minutes, a), key=attrgetter("low"))),
    "max": Function("number number ...", "same", lambda _, *a: Band(max(b.low for b in a), max(b.high for b in a))),
    "min": Function("number number ...", "same", lambda _, *a: Band(min(b.low for b in a), min(b.high for b in a))),
    "chips": Function("result", "chips", partial(_counted, "chips")),
    "nodes": Function("result", "nodes", partial(_counted, "nodes")),
    "hosts": Function("result", "nodes", partial(_counted, "nodes")),
    "cpus": Function("result", "cpus", partial(_counted, "cpus")),
    "runs": Function("result", "runs", lambda _, a: Fraction(len(a.logs))),
    "converged": Function("result", "runs", lambda _, a: Fraction(a.converged or 0)),
    "epochs": Function("result", "epochs", _epochs),
    "samples": Function("result", "samples", _samples),
    "quality": Function("result", "x", _quality),
    "rcp": Function("result", "x", _rcp),
    "hyper": Function("result text", None, _hyper, "any"),
    "field": Function("result text", None, _field, "any"),
    "available": Function("result", None, lambda _, a: (a.category or "").startswith("Available"), "truth"),
    "contains": Function("text text", None, lambda _, whole, part: part.lower() in whole.lower(), "truth"),
    "count": Function("round submitter", "results", partial(_submitted, ""), named=_OF_SETS),
    "systems": Function("round submitter", "systems", partial(_submitted, "name"), named=_OF_SETS[:2]),
    "benchmarks": Function("round submitter", "benchmarks", partial(_submitted, "benchmark"), named=_OF_SETS[::2]),
}


def function_of(call: Call) -> Function:
    """Return what a call calls; it has to be known."""
    return OPERATIONS.get(call.function) or FUNCTIONS[call.function]


#: Basis, whether inputs are taken with their uncertainty, and values in the place of theirs.
_Question = tuple[str, bool, tuple[tuple[str, Fraction], ...]]


class World(msgspec.Struct, frozen=True):
    """All that expressions are evaluated against, and on which ``question``.

    ``settings`` and ``checked`` are what further results are read by, see facts.py; ``near`` keeps those that were.
    ``known`` keeps the values of named expressions by question.
    """

    file: ClaimsFile
    facts: Mapping[str, Facts]
    rounds: Sequence[RoundFolder]
    settings: Settings = AS_FOUND
    checked: Sequence[Checked] = ()
    near: dict[str, dict[str, Facts]] = msgspec.field(default_factory=dict)
    known: dict[_Question, dict[str, Answer | NoValueError]] = msgspec.field(default_factory=dict)
    question: _Question = ("published", False, ())

    def fact(self, name: str) -> Facts:
        """Return the facts of a result.

        Raises:
            NoValueError: there are none.
        """
        found = self.facts.get(name)
        if found is None or not found.found:
            raise NoValueError(f"{name}: {found.reason if found else 'not looked for'}", ABSENT)
        return found

    def facts_in(self, expression: str) -> list[Facts]:
        """Return the facts of the results that an expression rests on, found or not."""
        return [self.facts[name] for name in self.file.results_in(expression)]

    def minutes(self, of: Facts, basis: str | None = None) -> Band:
        """Return the time to train of a result on a basis, usually that of the question.

        Raises:
            NoValueError: it has no score.
        """
        score = of.minutes[basis or self.question[0]]
        if score is None:
            raise NoValueError(f"{of.name} has no score: too few of its runs count", UNSAID)
        return Band(score, score)

    def value(self, node: Node) -> Answer:
        """Return the value of a part of an expression; errors are those of :func:`evaluate`."""
        if isinstance(node, Constant):
            return Band(node.value, node.value) if isinstance(node.value, Fraction) else node.value
        if isinstance(node, Name):
            return self._named(node.name)
        function = function_of(node)
        kinds = function.kinds(len(node.arguments)) or ()
        arguments = [self._argument(*one) for one in zip(kinds, node.arguments, strict=True)]
        if node.function in ("==", "!=") and type(arguments[0]) is not type(arguments[1]):
            raise NoValueError(f"column {node.column}: text or truth is compared with a number")
        try:
            value = function.how(self, *arguments, **dict(node.named))
            return Band.of(value) if isinstance(value, Fraction) else value
        except ZeroDivisionError:
            raise NoValueError(f"column {node.column}: division by zero") from None
        except OverflowError:
            raise NoValueError(f"column {node.column}: the number grows beyond any figure") from None

    def _named(self, name: str) -> Answer:
        _, spread, instead = self.question
        if name in self.file.values:
            value = self.known[self.question][name]
            if isinstance(value, NoValueError):
                raise value
            return value
        given = self.file.inputs[name]
        exactly = dict(instead).get(name, given.amount)
        return Band(given.low, given.high) if spread else Band(exactly, exactly)

    def _argument(self, kind: str, node: Node) -> Facts | Answer:
        if isinstance(node, Name) and (kind == "basis" or node.name in self.file.results):
            return node.name if kind == "basis" else self.fact(node.name)
        value = self.value(node)
        if kind == "text":
            return value if isinstance(value, str) else ""
        if kind == "number" and not isinstance(value, Band):
            raise NoValueError("a number is needed where text or truth stands")
        if kind == "truth" and not (value is None or isinstance(value, bool)):
            raise NoValueError("true or false is needed where a number or text stands")
        return value


def evaluate(
    tree: Node, world: World, basis: str, *, spread: bool = False, instead: Mapping[str, Fraction] | None = None
) -> Answer:
    """Return the value of an expression.

    Args:
        tree: checked before, see kinds.py.
        world: the facts and inputs.
        basis: the score that minutes() are, where an expression asks for none itself.
        spread: inputs within their uncertainty, in place of their values.
        instead: other values of inputs, by name.

    Raises:
        NoValueError: there is no value; so with ``spread`` where a divisor may be zero.
    """
    at = msgspec.structs.replace(world, question=(basis, spread, tuple(sorted((instead or {}).items()))))
    if at.question not in world.known:
        values = world.known[at.question] = {}
        for name, text in world.file.values.items():
            # Each needs only those before it, so that no chain of them costs depth; a failure counts where it is used.
            try:
                values[name] = at.value(parse(text))
            except NoValueError as error:
                values[name] = error
    return at.value(tree)
