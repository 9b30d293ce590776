"""The page of claims: what was said of the results, and whether the logs bear it out.

Each claim is a card: its verdict, words, number lines, and what a page needs to try other values of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.claims import Input
from mlsub.commands.audit.document import (
    INPUT_HEADS,
    RESULT_HEADS,
    Entry,
    basis_words,
    entries,
    input_rows,
    result_rows,
    shares,
    summary,
    title,
)
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.expression import parse
from mlsub.commands.audit.facts import SHORT
from mlsub.commands.audit.functions import NO_VALUE
from mlsub.commands.audit.inputs import Folded, folded
from mlsub.commands.audit.judge import Trial, trials
from mlsub.commands.audit.verdict import Audit, Judged, Variant
from mlsub.commands.audit.wording import decimal, halfway, truncated
from mlsub.commands.site.facts import findings_sections
from mlsub.commands.site.numberline import Mark, NumberLine, Reading
from mlsub.commands.site.page import Cell, Page, Section, Table, clean

#: Readings of one figure that get a line.
_READINGS = 6
#: Rows that stand on the card; the others are opened.
_FIRST = ("why", "stated", "differs", "said", "what would hold")
#: A slider goes so far beyond a value, or three times its uncertainty where that is more.
_REACH, _STEPS = Fraction(1, 2), 200


_SCOPE = (
    "A verdict says whether the figures of the logs bear a sentence out as it is worded; it says nothing on why it was "
    "written so. Findings are about the rules on wording, and never change a verdict."
)
_LINES = (
    "On a number line the band is what the wording accepts. A disc is the figure on the published score, a diamond on "
    "the unscaled one, a triangle on the expected one, a square at the RCP mean; hollow ones are shown for comparison, "
    "and the thick part is what the uncertainty of inputs allows. A slider tries another value of an input."
)


class Slider(msgspec.Struct, frozen=True):
    """An input to try other values of: what it is, and from where to where."""

    name: str
    unit: str
    value: float
    low: float
    high: float
    step: float


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One reading that inputs change: its expression, see :mod:`mlsub.commands.audit.inputs`, and what is accepted.

    ``line`` and ``row`` are where it is drawn. The value is turned from a reduction to a speed-up or back (``turns``),
    and multiplied by ``factor``; ``accepts`` are intervals of low, high and whether each end belongs to them, or a
    truth.
    """

    line: int
    row: int
    name: str
    tree: Folded
    turns: str | None
    factor: float
    sign: str
    accepts: list[tuple[float | None, float | None, bool, bool]] | bool


class Tryout(msgspec.Struct, frozen=True):
    """What a page needs to try other values of inputs."""

    sliders: tuple[Slider, ...]
    figures: tuple[Figure, ...]


class Card(msgspec.Struct, frozen=True):
    """One claim: its anchor, its id, its verdict as a kind and in words, what it says, and what was found.

    Of the rows, a name and its lines, those in ``first`` are shown at once.
    """

    key: str
    id: str
    kind: str
    headline: str
    text: str
    lines: tuple[NumberLine, ...]
    live: Tryout | None
    first: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def claims_page(audits: Sequence[tuple[Audit, World]]) -> Page:
    """Return the page of some audits, one after the other, each with what was audited."""
    sections = [section for place, (audit, world) in enumerate(audits) for section in _sections(audit, world, place)]
    return Page(
        path="claims.html", title="Claims", lead=(_SCOPE, _LINES), sections=tuple(sections), scripts=("claims",)
    )


def _sections(audit: Audit, world: World, place: int) -> Iterator[Section]:
    name = clean(title(audit), 200)
    words = (clean(f"{summary(audit)}."), basis_words(audit))
    cards = build_cards(audit, world, place)
    yield Section(key=f"claims-{place}", title=name, words=words, shares=shares(audit), cards=cards)
    below = (
        (f"results-{place}", "Results, in minutes", RESULT_HEADS, result_rows(audit)),
        (f"inputs-{place}", "Inputs", INPUT_HEADS, input_rows(audit)),
    )
    for key, heading, heads, rows in below:
        if rows:
            yield Section(key=key, title=heading, tables=(_plain(f"{heading}: {name}", heads, rows),))
    if audit.findings:
        found = next(findings_sections(audit.findings, forgiven=False))
        yield Section(key=f"wording-{place}", title="Findings on the wording", tables=found.tables)


def _plain(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of words, its numbers to sort by their value."""
    cells = tuple(tuple(Cell(clean(cell), _sort(cell)) for cell in row) for row in rows)
    return Table(caption=caption, heads=tuple(heads), rows=cells)


def _sort(cell: str) -> float | None:
    """The number that a cell is, where it is one; a date is none."""
    if not (cell.isascii() and cell.removeprefix("-")[:1].isdigit()):
        return None
    try:
        number = float(cell.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def build_cards(audit: Audit, world: World, place: int) -> tuple[Card, ...]:
    """Return a card for each claim of an audit, the one of that place on the page; ``world`` is what was audited."""
    both = zip(entries(audit), audit.claims, strict=True)
    return tuple(_card(entry, judged, audit, world, place) for entry, judged in both)


def _card(entry: Entry, judged: Judged, audit: Audit, world: World, place: int) -> Card:
    rows: dict[str, list[str]] = {}
    for label, text in entry.rows:
        rows.setdefault(label, []).append(clean(text, 600))
    figures = (judged, *judged.further)
    return Card(
        key=f"claim-{place}-{entry.id}",
        id=clean(entry.id, 100),
        kind=entry.verdict.value,
        headline=clean(entry.headline, 300),
        text=clean(entry.text),
        lines=tuple(line for figure in figures if (line := _line(figure)) is not None),
        live=_live(figures, audit, world),
        first=tuple((label, tuple(texts)) for label, texts in rows.items() if label in _FIRST),
        rows=tuple((label, tuple(texts)) for label, texts in rows.items() if label not in _FIRST),
    )


def _shown(judged: Judged) -> list[Variant]:
    """The readings that get a row of the number line."""
    return [one for one in judged.readings if one.decides][:_READINGS]


def _line(judged: Judged) -> NumberLine | None:
    """The number line of a figure; None for a truth, or where a number is beyond all doubles."""
    stated, window = judged.claim.figure, judged.accepted
    if stated is None or window is None or not judged.readings:
        return None
    sign = {"%": "%", "x": "x"}.get(stated.unit or "", "")
    try:
        readings = tuple(_reading(one, sign) for one in _shown(judged))
        low, high = (None if end is None else float(end) for end in (window.low, window.high))
    except OverflowError:
        return None
    ends = ("" if end is None else f"{decimal(end)}{sign}" for end in (window.low, window.high))
    figures = "; ".join(f"{mark.words}{f' ({one.name})' if one.name else ''}" for one in readings for mark in one.marks)
    about = clean(f"Stated is {stated.words}, which accepts {window.words(sign)}. Found: {figures}.", 600)
    cut = truncated(stated) if any(outcome.truncated for one in _shown(judged) for outcome in one.bases) else None
    return NumberLine(
        about=about,
        low=low,
        high=high,
        ends=(next(ends), next(ends)),
        cut=float(cut.high) if cut is not None and cut.high is not None else None,
        readings=readings,
    )


def _reading(one: Variant, sign: str) -> Reading:
    marks = tuple(
        Mark(
            outcome.basis,
            float(outcome.value),
            f"{_brief(outcome.value)}{sign} {SHORT[outcome.basis]}",
            outcome.decides,
        )
        for outcome in one.bases
        if isinstance(outcome.value, Fraction)
    )
    spread = None if one.low is None or one.high is None else (float(one.low), float(one.high))
    return Reading(clean(one.label or "", 80), marks, spread)


def _brief(value: Fraction) -> str:
    """A figure for a label: four significant digits, or all before the point."""
    size = abs(value)
    return decimal(value, 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0)


def _live(figures: Sequence[Judged], audit: Audit, world: World) -> Tryout | None:
    """What inputs change; None where none does."""
    found: list[Figure] = []
    names: dict[str, Input] = {}
    line = 0
    for judged in figures:
        asked = judged.claim.basis or audit.bases
        drawn = _line(judged) is not None
        if judged.readings:
            deciding = [one for one in trials(judged.claim, world, asked) if one.decides][:_READINGS]
            for row, trial in enumerate(deciding):
                figure = _figure(trial, world, line if drawn else -1, row)
                if figure is not None:
                    found.append(figure)
                    names |= {one.name: one for one in world.file.inputs_in(trial.expr)}
        line += drawn
    sliders = tuple(_slider(one) for one in names.values())
    return Tryout(sliders, tuple(found)) if found else None


def _figure(trial: Trial, world: World, line: int, row: int) -> Figure | None:
    try:
        tree = folded(parse(trial.expr).tree, world, trial.bases[0])
        accepts = list(_accepts(trial))
    except (*NO_VALUE, OverflowError):
        return None
    if tree is None:
        return None
    stated = trial.stated
    return Figure(
        line=line,
        row=row,
        name=clean(trial.label or "", 80),
        tree=tree,
        turns=trial.turns,
        factor=float(trial.factor),
        sign=stated.unit if stated.unit in ("x", "%") else f" {clean(stated.unit, 20)}" if stated.unit else "",
        accepts=stated.amount if isinstance(stated.amount, bool) else accepts,
    )


def _accepts(trial: Trial) -> Iterator[tuple[float | None, float | None, bool, bool]]:
    for one in (trial.window, truncated(trial.stated) if trial.window else None):
        if one is not None:
            low, high = (None if end is None else float(end) for end in (one.low, one.high))
            yield low, high, one.low_included, one.high_included or (one.high == halfway(trial.stated))


def _slider(given: Input) -> Slider:
    reach = max(abs(given.amount) * _REACH, 3 * given.spread) or Fraction(1)
    low, high = float(given.amount - reach), float(given.amount + reach)
    return Slider(
        clean(given.name, 80), clean(given.unit or "", 20), float(given.amount), low, high, (high - low) / _STEPS
    )
