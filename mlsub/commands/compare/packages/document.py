"""A comparison of two packages as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlsub.commands.compare.packages.model import EntryChange, FileChanges, PackageDiff, Side
from mlsub.log.changes import Change
from mlsub.present.document import (
    Cell,
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Meaning,
    Section,
    Span,
    Table,
    Text,
    Words,
    document,
    section,
)

_MARKS = {"added": "new", "removed": "gone", "changed": "changed", "same": "same"}
_MEANINGS: dict[str, Meaning] = {"new": "good", "gone": "bad", "changed": "note", "accepted": "good", "rejected": "bad"}
_ENTRIES = (
    Column("", when_narrow="keep"),
    Column("entry"),
    Column("division", leave_out=1),
    Column("runs", when_narrow="keep", leave_out=2),
    Column("old min", number=True),
    Column("new min", number=True),
    Column("change", number=True),
    Column("verdict"),
)
_SYSTEMS = (Column("field", when_narrow="keep"), Column("old"), Column("new"), Column("systems"))
_FINDINGS = (
    Column("", when_narrow="keep"),
    Column("kind"),
    Column("places", when_narrow="keep"),
    Column("what, and the first place that differs"),
)
_FILES = (Column("", when_narrow="keep"), Column("path"))
#: Values of an entry that a row does not show, in words.
_BEHIND = {
    "scaling": "scaling",
    "unscaled": "unscaled minutes",
    "expected": "expected minutes",
    "compliant": "compliant runs",
    "energy": "joules",
    "rcp": "convergence test",
}


def document_of(diff: PackageDiff) -> Document:
    """The document; what matters most comes first."""
    sides = sides_of(("old", diff.old), ("new", diff.new))
    if not diff.different:
        return document("Comparison of two packages", sides, Text("No difference."))
    return document(
        "Comparison of two packages",
        sides,
        _entries(diff),
        _hyperparameters(diff),
        _systems(diff),
        _findings(diff),
        _files(diff.files),
    )


def sides_of(*sides: tuple[str, Side]) -> Facts:
    """The packages or trainings that are compared."""
    return Facts(
        tuple(
            (name, (Span(side.path, "path"), f" ({side.usage} v{side.round}, ", _word(side.official), ")"))
            for name, side in sides
        )
    )


def _entries(diff: PackageDiff) -> Section | None:
    rows: list[tuple[Cell, ...]] = []
    for entry in diff.entries:
        published = entry.value("published")
        rows.append(
            (
                _word(_MARKS[entry.change]),
                _name(diff, entry),
                _pair(entry.value("division")),
                _pair(entry.value("runs")),
                _minutes(published.old),
                _minutes(published.new),
                "" if entry.percent is None else f"{entry.percent:+.2f} %",
                _coloured(entry.value("verdict")),
            )
        )
    renamed = _renamed((_name(diff, entry), entry.change, entry.alike) for entry in diff.entries)
    warnings = dict.fromkeys(entry.warning for entry in diff.entries if entry.warning)
    warned = ((Span("Warning: ", "note"), f"{warning}.") for warning in warnings)
    notes = Items((*warned, *_behind(diff), *renamed))
    counts = _counted(entry.change for entry in diff.entries)
    return section(f"Entries: {counts}", Table(_ENTRIES, tuple(rows), key=1), notes)


def _behind(diff: PackageDiff) -> Iterator[str]:
    """What lies behind a score that is scaled, and other values that changed."""
    for entry in diff.entries:
        if entry.change != "changed":
            continue
        scaled = {entry.value("scaling").old, entry.value("scaling").new} != {1.0}
        published, expected = entry.value("published"), entry.value("expected")
        as_published = (expected.old, expected.new) == (published.old, published.new)
        hidden = {"unscaled": not scaled, "expected": as_published}
        values = ((words, entry.value(name)) for name, words in _BEHIND.items() if not hidden.get(name))
        changed = [f"{words} {_pair(value)}" for words, value in values if value.old != value.new]
        if changed:
            yield f"{_name(diff, entry)}: {', '.join(changed)}"


def _hyperparameters(diff: PackageDiff) -> Section | None:
    changed = [entry for entry in diff.entries if entry.hyperparameters]
    parts = (section(_name(diff, entry), changes_of(entry.hyperparameters)) for entry in changed)
    return section("Hyperparameters, old -> new, as most runs logged them (- where they did not)", *parts)


def changes_of(changes: Iterable[Change]) -> Facts:
    """Values that differ, by name."""
    return Facts(tuple((change.name, _change(change)) for change in changes))


def _change(change: Change) -> str:
    note = f" ({change.note})" if change.note else ""
    return f"{text_of(change.old)} -> {text_of(change.new)}{note}"


def _systems(diff: PackageDiff) -> Section | None:
    alike: dict[tuple[str, str, str], list[Words]] = {}
    for system in diff.systems:
        for change in system.fields:
            alike.setdefault((change.name, text_of(change.old), text_of(change.new)), []).append(system.system)
    rows = tuple((*key, Lines(tuple(names))) for key, names in alike.items())
    notes = [
        f"{_MARKS[change]}: {', '.join(system.system for system in diff.systems if system.change == change)}"
        for change in ("added", "removed")
        if any(system.change == change for system in diff.systems)
    ]
    notes += _renamed((system.system, system.change, system.alike) for system in diff.systems)
    counts = _counted(system.change for system in diff.systems)
    return section(f"System descriptions: {counts}", Table(_SYSTEMS, rows), Items(tuple(notes)))


def _findings(diff: PackageDiff) -> Section | None:
    rows: list[tuple[Cell, ...]] = []
    for change in diff.findings:
        kind = change.severity if change.kind == "official" else f"{change.kind} {change.severity}"
        mark = "new" if not change.old else "gone" if not change.new else "other places"
        # A finding that is gone is good news.
        meaning: Meaning = "plain" if change.old and change.new else "good" if change.old else "bad"
        what = Lines(((f"{change.message} ", Span(f"[{change.rule}]", "code")), Span(change.place, "path")))
        rows.append((Span(mark, meaning), kind, f"{change.old} -> {change.new}", what))
    return section("Findings", Table(_FINDINGS, tuple(rows), key=3))


def _files(files: FileChanges) -> Section | None:
    listed = {"new": files.added, "gone": files.removed, "changed": files.changed, "unreadable": files.unknown}
    rows: list[tuple[Cell, ...]] = [(_word(name), line) for name, paths in listed.items() for line in _by_folder(paths)]
    rows += [("moved", line) for line in _moves(files.moved)]
    counted = {"new": files.added, "gone": files.removed, "changed": files.changed, "moved": files.moved}
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in counted.items() if paths)
    cut = (Text(f"Not all files were listed: {files.cut}."),) if files.cut else ()
    return section(f"Files: {counts or 'none differ'}; {files.same} the same", Table(_FILES, tuple(rows), key=1), *cut)


def _by_folder(paths: Iterable[str]) -> Iterator[Words]:
    """A file alone by its path, several of a folder by their number."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    for folder, members in folders.items():
        alone = len(members) == 1
        yield Span(members[0], "path") if alone else (_folder(folder), f" ({len(members)} files)")


def _moves(moved: Iterable[tuple[str, str]]) -> Iterator[Words]:
    folders: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for old, new in moved:
        folders.setdefault((old.rpartition("/")[0], new.rpartition("/")[0]), []).append((old, new))
    for (old, new), pairs in folders.items():
        if len(pairs) == 1:
            yield (Span(pairs[0][0], "path"), " -> ", Span(pairs[0][1], "path"))
        else:
            yield (_folder(old), " -> ", _folder(new), f" ({len(pairs)} files)")


def _folder(path: str) -> Span:
    return Span(f"{path or '.'}/", "path")


def _renamed(named: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    for name, change, alike in named:
        if alike is not None and change == "removed":
            yield f"{name} is gone; {alike} is new and named much like it. Renamed?"


def _name(diff: PackageDiff, entry: EntryChange) -> str:
    """An entry in words; with its organisation where there are many."""
    many = len({one.organisation for one in diff.entries}) > 1
    parts = [entry.organisation] * many + [entry.system, entry.scaling_type or "", entry.benchmark]
    return " ".join(filter(None, parts))


def _counted(changes: Iterable[str]) -> str:
    known = list(changes)
    return ", ".join(f"{known.count(change)} {mark}" for change, mark in _MARKS.items() if change in known) or "none"


def _word(word: str) -> Span:
    return Span(word, _MEANINGS.get(word, "plain"))


def _coloured(change: Change) -> Words:
    old, arrow, new = _pair(change).partition(" -> ")
    return (_word(old), arrow, _word(new))


def _pair(change: Change) -> str:
    """Both values, or the one that there is."""
    if change.old == change.new:
        return text_of(change.old)
    if change.old is None or change.new is None:
        return text_of(change.new if change.old is None else change.old)
    return f"{text_of(change.old)} -> {text_of(change.new)}"


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def text_of(value: object) -> str:
    """A value; ``-`` where there is none."""
    if value is None:
        return "-"
    return f"{value:.6f}" if isinstance(value, float) else str(value) or '""'
