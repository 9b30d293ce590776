"""Functions over all results given: which of them a call looks at, and what it makes of those.

``benchmark='bert', division='open', accelerator='H100', chips='8'`` and so on narrow them. Rounds are ``v5.0``,
``before v5.0``, ``until v5.0`` or ``all``: of those that are given, and for ranks those that may be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from mlsub.commands.audit.places import FoundResult, RoundFolder, results_in
from mlsub.commands.audit.verdict import ClaimVerdict
from mlsub.divisions import DIVISIONS
from mlsub.io.problems import did_you_mean
from mlsub.io.show import plural
from mlsub.rounds import known_rounds, normalise_round
from mlsub.rounds.benchmarks import Compatible, benchmarks_in, compatible
from mlsub.submission.find import organisation
from mlsub.systems.names import chip_spellings

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
    "nodes": lambda one, value: str(one.nodes) == value,
}
WHERE = tuple(_TESTS)


def choice_problem(name: str, value: str) -> str | None:
    """Return what is wrong with a value that results are chosen by; None for one that may be."""
    if name in ("round", "rounds") and not rounds_meant(value):
        known = [f"v{name}" for name in known_rounds("training")]
        return f"there is no round {value!r}{did_you_mean(value.rpartition(' ')[2], known)}"
    if name == "division" and value not in DIVISIONS:
        return f"there is no division {value!r}{did_you_mean(value, DIVISIONS)}"
    if name == "accelerator" and not accelerators_meant(value):
        return f"there is no accelerator {value!r}"
    if name == "benchmark" and not benchmarks_in("training", value):
        return f"there is no benchmark {value!r}; name its folder, such as resnet"
    if name in ("chips", "nodes") and not (value.isascii() and value.isdigit()):
        return f"{value!r} is no number; write it in digits without commas"
    return None


def rounds_meant(text: str, usage: str = "training") -> tuple[str, ...]:
    """Return the rounds that a text means: ``v5.0``, ``before v5.0``, ``until v5.0`` or ``all``; none for another."""
    order = known_rounds(usage)
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


def minutes_of(at: Any, results: Sequence[FoundResult]) -> list[Fraction]:
    """Return the time to train of each result that has one."""
    minutes = (facts.minutes.get(at.question[0]) for facts in at.read(results))
    return [one for one in minutes if one is not None]


def fastest(at: Any, among: Sequence[FoundResult], *_: object, **__: str) -> Fraction:
    """Return the least minutes of some results."""
    return min(minutes_of(at, among))


def rank(at: Any, among: Sequence[FoundResult], of: FoundResult, **_: str) -> Fraction:
    """Return the place of a result by time to train, 1 for the fastest."""
    own = at.minutes(of).low
    return Fraction(1 + sum(one < own for one in minutes_of(at, among)))


def most(_: Any, among: Sequence[FoundResult], *__: object, **___: str) -> Fraction:
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


def words_of(results: Sequence[FoundResult]) -> str:
    """Return what a call has looked at, for a note."""
    rounds = dict.fromkeys(f"v{one.round}" for one in results)
    of = plural(len({one.organisation for one in results}), "organisation")
    return f"{plural(len(results), 'result')} of {of} given" + (f" ({', '.join(rounds)})" if rounds else "")
