"""The manifest of a submission: its types, of which the schema of the file is made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from mlsub.divisions import DivisionName
from mlsub.findings import Finding, Says
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.remedies import to_capture

_NO_FOLDER = "cannot be the name of a folder; use letters, digits and . _ + - ( ) @ =, with single spaces within"
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._+()@=-]*( [A-Za-z0-9._+()@=-]+)*$"
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_NO_DAY = "is not a day such as 2026-12-31"
_END = "^([0-9]{4}-[0-9]{2}-[0-9]{2}|never)$"
_NO_END = f"{_NO_DAY}, or never"

Text = Annotated[str, Says(minLength=1)]
Name = Annotated[
    str, Says("It becomes the name of a folder.", maxLength=200, pattern=_NAME, patternErrorMessage=_NO_FOLDER)
]
PathText = Annotated[
    str, Says("Relative to the manifest; may use ${NAME} or ${NAME:-default}.", minLength=1, maxLength=4096)
]
Paths = Annotated[tuple[PathText, ...], Says(minItems=1, maxItems=10_000)]


class ManifestItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a manifest, and the line it begins on, which reading adds. A word that is None was left out."""

    line: Annotated[int, msgspec.Meta(extra_json_schema={"readOnly": True})] = 0


class ManifestEntry(ManifestItem, frozen=True, kw_only=True):
    """One system and benchmark, and where its runs are.

    As read, paths are absolute, and a division that the manifest gives for all stands here.
    """

    system: Annotated[Name, Says("One of the systems above.")]
    benchmark: Annotated[str, Says("A benchmark of the round: the folder's name.")]
    division: Annotated[DivisionName, Says("Must be that of the system description.")] | None = None
    scaling: Annotated[Literal["strong", "weak"], Says("HPC only.")] | None = None
    runs: Annotated[PathText | Paths, Says("Logs in the order of their results; folders or patterns, sorted by start.")]
    choose: Annotated[Literal["all", "median-window"], Says("All runs, or the median window of more than needed.")] = (
        "all"
    )
    implementation: Annotated[Name, Says("The name of its code's folder.")] | None = None
    setup: (
        Annotated[PathText, Says("README.md, setup.sh and so on; if not given, setup/<benchmark>/<system>, if there.")]
        | None
    ) = None
    power: Annotated[PathText, Says("A folder of measurements for each run, named like its log.")] | None = None
    notes: Annotated[str, Says("For the reader of the plan; no file gets them.")] | None = None

    @property
    def name(self) -> str:
        """Its place below ``results/``: ``system/benchmark``, in HPC ``system/strong/benchmark``."""
        return "/".join(part for part in (self.system, self.scaling, self.benchmark) if part)

    @property
    def sources(self) -> tuple[str, ...]:
        """The logs, folders of logs and patterns of its runs, in the order of the manifest."""
        return (self.runs,) if isinstance(self.runs, str) else self.runs


class ManifestCode(ManifestItem, frozen=True, kw_only=True):
    """Source code of a benchmark."""

    benchmark: str
    implementation: Name
    folder: PathText


class ExtraFile(ManifestItem, frozen=True, kw_only=True, rename={"source": "from"}):
    """Any other file or folder, and its place in the submission."""

    source: Annotated[PathText, Says("A file, or a folder with all it holds.")]
    to: Annotated[str, Says("Its place, relative to the organisation's folder.", minLength=1, maxLength=1024)]


class Waiver(ManifestItem, frozen=True, kw_only=True):
    """A rejection that does not keep the package from being written."""

    rule: Annotated[Text, Says("The id of the finding, such as rcp.too-fast.")]
    entry: Annotated[Text, Says("system/benchmark, or a system; without it, the whole submission.")] | None = None
    reason: Annotated[str, Says("Why; it is printed each time.", minLength=10)]
    expires: Annotated[str, Says("Its last day, or never.", pattern=_END, patternErrorMessage=_NO_END)]


class Redact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is replaced besides what is found, as by the options of mlsub redact."""

    users: Annotated[tuple[Text, ...], Says("Users that are replaced wherever they are named.")] = ()
    hosts: Annotated[tuple[Text, ...], Says("The same of hosts.")] = ()
    patterns: Annotated[tuple[Text, ...], Says("Texts; * for what varies in a word.")] = ()
    env: Annotated[bool, Says("Replace the values of all variables in UPPER_CASE.")] = False


class Preparation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done to files on their way into the package; sources stay as they are."""

    gunzip: Annotated[bool, Says("Unpack logs that are gzip.")] = False
    redact: Annotated[bool | Redact, Says("Replace what is private in logs, as mlsub redact does.")] = False
    truncate: Annotated[bool, Says("Shorten logs above 100 MiB, as mlsub fix --truncate does.")] = False
    scaling: Annotated[bool, Says("Write scaling.json, as mlsub score --write-scaling does.")] = False


def to_ask(words: Iterable[str]) -> str:
    """Return the line of a manifest that asks for these preparations."""
    return f"prepare: {{{', '.join(f'{word}: true' for word in words)}}}"


class Content(ManifestItem, frozen=True, kw_only=True):
    """A submission: its systems, where their runs are, and what else belongs to it."""

    organisation: Annotated[Name, Says("The submitter; the name of the submission's folder.")]
    round: Annotated[str | float, Says('The round, such as "5.1". Quote it: without quotes YAML reads 5.10 as 5.1.')]
    usage: Annotated[Literal["training", "hpc", "rehearsal"], Says("training, hpc or rehearsal.")] = "training"
    division: Annotated[DivisionName, Says("The division of entries without their own.")] | None = None
    systems: Annotated[dict[Name, PathText], Says("By name, each with the file of its description.", minProperties=1)]
    entries: Annotated[tuple[ManifestEntry, ...], Says("System by benchmark: where the runs are.", minItems=1)]
    code: Annotated[tuple[ManifestCode, ...], Says("Folders of source code, one for each implementation.")] = ()
    files: Annotated[tuple[ExtraFile, ...], Says("Anything else that belongs in the submission.")] = ()
    prepare: Annotated[Preparation, Says("What is done to files on their way into the package.")] = Preparation()
    waivers: Annotated[tuple[Waiver, ...], Says("Rejections to write it despite; the verdict stays.")] = ()
    deadline: (
        Annotated[
            str, Says("The last day to submit; mlsub status counts to it.", pattern=_DAY, patternErrorMessage=_NO_DAY)
        ]
        | None
    ) = None


class System(ManifestItem, frozen=True, kw_only=True):
    """A system, and the ``file`` of its description."""

    name: str
    file: Path


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A submission as its manifest, ``file``, describes it.

    ``deadline`` is the last day to submit.
    """

    file: Path
    organisation: str
    round: Round
    systems: tuple[System, ...]
    entries: tuple[ManifestEntry, ...]
    code: tuple[ManifestCode, ...]
    files: tuple[ExtraFile, ...]
    prepare: Preparation
    waivers: tuple[Waiver, ...]
    deadline: date | None

    @property
    def folder(self) -> Path:
        """Where the manifest lies, and what its paths are relative to."""
        return Path(os.path.abspath(self.file)).parent  # noqa: PTH100  (links keep the names people gave them)

    @property
    def usual_out(self) -> Path:
        """Where the package goes if nothing else is asked for: ``training_v5.1/ACME`` beside the manifest."""
        return self.file.parent / f"{self.round.usage}_v{self.round.name}" / self.organisation

    def setup_of(self, entry: ManifestEntry) -> Path:
        """Return the folder of an entry's README.md, setup.sh and so on; it need not exist."""
        return Path(entry.setup) if entry.setup is not None else self.folder / "setup" / entry.benchmark / entry.system

    def near(self, path: str | Path) -> str:
        """Return a path as somebody beside the manifest writes it, where it lies there."""
        place = Path(path)
        inside = place.is_relative_to(self.folder)
        return str(self.file.parent / place.relative_to(self.folder) if inside else place)

    def to_capture(self, system: System) -> str:
        """Return the command that writes a system's description."""
        division = next((entry.division for entry in self.entries if entry.system == system.name), None)
        return to_capture(self.near(system.file), system.name, self.organisation, division)

    def finding(
        self,
        rule: str,
        message: str | None = None,
        item: ManifestItem | None = None,
        *,
        expected: str | None = None,
        actual: str | None = None,
    ) -> Finding:
        """Return a finding on the line of an item, or on the manifest as a whole."""
        line = item.line if item else None
        return finding(rule, str(self.file), message, line=line or None, expected=expected, actual=actual)
