"""A comparison of two packages, or of two trainings, as a document; what matters most comes first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from mlsub.commands.compare import model
from mlsub.commands.compare.model import Comparison, EntryChange, EntrySide, PackageDiff, PairComparison
from mlsub.commands.compare.resubmit import must_be_exact
from mlsub.commands.compare.words import TELLING, amount, part_words, phase_words, rate, short_value
from mlsub.io.show import first_few
from mlsub.log.changes import Change
from mlsub.present import document as doc
from mlsub.present.text import render
from mlsub.submission.report import SCALING_TOLERANCE

T = TypeVar("T")

_NONE = "-"
#: The most lines of a short answer, and the most rows of one of its tables.
_LINES, _MOST = 60, 15
_ORDER = ("changed", "added", "removed", "same")
_MARKS = {"added": "new", "removed": "gone", "changed": "changed", "same": "same"}
_MEANINGS: dict[str, doc.Meaning] = {
    "new": "good",
    "gone": "bad",
    "changed": "note",
    "accepted": "good",
    "rejected": "bad",
}
_ENTRIES = (
    doc.Column("", when_narrow="keep"),
    doc.Column("entry"),
    doc.Column("division", leave_out=1),
    doc.Column("runs", when_narrow="keep", leave_out=2),
    *(doc.Column(name, number=True) for name in ("old min", "new min", "change")),
    doc.Column("verdict"),
)
_FINDINGS = (
    doc.Column("", when_narrow="keep"),
    doc.Column("kind"),
    doc.Column("places", when_narrow="keep"),
    doc.Column("what, and the first place that differs"),
)
_FILES = (doc.Column("", when_narrow="keep"), doc.Column("path"))
#: Values of an entry that a row does not show, in words.
_BEHIND = {
    "scaling": "scaling",
    "unscaled": "unscaled minutes",
    "expected": "expected minutes",
    "compliant": "compliant runs",
    "energy": "joules",
    "rcp": "convergence test",
}
#: The most entries without a counterpart that are named; half of the last digit that is shown of minutes.
_NAMED, _VISIBLE = 20, 5e-7
_NO_FINDING = {
    "borrow": "Nothing speaks against borrowing, as far as files can tell.",
    "resubmit": "Nothing speaks against submitting it again, as far as files can tell.",
}
_OVERVIEW = (
    doc.Column("entries"),
    *(doc.Column(name, number=True) for name in ("A min", "B min", "change")),
    doc.Column("mostly by", leave_out=1),
)
_PARTS = (doc.Column("minutes", number=True), doc.Column("share", number=True, leave_out=1), doc.Column("because"))
_SIDE_BY_SIDE = (doc.Column(""), doc.Column("A"), doc.Column("B"))
_PHASES = (doc.Column(""), doc.Column("A", number=True), doc.Column("B", number=True))


def _sides(**sides: model.Side) -> doc.Facts:
    """The packages or trainings that are compared."""
    return doc.Facts(
        tuple(
            (name, (doc.Span(side.path, "path"), f" ({side.usage} v{side.round}, ", _word(side.official), ")"))
            for name, side in sides.items()
        )
    )


def _warnings(compared: Iterable[EntryChange | PairComparison]) -> list[doc.Words]:
    """Why some may not be compared, each reason once."""
    reasons = dict.fromkeys(one.warning for one in compared if one.warning)
    return [(doc.Span("Warning: ", "note"), f"{reason}.") for reason in reasons]


def _changes(changes: Iterable[Change]) -> doc.Facts:
    """Values that differ, by name."""
    notes = ((one, f" ({one.note})" if one.note else "") for one in changes)
    return doc.Facts(tuple((one.name, f"{_value(one.old)} -> {_value(one.new)}{note}") for one, note in notes))


def _value(value: object) -> str:
    if value is None:
        return _NONE
    return f"{value:.6f}" if isinstance(value, float) else str(value) or '""'


def _minutes(value: float | None) -> str:
    return _NONE if value is None else f"{value:.6f}"


def _word(word: str) -> doc.Span:
    return doc.Span(word, _MEANINGS.get(word, "plain"))


# Packages


class _Shown:
    """Keeps the first of many, and counts what it leaves out."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.left_out: dict[str, int] = {}

    def first(self, rows: Sequence[T], what: str, share: float = 1) -> tuple[T, ...]:
        """Return the first of some; ``share`` is how much of the room they may take, at least one row."""
        most = len(rows) if self.most is None else max(1, int(self.most * share))
        self.left_out[what] = self.left_out.get(what, 0) + max(0, len(rows) - most)
        return tuple(rows[:most])

    def names(self, names: Sequence[str]) -> doc.Cell:
        """Return names below each other, or the first and how many more."""
        if self.most is None or len(names) == 1:
            return doc.Lines(tuple(names))
        return f"{names[0]} and {len(names) - 1} more"

    def value(self, value: object) -> str:
        """Return a value, shortened unless all is shown."""
        return _value(value) if self.most is None else short_value(_value(value))

    @property
    def words(self) -> doc.Text | None:
        """How much is left out, and how to see it."""
        counts = ", ".join(f"{what} ({count})" for what, count in self.left_out.items() if count)
        return doc.Text(f"Not shown: {counts}. Use -v to see all.") if counts else None


def packages_document(diff: PackageDiff, *, full: bool = True) -> doc.Document:
    """Return the document on two packages: all of it, or what comes first, in 60 lines of 80 columns."""
    for most in (None,) if full else (None, *range(_MOST, 0, -1)):
        found = _packages(diff, _Shown(most))
        if render(found, 80).count("\n") <= _LINES:
            break
    return found


def _packages(diff: PackageDiff, shown: _Shown) -> doc.Document:
    sides, title = _sides(old=diff.old, new=diff.new), "Comparison of two packages"
    if not diff.different:
        return doc.document(title, sides, doc.Text("No difference."))
    parts = [_entries(diff, shown), _systems(diff, shown), _configuration(diff, shown)]
    parts += [_finding_changes(diff, shown), _files(diff, shown)]
    return doc.document(title, sides, *parts, shown.words)


def _entries(diff: PackageDiff, shown: _Shown) -> doc.Section | None:
    """Those that became faster first, then the slower ones, the new ones and those that are gone."""
    entries = sorted(diff.entries, key=lambda entry: 0.0 if entry.percent is None else entry.percent)
    by_change = {change: [one for one in entries if one.change == change] for change in _ORDER}
    kept = [*shown.first(by_change["changed"], "changed entries", 2)]
    kept += shown.first(by_change["added"], "new entries")
    kept += shown.first(by_change["removed"], "entries gone", 0.5)
    kept += by_change["same"] if shown.most is None else []
    renamed = [f"{entry.was} {entry.benchmark} -> {entry.system}" for entry in kept if entry.was and shown.most is None]
    notes = (*_warnings(diff.entries), *_behind(diff, kept), *renamed)
    counts = _counted(entry.change for entry in diff.entries)
    table = doc.Table(_ENTRIES, tuple(_entry_row(diff, entry) for entry in kept), key=1)
    return doc.section(f"Entries: {counts}", table, doc.Items(shown.first(notes, "notes on entries", 0.5)))


def _entry_row(diff: PackageDiff, entry: EntryChange) -> tuple[doc.Cell, ...]:
    published = entry.value("published")
    old, arrow, new = _pair(entry.value("verdict")).partition(" -> ")
    return (
        _word(_MARKS[entry.change]),
        _entry_words(diff, entry),
        _pair(entry.value("division")),
        _pair(entry.value("runs")),
        _minutes(published.old),
        _minutes(published.new),
        "" if entry.percent is None else f"{entry.percent:+.2f} %",
        (_word(old), arrow, _word(new)),
    )


def _entry_words(diff: PackageDiff, entry: EntryChange) -> str:
    """An entry in words; with its organisation where there are many."""
    many = len({one.organisation for one in diff.entries}) > 1
    parts = [entry.organisation] * many + [entry.system, entry.scaling_type or "", entry.benchmark]
    return " ".join(filter(None, parts))


def _behind(diff: PackageDiff, entries: Iterable[EntryChange]) -> Iterator[str]:
    """What lies behind a score that is scaled, and other values that changed."""
    for entry in entries:
        if entry.change != "changed":
            continue
        scaling, published, expected = (entry.value(name) for name in ("scaling", "published", "expected"))
        hidden = {
            "unscaled": {scaling.old, scaling.new} == {1.0},
            "expected": (expected.old, expected.new) == (published.old, published.new),
        }
        values = ((words, entry.value(name)) for name, words in _BEHIND.items() if not hidden.get(name))
        changed = [f"{words} {_pair(value)}" for words, value in values if value.old != value.new]
        if changed:
            yield f"{_entry_words(diff, entry)}: {', '.join(changed)}"


def _systems(diff: PackageDiff, shown: _Shown) -> doc.Section | None:
    # Of a renamed system, system_name says again what it is called.
    changed = [
        (one.system, [field for field in one.fields if not (one.was and field.name == "system_name")])
        for one in diff.systems
    ]
    named = {change: [one.system for one in diff.systems if one.change == change] for change in ("added", "removed")}
    notes = [f"{_MARKS[change]}: {_first(shown, names)}" for change, names in named.items() if names]
    renamed = [f"{one.was} -> {one.system}" for one in diff.systems if one.was is not None]
    notes += [f"renamed: {_first(shown, renamed)}"] if renamed else []
    counts = _counted(system.change for system in diff.systems)
    table = _by_value(changed, "system", "fields of systems", shown)
    return doc.section(f"System descriptions: {counts}", table, doc.Items(tuple(notes)))


def _first(shown: _Shown, names: Sequence[str]) -> str:
    return ", ".join(names) if shown.most is None else first_few(names, 2)


def _configuration(diff: PackageDiff, shown: _Shown) -> doc.Section | None:
    """The hyperparameters that differ, those of most entries first."""
    changed = [(_entry_words(diff, entry), entry.hyperparameters) for entry in diff.entries]
    title = "Hyperparameters, as most runs logged them (- where they did not)"
    return doc.section(title, _by_value(changed, "entries", "hyperparameters", shown))


def _by_value(changed: Iterable[tuple[str, Sequence[Change]]], of: str, what: str, shown: _Shown) -> doc.Table:
    """A row for each change, with all that have it: what says much first, then what most have."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name, changes in changed:
        for one in changes:
            note = f" ({one.note})" if one.note else ""
            alike.setdefault((one.name, shown.value(one.old), f"{shown.value(one.new)}{note}"), []).append(name)
    ordered = sorted(alike.items(), key=lambda item: (item[0][0] not in TELLING, -len(item[1]), item[0]))
    rows = [(*key, shown.names(names)) for key, names in ordered]
    columns = (doc.Column(what.partition(" ")[0].rstrip("s"), when_narrow="keep"), doc.Column("old"), doc.Column("new"))
    return doc.Table((*columns, doc.Column(of)), shown.first(rows, what, 0.5))


def _finding_changes(diff: PackageDiff, shown: _Shown) -> doc.Section | None:
    rows: list[tuple[doc.Cell, ...]] = []
    for change in diff.findings:
        kind = change.severity if change.kind == "official" else f"{change.kind} {change.severity}"
        mark = "new" if not change.old else "gone" if not change.new else "other places"
        # A finding that is gone is good news.
        meaning: doc.Meaning = "plain" if change.old and change.new else "good" if change.old else "bad"
        what = doc.Lines(((f"{change.message} ", doc.Span(f"[{change.rule}]", "code")), doc.Span(change.place, "path")))
        rows.append((doc.Span(mark, meaning), kind, f"{change.old} -> {change.new}", what))
    return doc.section("Findings", doc.Table(_FINDINGS, shown.first(rows, "findings", 0.4), key=3))


def _files(diff: PackageDiff, shown: _Shown) -> doc.Section | None:
    """What became of files; of two rounds, where all are others, their numbers unless all is shown."""
    files = diff.files
    listed = {"new": files.added, "gone": files.removed, "changed": files.changed, "unreadable": files.unknown}
    rows: list[tuple[doc.Cell, ...]] = [
        (_word(name), line) for name, paths in listed.items() for line in _by_folder([(path,) for path in paths])
    ]
    rows += [("moved", line) for line in _by_folder(files.moved)]
    counted = {"new": files.added, "gone": files.removed, "changed": files.changed, "moved": files.moved}
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in counted.items() if paths)
    cut = (doc.Text(f"Not all files were listed: {files.cut}."),) if files.cut else ()
    title = f"Files: {counts or 'none differ'}; {files.same} the same"
    if diff.old.round != diff.new.round and shown.most is not None:
        return doc.section(title, *cut) or doc.Section(title)
    return doc.section(title, doc.Table(_FILES, shown.first(rows, "folders of files", 0.4), key=1), *cut)


def _by_folder(files: Iterable[tuple[str, ...]]) -> Iterator[doc.Words]:
    """A file alone by its path, several of a folder by their number; of one that moved, old and new path."""
    folders: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for paths in files:
        folders.setdefault(tuple(path.rpartition("/")[0] for path in paths), []).append(paths)
    for folder, members in folders.items():
        alone = len(members) == 1
        names = [doc.Span(name, "path") for name in (members[0] if alone else (f"{one or '.'}/" for one in folder))]
        words = [word for name in names for word in (" -> ", name)][1:]
        yield (*words,) if alone else (*words, f" ({len(members)} files)")


def _counted(changes: Iterable[str]) -> str:
    known = list(changes)
    return ", ".join(f"{known.count(change)} {mark}" for change, mark in _MARKS.items() if change in known) or "none"


def _pair(change: Change) -> str:
    """Both values, or the one that there is."""
    known = [value for value in (change.old, change.new) if value is not None]
    if change.old == change.new or len(known) < 2:
        return _value(known[0] if known else None)
    return f"{_value(change.old)} -> {_value(change.new)}"


# Trainings


def trainings_document(found: Comparison) -> doc.Document:
    """Return the document on trainings: findings first, then an overview of several pairs, then each pair."""
    return doc.document(
        "Comparison of two trainings",
        _sides(A=found.old, B=found.new),
        *_findings(found),
        _overview(found),
        *map(_pair_section, found.pairs),
        _left_over(found),
    )


def _findings(found: Comparison) -> Iterator[doc.Block]:
    if found.findings:
        yield doc.Findings(found.findings)
    elif found.purpose in _NO_FINDING:
        yield doc.Text(_NO_FINDING[found.purpose])
    if found.purpose == "resubmit" and must_be_exact(found.new.usage, found.new.round):
        yield doc.Text("Open an issue in the submission repository before the first review meeting. No file shows it.")


def _overview(found: Comparison) -> doc.Section | None:
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
        rows.append((" -> ".join(names), _minutes(pair.old.minutes), _minutes(pair.new.minutes), change, mostly))
    warnings = doc.Items(tuple(_warnings(found.pairs)))
    return doc.section(f"{len(rows)} pairs", doc.Table(_OVERVIEW, tuple(rows)), warnings)


def _side_name(side: EntrySide, *, organisation: bool) -> str:
    return f"{side.organisation} {side.name}" if organisation and side.organisation else side.name


def _left_over(found: Comparison) -> doc.Items:
    """Entries without a counterpart."""
    items = []
    for side, names in (("A", found.only_old), ("B", found.only_new)):
        if names:
            items.append(f"Only in {side}: {first_few(names, _NAMED)}. Pair what belongs together with --pair.")
    return doc.Items(tuple(items))


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
        *map(doc.Text, _warnings([pair])),
        _parts(pair),
        _facts(pair),
        _phases(pair),
        doc.section(
            f"Hyperparameters and sizes, as most runs logged them: {differ}, {pair.same} are the same",
            _changes(values) if values else doc.Text("Both train with the same values."),
        ),
        doc.section(
            f"System description: {fields} field{' differs' if fields == 1 else 's differ'}", _changes(pair.fields)
        ),
    )


def _parts(pair: PairComparison) -> doc.Section | None:
    if all(abs(part.minutes) < _VISIBLE for part in pair.parts):
        return None
    whole = sum(part.minutes for part in pair.parts)
    rows = []
    for part in pair.parts:
        share = f"{_signless(part.minutes / whole * 100, 1)} %" if abs(whole) > 1e-9 else ""
        rows.append((_signless(part.minutes, 6, "+"), share, part_words(part, pair.old, pair.new)))
    rows.append((_signless(whole, 6, "+"), "", "together"))
    return doc.section("What makes the difference", doc.Table(_PARTS, tuple(rows), key=2))


def _signless(value: float, digits: int, sign: str = "") -> str:
    """A rounded number; a zero has no minus."""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def _facts(pair: PairComparison) -> doc.Section | None:
    sides = (pair.old, pair.new)
    tests = [side.convergence for side in sides]
    factors = {test.scaling: f", factor {test.scaling:.6g}" for test in tests if test.scaling != 1}
    means = [
        doc.Text(f"{name} has no score; its time is the mean of {side.counted} runs.")
        for name, side in zip("AB", sides, strict=True)
        if side.minutes_of == "mean" and side.minutes is not None
    ]
    # Apart from rounding.
    other = any(not math.isclose(one.scaling, one.expected_scaling, rel_tol=SCALING_TOLERANCE) for one in sides)
    ratio = [] if pair.ratio is None or pair.reduction is None else [("ratio A/B", "", f"{pair.ratio:.6f}")]
    ratio += [] if pair.reduction is None else [("reduction", "", f"{pair.reduction * 100:.3f} %")]
    rows: list[tuple[doc.Cell, ...]] = [
        ("verdict", *(side.official for side in sides)),
        ("runs (converged)", *(f"{side.runs} ({side.convergence.runs})" for side in sides)),
        ("unscaled minutes", *(_minutes(side.unscaled) for side in sides)),
        ("scaling", *(f"{side.scaling:.6g}" for side in sides)),
        ("minutes", *(_minutes(side.minutes) for side in sides)),
        *([("expected minutes", *(_minutes(side.expected) for side in sides))] if other else []),
        *ratio,
        ("accelerators", *(f"{s.accelerators} x {s.accelerator or '?'}" if s.accelerators else _NONE for s in sides)),
        ("accelerator-minutes", *(_minutes(side.accelerator_minutes) for side in sides)),
        ("global batch size", *(_NONE if side.batch_size is None else amount(side.batch_size) for side in sides)),
        ("trained to convergence", *map(_range, sides)),
        ("convergence test", *(f"{one.verdict}{factors.get(one.scaling, '')}" for one in tests)),
        ("samples/s in training", *(_NONE if side.throughput is None else rate(side.throughput) for side in sides)),
    ]
    kept = tuple(row for row in rows if row[1:] != (_NONE, _NONE))
    return doc.section("Side by side", doc.Table(_SIDE_BY_SIDE, kept), *means)


def _range(side: EntrySide) -> str:
    known = side.convergence
    if known.mean is None or known.minimum is None or known.maximum is None:
        return _NONE
    span = "" if known.minimum == known.maximum else f" ({amount(known.minimum)} to {amount(known.maximum)})"
    return f"{amount(known.mean)} {known.unit}{span}"


def _phases(pair: PairComparison) -> doc.Section | None:
    sides = (pair.old, pair.new)
    times = [{phase.name: phase.seconds for phase in side.phases} for side in sides]
    rows = tuple(
        (phase_words(name), *("not logged" if (s := known.get(name)) is None else f"{s:.3f}" for known in times))
        for name in times[0] | times[1]
    )
    without = [
        doc.Text(f"{name} logs no intervals of evaluation; they are within training or pauses.")
        for name, side, known in zip("AB", sides, times, strict=True)
        if side.counted and known.get("training") is not None and known.get("evaluation") is None
    ]
    counted = f"mean of {pair.old.counted} and {pair.new.counted} runs that count"
    return doc.section(f"Phases of a run in seconds, {counted}", doc.Table(_PHASES, rows), *without)
