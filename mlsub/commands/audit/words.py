"""The words of an audit: the same rows for text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import PurePath

import msgspec

from mlsub.commands.audit.facts import TITLES
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.model import Input
from mlsub.commands.audit.verdict import Audit, BreakEven, ClaimVerdict, Judged, ResultFacts, Variant
from mlsub.commands.audit.wording import decimal, fixed
from mlsub.commands.audit.written import Source


class Entry(msgspec.Struct, frozen=True):
    """One claim in words: its id, its verdict, what it says, and rows of a label and a text."""

    id: str
    verdict: ClaimVerdict
    headline: str
    text: str
    rows: tuple[tuple[str, str], ...]


def title(audit: Audit) -> str:
    """What is audited."""
    return source_words(audit.source) or PurePath(audit.file).name


def source_words(source: Source) -> str:
    """A source in one line: title, publisher, date."""
    return ", ".join(part for part in (source.title, source.publisher, source.date) if part)


def figure(value: Fraction | bool | str | None) -> str:
    """A figure: six decimals, but no more than it has where these are up to three."""
    if value is None or isinstance(value, (bool, str)):
        return "unknown" if value is None else str(value).lower() if isinstance(value, bool) else value
    return decimal(value) if (1000 * value).denominator == 1 else fixed(value)


RESULT_HEADS = ("result", "round", "submitter", "system", "benchmark", "division", *BASES, "remarks")


def result_rows(audit: Audit) -> list[tuple[str, ...]]:
    """A row for each result: what it is, its minutes on every basis, and what is odd about it."""
    return [tuple(_result(result)) for result in audit.results]


def _result(result: ResultFacts) -> Iterator[str]:
    yield from (result.name, f"v{result.round}", result.submitter or "-", result.system or result.path or "-")
    yield from (result.benchmark or "-", result.division or "-")
    for basis in BASES:
        score = result.minutes.get(basis)
        yield "-" if score is None else fixed(score)
    yield "; ".join(result.remarks) if result.found else result.reason or ""


def input_rows(audit: Audit) -> list[tuple[str, ...]]:
    """A row for each input: value, uncertainty, source."""
    return [_input(given) for given in audit.inputs]


INPUT_HEADS = ("input", "value", "+/-", "unit", "source")


def _input(given: Input) -> tuple[str, ...]:
    source = ", ".join(part for part in (given.source, given.date) if part)
    return (given.name, decimal(given.value), decimal(given.plus_minus), given.unit or "-", source)


def entries(audit: Audit) -> list[Entry]:
    """Every claim in words, in the order of the file."""
    return [_entry(judged, {given.name: given for given in audit.inputs}) for judged in audit.claims]


def _entry(judged: Judged, inputs: Mapping[str, Input]) -> Entry:
    claim = judged.claim
    headline = judged.verdict.value + (f": {judged.only_for}" if judged.only_for else "")
    return Entry(claim.id, judged.verdict, headline, claim.text, tuple(_rows(judged, inputs)))


def _rows(judged: Judged, inputs: Mapping[str, Input]) -> Iterator[tuple[str, str]]:
    claim = judged.claim
    if claim.stated is not None:
        accepts = f", accepts {judged.accepted.words()}" if judged.accepted else ""
        yield "stated", f"{claim.stated.words}{accepts}"
    if judged.reason:
        yield "why", judged.reason
    for other in judged.differences:
        yield (
            "differs",
            f"{other.what}: the claim says {other.said}, the results have {', '.join(other.results) or 'none'}",
        )
    yield from (("computed", line) for variant in judged.readings for line in _figures(variant))
    yield from (("spread", line) for variant in judged.readings for line in _spread(variant, inputs))
    yield from (("break-even", _break_even(one)) for one in judged.break_even)
    if (edge := nearest_edge(judged)) is not None:
        yield "edge", edge
    for said in judged.statements:
        yield "said", f"{said.written} ({said.where}), accepts {said.accepted.words()}"
    for change in judged.changed:
        yield "changed too", f"{change.name}: {change.first} -> {change.second}"
    for near in judged.nearest:
        name = f"{near.label}: " if near.label else f"{near.expr}: "
        yield "nearest", f"{name}{figure(near.value) if near.reason is None else near.reason}"
    yield from (("note", note) for note in judged.notes)
    where = ", ".join(part for part in (source_words(claim.source), claim.where) if part)
    yield "source", where or "not stated"


def _figures(variant: Variant) -> Iterator[str]:
    for outcome in variant.bases:
        answer = "holds" if outcome.holds else "fails"
        counts = variant.decides and outcome.decides
        of = ", ".join(part for part in (variant.label, outcome.basis) if part)
        yield f"{figure(outcome.value)} ({of}): {answer}{'' if counts else ', for comparison'}"


def _spread(variant: Variant, inputs: Mapping[str, Input]) -> Iterator[str]:
    if variant.low is not None and variant.high is not None:
        names = ", ".join(f"{name} +/- {decimal(inputs[name].plus_minus)}" for name in variant.inputs)
        yield f"{figure(variant.low)} to {figure(variant.high)} with {names}"


def _break_even(one: BreakEven) -> str:
    unit = f" {one.unit}" if one.unit else ""
    part = (one.at / one.stated - 1) * 100
    side = f"{fixed(abs(part), 2)}% {'above' if part > 0 else 'below'} {decimal(one.stated)}"
    return f"{one.input} {rounded(one.at)}{unit}, {side}, brings it to {decimal(one.bound)}"


def rounded(value: Fraction) -> str:
    """A break-even value: whole from a thousand on, else six decimals."""
    return fixed(value, 0) if abs(value) >= 1000 else decimal(value)


def nearest_edge(judged: Judged) -> str | None:
    """How far the figure is from the nearer end of what is accepted; None where break-even values say more."""
    value, window = judged.computed, judged.accepted
    if value is None or window is None or isinstance(value, bool) or judged.break_even:
        return None
    ends = [end for end in (window.low, window.high) if end is not None]
    if not ends:
        return None
    end = min(ends, key=lambda one: abs(one - value))
    return f"{fixed(abs(value - end))} {'above' if value >= end else 'below'} {decimal(end)}"


def summary(audit: Audit) -> str:
    """How many claims have which verdict."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in audit.verdicts.items())
    return f"{len(audit.claims)} claim{'s' * (len(audit.claims) != 1)}: {counts}"


def basis_words(audit: Audit) -> str:
    """Which scores the verdicts rest on."""
    if audit.bases:
        return "Verdicts rest on " + " and ".join(f"{basis} ({TITLES[basis]})" for basis in audit.bases) + "."
    return (
        "Verdicts rest on the published scores, and where logs were edited after the runs on the unscaled ones too, "
        "with the edits undone."
    )
