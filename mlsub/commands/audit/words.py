"""What a sentence says besides figures: words that all results given decide, and whether its results may be compared.

The words are those of vocabulary.yaml, each with what decides it. A word that nothing decides makes a claim hold in
part; results that may not be compared make it not comparable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from mlsub.commands.audit.claims import Claim, ClaimsFile
from mlsub.commands.audit.evaluate import World, depends
from mlsub.commands.audit.expression import Call, Constant, Name, Node, conditions, parse
from mlsub.commands.audit.functions import NoValueError, accelerators_meant
from mlsub.commands.audit.kinds import parse_unit
from mlsub.commands.audit.results import COUNTS, FoundResult
from mlsub.commands.audit.sentence import Phrase, Sentence, counted_unit, ends_with, vocabulary
from mlsub.commands.audit.subject import names_only, unstated
from mlsub.commands.audit.verdict import TextDifference
from mlsub.commands.audit.wording import MINUTES, decimal
from mlsub.divisions import OPEN
from mlsub.io.show import flat, small
from mlsub.rounds import known_rounds
from mlsub.rounds.benchmarks import Compatible

_OWN = re.compile(r"(?<!\w)(?:our|its|their|my|his|her|your)(?: \w+)?$")
_OWNER = re.compile(r"'s?(?: \w+)?$")
_BESIDE = ("ratio", "reduction", "speedup", "*", "/", "<", "<=", ">", ">=")
#: Two results that an expression sets against each other.
_Pair = tuple[FoundResult, FoundResult]
_COMPARED = (*_BESIDE, "best", "-", "==", "!=")
_EVENED = frozenset((*COUNTS, "hosts", "per_chip", "per_dollar", "energy", "same"))
_CLAUSE = re.compile(r"[;:!?]|[.,](?![0-9])")
_FOUR_WORDS = re.compile(r" ?(?:\w+ ){0,3}\w+")
#: So many characters at most stand between a word such as faster and "than".
_FAR = 60
#: What the names of a sentence are of that say by what results are chosen.
_SAID_AS = {"vendor": ("organisation",), "chips": ("chips", "pod"), "nodes": ("nodes", "pod")}
#: What the value of a function decides.
_BY_CALL = {
    **{name: frozenset((name,)) for name in ("previous", "same", "energy", "per_dollar")},
    "counted": frozenset(("chips", "nodes", "hosts", "cpus", "count", "systems", "benchmarks", "submitters", "runs")),
}


def _is_owned(phrase: Phrase, claim: Claim) -> bool:
    """Return whether a word is of something of the submitter's own: our, ACME's."""
    before = flat(claim.sentence.text)[: phrase.start].rstrip()
    owner = _OWNER.search(before[-40:])
    if owner is None:
        return _OWN.search(before[-40:]) is not None
    name_ends, publisher = len(before) - len(owner[0]), flat(claim.source.publisher or "")
    named = any(one.end == name_ends for one in claim.sentence.of("organisation"))
    return named or (publisher != "" and before[:name_ends].endswith(publisher))


def undecided(claim: Claim, world: World, compared: Sequence[FoundResult]) -> list[str]:
    """Return what of a sentence its expressions do not decide, each in words."""
    parts = [part for one in claim.figures for part in _stated_conditions(one, world.file)]
    proofs = [proof for part in parts for proof in _find_proofs(part, world)]
    by_facts = {
        "same": _same_number_of(claim) is not None and len(compared) > 1,
        "previous": len({one.round for one in compared}) == 2,
        "priced": any(world.file.inputs_in(one.expr) for one in claim.readings),
    }
    proofs += [(kind, None) for kind, decided in by_facts.items() if decided]
    found: dict[str, str] = {}
    for phrase in claim.sentence.phrases:
        row, written = vocabulary().get(phrase.kind), small(phrase.written)
        if row is None or not row.by:
            continue
        owned = _is_owned(phrase, claim)
        if owned and row.owner:
            continue
        fitting = [call for kind, call in proofs if kind in row.by]
        limits = [
            None if call is None else _find_unsaid_limit(call, claim, world, phrase.end, owned) for call in fitting
        ]
        if not fitting:
            found.setdefault(written, f"nothing decides “{written}”; {row.hint}")
        elif all(limits):
            found.setdefault(written, f"“{written}” is decided for {limits[0]} alone, which the sentence does not say")
    return [*found.values(), *_unchecked(claim, world, compared)]


def _unchecked(claim: Claim, world: World, compared: Sequence[FoundResult]) -> Iterator[str]:
    """Yield what of a sentence, or of the numbers that its expressions rest on, is not checked.

    Of two results whose times are set against each other: where their sizes differ without a word.
    """
    if (strange := claim.sentence.strange_word) is not None:
        yield f"“{strange}” has letters other than a to z: it cannot be told which word it is"
    for written in dict.fromkeys(unstated(claim)):
        yield f"nothing decides “{written}”; state it too"
    exprs = [one.expr for one in claim.readings]
    # A price, a count or the energy makes systems of different sizes comparable.
    uneven = [one for one in exprs if not world.file.inputs_in(one) and not _EVENED & world.file.functions_in(one)]
    for given in {one.name: one for expr in exprs for one in world.file.inputs_in(expr)}.values():
        unit = parse_unit(given.unit)
        if unit is None or given.kind == "time" or (("time", 1),) in unit.choices:
            yield f"{given.name} is an input that stands for a result, or has no known unit: no log confirms it"
    figures = [one for one in claim.figures if one.figure and one.figure.unit in ("%", "x", *MINUTES)]
    parts = [part for one in figures for reading in one.judged for part in world.file.nodes_in(parse(reading.expr))]
    for number in dict.fromkeys(part.value for part in parts if isinstance(part, Constant)):
        if isinstance(number, Fraction) and number != 1:
            yield f"{decimal(number)} is written out in the expression: no log confirms it"
    timed = claim.sentence.of("timed")
    if timed and not all(depends(expr, world) for expr in exprs):
        yield f"“{small(timed[0].written)}” is said of a figure that depends on no result"
    for one in compared:
        if one.unpublished is not None and (score := one.minutes["published"]) is not None:
            yield f"{one.name} has {decimal(one.unpublished)} minutes under published, and {decimal(score)} by its logs"
    if len(compared) == 2:
        for counted in ("chips", "nodes"):
            counts = [one.count_of(counted) or 0 for one in compared]
            yield from _find_reversed(compared, claim.sentence, counted, counts)
    said = {value for phrase in claim.sentence.of(*COUNTS, "pod") for value in phrase.values}
    for two in _compared_pairs(uneven, world, _BESIDE):
        chips, nodes = ([of.count_of(counted) for of in two] for counted in ("chips", "nodes"))
        if all(chips) and len(set(chips)) > 1 and not any(set(map(str, pair)) <= said for pair in (chips, nodes)):
            most, least = sorted((count or 0 for count in chips), reverse=True)
            yield f"sizes differ: {most:,} against {least:,}"
        yield from _find_reversed(two, claim.sentence, "minutes", [of.minutes["published"] or 0 for of in two])


def _find_reversed(
    two: Sequence[FoundResult], sentence: Sentence, of: str, amounts: Sequence[Fraction | int]
) -> Iterator[str]:
    """Yield where a sentence says of the one of two results that has more of something that it has less."""
    compared = _compared_clauses(sentence, of)
    if amounts[0] == amounts[1] or compared is None:
        return
    most, least = two if amounts[0] > amounts[1] else reversed(two)
    if names_only(compared[0], most, least) or names_only(compared[1], least, most):
        if of == "minutes":
            yield f"the sentence calls {most.name} the faster of the two, and {least.name} is"
        else:
            yield f"the sentence says that {most.name} has fewer {of} than {least.name}"


def _compared_clauses(sentence: Sentence, of: str) -> tuple[str, str] | None:
    """Return the clauses that name who has less of something and who has more, by a word such as faster and "than"."""
    text, thans = sentence.text, sorted((one.start, one.end) for one in sentence.of("than"))
    for phrase in sorted(sentence.of("less", "more"), key=lambda one: one.start):
        near = [end for start, end in thans if 0 <= start - phrase.end <= _FAR]
        if of in phrase.values and near:
            before, behind = _CLAUSE.split(text[: phrase.start])[-1], _CLAUSE.split(text[near[0] :])[0]
            # "Half as long" is less.
            part = ends_with(small(before), ("half", *vocabulary()["number"].parts))
            turned = (phrase.kind == "more") is not part
            return (behind, before) if turned else (before, behind)
    return None


def _stated_conditions(claim: Claim, file: ClaimsFile) -> Iterator[Node]:
    """Yield the conditions that a figure states; a number is one that equals what is stated."""
    stated = claim.figure
    if stated is None or claim.expr is None or stated.amount is False:
        return
    tree = parse(claim.expr)
    if stated.amount is not True:
        tree = Call("==" if stated.wording == "exact" else "~", (tree, Constant(stated.amount)))
    yield from conditions(tree, file.values)


def _find_proofs(part: Node, world: World) -> Iterator[tuple[str, Call | None]]:
    """Yield what a condition decides, each with the call over all results that does it."""
    calls = [node for node in world.file.nodes_in(part) if isinstance(node, Call)]
    names = {call.function for call in calls}
    yield from ((kind, None) for kind, functions in _BY_CALL.items() if names & functions)
    if not isinstance(part, Call) or len(part.arguments) != 2:
        return
    left, right = part.arguments
    for one, other in ((left, right), *([(right, left)] if part.function == "==" else [])):
        yield from _find_proofs_of_sides(part.function, one, other)


def _find_proofs_of_sides(sign: str, one: Node, other: Node) -> Iterator[tuple[str, Call | None]]:
    match one, other:
        case Call("rank") as call, Constant(Fraction(numerator=1, denominator=1)) if sign in ("==", "<="):
            yield from _prove_lead(call, dict(call.named).get("rounds", ""))
        case Call("minutes"), Call("fastest", (Constant(str() as span), _)) as call if sign in ("==", "<="):
            yield from _prove_lead(call, span)
        case Call("rank"), Call("count") as call if sign in ("==", ">="):
            yield "last", call
        case Call("count" | "systems" | "submitters", (Constant(str() as span), *_)), Constant(Fraction(numerator=0)):
            if sign == "==" and span.startswith("before "):
                yield "first", None
        case Call("count" as kind, all_, where), Call("count", (*own, Constant(str())), and_) if sign == "==":
            if kind and tuple(own) == all_ and where == and_:
                yield "alone", None
        case Call("benchmarks", (of,)), Call("benchmarks", (same, _)) if sign == "==" and of == same:
            yield "every", None
        case Call("count"), Call("most") as call if sign in ("==", ">="):
            yield "most", call


def _prove_lead(call: Call, span: str) -> Iterator[tuple[str, Call | None]]:
    yield "lead", call
    if span == "all" or span.startswith("until "):
        yield "record", call


def _find_unsaid_limit(call: Call, claim: Claim, world: World, end: int, owned: bool) -> str | None:
    """Return by what a call narrows the results that the words behind a place do not say; None where they do."""
    behind = [one for one in claim.sentence.names if one.start >= end]
    for name, value in call.named:
        if name == "submitter":
            said = owned
        elif name == "accelerator":
            said = any(one.kind == name and one.values <= accelerators_meant(value) for one in behind)
        elif name in _SAID_AS:
            said = any(one.kind in _SAID_AS[name] and value in one.values for one in behind)
        else:
            said = name in ("rounds", "benchmark", "division")
        if not said:
            return f"{name}='{value}'"
    among = world.among(call) or ()
    if OPEN.name in {one.division for one in among} and not _says_open(claim):
        return "the Open division"
    return None


def _says_open(claim: Claim) -> bool:
    said = {value for one in claim.sentence.of("division") for value in one.values}
    return OPEN.name in said or str(claim.says.get("division", "")).lower() == OPEN.name


# ---- What the results themselves decide


def compared_in(claim: Claim, world: World) -> list[FoundResult]:
    """Return the results of a claim, those of the round before that it asks for among them."""
    nodes = world.file.nodes_of(claim)
    return list({id(one): one for node in nodes for one in _found_result(node, world)}.values())


def _found_result(node: Node, world: World) -> list[FoundResult]:
    """Return the result that a node is, if it is one that is found."""
    if isinstance(node, Name) and node.name in world.facts:
        return [world.facts[node.name]] if world.facts[node.name].result else []
    try:
        return [world.value(node)] if isinstance(node, Call) and node.function == "previous" else []
    except NoValueError:
        return []


def _same_number_of(claim: Claim) -> str | None:
    """Return what a sentence says two results have as many of."""
    rests = [small(claim.sentence.text[phrase.end :]) for phrase in claim.sentence.of("same number")]
    units = [counted_unit(words[0]) for rest in rests if (words := _FOUR_WORDS.match(rest))]
    return next((unit for unit in units if unit is not None), None)


def unlike(claim: Claim, compared: Sequence[FoundResult]) -> Iterator[TextDifference]:
    """Yield where a sentence says that results are alike, or a round apart, and they are not."""
    if (unit := _same_number_of(claim)) is not None and len(compared) > 1:
        counts = [one.count_of(unit) for one in compared]
        if len(set(counts)) > 1:
            shown = tuple(dict.fromkeys(f"{'no' if one is None else f'{one:,}'} {unit}" for one in counts))
            yield TextDifference(what="count", said=f"the same number of {unit}", results=shown)
    words = [small(one.written) for one in claim.sentence.of("previous round")]
    rounds = {one.round: one.usage for one in compared}
    if words and len(rounds) == 2:
        order = known_rounds(next(iter(rounds.values())))
        first, second = sorted(map(order.index, rounds))
        if second - first != 1:
            yield TextDifference(what="round", said=words[0], results=tuple(f"v{order[at]}" for at in (second, first)))


def incomparable(claim: Claim, world: World) -> str | None:
    """Return why results that a claim compares may not be; None where they may."""
    pairs = _compared_pairs([one.expr for one in claim.readings], world, _COMPARED)
    problems = (_why_incomparable(one, other, claim) for one, other in pairs)
    return next((problem for problem in problems if problem is not None), None)


def _compared_pairs(exprs: Sequence[str], world: World, functions: Collection[str]) -> list[_Pair]:
    """Return the results that some functions set against each other: of each, one on the other side that fits best."""
    scores: dict[str, list[FoundResult]] = {}
    found: dict[tuple[int, int], _Pair] = {}
    for name, text in world.file.values.items():
        # Each needs only those before it.
        scores[name] = _timed_results(parse(text), world, scores)
    for expr in exprs:
        for node in world.file.nodes_in(parse(expr)):
            if isinstance(node, Call) and node.function in functions:
                for side, other in combinations([_timed_results(one, world, scores) for one in node.arguments], 2):
                    for one in side:
                        folder = one.results_folder
                        fits = [another for another in other if folder.benchmark == another.results_folder.benchmark]
                        found |= {(id(one), id(another)): (one, another) for another in fits or other[:1]}
    return list(found.values())


def _timed_results(node: Node, world: World, values: Mapping[str, list[FoundResult]]) -> list[FoundResult]:
    """Return the results whose times are a factor of a value; a ratio of two of them is a plain number."""
    match node:
        case Name(name) if name in values:
            return values[name]
        case Call("minutes" | "per_dollar" | "per_chip" | "energy", (of, *_)):
            return _timed_results(of, world, values)
        case Call("/" as sign, (left, right)):
            both = [_timed_results(left, world, values), _timed_results(right, world, values)]
            return [] if all(both) and sign else [*both[0], *both[1]]
        case Call("best" | "max" | "min" | "+" | "-" | "*", arguments):
            found = {one.name: one for part in arguments for one in _timed_results(part, world, values)}
            return list(found.values())
    return _found_result(node, world)


def _why_incomparable(one: FoundResult, other: FoundResult, claim: Claim) -> str | None:
    """Return why two results may not be compared."""
    answer, why = one.results_folder.compatibility_with(other.results_folder)
    if answer is Compatible.NO:
        return why
    if {one.division, other.division} >= {OPEN.name, "closed"} and not _says_open(claim):
        return f"{one.name} is {one.division} and {other.name} {other.division}, which the sentence does not say"
    if said := claim.sentence.of("alike"):
        systems = [f"{of.chips} {of.chip.name}" for of in (one, other) if of.chips and of.chip]
        if len(set(systems)) > 1:
            return f"“{small(said[0].written)}”: {one.name} has {systems[0]}, {other.name} {systems[1]}"
    return None
