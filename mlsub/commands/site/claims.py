"""The page of claims: what was said of the results, and whether the logs bear it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from mlsub.commands.audit.alternatives import folded
from mlsub.commands.audit.claims import Input
from mlsub.commands.audit.document import (
    INPUT_HEADS,
    RESULT_HEADS,
    basis_words,
    headline,
    input_rows,
    result_rows,
    rows_of,
    shares,
    summary,
    title,
)
from mlsub.commands.audit.evaluate import NoValueError, World
from mlsub.commands.audit.expression import parse
from mlsub.commands.audit.facts import SHORT
from mlsub.commands.audit.judge import Trial, trials
from mlsub.commands.audit.verdict import Audit, Judged, Variant
from mlsub.commands.audit.wording import halfway, truncated
from mlsub.commands.site.page import Card, Chart, Page, Section, Series, clean, number_text, plain_table

#: Readings of one figure that get a line.
_READINGS = 6
#: Rows that stand on the card; the others are opened.
_FIRST = ("why", "stated", "differs", "said", "what would hold")
#: A slider goes so far beyond a value, or three times its uncertainty where that is more.
_REACH, _STEPS = Fraction(1, 2), 200
#: A number line goes so far beyond what is on it, as a share of its length.
_ROOM = 0.12
#: The mark and the colour of each basis, those of the accepted interval, of cut digits and of uncertain inputs.
_MARKS = {"published": ("marks", 0), "unscaled": ("large", 5), "expected": ("triangle", 3), "rcp_mean": ("square", 9)}
_ACCEPTED, _CUT, _UNCERTAIN, _BESIDE = 2, 8, 7, 7
_SCOPE = (
    "A verdict says whether the figures of the logs bear a sentence out as it is worded; it says nothing on why it was "
    "written so. Findings are about the rules on wording, and never change a verdict."
)
_LINES = (
    "On a number line the band is what the wording accepts, and each mark is the figure on one basis; those for "
    "comparison are grey, and a thick line is what the uncertainty of inputs allows. A slider tries another value of "
    "an input."
)


def claims_page(audits: Sequence[tuple[Audit, World]]) -> Page:
    """Return the page of some audits, one after the other, each with what was audited."""
    sections = [section for place, (audit, world) in enumerate(audits) for section in _sections(audit, world, place)]
    return Page(
        path="claims.html", title="Claims", lead=(_SCOPE, _LINES), sections=tuple(sections), scripts=("claims",)
    )


def _sections(audit: Audit, world: World, place: int) -> Iterator[Section]:
    name = clean(title(audit), 200)
    words = (clean(f"{summary(audit)}."), basis_words(audit))
    cards = tuple(_card(judged, audit, world, place) for judged in audit.claims)
    yield Section(key=f"claims-{place}", title=name, words=words, shares=shares(audit), cards=cards)
    below = (
        (f"results-{place}", "Results, in minutes", RESULT_HEADS, result_rows(audit)),
        (f"inputs-{place}", "Inputs", INPUT_HEADS, input_rows(audit)),
    )
    for key, heading, heads, rows in below:
        if rows:
            # Without a value there is a hyphen; a dash leaves the column one of numbers, by which it sorts.
            cells = ([None if cell == "-" else clean(cell) for cell in row] for row in rows)
            table = plain_table(f"{heading}: {name}", heads, cells)
            yield Section(key=key, title=heading, tables=(table,))


def _card(judged: Judged, audit: Audit, world: World, place: int) -> Card:
    claim, rows = judged.claim, dict[str, list[str]]()
    for label, text in rows_of(judged, audit):
        rows.setdefault(label, []).append(clean(text, 600))
    lines = [(figure, _number_line(figure)) for figure in (judged, *judged.further)]
    return Card(
        key=f"claim-{place}-{claim.id}",
        id=clean(claim.id, 100),
        kind=judged.verdict.value,
        headline=clean(headline(judged), 300),
        text=clean(claim.text),
        charts=tuple(line for _, line in lines if line is not None),
        tryout=_tryout(lines, audit, world),
        first=tuple((label, tuple(texts)) for label, texts in rows.items() if label in _FIRST),
        rows=tuple((label, tuple(texts)) for label, texts in rows.items() if label not in _FIRST),
    )


# ---- Number lines


def _number_line(judged: Judged) -> Chart | None:
    """Return what a figure has to be and what it is; None for a truth, or where a number is beyond all doubles."""
    stated, window = judged.claim.figure, judged.accepted
    readings = [one for one in judged.readings if one.decides][:_READINGS]
    if stated is None or window is None or not readings:
        return None
    sign = {"%": "%", "x": "x"}.get(stated.unit or "", "")
    cut = truncated(stated) if any(outcome.truncated for one in readings for outcome in one.bases) else None
    try:
        ends = [None if end is None else float(end) for end in (window.low, window.high, cut.high if cut else None)]
        found = [mark for row, one in enumerate(readings) for mark in _marks(one, row)]
    except OverflowError:
        return None
    figures = "; ".join(
        f"{number_text(float(outcome.value), 4)}{sign} {SHORT[outcome.basis]}{f' ({one.label})' if one.label else ''}"
        for one in readings
        for outcome in one.bases
        if isinstance(outcome.value, Fraction)
    )
    return Chart(
        kind="series",
        title=clean(f"Stated is {stated.words}, which accepts {window.words(sign)}", 300),
        about=clean(f"Found: {figures}.", 600),
        data={
            "x": {"title": sign or stated.unit or ""},
            "y": {"title": ""},
            "categories": [clean(one.label or "", 80) for one in readings],
            "series": [*_bands(ends, found, len(readings)), *found],
        },
    )


def _marks(reading: Variant, row: int) -> Iterator[Series]:
    """Yield the figures of a reading as series of one mark, and what the uncertainty of inputs allows as a line."""
    if reading.low is not None and reading.high is not None:
        ends = ((float(reading.low), row), (float(reading.high), row))
        yield Series("uncertainty of inputs", "line", _UNCERTAIN, ends)
    for outcome in reading.bases:
        if isinstance(outcome.value, Fraction):
            style, colour = _MARKS[outcome.basis]
            name = SHORT[outcome.basis] if outcome.decides else f"{SHORT[outcome.basis]}, for comparison"
            yield Series(name, style, colour if outcome.decides else _BESIDE, ((float(outcome.value), row),))


def _bands(ends: Sequence[float | None], found: Sequence[Series], rows: int) -> Iterator[Series]:
    """Yield the accepted interval, an open end drawn to the edge, and what digits that were cut off let pass."""
    values = [x for one in found for x, _ in one.points] + [end for end in ends if end is not None]
    room = (max(values) - min(values) or abs(max(values)) or 1.0) * _ROOM
    low, high, cut = ends
    left, right = min(values) - room if low is None else low, max(values) + room if high is None else high
    yield Series("accepted", "spans", _ACCEPTED, tuple((left, right, row) for row in range(rows)))
    if cut is not None:
        yield Series("accepted: digits cut off", "spans", _CUT, tuple((right, cut, row) for row in range(rows)))


# ---- Sliders


def _tryout(lines: Sequence[tuple[Judged, Chart | None]], audit: Audit, world: World) -> dict[str, Any] | None:
    """Return the inputs with the figures that they change, as ``static/claims.js`` reads them; None without any."""
    found: list[dict[str, Any]] = []
    names: dict[str, Input] = {}
    line = 0
    for judged, chart in lines:
        if judged.readings:
            asked = judged.claim.basis or audit.bases
            deciding = [one for one in trials(judged.claim, world, asked) if one.decides][:_READINGS]
            for row, trial in enumerate(deciding):
                figure = _figure(trial, world)
                if figure is not None:
                    found.append(figure | {"line": -1 if chart is None else line, "row": row})
                    names |= {one.name: one for one in world.file.inputs_in(trial.expr)}
        line += chart is not None
    return {"sliders": [_slider(one) for one in names.values()], "figures": found} if found else None


def _figure(trial: Trial, world: World) -> dict[str, Any] | None:
    """Return a reading as a function of inputs, see :mod:`mlsub.commands.audit.alternatives`, and what is accepted.

    The value is turned from a reduction to a speed-up or back (``turns``), and multiplied by ``factor``; ``accepts``
    are intervals of low, high and whether each end belongs to them, or a truth.
    """
    stated = trial.stated
    try:
        tree = folded(parse(trial.expr), world, trial.bases[0])
        accepts = stated.amount if isinstance(stated.amount, bool) else list(_accepts(trial))
    except (NoValueError, OverflowError):
        return None
    if tree is None:
        return None
    unit = stated.unit if stated.unit in ("x", "%") else f" {clean(stated.unit, 20)}" if stated.unit else ""
    name = clean(trial.label or "", 80)
    how = {"tree": tree, "turns": trial.turns, "factor": float(trial.factor)}
    return {"name": name, "sign": unit, "accepts": accepts, **how}


def _accepts(trial: Trial) -> Iterator[tuple[float | None, float | None, bool, bool]]:
    for one in (trial.window, truncated(trial.stated) if trial.window else None):
        if one is not None:
            low, high = (None if end is None else float(end) for end in (one.low, one.high))
            yield low, high, one.low_included, one.high_included or (one.high == halfway(trial.stated))


def _slider(given: Input) -> dict[str, Any]:
    reach = max(abs(given.amount) * _REACH, 3 * given.spread) or Fraction(1)
    low, high = float(given.amount - reach), float(given.amount + reach)
    words = {"name": clean(given.name, 80), "unit": clean(given.unit or "", 20)}
    return {**words, "value": float(given.amount), "low": low, "high": high, "step": (high - low) / _STEPS}
