"""Whether the words of a claim are about the results that it names, and its figures those that are checked.

Only names that vocabulary.py recognises are compared. A name that belongs to any of the claim's results is fine, and so
is a name that may belong to a figure from outside that the claim compares them with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from mlsub.commands.audit.claims import Claim
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import Call, Constant, Name, parse
from mlsub.commands.audit.functions import function_of, rounds_meant
from mlsub.commands.audit.places import FoundResult
from mlsub.commands.audit.sentence import Phrase, SaidFigure, mentions, read_sentence
from mlsub.commands.audit.verdict import TextDifference
from mlsub.commands.audit.wording import MINUTES, Stated
from mlsub.io.show import squeezed
from mlsub.rounds import normalise_round
from mlsub.rounds.benchmarks import benchmark_of
from mlsub.systems.names import all_chips, chip_spellings


def misquoted(claim: Claim) -> Iterator[TextDifference]:
    """Yield the figures of the text where none of those that are stated, in the same kind of unit, is among them.

    A text may say fewer digits than are stated, or more; other figures beside the right one may be of anything.
    """
    if claim.figures[0].expr is None:
        return
    figures = [one for one in claim.sentence.figures if one.written[0].isdigit()]
    stated = [one for one in _stated(claim) if one.stated.value is not None]
    for kind in dict.fromkeys(one.kind for one in stated):
        said = [one for one in figures if one.kind == kind]
        if said and not any(_is_stated(one, stated) for one in said):
            shown = tuple(dict.fromkeys(one.stated.words for one in stated if one.kind == kind))
            yield TextDifference(what="figure", said=said[0].written, results=shown)


def unstated(claim: Claim) -> Iterator[str]:
    """Yield each figure of the text that is none of those that are stated, in words or in digits."""
    stated = _stated(claim)
    yield from (one.written for one in claim.sentence.figures if not _is_stated(one, stated))


class _StatedFigure(msgspec.Struct, frozen=True):
    """A number that is stated, and its kind as figures of sentences have it; ``""`` for one without a unit."""

    kind: str
    stated: Stated
    value: Fraction
    step: Fraction


def _stated(claim: Claim) -> list[_StatedFigure]:
    found = []
    for stated in (*claim.stated, *(one.stated for one in claim.same_quantity)):
        unit = (stated.unit if stated else None) or ""
        kind: str | None = "time" if unit in MINUTES else unit if unit in ("%", "x", "") else None
        if stated is not None and kind is not None and isinstance(stated.amount, Fraction):
            scale = MINUTES.get(unit, Fraction(1))
            # A wording that is a figure itself, such as half, has no digits.
            step = 2 * stated.margin * stated.amount if stated.value is None else stated.step
            found.append(_StatedFigure(kind, stated, stated.amount * scale, step * scale))
    return found


def _is_stated(said: SaidFigure, stated: Sequence[_StatedFigure]) -> bool:
    return any(said.is_stated(one.kind, one.value, one.step) for one in stated)


#: Fields of a description that name frameworks, and those that name accelerators.
_SOFTWARE = ("framework", "other_software_stack", "system_name")
_ACCELERATORS = ("accelerator_model_name", "system_name", "host_processor_model_name")
_COUNTS = ("chips", "nodes", "pod")
_EACH = ("per_chip", "chips", "nodes", "hosts", "cpus")
_IPUS = {"Bow IPU", "GC200"}
#: Letters and digits of an accelerator's name that a folder's name cannot have by chance.
_TELLING = 4


class _Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One result, or what a count asks for.

    ``own`` are its names by what they are of, without what is not known, and ``shown`` is how each is called in a
    message. An ``organisation`` may be any that its files mention, a ``vendor`` the submitter or who made the chips.
    """

    own: dict[str, Collection[str]]
    chips: int | None = None
    per_node: int | None = None
    nodes: int | None = None
    shown: dict[str, str]


def differences(claim: Claim, world: World, known: Sequence[FoundResult]) -> Iterator[TextDifference]:
    """Yield what the words of a claim name and none of its results (``known``) is; nothing where it names none."""
    nodes = [node for one in claim.readings for node in world.file.nodes_in(parse(one.expr))]
    calls = [node for node in nodes if isinstance(node, Call)]
    results = {node.name for node in nodes if isinstance(node, Name) and node.name in world.file.results}
    counts = [_of_count(call) for call in calls if function_of(call).over and call.function != "rank"]
    subjects = [_of_result(one) for one in known]
    # One that counts everybody's results names nobody, and so everybody would fit.
    subjects += [one for one in counts if "submitter" in one.own] or ([] if subjects else counts)
    if not subjects or len(known) < len(results):
        return
    outside = any(given.kind != "price" for one in claim.readings for given in world.file.inputs_in(one.expr))
    compares = bool(claim.sentence.of("comparing"))
    # What is counted a chip or a node may speak of one of them.
    each = any(call.function in _EACH for call in calls)
    per_node = bool(claim.sentence.of("each"))
    said = [(one, False) for one in claim.sentence.names] + [(one, True) for one in _noted(claim.says)]
    fitting: set[str] = set()
    others: dict[tuple[str, frozenset[str]], tuple[Phrase, str]] = {}
    for one, noted in said:
        called = one.kind
        if called == "organisation":
            # Who is noted is the submitter, and who stands before a product its vendor.
            called = "submitter" if noted else "vendor" if one.of_product else "organisation"
        if _fits(one, called, subjects, per_node=noted or per_node):
            fitting.add(one.kind)
        else:
            others.setdefault((one.kind, one.values), (one, called))
    for one, called in others.values():
        # Of frameworks, libraries of others may be named besides.
        beside = one.kind in fitting and (outside or one.kind == "framework")
        if beside or (outside and compares) or (each and one.values == {"1"}):
            continue
        shown = {"pod": "chips"}.get(one.kind, "vendor" if called == "vendor" else one.kind)
        # As it is written, with the hyphens and signs that the sentence has in it.
        written = re.search(r"[\W_]{1,3}".join(map(re.escape, one.written.split())), claim.sentence.plain)
        yield TextDifference(
            what="count" if one.kind in _COUNTS else called,
            said=written[0] if written else one.written,
            results=tuple(dict.fromkeys(subject.shown[shown] for subject in subjects if shown in subject.shown)),
        )


def _noted(says: dict[str, Any]) -> Iterator[Phrase]:
    """Yield what the claims file notes that the sentence says."""
    noted = {name: read_sentence(str(value)) for name, value in says.items() if value is not None}
    kinds = {
        "submitter": ("organisation",),
        "benchmark": ("benchmark",),
        "division": ("division",),
        "system": ("accelerator", *_COUNTS),
    }
    for name, wanted in kinds.items():
        if name in noted:
            yield from noted[name].of(*wanted)
    text = str(says.get("round") or "")
    if (round_ := normalise_round(text)) is not None:
        yield Phrase(kind="round", written=text, start=0, end=len(text), values=frozenset({round_}))
    else:
        yield from read_sentence(text).of("round")


def names_only(text: str, one: FoundResult, other: FoundResult) -> bool:
    """Return whether a name in a text belongs to one of two results alone."""
    mine, theirs = ([_of_result(of)] for of in (one, other))
    called, others = ({of.name, of.submitter, of.system, of.system_name} for of in (one, other))
    return mentions(text, [name for name in called - others if name and len(name) > 1]) or any(
        _fits(said, said.kind, mine, per_node=True) and not _fits(said, said.kind, theirs, per_node=True)
        for said in read_sentence(text).names
    )


def _fits(said: Phrase, called: str, subjects: Sequence[_Subject], *, per_node: bool) -> bool:
    """Return whether a name belongs to any of the results; a count may be that of all together.

    ``per_node`` says that a number of chips may be that of each node.
    """
    if said.kind not in _COUNTS:
        return any(called not in one.own or not said.values.isdisjoint(one.own[called]) for one in subjects)
    number = int(next(iter(said.values)))
    if said.kind == "nodes":
        nodes = [subject.nodes for subject in subjects]
        return None in nodes or number in (*nodes, sum(one or 0 for one in nodes))
    chips = [subject.chips or 0 for subject in subjects]
    if 0 in chips or (said.kind == "pod" and all(_IPUS.isdisjoint(one.own.get("accelerator", ())) for one in subjects)):
        return True
    return number in (*chips, sum(chips)) or (per_node and any(number == subject.per_node for subject in subjects))


def _of_result(facts: FoundResult) -> _Subject:
    """Return the names of a result, by its description and by what folders say: submitter, system, benchmark, ..."""
    said = {name: value for name, value in facts.description.items() if isinstance(value, str)}
    system, model = facts.system or "", said.get("accelerator_model_name", "")
    named_in = [values for field in _ACCELERATORS for _, values in chip_spellings().find(said.get(field, ""))]
    # The name of a family counts where no member is named.
    chips = _union([values for values in named_in if len(values) == 1] or named_in)
    makers = {maker for name in chips if name in all_chips() for maker in all_chips()[name].vendor}
    submitters = _organisations_of((facts.submitter or "", str(facts.description.get("submitter", ""))[:200]))
    vendors = submitters | makers | _organisations_of([model])
    software = [*(said.get(field, "") for field in _SOFTWARE), system.replace("_", " ")]
    frameworks = _union(one.values for text in software for one in read_sentence(text).of("framework"))
    suite = "hpc" if facts.usage == "hpc" else "training"
    per_node, nodes = (facts.product(field) for field in ("accelerators_per_node", "number_of_nodes"))
    counted = facts.product("number_of_nodes", "accelerators_per_node")
    there = model.strip().upper() not in ("", "N/A", "NA", "NONE")
    known = bool(facts.submitter)
    accelerators = chips or _of_folder(system) or (chips if facts.description else None)
    folders = _folders(facts.usage, facts.benchmark, facts.round) if facts.benchmark else None
    rows: tuple[tuple[str, Collection[str] | None, str | None], ...] = (
        ("submitter", submitters if known else None, None),
        ("vendor", vendors if known else None, ", ".join(sorted(makers)) or facts.submitter),
        ("organisation", vendors | _organisations_of(said.values()) if known else None, facts.submitter),
        ("accelerator", accelerators, model if there else "no accelerator"),
        ("framework", frameworks or None, said.get("framework")),
        ("benchmark", folders, facts.benchmark),
        ("suite", {suite}, f"MLPerf {suite.upper() if suite == 'hpc' else suite.title()}"),
        ("round", {facts.round}, f"v{facts.round}"),
        ("division", {facts.division} if facts.division else None, facts.division),
        ("chips", None, f"{counted} accelerators" if counted else "no accelerators counted"),
        ("nodes", None, "1 node" if nodes == 1 else f"{nodes} nodes"),
    )
    return _Subject(
        own={what: names for what, names, _ in rows if names is not None},
        chips=facts.chips,
        per_node=per_node,
        nodes=nodes,
        shown={what: text for what, _, text in rows if text},
    )


def _folders(usage: str, folder: str, round_name: str) -> set[str]:
    """Return the names of the benchmark that a folder holds in a round, and of its folders."""
    found = benchmark_of(usage, round_name, folder)
    return {folder} if found is None else {found.name, *found.folders, folder}


def _of_folder(system: str) -> frozenset[str] | None:
    """Accelerators that the name of a folder has in it; None without any."""
    folder = squeezed(system)
    spelled = {name: map(squeezed, one.spelled) for name, one in all_chips().items()}
    found = {name for name, all_ in spelled.items() if any(len(t) >= _TELLING and t in folder for t in all_)}
    return frozenset(found) or None


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _organisations_of(called: Iterable[str]) -> frozenset[str]:
    # Folders run names together: Quanta_Cloud_Technology, smc-ac-power, Intel-HabanaLabs, Azure+HazyResearch.
    return _union(one.values for text in called for one in read_sentence(text.replace("+", " ")).of("organisation"))


def _of_count(call: Call) -> _Subject:
    """Return what ``count('v1.0', 'ACME', benchmark='bert')`` asks for."""
    kinds = function_of(call).kinds(len(call.arguments)) or ()
    given = {kind: str(one.value) for kind, one in zip(kinds, call.arguments, strict=True) if isinstance(one, Constant)}
    only = {**given, **dict(call.named)}
    rounds, round_ = rounds_meant(only["round"]), only["round"]
    # Whoever has none before v1.0 is said to begin in v1.0.
    own: dict[str, Collection[str]] = {"suite": {"training"}}
    own["round"] = {*rounds, *rounds_meant(round_.removeprefix("before "))}
    if "submitter" in only:
        own |= dict.fromkeys(("submitter", "vendor", "organisation"), _organisations_of([only["submitter"]]))
    own |= {"division": {only["division"]}} if "division" in only else {}
    if "benchmark" in only:
        own["benchmark"] = {name for one in rounds for name in _folders("training", only["benchmark"], one)}
    shown = {"organisation": only.get("submitter"), "round": round_, "suite": "MLPerf Training"}
    shown |= {what: only[what] for what in ("benchmark", "division") if what in only}
    return _Subject(own=own, shown={what: text for what, text in shown.items() if text})
