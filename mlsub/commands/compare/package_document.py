"""A comparison of two packages as a document: what became faster, what is new, what is gone, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from mlsub.commands.compare.document import marked, sides_of, value_words, warnings_of
from mlsub.commands.compare.model import EntryChange, PackageDiff
from mlsub.io.data import group_by_key
from mlsub.io.show import first_few
from mlsub.log.changes import Change
from mlsub.present import document as doc
from mlsub.present.text import render
from mlsub.score.difference.words import TELLING, short_value

T = TypeVar("T")

#: The most lines of a short answer, and the most rows of one of its tables.
_LINES, _MOST = 60, 15
_MARKS = {"added": "new", "removed": "gone", "changed": "changed", "same": "same"}
_ENTRIES = (
    doc.Column("", when_narrow="keep"),
    doc.Column("entry", when_narrow="keep"),
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
_NOT_IN_ROWS = {
    "scaling": "scaling",
    "unscaled": "unscaled minutes",
    "expected": "expected minutes",
    "compliant": "compliant runs",
    "energy": "joules",
    "rcp": "convergence test",
}


class _Shortener:
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
        return value_words(value) if self.most is None else short_value(value_words(value))

    @property
    def words(self) -> doc.Text | None:
        """How much is left out, and how to see it."""
        counts = ", ".join(f"{what} ({count})" for what, count in self.left_out.items() if count)
        return doc.Text(f"Not shown: {counts}. Use -v to see all.") if counts else None


def packages_document(diff: PackageDiff, *, full: bool = True) -> doc.Document:
    """Return the document on two packages: all of it, or what comes first, in 60 lines of 80 columns."""
    for most in (None,) if full else (None, *range(_MOST, 0, -1)):
        found = _build_document(diff, _Shortener(most))
        if render(found, 80).count("\n") <= _LINES:
            break
    return found


def _build_document(diff: PackageDiff, shown: _Shortener) -> doc.Document:
    sides, title = sides_of(old=diff.old, new=diff.new), "Comparison of two packages"
    if not diff.different:
        return doc.document(title, sides, doc.Text("No difference."))
    parts = [_entries_section(diff, shown), _systems_section(diff, shown), _hyperparameters_section(diff, shown)]
    parts += [_findings_section(diff, shown), _files_section(diff, shown)]
    return doc.document(title, sides, *parts, shown.words)


def _entries_section(diff: PackageDiff, shown: _Shortener) -> doc.Section | None:
    """Those that became faster first, then the slower ones, the new ones and those that are gone."""
    entries = sorted(diff.entries, key=lambda entry: 0.0 if entry.percent is None else entry.percent)
    by_change = {change: [one for one in entries if one.change == change] for change in _MARKS}
    kept = [*shown.first(by_change["changed"], "changed entries", 2)]
    kept += shown.first(by_change["added"], "new entries")
    kept += shown.first(by_change["removed"], "entries gone", 0.5)
    kept += by_change["same"] if shown.most is None else []
    renamed = [f"{entry.was} {entry.benchmark} -> {entry.system}" for entry in kept if entry.was and shown.most is None]
    notes = (*warnings_of(diff.entries), *_notes_on_values(diff, kept), *renamed)
    counts = _count_changes(entry.change for entry in diff.entries)
    table = doc.Table(_ENTRIES, tuple(_entry_row(diff, entry) for entry in kept), key=1)
    return doc.section(f"Entries: {counts}", table, doc.Items(shown.first(notes, "notes on entries", 0.5)))


def _entry_row(diff: PackageDiff, entry: EntryChange) -> tuple[doc.Cell, ...]:
    published = entry.value("published")
    old, arrow, new = _both_values(entry.value("verdict")).partition(" -> ")
    return (
        marked(_MARKS[entry.change]),
        _entry_words(diff, entry),
        _both_values(entry.value("division")),
        _both_values(entry.value("runs")),
        value_words(published.old),
        value_words(published.new),
        "" if entry.percent is None else f"{entry.percent:+.2f} %",
        (marked(old), arrow, marked(new)),
    )


def _entry_words(diff: PackageDiff, entry: EntryChange) -> str:
    """An entry in words; with its organisation where there are many."""
    many = len({one.organisation for one in diff.entries}) > 1
    parts = [entry.organisation] * many + [entry.system, entry.scaling_type or "", entry.benchmark]
    return " ".join(filter(None, parts))


def _notes_on_values(diff: PackageDiff, entries: Iterable[EntryChange]) -> Iterator[str]:
    """What lies behind a score that is scaled, and other values that changed."""
    for entry in entries:
        if entry.change != "changed":
            continue
        scaling, published, expected = (entry.value(name) for name in ("scaling", "published", "expected"))
        hidden = {
            "unscaled": {scaling.old, scaling.new} == {1.0},
            "expected": (expected.old, expected.new) == (published.old, published.new),
        }
        values = ((words, entry.value(name)) for name, words in _NOT_IN_ROWS.items() if not hidden.get(name))
        changed = [f"{words} {_both_values(value)}" for words, value in values if value.old != value.new]
        if changed:
            yield f"{_entry_words(diff, entry)}: {', '.join(changed)}"


def _systems_section(diff: PackageDiff, shown: _Shortener) -> doc.Section | None:
    # Of a renamed system, system_name says again what it is called.
    changed = [
        (one.system, [field for field in one.fields if not (one.was and field.name == "system_name")])
        for one in diff.systems
    ]
    lists = {
        "new": [one.system for one in diff.systems if one.change == "added"],
        "gone": [one.system for one in diff.systems if one.change == "removed"],
        "renamed": [f"{one.was} -> {one.system}" for one in diff.systems if one.was is not None],
    }
    notes = [
        f"{what}: {', '.join(names) if shown.most is None else first_few(names, 2)}"
        for what, names in lists.items()
        if names
    ]
    counts = _count_changes(system.change for system in diff.systems)
    table = _changes_table(changed, "system", "fields of systems", shown)
    return doc.section(f"System descriptions: {counts}", table, doc.Items(tuple(notes)))


def _hyperparameters_section(diff: PackageDiff, shown: _Shortener) -> doc.Section | None:
    """The hyperparameters that differ, those of most entries first."""
    changed = [(_entry_words(diff, entry), entry.hyperparameters) for entry in diff.entries]
    title = "Hyperparameters, as most runs logged them (- where they did not)"
    return doc.section(title, _changes_table(changed, "entries", "hyperparameters", shown))


def _changes_table(changed: Iterable[tuple[str, Sequence[Change]]], of: str, what: str, shown: _Shortener) -> doc.Table:
    """A row for each change, with all that have it: what says much first, then what most have."""
    alike = group_by_key(
        ((one.name, shown.value(one.old), shown.value(one.new) + (f" ({one.note})" if one.note else "")), name)
        for name, changes in changed
        for one in changes
    )
    ordered = sorted(alike.items(), key=lambda item: (item[0][0] not in TELLING, -len(item[1]), item[0]))
    rows = [(*key, shown.names(names)) for key, names in ordered]
    columns = (doc.Column(what.partition(" ")[0].rstrip("s"), when_narrow="keep"), doc.Column("old"), doc.Column("new"))
    return doc.Table((*columns, doc.Column(of)), shown.first(rows, what, 0.5))


def _findings_section(diff: PackageDiff, shown: _Shortener) -> doc.Section | None:
    rows: list[tuple[doc.Cell, ...]] = []
    for change in diff.findings:
        kind = change.severity if change.kind == "official" else f"{change.kind} {change.severity}"
        mark = "new" if not change.old else "gone" if not change.new else "other places"
        # A finding that is gone is good news.
        meaning: doc.Meaning = "plain" if change.old and change.new else "good" if change.old else "bad"
        what = doc.Lines(((f"{change.message} ", doc.Span(f"[{change.rule}]", "code")), doc.Span(change.place, "path")))
        rows.append((doc.Span(mark, meaning), kind, f"{change.old} -> {change.new}", what))
    return doc.section("Findings", doc.Table(_FINDINGS, shown.first(rows, "findings", 0.4), key=3))


def _files_section(diff: PackageDiff, shown: _Shortener) -> doc.Section | None:
    """What became of files; of two rounds, where all are others, their numbers unless all is shown."""
    files = diff.files
    singles = {"new": files.added, "gone": files.removed, "changed": files.changed, "unreadable": files.unknown}
    kinds = {name: tuple((path,) for path in paths) for name, paths in singles.items()} | {"moved": files.moved}
    rows = [(marked(name), line) for name, paths in kinds.items() for line in _folder_lines(paths)]
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in kinds.items() if paths and name != "unreadable")
    cut = (doc.Text(f"Not all files were listed: {files.cut}."),) if files.cut else ()
    title = f"Files: {counts or 'none differ'}; {files.same} the same"
    if diff.old.round != diff.new.round and shown.most is not None:
        return doc.section(title, *cut) or doc.Section(title)
    return doc.section(title, doc.Table(_FILES, shown.first(rows, "folders of files", 0.4), key=1), *cut)


def _folder_lines(files: Iterable[tuple[str, ...]]) -> Iterator[doc.Words]:
    """A file alone by its path, several of a folder by their number; of one that moved, old and new path."""
    folders = group_by_key((tuple(path.rpartition("/")[0] for path in paths), paths) for paths in files)
    for folder, members in folders.items():
        alone = len(members) == 1
        names = [doc.Span(name, "path") for name in (members[0] if alone else (f"{one or '.'}/" for one in folder))]
        words = [word for name in names for word in (" -> ", name)][1:]
        yield (*words,) if alone else (*words, f" ({len(members)} files)")


def _count_changes(changes: Iterable[str]) -> str:
    known = list(changes)
    return ", ".join(f"{known.count(change)} {mark}" for change, mark in _MARKS.items() if change in known) or "none"


def _both_values(change: Change) -> str:
    """Both values, or the one that there is."""
    known = [value for value in (change.old, change.new) if value is not None]
    if change.old == change.new or len(known) < 2:
        return value_words(known[0] if known else None)
    return f"{value_words(change.old)} -> {value_words(change.new)}"
