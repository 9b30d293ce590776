"""What logs and code show that the public need not know: a question with its places, never with the thing itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlsub.findings import Finding
from mlsub.io.look import open_regular
from mlsub.io.show import several, show
from mlsub.log.private.model import PrivatePlaces
from mlsub.rules.catalogue import finding
from mlsub.submission.file_tree import FileTree, Item, ItemKind

#: Kinds, and keys, that a finding lists.
_SHOWN = 10
#: What configures or starts a training, by its name, and how much of it is read; of other code the head is.
_CONFIG = re.compile(
    r"[^.]+|(?:dockerfile|makefile|\.?env).*|.*\.(?:sh|bash|sub|slurm|sbatch|ya?ml|toml|cfg|conf|ini|env)",
    re.IGNORECASE,
)
MAX_CONFIG, MAX_HEAD = 1 << 16, 1 << 12
#: Files that are read in one package; data, documents and licences are none of them.
MAX_FILES = 5_000
_NO_CODE = re.compile(
    r"(?:licen[cs]e|notice|copying|third).*|.*\.(?:json|txt|csv|md|rst|ipynb|patch|diff)", re.IGNORECASE
)
_CONFIDENTIAL = re.compile(
    rb"(?<![\w-])(?:confidential(?![\w-]| computing| vms?\b)|(?:do not|not for|no) (?:re)?distribut(?:e|ion)\b"
    rb"|(?:for )?internal use only|trade secrets? of)",
    re.IGNORECASE,
)
#: Whoever wrote a file may be named in it.
_AUTHOR = re.compile(rb"(?:copyright|author|maintain|contribut|\(c\)|licen[cs]e)[^\n]*", re.IGNORECASE)


def tell_private(path: str, places: Sequence[PrivatePlaces], keys: Mapping[str, int | None]) -> Iterator[Finding]:
    """Yield what is private in a file, each kind with the line where it stands first.

    Args:
        path: the file, relative to the report's root.
        places: what is private in it.
        keys: of records whose values name a person, with their lines.
    """
    shown = [f"{show(key, 60)[1:-1]}{f' in line {line}' if line else ''}" for key, line in keys.items()]
    told = [one for one in places if one.line not in keys.values()]
    shown += [
        f"{one.kind} in line {one.line}" + (f" and {one.count - 1:,} more" if one.count > 1 else "") for one in told
    ]
    if shown:
        lines = [*filter(None, keys.values()), *(one.line for one in told)]
        yield finding("run.contact", path, line=min(lines, default=None), actual=several(shown, _SHOWN))


def audit_code_text(folder: Path, file_tree: FileTree) -> Iterator[Finding]:
    """Yield what the code says that is private or confidential; paths are relative to the organisation's folder.

    Of each file the head is read, of those that configure a training more.
    """
    from mlsub.log.private.places import PrivateReader

    for item in [item for item in file_tree.items if _is_code(item)][:MAX_FILES]:
        is_config = _CONFIG.fullmatch(item.name) is not None
        try:
            with open_regular(os.fspath(folder / item.path), buffering=0, follow=False) as stream:
                text = stream.read(MAX_CONFIG if is_config else MAX_HEAD)
        except OSError:
            continue  # There is a finding on it, where it is asked for.
        if b"\0" in text:
            continue
        if said := _CONFIDENTIAL.search(text, 0, MAX_HEAD):
            yield finding("code.confidential", item.path, line=text.count(b"\n", 0, said.start()) + 1)
        reader = PrivateReader()
        reader.text(_AUTHOR.sub(b"", text))
        yield from tell_private(item.path, reader.finish(), {})


def _is_code(item: Item) -> bool:
    is_file = item.kind is ItemKind.FILE and item.path.startswith("benchmarks/") and bool(item.size)
    return is_file and not _NO_CODE.fullmatch(item.name)
