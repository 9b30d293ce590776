"""The manifest in or near a package, as far as it says which round the package is; see :mod:`mlsub.commands.pack`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.rounds import known_rounds, normalise_round

#: The name that a manifest has unless its author chose another.
MANIFEST = "submission.yaml"
#: So many folders above a package are looked into.
_ABOVE = 4


class Named(msgspec.Struct, frozen=True):
    """A manifest, whose package it is and of which round; ``deadline`` is a day as it is written."""

    file: Path
    organisation: str
    usage: str
    round: str
    deadline: str | None = None


def nearest(folders: Iterable[Path], organisations: Collection[str] = ()) -> Named | None:
    """The manifest that lies in the first of some folders that has one.

    It is called submission.yaml, or like an organisation (``ACME.yaml``); what is not a manifest is passed over.

    Args:
        folders: where to look, the nearest first.
        organisations: it has to be of one of these; empty for any.
    """
    stems = [Path(MANIFEST).stem, *organisations, *(name.lower() for name in organisations)]
    names = dict.fromkeys(f"{stem}{ending}" for stem in stems[:9] for ending in (".yaml", ".yml"))
    for folder in list(folders)[: _ABOVE + 1]:
        for file in (folder / name for name in names):
            found = manifest_at(file)
            if found is not None and (not organisations or found.organisation in organisations):
                return found
    return None


def manifest_at(file: Path) -> Named | None:
    """What a file says as a manifest; None where there is none that can be read."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return None
    return _read(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(file: Path, _changed: int, _size: int) -> Named | None:
    """The manifest as it is since it was changed last: many runs of one package ask for it."""
    from mlsub.io.documents import open_tree

    try:
        tree = open_tree(file, kind="manifests", top="organisation, round, systems and entries")
    except MlsubError:
        return None
    organisation, name = tree.text("organisation"), normalise_round(tree.text("round") or "")
    usage = tree.text("usage") or "training"
    if organisation is None or name not in known_rounds(usage) or tree.line("entries") == tree.line():
        return None
    return Named(file, organisation, usage, str(name), tree.text("deadline"))
