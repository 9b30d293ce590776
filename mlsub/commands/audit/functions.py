"""The functions and operations of expressions: exact, and an interval where inputs are taken within their uncertainty.

Kinds of arguments: result, number, truth, text, any, basis, round, submitter, benchmark, fact. ``...`` repeats the last
one, a leading ``?`` makes one optional; ``named`` are given as ``name='text'``. ``unit`` is what the value is measured
in, as in units.yaml: ``x`` is a plain ratio, ``same`` the unit that all arguments have, ``*`` and ``/`` their product
and quotient, ``trainings/price`` one over minutes and the second argument, None any or none.

Some look at all results given: ``benchmark='bert', division='open', accelerator='H100', chips='8'`` and so on narrow
them. Rounds are ``v5.0``, ``before v5.0``, ``until v5.0`` or ``all``: of those that are given, and for ranks those that
may be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.commands.audit.expression import ONE, Answer, Band, Call, compare
from mlsub.commands.audit.results import COUNTS, FoundResult, RoundFolder, exact, results_in
from mlsub.commands.audit.verdict import ClaimVerdict
from mlsub.io.problems import did_you_mean
from mlsub.io.show import plural, show
from mlsub.rounds import known_rounds, normalise_round
from mlsub.rounds.benchmarks import Compatible, compatible
from mlsub.submission.find import organisation
from mlsub.systems.names import chip_spellings


def _counted(what: str, _: Any, of: FoundResult) -> Fraction:
    for field in COUNTS[what]:
        if of.number_in(field) is None:
            raise NoValueError(f"the system description of {of.name} gives no number for {field}", UNSAID)
    return Fraction(of.count_of(what) or 0)


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
    if of.rcp_factor is None:
        raise NoValueError(f"{of.name} is not compared with reference convergence points", UNSAID)
    return of.rcp_factor


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


# ---- Of all results given


#: The verdict on a claim where neither logs nor description say what it needs, and where a result is not there.
UNSAID, ABSENT = ClaimVerdict.NOT_VERIFIABLE, ClaimVerdict.NOT_CHECKED


class NoValueError(ValueError):
    """An expression has no value; ``verdict`` is that on a claim which rests on it.

    None where the expression is at fault: it divides by zero, or compares what cannot be.
    """

    def __init__(self, reason: str, verdict: ClaimVerdict | None = None) -> None:
        self.verdict = verdict
        super().__init__(reason)


def accelerators_meant(text: str) -> frozenset[str]:
    """Return every accelerator that a text may mean."""
    return frozenset[str]().union(*(values for _, values in chip_spellings().find(text)))


#: What results are chosen by, and whether one has a value.
_TESTS: dict[str, Callable[[FoundResult, str], bool]] = {
    "division": lambda one, value: one.division == value,
    "benchmark": lambda one, value: value in (one.results_folder.benchmark, one.benchmark_in_round),
    "system": lambda one, value: one.system == value,
    "submitter": lambda one, value: one.organisation == organisation(value),
    "accelerator": lambda one, value: one.chip is not None and one.chip.name in accelerators_meant(value),
    "vendor": lambda one, value: one.chip is not None and one.chip.vendor[0] == organisation(value),
    "chips": lambda one, value: str(one.chips) == value,
    "nodes": lambda one, value: str(one.count_of("nodes")) == value,
}
WHERE = tuple(_TESTS)


def rounds_meant(text: str) -> tuple[str, ...]:
    """Return the rounds that a text means: ``v5.0``, ``before v5.0``, ``until v5.0`` or ``all``; none for another."""
    order = known_rounds("training")
    word, _, name = text.strip().rpartition(" ")
    if name == "all" and not word:
        return order
    round_ = normalise_round(name)
    if round_ not in order or word not in ("", "before", "until"):
        return ()
    at = order.index(round_)
    return {"": (round_,), "before": order[:at], "until": order[: at + 1]}[word]


def submitted(at: Any, span: str, submitter: str | None = None, **where: str) -> list[FoundResult]:
    """Return the results of some rounds, of one submitter or of all.

    Raises:
        NoValueError: none of the rounds is given, or no such submitter.
    """
    rounds: Sequence[RoundFolder] = at.rounds
    here = [one for one in rounds if one.usage == "training" and one.round in rounds_meant(span)]
    if not here:
        there = ", ".join(dict.fromkeys(f"v{one.round}" for one in rounds)) or "none"
        raise NoValueError(f"no results of rounds {span!r} are given; there are those of {there}", ABSENT)
    if submitter is not None:
        where["submitter"] = submitter
        # Of several rounds it may be in none; a name that is nowhere is misspelt.
        among = here if normalise_round(span) else rounds
        known = list(dict.fromkeys(name for one in among for name in one.organisations))
        if organisation(submitter) not in map(organisation, known):
            raise NoValueError(f"no submitter {submitter!r} in {span}{did_you_mean(submitter, known)}", ABSENT)
    return _chosen(results_in(here, "training", {one.round for one in here}), where)


def _chosen(results: Collection[FoundResult], where: Mapping[str, str]) -> list[FoundResult]:
    return [one for one in results if all(_TESTS[name](one, value) for name, value in where.items())]


def raced(at: Any, span: str, benchmark: str, *, division: str = "closed", **where: str) -> list[FoundResult]:
    """Return the results of a benchmark in some rounds."""
    return _several(submitted(at, span, benchmark=benchmark, division=division, **where), where)


def peers(at: Any, of: FoundResult, *, rounds: str = "", division: str = "", **where: str) -> list[FoundResult]:
    """Return the results that one may be ranked among, itself included: by default those of its round and division."""
    spans = rounds_meant(rounds or f"v{of.round}")
    if of.round not in spans:
        raise NoValueError(f"{of.name} is of v{of.round}, which is not among the rounds {rounds!r}")
    chosen = _chosen(_comparable(at, of, spans), {**where, "division": division or of.division or ""})
    if of.folder not in [one.folder for one in chosen]:
        raise NoValueError(f"{of.name} is not among the results that it is to be ranked among", UNSAID)
    return _several(chosen, where)


def _comparable(at: Any, own: FoundResult, rounds: Collection[str]) -> list[FoundResult]:
    """Return the results of some rounds that one may be compared with."""
    benchmark = own.results_folder.benchmark
    near = [one for one in rounds if compatible(own.usage, own.benchmark or "", own.round, one) is Compatible.YES]
    return [one for one in results_in(at.rounds, own.usage, near) if one.results_folder.benchmark == benchmark]


def _several(found: list[FoundResult], where: Mapping[str, str]) -> list[FoundResult]:
    """Return results that one can be the fastest of: those of a single organisation only where they are asked for."""
    names = {one.organisation for one in found}
    if "submitter" in where and found:
        return found
    if len(found) < 2 or (len(names) < 2 and not {"accelerator", "vendor"} & where.keys()):
        of = f", all of {names.pop()}" if len(found) > 1 else ""
        raise NoValueError(f"{plural(len(found), 'such result')} given{of}: there is nothing to rank", UNSAID)
    return found


def _minutes_of(at: Any, results: Sequence[FoundResult]) -> list[Fraction]:
    """Return the time to train of each result that has one."""
    minutes = (one.minutes.get(at.question[0]) for one in at.read(results))
    return [one for one in minutes if one is not None]


def _rank(at: Any, among: Sequence[FoundResult], of: FoundResult) -> Fraction:
    """Return the place of a result by time to train, 1 for the fastest."""
    own = at.minutes(of).low
    return Fraction(1 + sum(one < own for one in _minutes_of(at, among)))


def _fastest(at: Any, among: Sequence[FoundResult], *_: object) -> Fraction:
    """Return the least minutes of some results."""
    return min(_minutes_of(at, among))


def _most(_: Any, among: Sequence[FoundResult], *__: object) -> Fraction:
    """Return the most results that one organisation has."""
    return Fraction(max(Counter(one.organisation for one in among).values(), default=0))


def previous(at: Any, of: FoundResult) -> FoundResult:
    """Return the result of the round before: same organisation, benchmark, division, accelerators and their number.

    Raises:
        NoValueError: that round is not given, or has no such result.
    """
    order = known_rounds(of.usage)
    before = order[order.index(of.round) - 1 : order.index(of.round)]

    def kept(one: FoundResult) -> tuple[Any, ...]:
        return one.organisation, one.division, one.chip, one.chips

    alike = [one for one in _comparable(at, of, before) if kept(one) == kept(of)]
    known: list[FoundResult] = [one for one in at.read(alike) if one.minutes.get("published") is not None]
    if not known:
        found = results_in(at.rounds, of.usage, before)
        why = f"no such result of {of.organisation} in" if found else "no results are given of"
        name = f"v{before[0]}" if before else "a round before"
        raise NoValueError(f"previous({of.name}): {why} {name}", UNSAID if found else ABSENT)
    return min(known, key=lambda one: one.minutes["published"] or 0)


# ---- The tables


class Function(msgspec.Struct, frozen=True):
    """What a function takes and gives; ``how`` is called with the evaluation and the arguments.

    ``over`` says which of all results given it looks at; it is called in the same way, with those given by ``named``
    names too, and ``how`` gets these results second.
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

    def how(_: Any, among: Sequence[FoundResult], *__: object) -> Fraction:
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
    "converged": Function("result", "runs", lambda _, a: Fraction(a.converged or 0)),
    "epochs": Function("result", "epochs", _epochs),
    "samples": Function("result", "samples", _samples),
    "quality": Function("result", "x", _quality),
    "rcp": Function("result", "x", _rcp),
    "hyper": Function("result text", None, _hyper, "any"),
    "field": Function("result text", None, _field, "any"),
    "available": Function("result", None, lambda _, a: (a.category or "").startswith("Available"), "truth"),
    "contains": Function("text text", None, lambda _, whole, part: part.lower() in whole.lower(), "truth"),
    "same": Function("fact result result", None, _same, "truth"),
    "energy": Function("result", "j", _energy),
    "previous": Function("result", None, previous, "result"),
    "rank": Function("result", "results", _rank, named=(*_RANKED, "rounds"), over=peers),
    "fastest": Function("round benchmark", "min", _fastest, named=_RANKED, over=raced),
    "most": Function("round", "results", _most, named=WHERE, over=submitted),
    "count": _over("results", lambda one: one.folder),
    "systems": _over("systems", lambda one: (one.organisation, one.system_name or one.system), "system"),
    "benchmarks": _over("benchmarks", lambda one: one.results_folder.benchmark, "benchmark"),
    "submitters": _over("submitters", lambda one: one.organisation),
}


def function_of(call: Call) -> Function:
    """Return what a call calls; it has to be known."""
    return OPERATIONS.get(call.function) or FUNCTIONS[call.function]
