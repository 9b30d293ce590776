"""The functions and operations of expressions: exact, and an interval where inputs are taken within their uncertainty.

Kinds of arguments: result, number, truth, text, any, basis, round, submitter, benchmark, fact. ``...`` repeats the last
one, a leading ``?`` makes one optional; ``named`` are given as ``name='text'``. ``unit`` is what the value is measured
in, as in units.yaml: ``x`` is a plain ratio, ``same`` the unit that all arguments have, ``*`` and ``/`` their product
and quotient, ``trainings/price`` one over minutes and the second argument, None any or none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.commands.audit.expression import Call
from mlsub.commands.audit.facts import exact, rcp_factor
from mlsub.commands.audit.given import (
    UNSAID,
    WHERE,
    NoValueError,
    fastest,
    most,
    peers,
    previous,
    raced,
    rank,
    submitted,
)
from mlsub.commands.audit.places import FoundResult
from mlsub.io.show import show
from mlsub.systems.fields import category

#: A number of more bits is not a figure of a claim; the bound keeps a hostile file from using up the memory.
MAX_BITS = 8192


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


def _counted(what: str, _: Any, of: FoundResult) -> Fraction:
    for field in COUNTS[what]:
        if of.product(field) is None:
            raise NoValueError(f"the system description of {of.name} gives no number for {field}", UNSAID)
    return Fraction(of.product(*COUNTS[what]) or 0)


def _epochs(_: Any, of: FoundResult) -> Fraction:
    values = _numbers(of, "epochs", [run.timeline.epochs or None for run in of.converging])
    return Fraction(sum(values)) / len(values)


def _samples(_: Any, of: FoundResult) -> Fraction:
    """Return the mean without the least and the most."""
    if of.benchmark == "bert":
        said: list[Any] = [run.hyperparameters.get("train_samples") for run in of.converging]
    else:
        said = [run.evaluations[-1].samples_count if run.evaluations else None for run in of.converging]
    values = sorted(_numbers(of, "samples", said))
    # Runs that did not converge count as slowest, and fall out first.
    kept = values[1 : len(of.logs) - 1] or values
    return Fraction(sum(kept)) / len(kept)


def _quality(_: Any, of: FoundResult) -> Fraction:
    last = [run.evaluations[-1].value if run.evaluations else None for run in of.converging]
    return min(_numbers(of, "an evaluation", last))


def _available(_: Any, of: FoundResult) -> bool:
    return (category(of.text("status")) or "").startswith("Available")


def _energy(_: Any, of: FoundResult) -> Fraction:
    energy = of.result.energy if of.result else None
    return _numbers(of, "energy", [energy.scaled if energy else None])[0]


def _numbers(of: FoundResult, what: str, values: Sequence[Any]) -> list[Fraction]:
    """Numbers of runs, all of them."""
    numbers = [one for value in values if isinstance(one := _plain(value), Fraction)]
    if not numbers or len(numbers) < len(values):
        raise NoValueError(f"the logs of {of.name} do not state {what}", UNSAID)
    return numbers


def _rcp(_: Any, of: FoundResult) -> Fraction:
    factor = rcp_factor(of.result) if of.result else None
    if factor is None:
        raise NoValueError(f"{of.name} is not compared with reference convergence points", UNSAID)
    return factor


def _hyper(_: Any, of: FoundResult, name: str) -> Fraction | str | bool:
    logged = [log.run.hyperparameters[name] for log in of.logs if name in log.run.hyperparameters]
    if len({repr(value)[:1000] for value in logged}) != 1:
        why = "several values of it" if logged else "no such hyperparameter"
        raise NoValueError(f"the logs of {of.name} have {why}: {name[:60]}", UNSAID)
    return _plain(logged[0])


def _field(_: Any, of: FoundResult, name: str) -> Fraction | str | bool:
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


#: What of two results may be the same besides fields of the description and logged hyperparameters.
_SAME = ("round", "submitter", "division", "system", "benchmark")


def _same(at: Any, fact: str, a: FoundResult, b: FoundResult) -> bool:
    if fact in _SAME:
        return bool(getattr(a, fact) == getattr(b, fact))
    if fact in COUNTS:
        return _counted(fact, at, a) == _counted(fact, at, b)
    if fact == "accelerator":
        return a.chip == b.chip
    read = _field if fact in a.description or fact in b.description else _hyper
    return read(at, a, fact) == read(at, b, fact)


class Function(msgspec.Struct, frozen=True):
    """What a function takes and gives; ``how`` is called with the evaluation, arguments, and those given by name.

    ``over`` says which of all results given it looks at; it is called in the same way, and ``how`` gets these second.
    """

    takes: str
    unit: str | None
    how: Callable[..., Answer | FoundResult | Fraction]
    gives: str = "number"
    named: tuple[str, ...] = ()
    over: Callable[..., Sequence[FoundResult]] | None = None

    def kinds(self, count: int) -> list[str] | None:
        """Return the kind of each of so many arguments; None where it does not take so many."""
        takes = [kind for kind in self.takes.split() if kind != "..."]
        more = count - len(takes) if self.takes.endswith("...") else 0
        kinds = [kind.lstrip("?") for kind in (*takes, *takes[-1:] * more)]
        return kinds[:count] if self.least <= count <= len(kinds) else None

    @property
    def reads(self) -> bool:
        """Whether its value is that of a result, or of several."""
        return self.over is not None or "result" in self.takes

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


COMPARISONS = {
    sign: kind for kind, signs in (("number", ("<", "<=", ">", ">=")), ("any", ("==", "!="))) for sign in signs
}
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
        for sign, kind in COMPARISONS.items()
    },
}


def _over(unit: str, of: Callable[[FoundResult], object], *without: str) -> Function:
    """Return a function that counts how many different values the results of some rounds have."""

    def how(_: Any, among: Sequence[FoundResult], *__: object, **___: str) -> Fraction:
        return Fraction(len({of(one) for one in among}))

    named = tuple(name for name in WHERE if name not in ("submitter", *without))
    return Function("round ?submitter", unit, how, named=named, over=submitted)


_RANKED = tuple(name for name in WHERE if name != "benchmark")
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
    "converged": Function("result", "runs", lambda _, a: Fraction(a.result.converged if a.result else 0)),
    "epochs": Function("result", "epochs", _epochs),
    "samples": Function("result", "samples", _samples),
    "quality": Function("result", "x", _quality),
    "rcp": Function("result", "x", _rcp),
    "hyper": Function("result text", None, _hyper, "any"),
    "field": Function("result text", None, _field, "any"),
    "available": Function("result", None, _available, "truth"),
    "contains": Function("text text", None, lambda _, whole, part: part.lower() in whole.lower(), "truth"),
    "same": Function("fact result result", None, _same, "truth"),
    "energy": Function("result", "j", _energy),
    "previous": Function("result", None, previous, "result"),
    "rank": Function("result", "results", rank, named=(*_RANKED, "rounds"), over=peers),
    "fastest": Function("round benchmark", "min", fastest, named=_RANKED, over=raced),
    "most": Function("round", "results", most, named=WHERE, over=submitted),
    "count": _over("results", lambda one: one.folder),
    "systems": _over("systems", lambda one: (one.organisation, one.system_name or one.system), "system"),
    "benchmarks": _over("benchmarks", lambda one: one.results_folder.benchmark, "benchmark"),
    "submitters": _over("submitters", lambda one: one.organisation),
}


def function_of(call: Call) -> Function:
    """Return what a call calls; it has to be known."""
    return OPERATIONS.get(call.function) or FUNCTIONS[call.function]
