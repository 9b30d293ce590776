"""What editors, systems, compilers and crashes leave behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlsub.findings import Finding
from mlsub.submission.layout.gather import gathered
from mlsub.submission.layout.model import Item, ItemKind, Listing, parents

_FOLDERS = {
    "folders of caches": re.compile(r"__pycache__|\.(pytest|mypy|ruff)_cache|\.ipynb_checkpoints|\.eggs|.+\.egg-info"),
    "folders of version control": re.compile(r"\.(git|hg|svn)|CVS"),
    "folders of installed packages": re.compile(r"node_modules|\.venv|\.tox|site-packages"),
    "folders of editors": re.compile(r"\.(idea|vscode|vs)"),
}
_FILES = {
    "backup and swap files of editors": re.compile(r"\..+\.sw[a-p]|.*~|#.+#|\.#.+|.+\.(bak|orig|rej)"),
    "files of the operating system": re.compile(
        r"\.DS_Store|\._.+|Thumbs\.db|desktop\.ini|\.nfs[0-9a-f]+", re.IGNORECASE
    ),
    "core dumps": re.compile(r"core(\.\d+)?|vgcore\.\d+"),
    "compiled files": re.compile(r".+\.(pyc|pyo|o|obj)"),
    "parts of files that were never finished": re.compile(r".+\.(part|crdownload)|\.mlsub-.+"),
}


def is_stray_folder(item: Item) -> bool:
    """Whether a folder is one that nobody means to submit, whatever lies in it."""
    return item.kind is ItemKind.FOLDER and is_stray_name(item.name)


def is_stray_name(folder: str) -> bool:
    """The same by a folder's name."""
    return _folder_kind(folder) is not None


def stray_paths(listing: Listing) -> dict[str, list[str]]:
    """The strays by what they are; what lies in a stray folder is not named again."""
    strays: dict[str, dict[str, None]] = {}
    for item in listing.items:
        # The topmost stray folder stands for all in it, be it an item of the listing or not.
        above = next((parent for parent in parents(item.path) if is_stray_name(parent.rpartition("/")[2])), None)
        path = above or item.path
        kind = _folder_kind(path.rpartition("/")[2]) if above else _kind(item)
        if kind is not None:
            strays.setdefault(kind, {})[path] = None
    return {kind: list(paths) for kind, paths in strays.items()}


def audit_strays(strays: dict[str, list[str]]) -> Iterator[Finding]:
    """What was left lying about, one finding a kind and area of the tree."""
    for kind, paths in strays.items():
        yield from gathered("layout.stray", f"The package holds {kind}", paths)


def _kind(item: Item) -> str | None:
    if item.kind is ItemKind.FOLDER:
        return _folder_kind(item.name)
    if item.kind is not ItemKind.FILE:
        return None
    return next((kind for kind, pattern in _FILES.items() if pattern.fullmatch(item.name)), None)


def _folder_kind(name: str) -> str | None:
    return next((kind for kind, pattern in _FOLDERS.items() if pattern.fullmatch(name)), None)
