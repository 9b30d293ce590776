"""What a disk may hold after a power cut: a model of a file system that drops what was not brought to the disk.

The calls of a command, as recorded, are made on the model one after the other. After each, the power may fail. Then
there is, of what was not synchronised,

- ``EMPTY``: every name, as a journalling file system has committed it, over files without their new data;
- ``ZEROS``: the same with the new sizes, which ext4 and XFS may commit before the data: zeros are in their place;
- ``HALF``: the same with the first half of the new data;
- ``STRICT``: only names of folders that were synchronised since: what POSIX promises, and no more;
- ``SOME``: of each folder by itself, its changes up to one that is drawn.

A rename within a folder is one step. One between two folders is one step in the first three, and two in the others.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from tests.campaigns.faults.case import View
from tests.campaigns.faults.layer import Op

_EXCHANGE = 2
_TRUNCATES = os.O_TRUNC


class Loss(StrEnum):
    """What of the unsynchronised is lost."""

    EMPTY, ZEROS, HALF, STRICT, SOME = "empty", "zeros", "half", "strict", "some"


class File:
    """A file or a link: its data as programs see it, and as it is on the disk."""

    def __init__(self, data: bytes = b"", *, synced: bool = False, link: bool = False) -> None:
        self.data = bytearray(data)
        self.synced = bytes(data) if synced or link else b""

    def after(self, loss: Loss) -> bytes:
        """The content after a power cut."""
        old, new = self.synced, bytes(self.data)
        if new == old:
            return old
        keeps = new.startswith(old)
        match loss:
            case Loss.ZEROS:
                return old + bytes(len(new) - len(old)) if keeps else bytes(len(new))
            case Loss.HALF:
                return new[: (len(old) + len(new)) // 2] if keeps else new[: len(new) // 2]
            case _:
                return old if keeps else b""


class Folder:
    """A folder: its entries, those on the disk, and the changes between them."""

    def __init__(self) -> None:
        self.entries: dict[str, Node] = {}
        self.synced: dict[str, Node] = {}
        self.changes: list[tuple[tuple[str, Node | None], ...]] = []

    def change(self, *changes: tuple[str, Node | None]) -> None:
        """Change entries in one step; None removes one."""
        _apply(self.entries, changes)
        self.changes.append(changes)

    def sync(self) -> None:
        """Bring the entries to the disk."""
        self.synced, self.changes = dict(self.entries), []

    def after(self, loss: Loss, draw: random.Random) -> dict[str, Node]:
        """The entries after a power cut."""
        if loss in (Loss.EMPTY, Loss.ZEROS, Loss.HALF):
            return self.entries
        entries = dict(self.synced)
        for changes in self.changes[: draw.randint(0, len(self.changes)) if loss is Loss.SOME else 0]:
            _apply(entries, changes)
        return entries


Node = File | Folder


def _apply(entries: dict[str, Node], changes: Sequence[tuple[str, Node | None]]) -> None:
    for name, node in changes:
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


class Disk:
    """A disk below one folder; in the beginning everything is on it.

    Args:
        root: the folder.
        start: what is in it.
    """

    def __init__(self, root: str, start: View) -> None:
        self._root = root
        self._top = Folder()
        self._open: dict[int, Node] = {}
        for path, content in sorted(start.items()):
            node: Node = Folder() if content is None else File(content, synced=True)
            parent, name = self._place(f"{root}/{path}")
            parent.entries[name] = parent.synced[name] = node

    def make(self, op: Op) -> bool:
        """Make a recorded call; whether anything changed, on the disk or before it."""
        if op.result < 0:
            return False
        match op.what:
            case "open":
                return self._opened(op)
            case "close":
                self._open.pop(op.a, None)
                return False
            case "write" | "truncate":
                file = self._open.get(op.a)
                if not isinstance(file, File):
                    raise ValueError(f"{op.what} of what was never opened: call {op.number}")
                if op.what == "truncate":
                    file.data[:] = bytes(file.data[: op.b]).ljust(op.b, b"\0")
                else:
                    file.data.extend(bytes(max(0, op.b - len(file.data))))
                    file.data[op.b : op.b + len(op.data)] = op.data
            case "sync":
                node = self._open[op.a]
                if isinstance(node, Folder):
                    node.sync()
                else:
                    node.synced = bytes(node.data)
            case "look" | "list" | "chmod" | "fchmod" | "utime":
                return False
            case _:
                self._named(op)
        return True

    def after(self, loss: Loss, draw: random.Random) -> View:
        """What is there after a power cut, now."""
        return dict(_below(self._top, "", loss, draw))

    def _opened(self, op: Op) -> bool:
        parent, name = self._place(op.one)
        node = parent.entries.get(name) if name else self._top
        changed = False
        if node is None:
            node, changed = File(), True
            parent.change((name, node))
        elif isinstance(node, File) and op.b & _TRUNCATES:
            node.data.clear()
            changed = True
        self._open[op.a] = node
        return changed

    def _named(self, op: Op) -> None:
        parent, name = self._place(op.one)
        match op.what:
            case "mkdir":
                parent.change((name, Folder()))
            case "symlink":
                parent.change((name, File(b"link:" + op.data, link=True)))
            case "unlink" | "rmdir":
                parent.change((name, None))
            case "link":
                other, alias = self._place(op.two)
                other.change((alias, parent.entries[name]))
            case "rename":
                other, alias = self._place(op.two)
                node = parent.entries[name]
                back = other.entries[alias] if op.b == _EXCHANGE else None
                if parent is other:
                    parent.change((name, back), (alias, node))
                else:
                    parent.change((name, back))
                    other.change((alias, node))
            case _:
                raise ValueError(f"unknown call {op.what}")

    def _place(self, path: str) -> tuple[Folder, str]:
        """The folder that a path lies in, and its name there; the top has none."""
        parts = PurePosixPath(path).relative_to(self._root).parts
        at = self._top
        for part in parts[:-1]:
            below = at.entries[part]
            if not isinstance(below, Folder):
                raise ValueError(f"{path} leads through what is not a folder")
            at = below
        return at, parts[-1] if parts else ""


def _below(folder: Folder, prefix: str, loss: Loss, draw: random.Random) -> Iterator[tuple[str, bytes | None]]:
    for name, node in folder.after(loss, draw).items():
        if isinstance(node, Folder):
            yield prefix + name, None
            yield from _below(node, f"{prefix}{name}/", loss, draw)
        else:
            yield prefix + name, node.after(loss)
