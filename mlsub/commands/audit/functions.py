"""The functions and operations of expressions: what each takes and gives, in which unit, and how it is computed.

Kinds of arguments: result, number, truth, text, any, basis, round, submitter. ``...`` repeats the last one, and a
leading ``?`` makes one optional; ``named`` are given as ``name='text'``. ``unit`` is what the value is measured in, as
in units.yaml: ``x`` is a plain ratio, ``same`` the unit that all arguments have, ``*`` and ``/`` their product and
quotient, ``trainings/price`` one over minutes and the unit of the second argument, and None any or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.audit.expression import Call
from mlsub.commands.audit.facts import Facts, exact, product
from mlsub.commands.audit.places import submitter_folder
from mlsub.commands.audit.verdict import ClaimVerdict
from mlsub.divisions import division_name
from mlsub.io.errors import MlsubError
from mlsub.io.show import show
from mlsub.rounds import get_round, normalise_round
from mlsub.submission.find import Place, Target
from mlsub.submission.tree import read_tree
from mlsub.systems.description import read_description

#: A number of more bits is not a figure of a claim; the bound keeps a hostile file from using up the memory.
MAX_BITS = 8192


class NoValueError(ValueError):
    """An expression has no value; ``verdict`` is that on a claim which rests on it.

    None where the expression is at fault: it divides by zero, or compares what cannot be.
    """

    def __init__(self, reason: str, verdict: ClaimVerdict | None = None) -> None:
        self.verdict = verdict
        super().__init__(reason)


def not_stated(reason: str) -> NoValueError:
    """Return the error for what neither logs nor description say, or a result without a score on a basis."""
    return NoValueError(reason, ClaimVerdict.NOT_VERIFIABLE)


def not_there(reason: str) -> NoValueError:
    """Return the error for a result that is not among those given."""
    return NoValueError(reason, ClaimVerdict.NOT_CHECKED)


class Band(msgspec.Struct, frozen=True):
    """All numbers from ``low`` to ``high``; where both are the same, a number.

    Raises:
        ZeroDivisionError: a divisor may be zero.
        OverflowError: a result has more digits than any claim has.
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, *values: Fraction) -> Band:
        """The band from the least to the greatest of some numbers."""
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
            raise not_stated(f"the system description of {of.name} gives no number for {field}")
    return Fraction(product(of.description, *COUNTS[what]) or 0)


def _numbers(of: Facts, what: str, values: Sequence[Any]) -> list[Fraction]:
    """Numbers of runs, all of them."""
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        try:
            return [exact(value) for value in values]
        except (ValueError, OverflowError):
            pass
    raise not_stated(f"the logs of {of.name} do not state {what}")


def _epochs(_: Any, of: Facts) -> Fraction:
    values = [run.timeline.epochs for run in of.converging]
    if not values or not all(values):
        raise not_stated(f"the logs of {of.name} do not state epochs")
    return Fraction(sum(values), len(values))


def _samples(_: Any, of: Facts) -> Fraction:
    """The mean without the least and the most."""
    if of.benchmark == "bert":
        said: list[Any] = [run.hyperparameters.get("train_samples") for run in of.converging]
    else:
        said = [run.evaluations[-1].samples_count if run.evaluations else None for run in of.converging]
    values = sorted(_numbers(of, "samples", said))
    # Runs that did not converge count as slowest, and fall out first.
    kept = values[1 : len(of.logs) - 1] or values
    return sum(kept, Fraction(0)) / len(kept)


def _quality(_: Any, of: Facts) -> Fraction:
    last = [run.evaluations[-1].value if run.evaluations else None for run in of.converging]
    return min(_numbers(of, "an evaluation", last))


def _rcp(_: Any, of: Facts) -> Fraction:
    if of.rcp is None or of.rcp_factor is None:
        raise not_stated(f"{of.name} is not compared with reference convergence points")
    return of.rcp_factor


def _hyper(_: Any, of: Facts, name: str) -> Any:
    values = of.hyperparameters(name)
    if len(values) != 1:
        why = "no such hyperparameter" if not values else "several values of it"
        raise not_stated(f"the logs of {of.name} have {why}: {name[:60]}")
    return _plain(values[0])


def _field(_: Any, of: Facts, name: str) -> Any:
    if name not in of.description:
        raise not_stated(f"the system description of {of.name} has no field {name[:60]!r}")
    return _plain(of.description[name])


def _plain(value: Any) -> Fraction | str | bool:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        try:
            return exact(value)
        except (ValueError, OverflowError):
            return show(value)
    return show(value, 2000)


def _submitted(what: str, at: Any, round_: str, submitter: str, **only: str) -> Fraction:
    """How many result sets there are (``""``), or different names of systems or benchmarks."""
    name = normalise_round(round_) or round_
    try:
        folder = submitter_folder(name, submitter, at.rounds)
    except MlsubError as error:
        raise not_there(str(error)) from error
    sets = [one for one in result_sets(folder, "training", name) if all(one[key] == only[key] for key in only)]
    return Fraction(len({one[what] for one in sets}) if what else len(sets))


@lru_cache(maxsize=64)
def result_sets(folder: Path, usage: str, round_: str) -> tuple[Mapping[str, str], ...]:
    """Division, benchmark, folder and name of the system, and number of chips of each result of an organisation."""
    of = get_round(usage, round_)
    found = []
    for entry in read_tree(Place(folder, Target.ORGANISATION), f"{folder.name}/", of).entries:
        if entry.results:
            description = read_description(folder / "systems" / f"{entry.system}.json", entry.system, of)
            found.append(
                {
                    "division": division_name(description.division) or "",
                    "benchmark": str(of.benchmark_in(entry.benchmark)),
                    "system": entry.system,
                    "name": description.text("system_name") or entry.system,
                    "chips": str(product(description.content or {}, *COUNTS["chips"])),
                }
            )
    return tuple(found)


class Function(msgspec.Struct, frozen=True):
    """What a function takes and gives; ``how`` is called with the evaluation, arguments, and those given by name.

    ``scores`` says that it uses the score of its results, ``besides`` that it brings in something besides.
    """

    takes: str
    unit: str | None
    how: Callable[..., Answer | Fraction]
    gives: str = "number"
    named: tuple[str, ...] = ()
    scores: bool = False
    besides: bool = False

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
FUNCTIONS = {
    "minutes": Function("result ?basis", "min", lambda at, *a: at.minutes(*a), scores=True),
    "ratio": Function("result result", "x", lambda at, a, b: at.minutes(a) / at.minutes(b), scores=True),
    "reduction": Function("result result", "x", lambda at, a, b: ONE - at.minutes(b) / at.minutes(a), scores=True),
    "speedup": Function("result result", "x", lambda at, a, b: at.minutes(a) / at.minutes(b) - ONE, scores=True),
    "per_dollar": Function(
        "result number", "trainings/price", lambda at, a, by: ONE / (at.minutes(a) * by), scores=True, besides=True
    ),
    "per_chip": Function(
        "result",
        "1/min/chips",
        lambda at, a: ONE / (at.minutes(a) * Band.of(_counted("chips", at, a))),
        scores=True,
        besides=True,
    ),
    "best": Function("result ...", "min", lambda at, *a: min(map(at.minutes, a), key=attrgetter("low")), scores=True),
    "max": Function("number number ...", "same", lambda _, *a: Band(max(b.low for b in a), max(b.high for b in a))),
    "min": Function("number number ...", "same", lambda _, *a: Band(min(b.low for b in a), min(b.high for b in a))),
    "chips": Function("result", "chips", partial(_counted, "chips"), besides=True),
    "nodes": Function("result", "nodes", partial(_counted, "nodes"), besides=True),
    "hosts": Function("result", "nodes", partial(_counted, "nodes"), besides=True),
    "cpus": Function("result", "cpus", partial(_counted, "cpus"), besides=True),
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
    "count": Function("round submitter", "results", partial(_submitted, ""), named=("division", "benchmark", "system")),
    "systems": Function("round submitter", "systems", partial(_submitted, "name"), named=("division", "benchmark")),
    "benchmarks": Function(
        "round submitter", "benchmarks", partial(_submitted, "benchmark"), named=("division", "system")
    ),
}


def function_of(call: Call) -> Function:
    """Return what a call calls; it has to be known."""
    return OPERATIONS.get(call.function) or FUNCTIONS[call.function]
