"""A comparison of trainings as a document."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlsub.commands.compare.packages.document import changes_of, sides_of
from mlsub.commands.compare.trainings.model import Comparison, EntrySide, PairComparison
from mlsub.commands.compare.trainings.resubmit import must_be_exact
from mlsub.commands.compare.trainings.words import amount, part_words, phase_words, rate, side_words
from mlsub.present.document import (
    Block,
    Cell,
    Column,
    Document,
    Findings,
    Items,
    Section,
    Span,
    Table,
    Text,
    Words,
    document,
    section,
)
from mlsub.submission.report import SCALING_TOLERANCE

_NONE = "-"
#: The most entries without a counterpart that are named.
_NAMED = 20
#: Half of the last digit that is shown of minutes.
_VISIBLE = 5e-7
_NO_FINDING = {
    "borrow": "Nothing speaks against borrowing, as far as files can tell.",
    "resubmit": "Nothing speaks against submitting it again, as far as files can tell.",
}
_OVERVIEW = (
    Column("entries"),
    Column("A min", number=True),
    Column("B min", number=True),
    Column("change", number=True),
    Column("mostly by", leave_out=1),
)
_PARTS = (Column("minutes", number=True), Column("share", number=True, leave_out=1), Column("because"))
_SIDE_BY_SIDE = (Column(""), Column("A"), Column("B"))
_PHASES = (Column(""), Column("A", number=True), Column("B", number=True))


def document_of(found: Comparison) -> Document:
    """The document: findings first, then an overview of several pairs, then each pair."""
    return document(
        "Comparison of two trainings",
        sides_of(("A", found.old), ("B", found.new)),
        *_findings(found),
        _overview(found),
        *map(_pair, found.pairs),
        _left_over(found),
    )


def _findings(found: Comparison) -> Iterator[Block]:
    if found.findings:
        yield Findings(found.findings)
    elif found.purpose in _NO_FINDING:
        yield Text(_NO_FINDING[found.purpose])
    if found.purpose == "resubmit" and must_be_exact(found.new.usage, found.new.round):
        yield Text("Open an issue in the submission repository before the first review meeting. No file shows it.")


def _overview(found: Comparison) -> Section | None:
    """Several pairs as a table, each with its largest part."""
    if len(found.pairs) < 2:
        return None
    many = len({side.organisation for pair in found.pairs for side in (pair.old, pair.new)}) > 1
    rows = []
    for pair in found.pairs:
        names = dict.fromkeys(_name(side, organisation=many) for side in (pair.old, pair.new))
        change = "" if pair.reduction is None else f"{_signless(-pair.reduction * 100, 2, '+')} %"
        largest = max(pair.parts, key=lambda part: abs(part.minutes), default=None)
        mostly = part_words(largest, pair.old, pair.new) if largest and abs(largest.minutes) >= _VISIBLE else ""
        rows.append((" -> ".join(names), _minutes(pair.old.minutes), _minutes(pair.new.minutes), change, mostly))
    warnings = tuple(dict.fromkeys(pair.warning for pair in found.pairs if pair.warning))
    return section(f"{len(rows)} pairs", Table(_OVERVIEW, tuple(rows)), Items(tuple(map(_warning, warnings))))


def _warning(text: str) -> Words:
    return (Span("Warning: ", "note"), f"{text}.")


def _name(side: EntrySide, *, organisation: bool) -> str:
    return f"{side.organisation} {side.name}" if organisation and side.organisation else side.name


def _left_over(found: Comparison) -> Items:
    """Entries without a counterpart."""
    items = []
    for side, names in (("A", found.only_old), ("B", found.only_new)):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            named = ", ".join(names[:_NAMED])
            items.append(f"Only in {side}: {named}{more}. Pair what belongs together with --pair.")
    return Items(tuple(items))


def _pair(pair: PairComparison) -> Section | None:
    """Which entries are compared, the answer, and what it rests on, what matters most first."""
    many = pair.old.organisation != pair.new.organisation
    one, other = (side_words(side, organisation=many) for side in (pair.old, pair.new))
    parts = (_parts(pair), _facts(pair), _phases(pair), _hyperparameters(pair), _system(pair))
    warned = (Text(_warning(pair.warning)),) if pair.warning else ()
    return section(f"{one} -> {other}", Text(pair.answer), *warned, *parts)


def _parts(pair: PairComparison) -> Section | None:
    if all(abs(part.minutes) < _VISIBLE for part in pair.parts):
        return None
    whole = sum(part.minutes for part in pair.parts)
    rows = []
    for part in pair.parts:
        share = f"{_signless(part.minutes / whole * 100, 1)} %" if abs(whole) > 1e-9 else ""
        rows.append((_signless(part.minutes, 6, "+"), share, part_words(part, pair.old, pair.new)))
    rows.append((_signless(whole, 6, "+"), "", "together"))
    return section("What makes the difference", Table(_PARTS, tuple(rows), key=2))


def _signless(value: float, digits: int, sign: str = "") -> str:
    """A rounded number; a zero has no minus."""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def _facts(pair: PairComparison) -> Section | None:
    old, new = pair.old, pair.new
    means = [
        Text(f"{name} has no score; its time is the mean of {side.counted} runs.")
        for name, side in (("A", old), ("B", new))
        if side.minutes_of == "mean" and side.minutes is not None
    ]
    ratio = [] if pair.ratio is None or pair.reduction is None else [("ratio A/B", "", f"{pair.ratio:.6f}")]
    ratio += [] if pair.reduction is None else [("reduction", "", f"{pair.reduction * 100:.3f} %")]
    rows: list[tuple[Cell, ...]] = [
        ("verdict", old.official, new.official),
        ("runs (converged)", *(f"{side.runs} ({side.convergence.runs})" for side in (old, new))),
        ("unscaled minutes", *(_minutes(side.unscaled) for side in (old, new))),
        ("scaling", *(f"{side.scaling:.6g}" for side in (old, new))),
        ("minutes", *(_minutes(side.minutes) for side in (old, new))),
        *([("expected minutes", *(_minutes(side.expected) for side in (old, new)))] if _differs(old, new) else []),
        *ratio,
        ("accelerators", *(_accelerators(side) for side in (old, new))),
        ("accelerator-minutes", *(_minutes(side.accelerator_minutes) for side in (old, new))),
        ("global batch size", *(_amount(side.batch_size) for side in (old, new))),
        ("trained to convergence", *(_range(side) for side in (old, new))),
        ("convergence test", *(_test(side) for side in (old, new))),
        ("samples/s in training", *(_rate(side.throughput) for side in (old, new))),
    ]
    kept = tuple(row for row in rows if row[1:] != (_NONE, _NONE))
    return section("Side by side", Table(_SIDE_BY_SIDE, kept), *means)


def _phases(pair: PairComparison) -> Section | None:
    names = dict.fromkeys(phase.name for phase in (*pair.old.phases, *pair.new.phases))
    rows = tuple((phase_words(name), _seconds(pair.old, name), _seconds(pair.new, name)) for name in names)
    without = [
        Text(f"{name} logs no intervals of evaluation; they are within training or pauses.")
        for name, side in (("A", pair.old), ("B", pair.new))
        if side.counted and side.seconds("training") is not None and side.seconds("evaluation") is None
    ]
    counted = f"mean of {pair.old.counted} and {pair.new.counted} runs that count"
    return section(f"Phases of a run in seconds, {counted}", Table(_PHASES, rows), *without)


def _hyperparameters(pair: PairComparison) -> Section | None:
    changes = pair.hyperparameters
    differ = f"{len(changes)} differ" if len(changes) > 1 else "1 differs" if changes else "none differs"
    title = f"Hyperparameters and sizes, as most runs logged them: {differ}, {pair.same} are the same"
    return section(title, changes_of(changes) if changes else Text("Both train with the same values."))


def _system(pair: PairComparison) -> Section | None:
    differ = "1 field differs" if len(pair.fields) == 1 else f"{len(pair.fields)} fields differ"
    return section(f"System description: {differ}", changes_of(pair.fields))


def _seconds(side: EntrySide, name: str) -> str:
    seconds = side.seconds(name)
    return "not logged" if seconds is None else f"{seconds:.3f}"


def _differs(*sides: EntrySide) -> bool:
    """Whether a side's expected minutes are others than it has, apart from rounding."""
    return any(not math.isclose(side.scaling, side.expected_scaling, rel_tol=SCALING_TOLERANCE) for side in sides)


def _minutes(value: float | None) -> str:
    return _NONE if value is None else f"{value:.6f}"


def _amount(value: float | None) -> str:
    return _NONE if value is None else amount(value)


def _rate(value: float | None) -> str:
    return _NONE if value is None else rate(value)


def _accelerators(side: EntrySide) -> str:
    return _NONE if side.accelerators is None else f"{side.accelerators} x {side.accelerator or '?'}"


def _range(side: EntrySide) -> str:
    known = side.convergence
    if known.mean is None or known.minimum is None or known.maximum is None:
        return _NONE
    if known.minimum == known.maximum:
        return f"{amount(known.mean)} {known.unit}"
    return f"{amount(known.mean)} {known.unit} ({amount(known.minimum)} to {amount(known.maximum)})"


def _test(side: EntrySide) -> str:
    known = side.convergence
    return known.verdict + (f", factor {known.scaling:.6g}" if known.scaling != 1 else "")
