"""Packages with anything in them: a small one that is accepted, and changes of it that the bytes of an input say."""

# Names are bytes, which need not be text, so pathlib is not for them.
# ruff: noqa: PTH102, PTH118, PTH120, PTH123, PTH211

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from tools.support.make_tree import make_tree

#: A file as its bytes, a link as where it leads, a folder as None, and anything else as the name of its kind.
Tree = dict[bytes, "bytes | Link | None"]
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
