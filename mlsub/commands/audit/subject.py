"""Whether the words of a claim are about the results that it names, and its figures those that are checked.

Only names that vocabulary.yaml has are compared. A name that belongs to any of the claim's results is fine, and so
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
from mlsub.commands.audit.expression import Call, Constant, Name
from mlsub.commands.audit.functions import function_of, rounds_meant
from mlsub.commands.audit.results import FoundResult
from mlsub.commands.audit.sentence import Phrase, SaidFigure, mentions, read_sentence
from mlsub.commands.audit.verdict import TextDifference
from mlsub.commands.audit.wording import MINUTES
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
    stated = list(_stated(claim, wordings=False))
    for kind in dict.fromkeys(one.kind for one in stated):
        said = [one for one in figures if one.kind == kind]
        if said and not any(one.is_stated(other) for one in said for other in stated):
            shown = tuple(dict.fromkeys(one.written for one in stated if one.kind == kind))
            yield TextDifference(what="figure", said=said[0].written, results=shown)


def unstated(claim: Claim) -> Iterator[str]:
    """Yield each figure of the text that is none of those that are stated, in words or in digits."""
    stated = list(_stated(claim, wordings=True))
    yield from (one.written for one in claim.sentence.figures if not any(map(one.is_stated, stated)))


def _stated(claim: Claim, *, wordings: bool) -> Iterator[SaidFigure]:
    """Yield what is stated, as figures of sentences; one without a unit is of the kind ``""``.

    ``wordings``: also those that are a figure themselves, such as half, which have a tolerance and no digits.
    """
    for stated in (*claim.stated, *(one.stated for one in claim.same_quantity)):
        if stated is not None and isinstance(stated.amount, Fraction) and (wordings or stated.value is not None):
            unit = stated.unit or ""
            step = 2 * stated.margin * stated.amount if stated.value is None else stated.step
            if unit in ("", "%", "x"):
                yield SaidFigure(stated.words, unit, stated.amount, step)
            elif unit in MINUTES:
                yield SaidFigure(stated.words, "time", stated.amount * MINUTES[unit], step * MINUTES[unit])


#: Fields of a description that name frameworks, and those that name accelerators.
_SOFTWARE = ("framework", "other_software_stack", "system_name")
_ACCELERATORS = ("accelerator_model_name", "system_name", "host_processor_model_name")
_COUNTS = ("chips", "nodes", "pod")
_EACH = ("per_chip", "chips", "nodes", "hosts", "cpus")
_IPUS = {"Bow IPU", "GC200"}
#: Letters and digits of an accelerator's name that a folder's name cannot have by chance.
_TELLING = 4


class _Subject(msgspec.Struct, frozen=True):
    """One result, or what a count asks for.

    ``own`` are its names by what they are of, without what is not known, and ``shown`` is how each is called in a
    message. An ``organisation`` may be any that its files mention, a ``vendor`` the submitter or who made the chips.
    """

    own: dict[str, Collection[str]]
    shown: dict[str, str]


def differences(claim: Claim, world: World, known: Sequence[FoundResult]) -> Iterator[TextDifference]:
    """Yield what the words of a claim name and none of its results (``known``) is; nothing where it names none."""
    nodes = world.file.nodes_of(claim)
    calls = [node for node in nodes if isinstance(node, Call)]
    results = {node.name for node in nodes if isinstance(node, Name) and node.name in world.file.results}
    counts = [_describe_count(call) for call in calls if function_of(call).over and call.function != "rank"]
    subjects = [_describe_result(one) for one in known]
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
        yield Phrase("round", text, 0, len(text), frozenset({round_}))
    else:
        yield from read_sentence(text).of("round")


def names_only(text: str, one: FoundResult, other: FoundResult) -> bool:
    """Return whether a name in a text belongs to one of two results alone."""
    mine, theirs = ([_describe_result(of)] for of in (one, other))
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
    kind = "nodes" if said.kind == "nodes" else "chips"
    counts = [int(count) for one in subjects for count in one.own.get(kind, ())]
    if len(counts) < len(subjects) or (said.kind == "pod" and not any("pod" in one.own for one in subjects)):
        return True
    of_node = [count for one in subjects for count in one.own.get("per node", ())] if per_node else []
    return not said.values.isdisjoint((*map(str, counts), str(sum(counts)), *(of_node if kind == "chips" else ())))


def _describe_result(of: FoundResult) -> _Subject:
    """Return the names of a result, by its description and by what folders say: submitter, system, benchmark, ..."""
    said = {name: value for name, value in of.description.items() if isinstance(value, str)}
    model, suite = said.get("accelerator_model_name", ""), "hpc" if of.usage == "hpc" else "training"
    own: dict[str, Collection[str]] = {"suite": {suite}, "round": {of.round}}
    shown = {
        "organisation": of.submitter,
        "accelerator": "no accelerator" if model.strip().upper() in ("", "N/A", "NA", "NONE") else model,
        "framework": said.get("framework"),
        "benchmark": of.benchmark,
        "suite": f"MLPerf {suite.upper() if suite == 'hpc' else suite.title()}",
        "round": f"v{of.round}",
        "division": of.division,
    }
    named_in = [values for field in _ACCELERATORS for _, values in chip_spellings().find(said.get(field, ""))]
    # The name of a family counts where no member is named.
    chips = _union([values for values in named_in if len(values) == 1] or named_in)
    makers = {maker for name in chips if name in all_chips() for maker in all_chips()[name].vendor}
    shown["vendor"] = ", ".join(sorted(makers)) or of.submitter
    own["submitter"] = _find_organisations((of.submitter or "", str(of.description.get("submitter", ""))[:200]))
    own["vendor"] = {*own["submitter"], *makers, *_find_organisations([model])}
    own["organisation"] = {*own["vendor"], *_find_organisations(said.values())}
    accelerators = chips or _find_chips_in_folder_name(of.system or "")
    if accelerators or of.description:
        own["accelerator"] = accelerators
    software = [*(said.get(field, "") for field in _SOFTWARE), (of.system or "").replace("_", " ")]
    if frameworks := _union(one.values for text in software for one in read_sentence(text).of("framework")):
        own["framework"] = frameworks
    own["benchmark"] = _benchmark_names(of.usage, of.benchmark or "", of.round)
    if of.division:
        own["division"] = {of.division}
    counted, nodes, per_node = of.count_of("chips"), of.count_of("nodes"), of.number_in("accelerators_per_node")
    shown["chips"] = f"{counted} accelerators" if counted else "no accelerators counted"
    shown["nodes"] = "1 node" if nodes == 1 else f"{nodes} nodes"
    if of.chips:
        own["chips"] = {str(of.chips)}
    if not _IPUS.isdisjoint(accelerators):
        own["pod"] = own.get("chips", ())
    if nodes is not None:
        own["nodes"] = {str(nodes)}
    if per_node is not None:
        own["per node"] = {str(per_node)}
    return _Subject(own, {what: text for what, text in shown.items() if text})


def _benchmark_names(usage: str, folder: str, round_name: str) -> set[str]:
    """Return the names of the benchmark that a folder holds in a round, and of its folders."""
    found = benchmark_of(usage, round_name, folder)
    return {folder} if found is None else {found.name, *found.folders, folder}


def _find_chips_in_folder_name(system: str) -> frozenset[str]:
    """Return the accelerators that the name of a folder has in it."""
    folder = squeezed(system)
    spelled = {name: map(squeezed, one.spelled) for name, one in all_chips().items()}
    return frozenset(
        name for name, texts in spelled.items() if any(len(text) >= _TELLING and text in folder for text in texts)
    )


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _find_organisations(called: Iterable[str]) -> frozenset[str]:
    # Folders run names together: Quanta_Cloud_Technology, smc-ac-power, Intel-HabanaLabs, Azure+HazyResearch.
    return _union(one.values for text in called for one in read_sentence(text.replace("+", " ")).of("organisation"))


def _describe_count(call: Call) -> _Subject:
    """Return what ``count('v1.0', 'ACME', benchmark='bert')`` asks for."""
    kinds = function_of(call).kinds(len(call.arguments)) or ()
    given = {kind: str(one.value) for kind, one in zip(kinds, call.arguments, strict=True) if isinstance(one, Constant)}
    only = {**given, **dict(call.named)}
    rounds, round_ = rounds_meant(only["round"]), only["round"]
    # Whoever has none before v1.0 is said to begin in v1.0.
    own: dict[str, Collection[str]] = {"suite": {"training"}}
    own["round"] = {*rounds, *rounds_meant(round_.removeprefix("before "))}
    if "submitter" in only:
        own |= dict.fromkeys(("submitter", "vendor", "organisation"), _find_organisations([only["submitter"]]))
    own |= {"division": {only["division"]}} if "division" in only else {}
    if "benchmark" in only:
        own["benchmark"] = {name for one in rounds for name in _benchmark_names("training", only["benchmark"], one)}
    shown = {"organisation": only.get("submitter"), "round": round_, "suite": "MLPerf Training"}
    shown |= {what: only[what] for what in ("benchmark", "division") if what in only}
    return _Subject(own, {what: text for what, text in shown.items() if text})
