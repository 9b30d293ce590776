"""Whether the words of a claim are about the results that it names, and its figures those that are checked.

Only names that vocabulary.py recognises are compared. A name that belongs to any of the claim's results is fine, and so
is a name that may belong to a figure from outside that the claim compares them with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import msgspec

from mlsub.commands.audit.claims import Claim, ClaimsFile
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import Call, Constant, parse
from mlsub.commands.audit.facts import Facts, product
from mlsub.commands.audit.quoting import mentions, squashed, texts
from mlsub.commands.audit.verdict import Difference, Said
from mlsub.commands.audit.vocabulary import (
    Named,
    accelerators_in,
    benchmarks_in,
    divisions_in,
    frameworks_in,
    named,
    organisations_in,
    rounds_in,
    vocabulary,
)
from mlsub.commands.audit.wording import accepted, step_of, usual
from mlsub.io.show import flat, spaced
from mlsub.rounds import normalise_round
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.systems.names import all_chips

#: A figure with its unit. ``8x H100`` counts chips, ``50% CL`` and what follows a sign or a letter are names.
_FIGURE = re.compile(
    r"(?<![\w.,/$€£-])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(\.[0-9]{1,9})?[\s-]{0,2}"
    r"(%|per ?cent|minutes?|mins?|hours?|hrs?|seconds?|secs?|times|[x×](?!\w| ?(?:[A-Z]\w*[0-9]|[0-9])))"
)
_MINUTES = {"min": Fraction(1), "h": Fraction(60), "s": Fraction(1, 60)}


def misquoted(claim: Claim) -> tuple[Difference, ...]:
    """The figures of the text where none of those that are stated, in the same kind of unit, is among them.

    A text may say fewer digits than are stated, or more; other figures beside the right one may be of anything.
    """
    found: dict[str, Difference] = {}
    if claim.figures[0].expr is None:
        return ()
    for kind, stated in _stated(claim).items():
        said = [one for one in _said(claim.text) if one[1] == kind]
        if said and not any(
            abs(value - own) <= max(step, unit) / 2 for _, _, value, step in said for _, own, unit in stated
        ):
            written = said[0][0]
            shown = tuple(dict.fromkeys(text for text, _, _ in stated))
            found[kind] = Difference(what="figure", said=written, results=shown)
    return tuple(found.values())


def _said(text: str) -> Iterator[tuple[str, str, Fraction, Fraction]]:
    """Each figure of a text: as written, its kind, its value and one unit in its last digit."""
    for match in _FIGURE.finditer(text):
        unit = usual(match[3]) or ""
        number = match[1].replace(",", "") + (match[2] or "")
        scale = _MINUTES.get(unit, Fraction(1))
        yield match[0], _kind(unit), Fraction(number) * scale, step_of(number) * scale


def _stated(claim: Claim) -> dict[str, list[tuple[str, Fraction, Fraction]]]:
    """What is stated by kind; a wording that is a figure itself, half or an order of magnitude, has no other."""
    found: dict[str, list[tuple[str, Fraction, Fraction]]] = {}
    said = [*claim.stated, *(one.stated for one in claim.same_quantity)]
    for stated in (one for one in said if one is not None):
        kind = _kind(stated.unit or "")
        if kind and isinstance(stated.amount, Fraction) and not stated.from_words:
            scale = _MINUTES.get(stated.unit or "", Fraction(1))
            found.setdefault(kind, []).append((stated.words, stated.amount * scale, stated.step * scale))
    return found


def _kind(unit: str) -> str:
    return "time" if unit in _MINUTES else unit if unit in ("%", "x") else ""


#: Fields of a description that name accelerators.
_ACCELERATORS = ("accelerator_model_name", "system_name", "host_processor_model_name")
_COUNTS = ("chips", "nodes", "pod")
_EACH = ("per_chip", "chips", "nodes", "hosts", "cpus")
#: Letters and digits of an accelerator's name that a folder's name cannot have by chance.
_TELLING = 4


class _Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One result, or what a count asks for, as names; None where that is not known.

    ``shown`` is how each is called in a message, ``everybody`` all organisations that its files mention.
    """

    submitters: frozenset[str] | None
    makers: frozenset[str] = frozenset()
    everybody: frozenset[str] = frozenset()
    accelerators: frozenset[str] | None = None
    frameworks: frozenset[str] | None = None
    benchmark: tuple[str, str] | None = None
    suite: str = "training"
    round: str
    division: str | None = None
    chips: int | None = None
    per_node: int | None = None
    nodes: int | None = None
    shown: dict[str, str]


def differences(claim: Claim, world: World) -> tuple[Difference, ...]:
    """What the words of a claim name and none of its results is; nothing where it names no results."""
    readings = [reading.expr for reading in claim.readings]
    used = [
        call
        for expression in readings
        for call in world.file.nodes_in(parse(expression).tree)
        if isinstance(call, Call)
    ]
    results = dict.fromkeys(name for expression in readings for name in world.file.results_in(expression))
    known = [facts for name in results if (facts := world.facts.get(name)) is not None and facts.found]
    subjects = [_of_result(facts, world) for facts in known]
    counts = [call for call in used if call.function in ("count", "systems", "benchmarks")]
    subjects += [_of_count(call.arguments, dict(call.named)) for call in counts]
    if not subjects or len(known) < len(results):
        return ()
    said = [(one, False) for one in named(claim.text)] + [(one, True) for one in _noted(claim.says)]
    outside = any(given.kind != "price" for one in readings for given in world.file.inputs_in(one))
    compares = mentions(flat(claim.text), vocabulary()["comparing"])
    # What is counted a chip or a node may speak of one of them.
    each = any(call.function in _EACH for call in used)
    per_node = mentions(flat(claim.text), vocabulary()["counts"]["each"])
    fitting = {
        at for at, (one, strict) in enumerate(said) if _fits(one, subjects, strict=strict, per_node=strict or per_node)
    }
    matched = {said[at][0].what for at in fitting}
    found: dict[tuple[str, frozenset[str]], Difference] = {}
    for at, (one, strict) in enumerate(said):
        # Of frameworks, libraries of others may be named besides.
        beside = one.what in matched and (outside or one.what == "framework")
        if at in fitting or beside or (outside and compares) or (each and one.values == {"1"}):
            continue
        what = _called(one, strict=strict)
        difference = Difference(
            what=what, said=_as_written(one.written, claim.text), results=_shown(one.what, what, subjects)
        )
        found.setdefault((one.what, one.values), difference)
    return tuple(found.values())


def _called(said: Named, *, strict: bool) -> str:
    """What a name is of, in a message: the organisation before a product is its vendor."""
    if said.what == "organisation":
        return "submitter" if strict else "vendor" if said.of_product else "organisation"
    return "count" if said.what in _COUNTS else said.what


def _as_written(said: str, text: str) -> str:
    """A name with the hyphens and signs that a sentence has in it."""
    found = re.search(r"[\W_]{1,3}".join(map(re.escape, said.split())), text)
    return found[0] if found else said


def _noted(says: dict[str, Any]) -> Iterator[Named]:
    """What the claims file notes that the sentence says."""
    for value in texts(says.get("submitter")):
        yield from organisations_in(spaced(value))
    for value in texts(says.get("benchmark")):
        yield from benchmarks_in(spaced(value), vague=True)
    for value in texts(says.get("round")):
        name = normalise_round(value)
        if name is not None:
            yield Named(what="round", written=value, values=frozenset({name}))
        else:
            yield from rounds_in(spaced(value), bare=True)
    for value in texts(says.get("division")):
        yield from divisions_in(spaced(value), bare=True)
    for value in texts(says.get("system")):
        yield from (one for one in named(value) if one.what in ("accelerator", *_COUNTS))


def _fits(said: Named, subjects: Sequence[_Subject], *, strict: bool, per_node: bool) -> bool:
    """Whether a name belongs to any of the results; a count may be that of all together.

    ``strict`` says that an organisation is meant as the submitter: what a text calls NVIDIA may be the chip's maker.
    ``per_node`` says that a number of chips may be that of each node.
    """
    if said.what in _COUNTS:
        return _counts(said, subjects, per_node=per_node)
    return any(_belongs(said, subject, strict=strict) for subject in subjects)


def _belongs(said: Named, of: _Subject, *, strict: bool) -> bool:
    if said.what == "organisation":
        if of.submitters is None:
            return True
        known = of.submitters if strict else of.submitters | of.makers
        return bool(said.values & (known if strict or said.of_product else known | of.everybody)) or said.of_host
    if said.what == "accelerator":
        return of.accelerators is None or bool(said.values & of.accelerators)
    if said.what == "benchmark":
        return of.benchmark is None or not said.values.isdisjoint(_folders(*of.benchmark, of.round))
    if said.what == "suite":
        return of.suite in said.values
    if said.what == "framework":
        return not of.frameworks or not said.values.isdisjoint(of.frameworks)
    known_value = of.round if said.what == "round" else of.division
    return known_value is None or known_value in said.values


def _folders(usage: str, folder: str, round_name: str) -> set[str]:
    """The names of the benchmark that a folder holds in a round, and of its folders."""
    found = benchmark_of(usage, round_name, folder)
    return {folder} if found is None else {found.name, *found.folders, folder}


def _counts(said: Named, subjects: Sequence[_Subject], *, per_node: bool) -> bool:
    number = int(next(iter(said.values)))
    if said.what == "nodes":
        nodes = [subject.nodes for subject in subjects]
        return None in nodes or number in (*nodes, sum(one or 0 for one in nodes))
    if not all(subject.chips for subject in subjects):
        return True
    if said.what == "pod" and not any(
        "Bow IPU" in (s.accelerators or ()) or "GC200" in (s.accelerators or ()) for s in subjects
    ):
        return True
    chips = [subject.chips or 0 for subject in subjects]
    return number in (*chips, sum(chips)) or (per_node and any(number == subject.per_node for subject in subjects))


def _shown(what: str, called: str, subjects: Iterable[_Subject]) -> tuple[str, ...]:
    kind = {"pod": "chips"}.get(what, "vendor" if called == "vendor" else what)
    return tuple(dict.fromkeys(subject.shown[kind] for subject in subjects if kind in subject.shown))


def _of_result(facts: Facts, world: World) -> _Subject:
    """A result by its description, and by what folders say: submitter, system, benchmark and division."""
    description, known = facts.description, facts
    said = {name: value for name, value in description.items() if isinstance(value, str)}
    called = [known.submitter or "", str(description.get("submitter", ""))[:200]]
    model = said.get("accelerator_model_name", "")
    found = frozenset().union(*_specific(accelerators_in(spaced(said.get(field, ""))) for field in _ACCELERATORS))
    makers = {maker for name in found if name in all_chips() for maker in all_chips()[name].vendor}
    per_node, nodes = product(description, "accelerators_per_node"), product(description, "number_of_nodes")
    chips = product(description, "number_of_nodes", "accelerators_per_node")
    # Host processors do the computing where there are no accelerators.
    counted = chips or product(description, "number_of_nodes", "host_processors_per_node")
    software = [said.get(field, "") for field in vocabulary()["frameworks"]["fields"]]
    software.append((known.system or "").replace("_", " "))
    suite = "hpc" if facts.usage == "hpc" else "training"
    shown = {
        "organisation": known.submitter,
        "suite": f"MLPerf {suite.upper() if suite == 'hpc' else suite.title()}",
        "vendor": ", ".join(sorted(makers)) or known.submitter,
        "accelerator": model if model.strip().upper() not in ("", "N/A", "NA", "NONE") else "no accelerator",
        "framework": said.get("framework"),
        "benchmark": known.benchmark,
        "round": f"v{facts.round}",
        "division": known.division,
        "chips": f"{chips} accelerators" if chips else "no accelerators counted",
        "nodes": "1 node" if nodes == 1 else f"{nodes} nodes",
    }
    return _Subject(
        submitters=_organisations(called) if known.submitter else None,
        makers=frozenset(makers).union(*(one.values for one in organisations_in(spaced(model)))),
        everybody=frozenset().union(*(one.values for text in said.values() for one in organisations_in(spaced(text)))),
        accelerators=found or _of_folder(known.system or "") or (found if description else None),
        frameworks=frozenset().union(*(one.values for text in software for one in frameworks_in(spaced(text)))),
        benchmark=(known.usage, known.benchmark) if known.benchmark else None,
        suite=suite,
        round=facts.round,
        division=known.division,
        chips=counted,
        per_node=per_node,
        nodes=nodes,
        shown={what: text for what, text in shown.items() if text},
    )


def _of_folder(system: str) -> frozenset[str]:
    """Accelerators that the name of a folder has in it."""
    folder = squashed(system)
    spelled = {name: [squashed(text) for text in one.spelled] for name, one in all_chips().items()}
    return frozenset(name for name, all_ in spelled.items() if any(len(t) >= _TELLING and t in folder for t in all_))


def _organisations(called: Iterable[str]) -> frozenset[str]:
    # Folders run names together: Quanta_Cloud_Technology, smc-ac-power, Intel-HabanaLabs.
    return frozenset(
        one for text in called for found in organisations_in(spaced(text.replace("+", " "))) for one in found.values
    )


def _of_count(arguments: Sequence[Any], only: dict[str, str]) -> _Subject:
    """What ``count('v1.0', 'ACME', benchmark='bert')`` asks for."""
    round_, submitter = (str(one.value) if isinstance(one, Constant) else "" for one in arguments[:2])
    benchmark, division = only.get("benchmark"), only.get("division")
    shown = {"organisation": submitter, "round": round_, "suite": "MLPerf Training"}
    shown |= {what: one for what, one in (("benchmark", benchmark), ("division", division)) if one is not None}
    return _Subject(
        submitters=_organisations([submitter]),
        everybody=_organisations([submitter]),
        benchmark=("training", benchmark) if benchmark is not None else None,
        round=normalise_round(round_) or round_,
        division=division,
        shown=shown,
    )


def _specific(found: Iterable[Iterable[Named]]) -> Iterator[frozenset[str]]:
    """What accelerators are named; the name of a family counts where no member is named."""
    values = [one.values for names in found for one in names]
    single = [one for one in values if len(one) == 1]
    yield from single or values


def statements(claim: Claim, file: ClaimsFile) -> tuple[Said, ...]:
    """All statements of a claim's quantity: its own, if it states one, and those beside it."""
    if not claim.same_quantity:
        return ()
    others = {other.id: other.figure for other in file.claims}
    found = [(claim.figure, claim.id)]
    found += [(one.stated or others.get(one.claim or ""), one.place) for one in claim.same_quantity]
    allowed = ((stated, where, accepted(stated)) for stated, where in found if stated is not None)
    return tuple(
        Said(where=where, written=stated.words, accepted=window)
        for stated, where, window in allowed
        if window is not None
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
