"""Read from the manifest in or near a package which round the package is; see :mod:`mlsub.packing`."""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from mlsub.io.look import means_missing, open_regular
from mlsub.io.problems import MAX_BYTES
from mlsub.rounds import known_rounds, normalise_round

#: The name that a manifest has unless its author chose another.
MANIFEST = "submission.yaml"
_KEY = re.compile(r"^(organisation|usage|round|deadline|systems|entries):[ \t]*(.{0,300})", re.MULTILINE)
#: So many folders above a package are looked into.
_ABOVE = 4


class ManifestHead(msgspec.Struct, frozen=True):
    """Whose package a manifest is of, and of which round; ``deadline`` is a day as it is written."""

    file: Path
    organisation: str
    usage: str
    round: str
    deadline: str | None = None


def nearest(folders: Iterable[Path], organisations: Collection[str] = ()) -> ManifestHead | None:
    """Return the manifest that lies in the first of some folders that has one.

    It is called submission.yaml, or like an organisation (``ACME.yaml``); what is not a manifest is passed over.

    Args:
        folders: where to look, the nearest first.
        organisations: it has to be of one of these; empty for any.

    Raises:
        OSError: what may be a manifest cannot be read.
    """
    stems = [Path(MANIFEST).stem, *organisations, *(name.lower() for name in organisations)]
    names = dict.fromkeys(f"{stem}{ending}" for stem in stems[:9] for ending in (".yaml", ".yml"))
    for folder in list(folders)[: _ABOVE + 1]:
        for file in (folder / name for name in names):
            found = manifest_at(file)
            if found is not None and (not organisations or found.organisation in organisations):
                return found
    return None


def manifest_at(file: Path) -> ManifestHead | None:
    """Return what a file says as a manifest; None where there is none.

    Only the lines of the first level are looked at, so that neither a long manifest nor a hostile file takes time; who
    uses the manifest reads it as a whole.

    Raises:
        OSError: it cannot be read.
    """
    try:
        status = file.stat()
        # Reading from a pipe may never end.
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        return _read(file, status.st_mtime_ns, status.st_size)
    except ValueError:
        return None
    except OSError as error:
        if means_missing(error):
            return None
        raise


@lru_cache(maxsize=16)
def _read(file: Path, _changed: int, _size: int) -> ManifestHead | None:
    """Read the head of a manifest, once for each state of the file: many runs of one package ask for it."""
    with open_regular(file) as stream:
        text = stream.read(MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    found = {key: _scalar(value) for key, value in _KEY.findall(text)}
    usage, name = found.get("usage") or "training", normalise_round(found.get("round", ""))
    if not found.get("organisation") or name not in known_rounds(usage) or not found.keys() >= {"systems", "entries"}:
        return None
    return ManifestHead(file, found["organisation"], usage, str(name), found.get("deadline"))


def _scalar(value: str) -> str:
    """Return a value of one line, without its quotes or the comment behind it."""
    quote = value[:1]
    if quote in ("'", '"') and quote in value[1:]:
        return value[1 : value.index(quote, 1)]
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()
