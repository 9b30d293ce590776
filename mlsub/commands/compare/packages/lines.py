"""What both renderers of a comparison share: sections as rows of plain cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mlsub.commands.compare.packages.model import Change, EntryChange, FileChanges, PackageDiff
from mlsub.io.plain import plain

MARKS = {"added": "new", "removed": "gone", "changed": "changed", "same": "same"}


class Section(msgspec.Struct, frozen=True):
    """A heading, what the columns are, and rows; ``notes`` are lines below."""

    title: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def sections(diff: PackageDiff) -> Iterator[Section]:
    """The sections that have something to say, what matters most first."""
    for section in (_entries(diff), _hyperparameters(diff), _systems(diff), _findings(diff), _files(diff.files)):
        if section.rows or section.notes:
            yield section


def heading(diff: PackageDiff) -> list[tuple[str, str]]:
    """The two sides."""
    return [
        (name, plain(f"{side.path} ({side.usage} v{side.round}, {side.official})"))
        for name, side in (("old", diff.old), ("new", diff.new))
    ]


def name_of(entry: EntryChange, *, many: bool) -> str:
    """An entry in words; with its organisation where there are many."""
    parts = [entry.organisation] * many + [entry.system, entry.scaling_type or "", entry.benchmark]
    return plain(" ".join(filter(None, parts)))


def _entries(diff: PackageDiff) -> Section:
    many = _many(diff)
    rows = []
    for entry in diff.entries:
        published = entry.value("published")
        percent = "" if entry.percent is None else f"{entry.percent:+.2f} %"
        row = (
            MARKS[entry.change],
            name_of(entry, many=many),
            _pair(entry.value("division")),
            _pair(entry.value("runs")),
        )
        rows.append((*row, _minutes(published.old), _minutes(published.new), percent, _pair(entry.value("verdict"))))
    heads = ("", "entry", "division", "runs", "old min", "new min", "change", "verdict")
    notes = [*_scalings(diff, many=many), *_likely((name_of(e, many=many), e.change, e.alike) for e in diff.entries)]
    return Section(f"Entries: {_counted([entry.change for entry in diff.entries])}", heads, tuple(rows), tuple(notes))


def _scalings(diff: PackageDiff, *, many: bool) -> Iterator[str]:
    """What lies behind a score that is scaled, and other values that changed."""
    words = {
        "scaling": "scaling",
        "unscaled": "unscaled minutes",
        "expected": "expected minutes",
        "compliant": "compliant runs",
        "energy": "joules",
        "rcp": "convergence test",
    }
    for entry in diff.entries:
        if entry.change != "changed":
            continue
        scaled = {entry.value("scaling").old, entry.value("scaling").new} != {1.0}
        published, expected = entry.value("published"), entry.value("expected")
        as_published = (expected.old, expected.new) == (published.old, published.new)
        shown = [name for name in words if (name != "unscaled" or scaled) and (name != "expected" or not as_published)]
        told = [f"{words[name]} {_pair(value)}" for name in shown if (value := entry.value(name)).old != value.new]
        if told:
            yield f"{name_of(entry, many=many)}: {', '.join(told)}"


def _hyperparameters(diff: PackageDiff) -> Section:
    many = _many(diff)
    rows = []
    for entry in diff.entries:
        for number, change in enumerate(entry.hyperparameters):
            note = f" ({plain(change.note)})" if change.note else ""
            name = name_of(entry, many=many) if number == 0 else ""
            rows.append((name, plain(change.name), _text(change.old), _text(change.new) + note))
    return Section(
        "Hyperparameters, as most runs logged them (- where they did not)", ("entry", "key", "old", "new"), tuple(rows)
    )


def _systems(diff: PackageDiff) -> Section:
    rows: list[tuple[str, ...]] = []
    alike: dict[tuple[str, str, str], list[str]] = {}
    for system in diff.systems:
        for change in system.fields:
            key = (plain(change.name), _text(change.old), _text(change.new))
            alike.setdefault(key, []).append(plain(system.system))
    rows += [(*key, "\n".join(names)) for key, names in alike.items()]
    notes = [
        f"{MARKS[change]}: {', '.join(plain(s.system) for s in diff.systems if s.change == change)}"
        for change in ("added", "removed")
        if any(system.change == change for system in diff.systems)
    ]
    notes += _likely((plain(system.system), system.change, system.alike) for system in diff.systems)
    title = f"System descriptions: {_counted([system.change for system in diff.systems])}"
    return Section(title, ("field", "old", "new", "systems"), tuple(rows), tuple(notes))


def _findings(diff: PackageDiff) -> Section:
    rows = []
    for change in diff.findings:
        kind = change.severity if change.kind == "official" else f"{change.kind} {change.severity}"
        mark = "new" if not change.old else "gone" if not change.new else "other places"
        rows.append(
            (
                mark,
                kind,
                f"{change.old} -> {change.new}",
                f"{plain(change.message)} [{change.rule}]\n{plain(change.place)}",
            )
        )
    return Section("Findings", ("", "kind", "places", "what, and the first place that differs"), tuple(rows))


def _files(files: FileChanges) -> Section:
    counts = {"new": files.added, "gone": files.removed, "changed": files.changed, "moved": files.moved}
    told = [f"{len(paths)} {name}" for name, paths in counts.items() if paths]
    rows = []
    for name, paths in (("new", files.added), ("gone", files.removed), ("changed", files.changed)):
        rows += [(name, plain(line)) for line in _by_folder(paths)]
    rows += [("moved", plain(line)) for line in _moves(files.moved)]
    rows += [("unreadable", plain(line)) for line in _by_folder(files.unknown)]
    notes = [f"Not all files were listed: {files.cut}."] if files.cut else []
    title = f"Files: {', '.join(told) or 'none differ'}; {files.same} the same"
    return Section(title, ("", "path"), tuple(rows), tuple(notes))


def _by_folder(paths: Iterable[str]) -> Iterator[str]:
    """A file alone by its path, several of a folder by their number."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    for folder, members in folders.items():
        yield members[0] if len(members) == 1 else f"{folder or '.'}/ ({len(members)} files)"


def _moves(moved: Iterable[tuple[str, str]]) -> Iterator[str]:
    folders: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for old, new in moved:
        folders.setdefault((old.rpartition("/")[0], new.rpartition("/")[0]), []).append((old, new))
    for (old, new), pairs in folders.items():
        if len(pairs) == 1:
            yield f"{pairs[0][0]} -> {pairs[0][1]}"
        else:
            yield f"{old or '.'}/ -> {new or '.'}/ ({len(pairs)} files)"


def _likely(named: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    for name, change, alike in named:
        if alike is not None and change == "removed":
            yield f"{name} is gone; {plain(alike)} is new and named much like it. Renamed?"


def _many(diff: PackageDiff) -> bool:
    return len({entry.organisation for entry in diff.entries}) > 1


def _counted(changes: list[str]) -> str:
    return ", ".join(f"{changes.count(change)} {mark}" for change, mark in MARKS.items() if change in changes) or "none"


def _pair(change: Change) -> str:
    if change.old == change.new:
        return _text(change.old)
    if change.old is None or change.new is None:
        return _text(change.new if change.old is None else change.old)
    return f"{_text(change.old)} -> {_text(change.new)}"


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6f}" if isinstance(value, float) else plain(str(value)) or '""'
