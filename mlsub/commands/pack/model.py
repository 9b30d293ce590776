"""What a manifest says, paths resolved."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec

from mlsub.rounds import Round


class MadeDescription(msgspec.Struct, frozen=True):
    """A description made from the catalogue: the known system's name, and the content of the file."""

    of: str
    content: bytes
    division: str | None


class ManifestSystem(msgspec.Struct, frozen=True):
    """A system and the file of its description, or the description itself where it is made of a known system's."""

    name: str
    description: Path | None
    line: int
    made: MadeDescription | None = None


class ManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One system × benchmark.

    ``runs`` are logs, folders of logs and patterns, in the order of the manifest. ``setup`` is the folder whose
    content goes to ``benchmarks/<benchmark>/<system>/``, ``power`` the one with a folder of measurements a run.
    ``choose`` is ``all`` or ``median-window``; ``scaling`` ``strong`` or ``weak`` in HPC, else None; ``division``
    None where only the description says it.
    """

    system: str
    benchmark: str
    runs: tuple[str, ...]
    line: int
    division: str | None = None
    scaling: str | None = None
    implementation: str | None = None
    setup: Path | None = None
    power: Path | None = None
    choose: str = "all"
    notes: str | None = None

    @property
    def name(self) -> str:
        """Its place below ``results/``: ``system/benchmark``, in HPC ``system/strong/benchmark``."""
        return "/".join(part for part in (self.system, self.scaling, self.benchmark) if part)


class Code(msgspec.Struct, frozen=True):
    """Source code of a benchmark: a folder that becomes ``benchmarks/<benchmark>/implementations/<name>``."""

    benchmark: str
    implementation: str
    folder: Path
    line: int


class ExtraFile(msgspec.Struct, frozen=True):
    """Any other file or folder, and its place in the submission."""

    source: Path
    to: str
    line: int


class Waiver(msgspec.Struct, frozen=True):
    """A rejection that may be written all the same.

    ``entry`` is the name of an entry or a system, None for the whole package. ``expires`` is the last day on which it
    holds, None where it never ends.
    """

    rule: str
    entry: str | None
    reason: str
    expires: date | None
    line: int | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A submission as its manifest describes it. ``file`` is the manifest itself."""

    file: Path
    organisation: str
    round: Round
    systems: tuple[ManifestSystem, ...]
    entries: tuple[ManifestEntry, ...]
    code: tuple[Code, ...] = ()
    files: tuple[ExtraFile, ...] = ()
    waivers: tuple[Waiver, ...] = ()
