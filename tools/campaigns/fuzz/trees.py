"""Packages with anything in them: a small one that is accepted, and changes of it that the bytes of an input say.

A watch over all that is written, and the state of a folder, to compare with a later one, show that they stay.
"""

# Names are bytes, which need not be text, and audit events have paths of each type, so pathlib is not for them.
# ruff: noqa: PTH102, PTH115, PTH118, PTH119, PTH120, PTH123, PTH211

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tools.campaigns.faults.engine import changed_by
from tools.campaigns.fuzz.engine import BrokenError
from tools.support.make_tree import make_tree, snapshot

#: A file as its bytes, a link as where it leads, a folder as None, and anything else as the name of its kind.
Tree = dict[bytes, "bytes | Link | None"]
State = dict[bytes, tuple[object, ...]]
_MOST = 120
#: Ends a text; no UTF-8 has it.
END = b"\xff"


class Bytes:
    """Decisions and texts, taken from bytes in order; where the bytes end, each decision is 0 and each text empty."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def below(self, count: int) -> int:
        first, self.data = self.data[:1], self.data[1:]
        return int.from_bytes(first) % count

    def place(self, count: int) -> int:
        return (self.below(256) * 256 + self.below(256)) % count

    def content(self) -> bytes:
        """Return the bytes up to the next :data:`END`."""
        found, _, self.data = self.data.partition(END)
        return found


class Link(bytes):
    """Where a link leads."""


class Pipe(Link):
    """A FIFO, which nobody writes into."""


@cache
def _accepted() -> Tree:
    """The paths of a package of one system and one benchmark, and what lies there."""
    with tempfile.TemporaryDirectory() as folder:
        make_tree(Path(folder))
        found: Tree = {}
        for path in sorted(Path(folder).rglob("*")):
            found[os.fsencode(path.relative_to(folder))] = None if path.is_dir() else path.read_bytes()
        return found


def tree_of(data: bytes) -> Tree:
    """The package that an input says: the accepted one, or an empty folder, and changes until the bytes end."""
    said = Bytes(data)
    tree: Tree = dict(_accepted()) if said.below(8) else {b"v1.0": None}
    for _ in range(12):
        if len(said.data) < 2 or not tree:
            break
        _change(tree, said)
    return tree


def _change(tree: Tree, said: Bytes) -> None:
    what, at = said.below(10), sorted(tree)[said.place(len(tree))]
    match what:
        case 0:
            _put(tree, _below(tree, at, said.content()), said.content())
        case 1:
            _put(tree, _below(tree, at, said.content()), Link(said.content() or b"."))
        case 2:
            _put(tree, _below(tree, at, said.content()), None)
        case 3:
            _copy(tree, at, None, move=True)
        case 4 | 7:
            _copy(tree, at, os.path.join(os.path.dirname(at), _name(said.content())), move=what == 4)
        case 5 | 6:
            _edit(tree, at, said)
        case 8:
            for _ in range(1 + said.below(30)):
                below = _below(tree, at, b"d")
                _put(tree, below, None)
                if below not in tree:
                    break
                at = below
        case _:
            _put(tree, _below(tree, at, said.content()), Pipe(b"|"))


def _below(tree: Tree, at: bytes, name: bytes) -> bytes:
    return os.path.join(at if tree[at] is None else os.path.dirname(at), _name(name))


def _name(name: bytes) -> bytes:
    name = name.replace(b"/", b"").replace(b"\0", b"")[:255]
    return b"x" if name in (b"", b".", b"..") else name


def _put(tree: Tree, path: bytes, content: bytes | Link | None) -> None:
    if path not in tree and len(tree) < _MOST and len(path) < 2000:
        tree[path] = content


def _copy(tree: Tree, old: bytes, new: bytes | None, *, move: bool) -> None:
    """Copy or move what lies at a path and below it; None takes it away."""
    if new in tree or (not move and new is not None and new.startswith(old + b"/")):
        return
    for path in [path for path in tree if path == old or path.startswith(old + b"/")]:
        content = tree.pop(path) if move else tree[path]
        if new is not None:
            _put(tree, new + path[len(old) :], content)


def _edit(tree: Tree, at: bytes, said: Bytes) -> None:
    """Replace a few bytes of a file, or a value between two quotation marks."""
    files = [path for path in sorted(tree) if isinstance(tree[path], bytes) and not isinstance(tree[path], Link)]
    if at not in files:
        if not files:
            return
        at = files[said.below(len(files))]
    content = tree[at] or b""
    place, text = said.place(len(content) + 1), said.content()
    end = place + said.below(64)
    if said.below(2):
        place = content.find(b'": ', place) + 3 or place
        found = [content.find(sign, place) for sign in (b",", b"}", b"\n")]
        end = min((one for one in found if one >= 0), default=place)
    tree[at] = content[:place] + text + content[end:]


def lay_out(tree: Tree, folder: Path) -> None:
    """Put a package on the disk, folders first; what cannot lie where it should is left out."""
    root = os.fsencode(folder)
    for path in sorted(tree):
        full, content = os.path.join(root, path), tree[path]
        try:
            if content is None:
                os.mkdir(full)
            elif isinstance(content, Pipe):
                os.mkfifo(full)
            elif isinstance(content, Link):
                os.symlink(content.replace(b"\0", b""), full)
            elif not os.path.lexists(full):
                with open(full, "wb") as stream:
                    stream.write(content)
        except OSError:
            continue


def change(what: int, at: int, *texts: bytes, more: bytes = b"") -> bytes:
    """The bytes of one change."""
    return bytes([what, at >> 8, at & 255]) + b"".join(text + END for text in texts) + more


#: Of the block that is watched: the folder that it may write in, and what it has written elsewhere.
_WATCHED: list[tuple[str | None, list[str]]] = []


@cache
def _watch() -> None:
    """Note each change of a file that the interpreter reports from now on, while a block is watched."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        for full in changed_by(event, arguments) if _WATCHED else ():
            # The folder is resolved: a path through a link lies where the link leads.
            real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
            # A folder that is there cannot be made, a module that is imported may be kept as bytecode, and Python opens
            # /dev/null for what a process prints nowhere.
            if (event == "os.mkdir" and os.path.lexists(real)) or "/__pycache__" in real or full == os.devnull:
                continue
            allowed, seen = _WATCHED[-1]
            if allowed is None or not real.startswith(f"{allowed}{os.sep}"):
                seen.append(f"{event} {real!r}")

    sys.addaudithook(hook)


@contextmanager
def writes_only_in(folder: Path | None) -> Iterator[None]:
    """Whatever the block writes, renames or removes lies in the folder; None: it changes nothing at all.

    What libraries write without Python is not seen.

    Raises:
        BrokenError: something else was written.
    """
    _watch()
    seen: list[str] = []
    _WATCHED.append((os.path.realpath(folder) if folder else None, seen))
    try:
        yield
    finally:
        _WATCHED.pop()
    if seen:
        raise BrokenError(f"written outside of {folder}: {'; '.join(seen[:3])}")


def emptied(folder: Path) -> Path:
    """The folder without anything in it, made where it is not there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def state_of(folder: Path) -> State:
    """All there is below a folder by path: its state, and its bytes or where a link leads."""
    found: State = {}
    for path, state in snapshot(folder).items():
        found[path] = state
        if stat.S_ISLNK(state[0]):
            found[path] += (os.readlink(path),)
        elif stat.S_ISREG(state[0]):
            found[path] += (Path(os.fsdecode(path)).read_bytes(),)
    return found


def same_state(before: State, after: State) -> None:
    """Raise :class:`BrokenError` where something came, went or changed; the message names it."""
    for path in {*before, *after}:
        if before.get(path) != after.get(path):
            raise BrokenError(f"{path!r} was changed: {before.get(path)!r} -> {after.get(path)!r}"[:500])
