"""What a merge is to do, and what stands in its way; the fields of the plan are those of the JSON document."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.submission.layout import Item, Listing


class Source(msgspec.Struct, frozen=True):
    """A package to join: its path as given, its folder, and what lies in it."""

    path: str
    folder: Path
    listing: Listing


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What comes from one source: its files, those only it has, and its entries (``rack1/bert``)."""

    path: str
    files: int
    own: int
    entries: tuple[str, ...]


class Step(msgspec.Struct, frozen=True):
    """A file or link of the result, and the number of the source it is taken from."""

    source: int
    item: Item


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A merge; with ``findings`` nothing of it is written.

    ``joined`` counts the files that several sources have alike; ``left_out`` are folders of caches and version control.
    """

    organisation: str
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    joined: int
    left_out: tuple[str, ...]
    findings: tuple[Finding, ...]
