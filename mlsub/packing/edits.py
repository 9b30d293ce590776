"""One plan of edits: which files change, how, and what gets another name; shown as a diff, and made file by file.

A plan is made without writing to the files. Each file is then changed whole or not at all, and only once the new one
is proven to have the same records.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from mlsub.io import MlsubError
from mlsub.io.look import failing_as
from mlsub.io.write import put_folder, staging_beside, sync_folder
from mlsub.log.rewrite import FileEdit, for_each, rewrite
from mlsub.present.terminal import Progress

#: A stretch of lines, from, to in the old file, and the new lines in their place. Lines have their ends.
LineEdit = tuple[int, int, Sequence[bytes]]
#: Lines of a diff around those that change.
CONTEXT = 3


class EditPlan:
    """Edits of files below a folder, and new names.

    ``edits`` has how files change, ``renames`` the new paths of files and folders, below folders by the names that they
    have now, and ``failed`` why files could not be read or changed. These are left as they are.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.edits: dict[Path, FileEdit] = {}
        self.renames: dict[Path, Path] = {}
        self.failed: dict[Path, MlsubError] = {}

    def below(self, path: Path) -> str:
        """Return a path relative to the root."""
        return path.relative_to(self.root).as_posix()

    def renamed(self, path: Path) -> Path:
        """Return where a path leads after the changes of names."""
        names = []
        while path != path.parent:
            path = self.renames.get(path, path)
            names.append(path.name)
            path = path.parent
        return path.joinpath(*reversed(names))

    def diff(self) -> Iterator[bytes]:
        """Yield the parts of a diff that ``git apply`` takes in the root; a renamed folder is all of its files."""
        for file in sorted({*self.edits, *self._renamed_files()}):
            edit = self.edits.get(file)
            header = diff_header(self.below(file), self.below(self.renamed(file)), changed=edit is not None)
            yield header + (edit.hunks if edit is not None else b"")

    def _renamed_files(self) -> Iterator[Path]:
        for path in self.renames:
            if path.is_dir():
                yield from (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
            else:
                yield path

    def apply(self, progress: Progress | None = None) -> None:
        """Make the edits, contents before names, and every one that can be made."""
        for_each(sorted(self.edits), self.failed, lambda file: rewrite(file, self.edits[file]), progress)
        # The deepest first, so that no path changes above one that is still to be renamed.
        deepest = sorted(sorted(self.renames), key=lambda path: -len(path.parts))
        for_each(deepest, self.failed, self._rename, None)

    def _rename(self, path: Path) -> None:
        target = self.renames[path]
        with failing_as(f"{path} cannot become {target}", "."):
            if os.path.lexists(target):
                raise MlsubError(f"{path} keeps its name: {target.name} exists by now.")
            path.rename(target)
            sync_folder(target.parent)
            if path.parent != target.parent and not any(path.parent.iterdir()):
                path.parent.rmdir()
                sync_folder(path.parent.parent)
            elif path.parent != target.parent:
                sync_folder(path.parent)

    def write_copies(self, out: Path) -> None:
        """Write the changed files to a new folder with the same folders, which gets its name once all are in it.

        Raises:
            MlsubError: one cannot be written.
        """
        with staging_beside(out) as staging:
            copies = staging / "copies"
            copies.mkdir()
            for file, edit in self.edits.items():
                rewrite(file, edit, copies / self.below(file))
            put_folder(copies, out)


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file, cut at LF, with their ends."""
    return BytesIO(content).readlines()


def edited(lines: Sequence[bytes], edits: Iterable[LineEdit]) -> bytes:
    """Return the file with its edits made, which are in order and apart from each other."""
    parts, at = list[bytes](), 0
    for start, end, new in edits:
        parts += [*lines[at:start], *new]
        at = end
    return b"".join([*parts, *lines[at:]])


def diff_hunks(old: Sequence[bytes], edits: Iterable[LineEdit]) -> bytes:
    """Return the hunks of a unified diff.

    Args:
        old: the lines of the file, with their ends.
        edits: what changes, in order and apart from each other.
    """
    parts, grown = list[bytes](), 0
    for group in _grouped(edits):
        first, last = max(0, group[0][0] - CONTEXT), min(len(old), group[-1][1] + CONTEXT)
        lines, at, before = list[bytes](), first, grown
        for start, end, new in group:
            lines += [_diff_line(b" ", line) for line in old[at:start]]
            lines += [_diff_line(b"-", line) for line in old[start:end]]
            lines += [_diff_line(b"+", line) for line in new]
            grown += len(new) - (end - start)
            at = end
        lines += [_diff_line(b" ", line) for line in old[at:last]]
        parts += [b"@@ -%b +%b @@\n" % (_line_range(first, last), _line_range(first + before, last + grown)), *lines]
    return b"".join(parts)


def _grouped(edits: Iterable[LineEdit]) -> Iterator[list[tuple[int, int, list[bytes]]]]:
    """Edits whose lines of context meet; neighbours are one, so that a diff shows what goes before what comes."""
    group: list[tuple[int, int, list[bytes]]] = []
    for start, end, new in edits:
        if group and start == group[-1][1]:
            first, _, lines = group[-1]
            lines += new
            group[-1] = first, end, lines
            continue
        if group and start - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append((start, end, [*new]))
    if group:
        yield group


def _diff_line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _line_range(first: int, last: int) -> bytes:
    count = last - first
    start = first + 1 if count else first
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def diff_header(old: str, new: str, *, changed: bool) -> bytes:
    """Return what stands above the hunks of one file; paths are relative, with slashes."""
    before, after = _quoted(f"a/{old}"), _quoted(f"b/{new}")
    text = b"diff --git %b %b\n" % (before, after)
    if old != new:
        similarity = 90 if changed else 100
        text += b"similarity index %d%%\nrename from %b\nrename to %b\n" % (similarity, _quoted(old), _quoted(new))
    return text + (b"--- %b\n+++ %b\n" % (before, after) if changed else b"")


def _quoted(path: str) -> bytes:
    """A path as git writes it: quoted where it holds anything but plain characters."""
    raw = path.encode("utf-8", "surrogateescape")
    if all(32 < code < 127 and code not in b'"\\' for code in raw):
        return raw
    escaped = (
        b"\\%c" % code if code in b'"\\' else b"%c" % code if 32 <= code < 127 else b"\\%03o" % code for code in raw
    )
    return b'"%b"' % b"".join(escaped)
