"""Where findings are: files and lines in few words, those that differ in a number alone as one pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from mlsub.findings import Finding
from mlsub.io.data import group_by_key
from mlsub.present.document import Span

#: Files in one row, and lines of a file; what is left out is counted.
MAX_FILES, MAX_LINES = 20, 10
#: Names and runs of numbers between two brackets; where there are more, the others have brackets of their own.
MAX_PARTS = 40
#: What was found stands behind each file up to this length; where it is longer, each has a row of its own.
_SHORT = 30
#: A number in a name, short enough to count with.
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,9}(?![0-9])")
#: What a pattern has one of, the first of them.
_CHOICE = re.compile(r"\{([^{},]*)(?:,[^{}]*)?\}")
#: Numbers of one name that are tried, the last first.
_TRIED = 4
#: Folders deeper than this are not compared part by part.
_DEEPEST = 16
#: Signs of the notation itself: what holds one is never part of a pattern.
_NOTATION = frozenset("{},")

#: Its name, what was found there, and whether the file as a whole is meant.
_File = tuple[str, str | None, bool]
#: The lines and the found value that all files of an item have in common.
_Mark = tuple[tuple[int | None, ...], str | None]

_T = TypeVar("_T")


class PlaceRow(NamedTuple):
    """One line of places: how many findings it stands for, and how many of them it does not show."""

    words: tuple[str | Span, ...]
    findings: int
    left_out: int


class _Item(NamedTuple):
    """Files of a folder that have a mark in common, as one pattern."""

    pattern: str
    mark: _Mark
    files: int


def rows(
    findings: Iterable[Finding], *, own: bool, whole: bool = False, most_files: int = MAX_FILES, root: str = ""
) -> Iterator[PlaceRow]:
    """Where findings are: a row a folder, or one for folders that have all in common but one part of their names.

    Args:
        findings: the same defect in all its places.
        own: say of each place what was found there.
        whole: leave nothing out.
        most_files: so many in a row at most, unless ``whole``.
        root: the folder that paths are relative to, as a link, such as ``..``: a file, or the first of a pattern, leads
            to its first line. Without it, nothing is a link.
    """
    known = [(*one.path.rpartition("/")[::2], one.line, one.actual if own else None) for one in findings]
    most = None if whole else MAX_PARTS
    short = all(len(found or "") <= _SHORT and not set(found or "") & set(",()") for *_, found in known)
    folders: dict[tuple[str, str | None], dict[_File, dict[int | None, None]]] = {}
    for folder, name, line, found in known:
        files = folders.setdefault((folder, None if short else found), {})
        files.setdefault((name, found if short else None, line is None), {})[line] = None
    alike = group_by_key(((_items(files, most), found), folder) for (folder, found), files in folders.items())
    for (items, found), names in alike.items():
        for pattern, count in _folders(names, most):
            yield _row(pattern, count, items, found, None if whole else most_files, root)


def _items(files: Mapping[_File, Iterable[int | None]], most: int | None) -> tuple[_Item, ...]:
    """The files of a folder, those with the same lines and the same found value together."""
    marks = group_by_key(
        ((tuple(sorted(lines, key=lambda line: line or 0)), found), name) for (name, found, _), lines in files.items()
    )
    return tuple(
        _Item(pattern, mark, count) for mark, names in marks.items() for pattern, count in patterns(names, most)
    )


def _row(
    folder: str, folders: int, items: Sequence[_Item], found: str | None, most_files: int | None, root: str
) -> PlaceRow:
    most_lines = None if most_files is None else MAX_LINES
    words: list[str | Span] = []
    alone = len(items) == 1
    if folder:
        words += [Span(f"{folder}/", "path")] if alone else [Span(folder, "path"), ": "]
    shown = items[:most_files]
    for number, item in enumerate(shown):
        lines, each = item.mark
        words += [", "] if number else []
        link = root and _link(f"{root}/{folder}/{item.pattern}", lines[0])
        words.append(Span(item.pattern + _lines(lines[:most_lines]), "path", link))
        words += [f" ({each})"] if each is not None else []
    words += [f" ({'' if alone else 'each: '}{found})"] if found is not None else []
    findings = sum(item.files * len(item.mark[0]) for item in items)
    seen = sum(item.files * len(item.mark[0][:most_lines]) for item in shown)
    return PlaceRow(_joined(words), folders * findings, folders * (findings - seen))


def _link(path: str, line: int | None) -> str:
    """The address of a line of a file, of a pattern that of its first."""
    while path != (path := _CHOICE.sub(lambda one: one[1].partition("..")[0], path)):
        pass
    return quote("/".join(part.strip('"') for part in path.split("/") if part)) + (f"#L{line}" if line else "")


def _joined(words: Sequence[str | Span]) -> tuple[str | Span, ...]:
    """A folder and its only file are one path."""
    match words:
        case [Span(folder, "path"), Span(name, "path", link), *rest]:
            return (Span(folder + name, "path", link), *rest)
    return tuple(words)


def _lines(lines: Sequence[int | None]) -> str:
    known = [str(line) for line in lines if line is not None]
    return f":{','.join(known)}" if known else ""


def patterns(names: Sequence[str], most: int | None = None) -> Iterator[tuple[str, int]]:
    """Names as patterns of so many parts at most, each with the number of names that it stands for.

    Names that differ in one number alone are one pattern, such as ``result_{0..3,5}.txt``. Numbers with leading zeros
    count on with them: ``{08..11}`` is 08, 09, 10 and 11.
    """
    alike: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        if not _NOTATION & set(name):
            for number in list(_NUMBER.finditer(name))[-_TRIED:]:
                alike.setdefault((name[: number.start()], name[number.end() :]), {})[number[0]] = name
    pattern_of: dict[str, tuple[str, int]] = {}
    for (begin, end), numbers in sorted(alike.items(), key=lambda one: -len(one[1])):
        free = {number: name for number, name in numbers.items() if name not in pattern_of}
        for runs in _few(_runs(free), most) if len(free) > 1 else ():
            some = [free[number] for run in runs for number in run]
            if len(some) > 1:
                pattern_of.update(dict.fromkeys(some, (f"{begin}{{{_numbers(runs)}}}{end}", len(some))))
    yield from dict.fromkeys(pattern_of.get(name, (_alone(name), 1)) for name in names)


def _alone(name: str) -> str:
    """A name as it is; one that could be read as a pattern stands in quotes."""
    return f'"{name}"' if {"{", "}"} & set(name) else name


def _few(things: Iterable[_T], most: int | None, parts: Callable[[_T], int] = lambda _: 1) -> Iterator[list[_T]]:
    """As many at a time as have so many parts together, and at least one."""
    some: list[_T] = []
    room = most
    for thing in things:
        if room is not None and most is not None:
            if some and parts(thing) > room:
                yield some
                some, room = [], most
            room -= parts(thing)
        some.append(thing)
    if some:
        yield some


def _runs(numbers: Iterable[str]) -> list[list[str]]:
    """Numbers in order, those that follow each other together."""
    runs: list[list[str]] = []
    for number in sorted(numbers, key=lambda text: (int(text), len(text))):
        if runs and str(int(runs[-1][-1]) + 1).zfill(len(runs[-1][-1])) == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _numbers(runs: Iterable[Sequence[str]]) -> str:
    """Runs of numbers, those of three or more as ``first..last``."""
    return ",".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(run) for run in runs)


def _folders(folders: Sequence[str], most: int | None) -> Iterator[tuple[str, int]]:
    """Folders as patterns, each with the number of folders; folders that differ in one part of their path are one."""
    left = dict.fromkeys(folders)
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for folder in filter(None, folders) if len(folders) > 1 else ():
        parts = tuple(folder.split("/"))
        for at in range(len(parts)) if len(parts) <= _DEEPEST and not _NOTATION & set(folder) else ():
            alike.setdefault((parts[:at], parts[at + 1 :]), []).append(folder)
    for (begin, end), members in sorted(alike.items(), key=lambda one: -len(one[1])):
        free = [folder for folder in members if folder in left]
        if len(free) > 1:
            names = [folder.split("/")[len(begin)] for folder in free]
            for found in _few(patterns(names, most), most, lambda one: one[0].count(",") + 1):
                part = found[0][0] if len(found) == 1 else f"{{{','.join(pattern for pattern, _ in found)}}}"
                yield "/".join((*begin, part, *end)), sum(count for _, count in found)
            for folder in free:
                del left[folder]
    for folder in left:
        yield "/".join(map(_alone, folder.split("/"))), 1
