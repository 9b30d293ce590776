"""What would be true: statements that hold near those that fail, results near those of a claim, other inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from itertools import islice

import msgspec

from mlsub.commands.audit.claims import Claim
from mlsub.commands.audit.evaluate import World, evaluate
from mlsub.commands.audit.expression import Call, Constant, Node, parse, spelled
from mlsub.commands.audit.facts import Facts
from mlsub.commands.audit.functions import OPERATIONS, Answer, Band
from mlsub.commands.audit.given import NoValueError, own_entry
from mlsub.commands.audit.judge import Trial, trials, verdict_of
from mlsub.commands.audit.places import Given, given_in
from mlsub.commands.audit.verdict import ClaimVerdict, Instead, Judged, Outcome, Variant
from mlsub.commands.audit.wording import Stated, decimal, fits, fixed, understated
from mlsub.io.show import show
from mlsub.rounds import known_rounds

#: Other wordings of the same number, the closest first.
_WORDINGS = ("exact", "just over", "nearly", "about", "over", "under")
_FAILING = (ClaimVerdict.FAILS, ClaimVerdict.DEPENDS)
_HOLDS = (ClaimVerdict.HOLDS, ClaimVerdict.FRAGILE)
#: Results of a claim that are exchanged for others, and decimals that a figure is shown with at most.
_RESULTS, _DIGITS = 3, 6
#: Bases whose figures a statement may be about.
_SAID = {"published": "published", "unscaled": "unscaled", "expected": "with the expected scaling"}


def would_hold(judged: Judged, world: World, asked: Collection[str] = ()) -> tuple[Instead, ...]:
    """The nearest statements that hold, of a claim that fails; the closest ones first, at last the figure itself.

    Args:
        judged: the claim and its verdict.
        world: what it was checked against; results of other rounds are looked for where those of the claim lie.
        asked: bases that decide in the place of the usual.
    """
    found: list[Instead] = []
    for claim, one in zip(judged.claim.figures, (judged, *judged.further), strict=True):
        # The first has the verdict of the worst.
        if one.readings and verdict_of(one.readings)[0] in _FAILING:
            found.extend(_of_figure(claim, one, world, claim.basis or asked))
    names = [
        f"{', '.join(one.results)} in the place of {one.said}"
        for one in judged.differences
        if one.results and one.what != "figure"
    ]
    if names:
        found.append(Instead(how="words", statement="; ".join(names)))
    return tuple(found)


def _of_figure(claim: Claim, judged: Judged, world: World, asked: Collection[str]) -> Iterator[Instead]:
    stated = claim.figure
    if stated is None:
        return
    tried = list(trials(claim, world, asked))
    if isinstance(stated.amount, bool):
        if stated.amount:
            yield from _parts(tried, world)
        return
    counted = [one for one in judged.readings if one.decides]
    yield from _reworded(stated, counted)
    for one in judged.readings:
        if not one.decides and one.holds:
            yield Instead(how="reading", statement=f"{stated.words}{_labels([one])}", value=one.deciding[0].value)
    yield from islice(_turned(stated, tried, world), 1)
    yield from _of_other_results(claim, stated, world, asked)
    yield from (_figure(stated, one) for one in counted)


def _reworded(stated: Stated, counted: Sequence[Variant]) -> Iterator[Instead]:
    """Yield the same number in the closest wording that holds, for all readings or for some."""
    for wording in _WORDINGS:
        other = msgspec.structs.replace(stated, wording=wording, tolerance=None)
        holding = [one for one in counted if all(_allows(other, outcome) for outcome in one.deciding)]
        if wording != stated.wording and holding:
            label = _labels(holding) if len(holding) < len(counted) else ""
            yield Instead(how="wording", statement=f"{other.words}{label}", value=holding[0].deciding[0].value)
            return


def _allows(stated: Stated, outcome: Outcome) -> bool:
    """Return whether a wording allows a figure, and says something of it."""
    value = outcome.value
    if isinstance(value, bool) or isinstance(stated.amount, bool) or not fits(stated, value):
        return False
    return not understated(stated, value) and not (stated.wording == "under" and value < stated.amount * 2 / 3)


def _labels(variants: Sequence[Variant]) -> str:
    return f" ({', '.join(one.label or one.expr for one in variants)})"


def _turned(stated: Stated, tried: Sequence[Trial], world: World) -> Iterator[Instead]:
    """Yield the comparison the other way round."""
    for trial in tried:
        tree = _swapped(parse(trial.expr))
        if tree is None or not trial.decides:
            continue
        try:
            variant = msgspec.structs.replace(trial, expr=spelled(tree)).variant(world)
        except NoValueError:
            continue
        if variant.holds:
            statement = f"{stated.words} the other way round: {spelled(tree)}"
            yield Instead(how="direction", statement=statement, value=variant.deciding[0].value)


def _swapped(tree: Node) -> Node | None:
    if isinstance(tree, Call) and tree.function in ("ratio", "reduction", "speedup", "/"):
        return msgspec.structs.replace(tree, arguments=tree.arguments[::-1])
    return None


def _of_other_results(claim: Claim, stated: Stated, world: World, asked: Collection[str]) -> Iterator[Instead]:
    """Yield the statement as it is, of a result in another round or in the other division."""
    names = tuple(dict.fromkeys(name for one in claim.judged for name in world.file.results_in(one.expr)))
    used = {_key(world.facts[name]) for name in names}
    for name in names[:_RESULTS]:
        for facts in nearby(world.facts[name], world):
            other = msgspec.structs.replace(world, facts={**world.facts, name: facts}, known={})
            try:
                found = [trial.variant(other) for trial in trials(claim, other, asked)]
            except NoValueError:
                continue
            # A result beside itself says nothing.
            if _key(facts) not in used and verdict_of(found)[0] in _HOLDS:
                against = "against" if len(names) > 1 and name == names[0] else "for" if len(names) > 1 else "in"
                where = _where(facts, world.facts[name])
                value = found[0].deciding[0].value
                yield Instead(how="result", statement=f"{stated.words} {against} {where}", value=value)


def _key(facts: Facts) -> tuple[str | None, ...]:
    return (facts.result.round, facts.result.submitter, facts.result.system, facts.result.benchmark)


def _where(facts: Facts, before: Facts) -> str:
    """What is different of another result: its round or its division, and its system where that has another name."""
    parts = [
        f"v{facts.result.round}" if facts.result.round != before.result.round else f"the {facts.division} division"
    ]
    if facts.result.system != before.result.system:
        parts.append(f"({facts.result.system})")
    return " ".join(parts)


def _figure(stated: Stated, one: Variant) -> Instead:
    """Return the figure itself on every basis that a statement may be about, with the digits of what is stated."""
    said: dict[str, str] = {}
    for outcome in one.bases:
        if outcome.basis in _SAID and isinstance(outcome.value, Fraction):
            said.setdefault(_rounded(stated, outcome), _SAID[outcome.basis])
    figures = ", ".join(f"{text} {basis}" for text, basis in said.items())
    label = _labels([one]) if one.label else ""
    headline = one.deciding[0]
    return Instead(how="figure", statement=f"{figures}{label}", value=headline.value)


def _rounded(stated: Stated, outcome: Outcome) -> str:
    """Return a figure with as many digits as are stated, or as few more as set it apart where that does not hold."""
    least = len(str(stated.step.denominator)) - 1
    for digits in range(least, _DIGITS + 1):
        text = fixed(Fraction(outcome.value), digits)
        shown = Fraction(text.replace(",", ""))
        if shown == outcome.value or (shown and (outcome.holds or shown != stated.amount)):
            break
    return msgspec.structs.replace(stated, value=text, wording="exact").words


def _parts(tried: Sequence[Trial], world: World) -> Iterator[Instead]:
    """Of a condition of several parts: the sides of each that does not hold."""
    for trial in (one for one in tried if one.decides):
        for part in _joined(parse(trial.expr)):
            try:
                if evaluate(part, world, trial.bases[0]) is False:
                    yield Instead(how="part", statement=_sides(part, world, trial.bases[0]))
            except NoValueError:
                continue


def _joined(tree: Node) -> Iterator[Node]:
    """Yield the parts that ``and`` joins."""
    if isinstance(tree, Call) and tree.function == "and":
        for part in tree.arguments:
            yield from _joined(part)
    else:
        yield tree


def _sides(part: Node, world: World, basis: str) -> str:
    """Return what a comparison that is not true compares."""
    if not isinstance(part, Call) or part.function not in OPERATIONS or part.function in ("and", "or", "not"):
        bracketed = isinstance(part, Call) and part.function in OPERATIONS
        return f"not ({spelled(part)})" if bracketed else f"not {spelled(part)}"
    sides = (side for side in part.arguments if not isinstance(side, Constant))
    return ", ".join(f"{spelled(side)} is {_shown(evaluate(side, world, basis))}" for side in sides)


def _shown(value: Answer) -> str:
    return decimal(value.low) if isinstance(value, Band) else show(value)


#: Rounds before and after that are looked at, systems of each, and results in all.
_ROUNDS, _SYSTEMS, _MOST = 2, 2, 6


def nearby(of: Facts, world: World) -> list[Facts]:
    """Return the results near one, the nearest rounds first; those without a score are left out.

    They are of its submitter, its benchmark and as many accelerators, in another round or in the other division.
    """
    order = known_rounds(of.usage)
    try:
        own = own_entry(world, of)
    except NoValueError:
        return []
    at, near, chosen = order.index(of.round), {"before": 0, "after": 0}, list[Given]()
    for name in sorted(order, key=lambda one: abs(order.index(one) - at)):
        side = "before" if order.index(name) < at else "after"
        if name != of.round and near[side] == _ROUNDS:
            continue
        found = [one for one in given_in(world.rounds, of.usage, (name,)) if _alike(one, own)]
        found.sort(key=lambda one: -SequenceMatcher(None, one.system, own.system).ratio())
        near[side] += bool(found) and name != of.round
        chosen += found[:_SYSTEMS]
    return world.read(chosen[:_MOST])


def _alike(one: Given, own: Given) -> bool:
    """Return whether it has the size and the benchmark, and differs in the round or the division, not in both."""
    same = (one.organisation, one.chips, one.held.benchmark) == (own.organisation, own.chips, own.held.benchmark)
    return same and (one.division == own.division) == (one.round != own.round)
