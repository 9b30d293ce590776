"""Ways to change a file that a cache has to notice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def same_size(file: Path) -> None:
    """Write as many other bytes."""
    content = file.read_bytes()
    old, new = (b"success", b"aborted") if b"success" in content else (b"aborted", b"success")
    file.write_bytes(content.replace(old, new))
    assert file.stat().st_size == len(content)


def touched_back(file: Path) -> None:
    """The same, and set back the time of the content."""
    before = file.stat()
    same_size(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def renamed_over(file: Path) -> None:
    """Put another file in its place."""
    other = file.with_name("other")
    shutil.copy2(file, other)
    touched_back(other)
    other.replace(file)


def _other(file: Path) -> Path:
    other = file.parents[1] / "other.txt"
    shutil.copy2(file, other)
    touched_back(other)
    file.unlink()
    return other


def symbolic_link(file: Path) -> None:
    """Put a link to another file in its place."""
    file.symlink_to(_other(file))


def hard_link(file: Path) -> None:
    """Put a second name of another file in its place."""
    os.link(_other(file), file)


CHANGES = (same_size, touched_back, renamed_over, symbolic_link, hard_link)
