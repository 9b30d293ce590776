"""A comparison of two trainings as a document; what matters most comes first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from mlsub.commands.compare.model import Comparison, EntryChange, PairComparison, Side
from mlsub.io.show import first_few, in_digits
from mlsub.log.changes import Change
from mlsub.present import document as doc
from mlsub.review.fingerprints import must_be_exact
from mlsub.score.difference.measure import EntrySide
from mlsub.score.difference.words import PHASES, part_name, part_words, rate
from mlsub.submission.report import SCALING_TOLERANCE

_NONE = "-"
_MEANINGS: dict[str, doc.Meaning] = {
    "new": "good",
    "gone": "bad",
    "changed": "note",
    "accepted": "good",
    "rejected": "bad",
}
#: The most entries without a counterpart that are named; half of the last digit that is shown of minutes.
_NAMED, _VISIBLE = 20, 5e-7
#: A part of a chart that is a smaller share of all changes goes into what is left, which is drawn where it is seen.
_SMALL, _SEEN = 0.005, 0.0005
_NO_FINDING = {
    "borrow": "Nothing speaks against borrowing, as far as files can tell.",
    "resubmit": "Nothing speaks against submitting it again, as far as files can tell.",
}
_OVERVIEW = (
    doc.Column("entries"),
    *(doc.Column(name, number=True) for name in ("A min", "B min", "change")),
    doc.Column("mostly by", leave_out=1),
)
#: Of a difference that is smaller than so much of its largest part, shares say nothing.
_LEAST_SHARED = 0.2
_PARTS = (doc.Column("minutes", number=True), doc.Column("share", number=True, leave_out=1), doc.Column("because"))
_SIDE_BY_SIDE = (doc.Column(""), doc.Column("A"), doc.Column("B"))
_PHASES = (doc.Column(""), doc.Column("A", number=True), doc.Column("B", number=True))


def sides_of(**sides: Side) -> doc.Facts:
    """The packages or trainings that are compared."""
    return doc.Facts(
        tuple(
            (name, (doc.Span(side.path, "path"), f" ({side.usage} v{side.round}, ", marked(side.official), ")"))
            for name, side in sides.items()
        )
    )


def warnings_of(compared: Iterable[EntryChange | PairComparison]) -> list[doc.Words]:
    """Why some may not be compared, each reason once."""
    reasons = dict.fromkeys(one.warning for one in compared if one.warning)
    return [(doc.Span("Warning: ", "note"), f"{reason}.") for reason in reasons]


def _list_changes(changes: Iterable[Change]) -> doc.Facts:
    """Values that differ, by name."""
    said = ((one, (one.note or "").replace("old:", "A:").replace("new:", "B:")) for one in changes)
    notes = ((one, f" ({note})" if note else "") for one, note in said)
    return doc.Facts(
        tuple((one.name, f"{value_words(one.old)} -> {value_words(one.new)}{note}") for one, note in notes)
    )


def value_words(value: object) -> str:
    """Return a value with six decimals; a dash for none."""
    if value is None:
        return _NONE
    return f"{value:.6f}" if isinstance(value, float) else str(value) or '""'


def marked(word: str) -> doc.Span:
    """Return a verdict or a kind of change in its colour."""
    return doc.Span(word, _MEANINGS.get(word, "plain"))


def trainings_document(found: Comparison) -> doc.Document:
    """Return the document on trainings: findings first, then an overview of several pairs, then each pair."""
    return doc.document(
        "Comparison of two trainings",
        sides_of(A=found.old, B=found.new),
        *_findings_blocks(found),
        _overview_section(found),
        *map(_pair_section, found.pairs),
        _list_unpaired(found),
    )


def _findings_blocks(found: Comparison) -> Iterator[doc.Block]:
    if found.findings:
        yield doc.Findings(found.findings)
    elif found.purpose in _NO_FINDING:
        yield doc.Text(_NO_FINDING[found.purpose])
    if found.purpose == "resubmit" and must_be_exact(found.new.usage, found.new.round):
        yield doc.Text("Open an issue in the submission repository before the first review meeting. No file shows it.")


def _overview_section(found: Comparison) -> doc.Section | None:
    """Several pairs as a table, each with its largest part."""
    if len(found.pairs) < 2:
        return None
    many = len({side.organisation for pair in found.pairs for side in (pair.old, pair.new)}) > 1
    rows: list[tuple[doc.Cell, ...]] = []
    for pair in found.pairs:
        names = dict.fromkeys(_side_name(side, organisation=many) for side in (pair.old, pair.new))
        change = "" if pair.reduction is None else f"{_signless(-pair.reduction * 100, 2, '+')} %"
        largest = max(pair.parts, key=lambda part: abs(part.minutes), default=None)
        mostly = part_words(largest, pair.old, pair.new) if largest and abs(largest.minutes) >= _VISIBLE else ""
        rows.append((" -> ".join(names), value_words(pair.old.minutes), value_words(pair.new.minutes), change, mostly))
    warnings = doc.Items(tuple(warnings_of(found.pairs)))
    return doc.section(f"{len(rows)} pairs", doc.Table(_OVERVIEW, tuple(rows)), warnings)


def _side_name(side: EntrySide, *, organisation: bool) -> str:
    return f"{side.organisation} {side.name}" if organisation and side.organisation else side.name


def _list_unpaired(found: Comparison) -> doc.Items:
    """Entries without a counterpart."""
    sides = (("A", found.only_old), ("B", found.only_new))
    how = "Pair what belongs together with --pair."
    return doc.Items(tuple(f"Only in {side}: {first_few(names, _NAMED)}. {how}" for side, names in sides if names))


def _pair_section(pair: PairComparison) -> doc.Section | None:
    """Which entries are compared, the answer, and what it rests on, what matters most first."""
    many = pair.old.organisation != pair.new.organisation
    titles = [
        f"{_side_name(side, organisation=many)} ({side.usage} v{side.round}, {side.division or 'no division'})"
        for side in (pair.old, pair.new)
    ]
    values, number, fields = pair.hyperparameters, len(pair.hyperparameters), len(pair.fields)
    differ = f"{number} differ" if number > 1 else "1 differs" if number else "none differs"
    return doc.section(
        " -> ".join(titles),
        doc.Text(pair.answer),
        *map(doc.Text, warnings_of([pair])),
        _parts_section(pair),
        _facts_section(pair),
        _phases_section(pair),
        _curves_chart(pair),
        doc.section(
            f"Hyperparameters and sizes, as most runs logged them: {differ}, {pair.same} are the same",
            _list_changes(values) if values else doc.Text("Both train with the same values."),
        ),
        doc.section(
            f"System description: {fields} field{' differs' if fields == 1 else 's differ'}", _list_changes(pair.fields)
        ),
    )


def _parts_section(pair: PairComparison) -> doc.Section | None:
    if all(abs(part.minutes) < _VISIBLE for part in pair.parts):
        return None
    whole = sum(part.minutes for part in pair.parts)
    is_shared = abs(whole) > _LEAST_SHARED * max(abs(part.minutes) for part in pair.parts)
    rows = []
    for part in pair.parts:
        share = f"{_signless(part.minutes / whole * 100, 1)} %" if is_shared else ""
        rows.append((_signless(part.minutes, 6, "+"), share, part_words(part, pair.old, pair.new)))
    rows.append((_signless(whole, 6, "+"), "", "together"))
    return doc.section("What makes the difference", doc.Table(_PARTS, tuple(rows), key=2), _parts_chart(pair))


def _parts_chart(pair: PairComparison) -> doc.Chart:
    """Draw the minutes that each part adds or takes, one after the other, and what they come to."""
    moved = sum(abs(part.minutes) for part in pair.parts)
    steps = [(part_name(part), part.minutes) for part in pair.parts if abs(part.minutes) > _SMALL * moved]
    whole = sum(part.minutes for part in pair.parts)
    rest = whole - sum(minutes for _, minutes in steps)
    steps += [("all else", rest)] * (abs(rest) > _SEEN * moved)
    ends = [0.0, *accumulate(minutes for _, minutes in steps)]
    spans = [(ends[row], ends[row + 1], row) for row, (_, minutes) in enumerate(steps)]
    sides = (f"{name}: {_side_name(side, organisation=True)}." for name, side in (("A", pair.old), ("B", pair.new)))
    series = (
        doc.Series("longer", "spans", 3, tuple(span for span in spans if span[1] > span[0])),
        doc.Series("shorter", "spans", 0, tuple(span for span in spans if span[1] <= span[0])),
        doc.Series("together", "spans", 5, ((0.0, whole, len(steps)),)),
    )
    x, y = doc.Axis("minutes that B takes longer than A"), doc.Axis("part", names=(*(n for n, _ in steps), "together"))
    return doc.Chart(title="Minutes by part", about=" ".join((*sides, pair.answer)), x=x, y=y, series=series)


def _curves_chart(pair: PairComparison) -> doc.Chart | None:
    """Draw the quality at the evaluations of a run of both; None where one has none, or measures something else."""
    if not pair.old.curve or not pair.new.curve or pair.old.trains != pair.new.trains:
        return None
    series = (doc.Series("A", "curve", 2, pair.old.curve), doc.Series("B", "curve", 4, pair.new.curve))
    x, y = doc.Axis("minutes since run_start"), doc.Axis("quality, as logged")
    about = "Of each side the run whose time is the median."
    return doc.Chart(title="Quality over minutes since run_start", about=about, x=x, y=y, series=series)


def _signless(value: float, digits: int, sign: str = "") -> str:
    """A rounded number; a zero has no minus."""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def _facts_section(pair: PairComparison) -> doc.Section | None:
    sides = (pair.old, pair.new)
    tests = [side.convergence for side in sides]
    factors = {test.scaling: f", factor {test.scaling:.6g}" for test in tests if test.scaling != 1}
    means = [
        doc.Text(f"{name} has no score; its time is the mean of {side.counted} runs.")
        for name, side in zip("AB", sides, strict=True)
        if side.minutes_of == "mean" and side.minutes is not None and side.run is None
    ]
    # Apart from rounding.
    other = any(not math.isclose(one.scaling, one.expected_scaling, rel_tol=SCALING_TOLERANCE) for one in sides)
    ratio = [] if pair.ratio is None or pair.reduction is None else [("ratio A/B", "", f"{pair.ratio:.6f}")]
    ratio += [] if pair.reduction is None else [("reduction", "", f"{pair.reduction * 100:.3f} %")]
    rows: list[tuple[doc.Cell, ...]] = [
        ("verdict", *(side.official for side in sides)),
        ("runs (converged)", *(f"{side.runs} ({side.convergence.runs})" for side in sides)),
        ("unscaled minutes", *(value_words(side.unscaled) for side in sides)),
        ("scaling", *(f"{side.scaling:.6g}" for side in sides)),
        ("minutes", *(value_words(side.minutes) for side in sides)),
        *([("expected minutes", *(value_words(side.expected) for side in sides))] if other else []),
        *ratio,
        ("accelerators", *(f"{s.accelerators} x {s.accelerator or '?'}" if s.accelerators else _NONE for s in sides)),
        ("chip-minutes", *(value_words(side.accelerator_minutes) for side in sides)),
        ("global batch size", *(_known(side.batch_size) for side in sides)),
        ("trained to convergence", *map(_convergence_words, sides)),
        ("convergence test", *(f"{one.verdict}{factors.get(one.scaling, '')}" for one in tests)),
        ("evaluations of a run", *(_known(side.evaluations) for side in sides)),
        ("blocks of a run", *(_known(side.blocks) for side in sides)),
        ("samples/s in training", *(_known(side.throughput, rate) for side in sides)),
    ]
    of_entry = ("scaling", "unscaled minutes", "convergence test") if all(side.run for side in sides) else ()
    kept = tuple(row for row in rows if row[1:] != (_NONE, _NONE) and row[0] not in of_entry)
    return doc.section("Side by side", doc.Table(_SIDE_BY_SIDE, kept), *means)


def _known(value: float | None, words: Callable[[float], str] = in_digits) -> str:
    return _NONE if value is None else words(value)


def _convergence_words(side: EntrySide) -> str:
    known = side.convergence
    if known.mean is None or known.minimum is None or known.maximum is None:
        return _NONE
    span = "" if known.minimum == known.maximum else f" ({in_digits(known.minimum)} to {in_digits(known.maximum)})"
    return f"{in_digits(known.mean)} {known.unit}{span}"


def _phases_section(pair: PairComparison) -> doc.Section | None:
    sides = (pair.old, pair.new)
    times = [side.phases for side in sides]
    rows = tuple(
        (PHASES[name], *("not logged" if (s := known.get(name)) is None else f"{s:.3f}" for known in times))
        for name in times[0] | times[1]
    )
    without = [
        doc.Text(f"{name} logs no intervals of evaluation; they are within training or pauses.")
        for name, side, known in zip("AB", sides, times, strict=True)
        if side.counted and known.get("training") is not None and known.get("evaluation") is None
    ]
    counted = f"mean of {pair.old.counted} and {pair.new.counted} runs that count"
    return doc.section(f"Phases of a run in seconds, {counted}", doc.Table(_PHASES, rows), *without)
