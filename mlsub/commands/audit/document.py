"""An audit of claims as a document, whose words are the same for text, Markdown, HTML and a site, and for CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import groupby
from pathlib import PurePath

from mlsub.commands.audit.claims import Input
from mlsub.commands.audit.expression import Call, Constant, parse
from mlsub.commands.audit.verdict import (
    AGAINST,
    BASES,
    Audit,
    BreakEven,
    ClaimVerdict,
    JudgedClaim,
    Near,
    ShownResult,
    score_words,
    tally,
)
from mlsub.commands.audit.wording import decimal, fixed
from mlsub.findings import Finding
from mlsub.io.show import plural
from mlsub.present import document as doc
from mlsub.present.ci import CiReport, Outcome, part
from mlsub.rules.catalogue import finding


def figure(value: Fraction | bool | str | None) -> str:
    """Return a figure: six decimals, but no more than it has where these are up to three."""
    if value is None or isinstance(value, (bool, str)):
        return "unknown" if value is None else str(value).lower() if isinstance(value, bool) else value
    return decimal(value) if (1000 * value).denominator == 1 else fixed(value)


def _results(audit: Audit) -> doc.Table:
    """Return a row for each result: what it is, its minutes on every basis that an answer shows, oddities."""
    read = {outcome.basis for one in audit.claims for reading in one.readings for outcome in reading.bases}
    bases = [basis for basis in BASES if basis != "rcp_mean" or basis in read]
    heads = ("result", "round", "submitter", "system", "benchmark", "division", *map(BASES.get, bases), "remarks")
    return _build_table([str(head) for head in heads], [tuple(_result(result, bases)) for result in audit.results])


def _result(result: ShownResult, bases: Sequence[str]) -> Iterator[str]:
    yield from (result.name, f"v{result.round}", result.submitter or "-", result.system or result.path or "-")
    yield from (result.benchmark or "-", result.division or "-")
    for basis in bases:
        score = result.minutes.get(basis)
        yield "-" if score is None else fixed(score)
    yield "; ".join(result.remarks) if result.found else result.reason or ""


def _input(given: Input) -> tuple[str, ...]:
    source = ", ".join(part for part in (given.source, given.date) if part)
    return (given.name, decimal(given.amount), decimal(given.spread), given.unit or "-", source)


def headline(judged: JudgedClaim) -> str:
    """Return the verdict on a claim in words."""
    only_for = f": {judged.only_for}" if judged.only_for else ""
    return f"{judged.verdict.value}{only_for}{', proposed' if judged.claim.proposed else ''}"


def _rows(judged: JudgedClaim, audit: Audit) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a claim: labels and texts, in the order in which they are shown."""
    claim, inputs = judged.claim, {given.name: given for given in audit.inputs}
    if judged.reason:
        yield "why", judged.reason
    for other in judged.differences:
        have = "what is checked is" if other.what == "figure" else "the results have"
        yield "differs", f"{other.what}: the claim says {other.said}, {have} {', '.join(other.results) or 'none'}"
    yield from (row for one in (judged, *judged.further) for row in _figure(one, inputs, several=bool(judged.further)))
    for said in judged.statements:
        yield "said", f"{said.written} ({said.where}), accepts {said.accepted.words()}"
    for change in judged.changed:
        old, new = ("not stated" if value is None else value for value in (change.old, change.new))
        yield "changed too", f"{change.name}: {old} -> {new}{f' ({change.note})' if change.note else ''}"
    yield from (("nearest", _near(near)) for near in judged.nearest)
    yield from (("note", note) for note in judged.notes)
    where = ", ".join(part for part in (claim.source.words, claim.where) if part)
    yield "source", where or "not stated"


def _near(near: Near) -> str:
    value = near.value
    shown = f"{figure(100 * value)}%" if isinstance(value, Fraction) and _is_part(near.expr) else figure(value)
    return f"{near.label or near.expr}: {shown if near.reason is None else near.reason}"


def _is_part(expression: str) -> bool:
    """Return whether people say a figure as a percentage: reduction(a, b), 1 - a / b, or a / b - 1."""
    match parse(expression):
        case Call("-", (Call("/" | "ratio", (_, below)), Constant(one))):
            return one == 1 and not isinstance(below, Constant)
        case Call("-", (Constant(one), Call("/" | "ratio"))):
            return one == 1
        case Call(function):
            return function in ("reduction", "speedup")
    return False


def _figure(judged: JudgedClaim, inputs: Mapping[str, Input], *, several: bool) -> Iterator[tuple[str, str]]:
    """Yield what is stated, and what it comes to; ``several``: with the expression of each of several figures."""
    stated, readings = judged.claim.figure, judged.readings
    if stated is None:
        return
    sign = "%" if stated.unit == "%" else ""
    accepts = f", accepts {judged.accepted.words(sign)}" if judged.accepted else ""
    of = f"{readings[0].expr}: " if several and readings else ""
    yield "stated", f"{of}{stated.words}{accepts}"
    for variant in readings:
        for outcome in variant.bases:
            answer = "holds" if outcome.holds else "fails"
            counts = variant.decides and outcome.decides
            basis = ", ".join(part for part in (variant.label, BASES[outcome.basis]) if part)
            shown = f"{figure(outcome.value)}{sign} ({basis}): {answer}{'' if counts else ', for comparison'}"
            yield "computed", shown
    for variant in readings:
        if variant.low is not None and variant.high is not None:
            names = ", ".join(f"{name} +/- {decimal(inputs[name].spread)}" for name in variant.inputs)
            yield "spread", f"{figure(variant.low)}{sign} to {figure(variant.high)}{sign} with {names}"
    yield from (("break-even", _break_even(one, sign)) for one in judged.break_even)
    if (margin := _margin(judged, sign)) is not None:
        yield "margin", margin


def _break_even(one: BreakEven, sign: str) -> str:
    unit = f" {one.unit}" if one.unit else ""
    part = (one.at / one.stated - 1) * 100
    side = f"{fixed(abs(part), 2)}% {'above' if part > 0 else 'below'} {decimal(one.stated)}"
    return f"{one.input} {rounded(one.at)}{unit}, {side}, brings it to {decimal(one.bound)}{sign}"


def rounded(value: Fraction) -> str:
    """Return a break-even value: whole from a thousand on, else six decimals."""
    return fixed(value, 0) if abs(value) >= 1000 else decimal(value)


def _margin(judged: JudgedClaim, sign: str) -> str | None:
    """Return how far the figure is from the nearer end of what is accepted; None where break-even values say more."""
    value, window = judged.computed, judged.accepted
    if value is None or window is None or isinstance(value, bool) or judged.break_even:
        return None
    end = min((end for end in (window.low, window.high) if end is not None), key=lambda one: abs(one - value))
    points = " points" if sign else ""
    return f"{fixed(abs(value - end))}{points} {'above' if value >= end else 'below'} {decimal(end)}{sign}"


def summary(audit: Audit) -> str:
    """Return how many claims have which verdict; those that are only proposed apart."""
    counts = [_counted(audit.verdicts, "claim")] if audit.verdicts else []
    if audit.proposed:
        counts.append(f"{_counted(audit.proposed, 'proposed claim')}; remove proposed: true to confirm one")
    return ". ".join(counts)


def _counted(verdicts: Mapping[str, int], noun: str) -> str:
    total = sum(verdicts.values())
    return f"{plural(total, noun)}: {', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())}"


def shares(audit: Audit) -> tuple[doc.Share, ...]:
    """Return the same as parts of a bar, each verdict in its own colour, those of proposed claims among them."""
    colours = {verdict.value: colour for colour, verdict in enumerate(ClaimVerdict)}
    return tuple(doc.Share(verdict, count, colours[verdict]) for verdict, count in tally(audit.claims).items())


def basis_words(audit: Audit) -> str:
    """Which scores the verdicts rest on."""
    if audit.bases:
        return f"Verdicts rest on {' and '.join(f'the {score_words(basis)}' for basis in audit.bases)}."
    return (
        "Verdicts rest on the published scores, and where logs were edited after the runs on the unscaled ones too, "
        "with the edits undone."
    )


_INPUT = ("input", "value", "+/-", "unit", "source")
_NUMBERS = (*BASES.values(), "value", "+/-")


def build_document(audit: Audit) -> doc.Document:
    """Return the document."""
    return doc.document(
        f"Claims of {audit.source.words or PurePath(audit.file).name}",
        *(_claim(judged, audit) for judged in audit.claims),
        doc.section("Results, in minutes", _results(audit)),
        doc.section("Inputs", _build_table(_INPUT, list(map(_input, audit.inputs)))),
        doc.Text(basis_words(audit)),
        doc.Tally(summary(audit), shares(audit)),
    )


def build_footnotes(audit: Audit) -> doc.Document:
    """Return the footnotes that a text needs which uses these results."""
    found = [one.footnote for one in audit.results if one.footnote]
    title = f"Footnotes to the claims of {audit.source.words or PurePath(audit.file).name}"
    return doc.document(title, *(doc.Text(f"[{at}] {text}") for at, text in enumerate(found, 1)))


def _claim(judged: JudgedClaim, audit: Audit) -> doc.Section:
    verdict, id_ = judged.verdict, judged.claim.id
    meaning: doc.Meaning = "bad" if verdict in AGAINST else "good" if verdict is ClaimVerdict.HOLDS else "note"
    groups = groupby(_rows(judged, audit), key=lambda row: row[0])
    facts = tuple((label, doc.Lines(tuple(text for _, text in group))) for label, group in groups)
    blocks = (doc.Text(judged.claim.text), doc.Facts(facts))
    return doc.Section(f"{id_}: {headline(judged)}", blocks, meaning=meaning, anchor=id_, kind=verdict.value)


def _build_table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> doc.Table:
    return doc.Table(tuple(doc.Column(head, number=head in _NUMBERS) for head in heads), tuple(rows))


def build_ci_report(audit: Audit, *, strict: bool = False) -> CiReport:
    """Return a part for each claim; ``strict`` says that doubtful claims count."""
    parts = (
        part(f"{one.claim.id}: {one.claim.text}", _verdict_finding(one, audit), partial(_outcome, one, strict))
        for one in audit.claims
    )
    return CiReport("audit", tuple(parts))


def _outcome(judged: JudgedClaim, strict: bool, _: Finding) -> Outcome:
    """Return what a claim does to the exit status; one that is only proposed counts in a strict audit alone."""
    if judged.claim.proposed and not strict:
        return Outcome.BESIDE
    if judged.verdict is ClaimVerdict.NOT_CHECKED:
        return Outcome.NOT_CHECKED
    return Outcome.COUNTS if strict or judged.verdict in AGAINST else Outcome.BESIDE


def _verdict_finding(judged: JudgedClaim, audit: Audit) -> Iterator[Finding]:
    """Yield the verdict on a claim as a finding, unless it holds."""
    if judged.verdict is ClaimVerdict.HOLDS:
        return
    claim, rows = judged.claim, list(_rows(judged, audit))

    def texts(*labels: str) -> str:
        return "; ".join(text for wanted in labels for label, text in rows if label == wanted)

    yield finding(
        f"claim.{judged.verdict}",
        audit.file,
        f"{claim.id} {headline(judged)}: {claim.text}",
        line=claim.line,
        expected=texts("stated") or None,
        actual=texts("why", "differs", "computed", "said") or None,
        source=texts("source"),
    )
