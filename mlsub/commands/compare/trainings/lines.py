"""What both renderers of a comparison share: for each pair, sections as rows of plain cells."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlsub.commands.compare.packages.lines import Section
from mlsub.commands.compare.trainings.model import Comparison, EntrySide, PairComparison
from mlsub.commands.compare.trainings.words import amount, part_words, phase_words, rate, side_words
from mlsub.io.plain import plain
from mlsub.submission.report import SCALING_TOLERANCE

_NONE = "-"
#: The most entries without a counterpart that are named.
_NAMED = 20


def heading(found: Comparison) -> list[tuple[str, str]]:
    """The two sides."""
    return [
        (name, plain(f"{side.path} ({side.usage} v{side.round}, {side.official})"))
        for name, side in (("A", found.old), ("B", found.new))
    ]


def title(pair: PairComparison) -> str:
    """Which entries are compared."""
    many = pair.old.organisation != pair.new.organisation
    one, other = (side_words(side, organisation=many) for side in (pair.old, pair.new))
    return f"{one} -> {other}"


def overview(found: Comparison) -> Section | None:
    """Several pairs as a table, each with its largest part."""
    if len(found.pairs) < 2:
        return None
    many = len({side.organisation for pair in found.pairs for side in (pair.old, pair.new)}) > 1
    rows = []
    for pair in found.pairs:
        names = list(dict.fromkeys(_name(side, organisation=many) for side in (pair.old, pair.new)))
        minutes = f"{_minutes(pair.old.minutes)} -> {_minutes(pair.new.minutes)}"
        change = "" if pair.reduction is None else f" ({_signless(-pair.reduction * 100, 2, '+')} %)"
        largest = max(pair.parts, key=lambda part: abs(part.minutes), default=None)
        mostly = part_words(largest, pair.old, pair.new) if largest and abs(largest.minutes) >= 5e-7 else ""
        rows.append((" -> ".join(names), minutes + change, mostly))
    return Section(f"{len(rows)} pairs", ("entries", "minutes", "mostly by"), tuple(rows))


def _name(side: EntrySide, *, organisation: bool) -> str:
    return plain(f"{side.organisation} {side.name}" if organisation and side.organisation else side.name)


def left_over(found: Comparison) -> Iterator[str]:
    """Entries without a counterpart."""
    for side, names in (("A", found.only_old), ("B", found.only_new)):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"Only in {side}: {plain(', '.join(names[:_NAMED]))}{more}. Pair what belongs together with --pair."


def sections(pair: PairComparison) -> Iterator[Section]:
    """The sections on a pair that have something to say, what matters most first."""
    for section in (_parts(pair), _facts(pair), _phases(pair), _hyperparameters(pair), _system(pair)):
        if section.rows or section.notes:
            yield section


def _parts(pair: PairComparison) -> Section:
    rows = []
    whole = sum(part.minutes for part in pair.parts)
    for part in pair.parts:
        share = f"{_signless(part.minutes / whole * 100, 1)} %" if abs(whole) > 1e-9 else ""
        rows.append((_signless(part.minutes, 6, "+"), share, part_words(part, pair.old, pair.new)))
    if all(abs(part.minutes) < 5e-7 for part in pair.parts):
        rows = []
    if rows:
        rows.append((_signless(whole, 6, "+"), "", "together"))
    return Section("What makes the difference", ("minutes", "share", "because"), tuple(rows))


def _signless(value: float, digits: int, sign: str = "") -> str:
    """A rounded number; a zero has no minus."""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def _facts(pair: PairComparison) -> Section:
    old, new = pair.old, pair.new
    notes = [
        f"{name} has no score; its time is the mean of {side.counted} runs."
        for name, side in (("A", old), ("B", new))
        if side.minutes_of == "mean" and side.minutes is not None
    ]
    ratio = [] if pair.ratio is None or pair.reduction is None else [("ratio A/B", "", f"{pair.ratio:.6f}")]
    ratio += [] if pair.reduction is None else [("reduction", "", f"{pair.reduction * 100:.3f} %")]
    rows = [
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
        (
            "samples/s in training",
            *(_rate(side.throughput) for side in (old, new)),
        ),
    ]
    kept = tuple(row for row in rows if row[1:] != (_NONE, _NONE))
    return Section("Side by side", ("", "A", "B"), kept, tuple(notes))


def _phases(pair: PairComparison) -> Section:
    names = dict.fromkeys(phase.name for phase in (*pair.old.phases, *pair.new.phases))
    rows = [(phase_words(name), _seconds(pair.old, name), _seconds(pair.new, name)) for name in names]
    notes = [
        f"{name} logs no intervals of evaluation; they are within training or pauses."
        for name, side in (("A", pair.old), ("B", pair.new))
        if side.counted and side.seconds("training") is not None and side.seconds("evaluation") is None
    ]
    counted = f"mean of {pair.old.counted} and {pair.new.counted} runs that count"
    return Section(f"Phases of a run in seconds, {counted}", ("", "A", "B"), tuple(rows), tuple(notes))


def _hyperparameters(pair: PairComparison) -> Section:
    rows = [
        (plain(change.name), _text(change.old), _text(change.new) + (f" ({plain(change.note)})" if change.note else ""))
        for change in pair.hyperparameters
    ]
    differ = f"{len(rows)} differ" if len(rows) > 1 else "1 differs" if rows else "none differs"
    title_ = f"Hyperparameters and sizes, as most runs logged them: {differ}, {pair.same} are the same"
    return Section(title_, ("key", "A", "B"), tuple(rows), () if rows else ("Both train with the same values.",))


def _system(pair: PairComparison) -> Section:
    rows = [(plain(change.name), _text(change.old), _text(change.new)) for change in pair.fields]
    differ = "1 field differs" if len(rows) == 1 else f"{len(rows)} fields differ"
    return Section(f"System description: {differ}", ("field", "A", "B"), tuple(rows))


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
    return _NONE if side.accelerators is None else f"{side.accelerators} x {plain(side.accelerator or '?')}"


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


def _text(value: object) -> str:
    return _NONE if value is None else plain(str(value)) or '""'
