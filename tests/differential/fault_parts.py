"""What several faults of packages use: odd content, names that hide, and putting one thing in another's place."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.differential.packages import Package

#: A fault changes a package; what it cannot change, because an earlier fault did, stays as it is.
Change = Callable[[Package, random.Random], object]

HIDDEN = (".old", ".ipynb_checkpoints", ".git", ".DS_Store", ".cache")
ODD_BYTES = (
    *(b"", b"\0" * 50, b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"not json", b"[]", b"1", b"null", b'"x"', b"{", b"\xff"),
)
DEEP = b"[" * 100_000


def gone(path: Path) -> None:
    """Remove whatever is there."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def instead(path: Path, rng: random.Random) -> str:
    """Put another kind of thing in a path's place."""
    kind = rng.choice(("folder", "nothing", "dangling", "loop", "file", "link to a folder"))
    gone(path)
    if kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "file":
        path.write_bytes(rng.choice(ODD_BYTES))
    elif kind == "link to a folder":
        path.symlink_to(".")
    return kind


def described(package: Package) -> dict[str, Any]:
    """The fields of the system description."""
    found: dict[str, Any] = json.loads(package.description().read_text())
    return found
