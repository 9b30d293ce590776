"""A manifest: as people write it, whose types are its schema, and as it is read, with its paths absolute."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mlsub.divisions import DivisionName
from mlsub.findings import Finding
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding

Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+()@=-]*( [A-Za-z0-9._+()@=-]+)*$",
        max_length=200,
        description="It becomes the name of a folder.",
        extra_json_schema={
            "patternErrorMessage": "cannot be the name of a folder; use letters, digits and . _ + - ( ) @ =, with "
            "single spaces within"
        },
    ),
]
PathText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="Relative to the manifest; may use ${NAME} or ${NAME:-default} from the environment.",
    ),
]
Text = Annotated[str, Meta(min_length=1)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a manifest. A word that is None was left out."""


class KnownSystem(_Part, frozen=True, kw_only=True, rename={"of": "from", "changes": "set"}):
    """What makes the description of one of a known system's."""

    of: Annotated[str, Meta(description="A known system; mlsub system list names them.")]
    hosts: Annotated[int, Meta(ge=1, le=100_000, description="How many hosts.")] | None = None
    framework: Annotated[str, Meta(description="A published one by its name, or your own with its version.")] | None = (
        None
    )
    division: Annotated[DivisionName, Meta(description="Else that of the manifest.")] | None = None
    status: Annotated[str, Meta(description="onprem, cloud, preview or rdi.")] | None = None
    changes: Annotated[dict[str, str], Meta(description="Any other field of the system description.")] = {}


class WrittenEntry(_Part, frozen=True, kw_only=True):
    """One system and benchmark, and where its runs lie."""

    system: Annotated[Name, Meta(description="One of the systems above.")]
    benchmark: Annotated[str, Meta(description="A benchmark of the round: the folder's name.")]
    division: Annotated[DivisionName, Meta(description="Must be that of the system description.")] | None = None
    scaling: Annotated[Literal["strong", "weak"], Meta(description="HPC only.")] | None = None
    runs: Annotated[
        PathText | Annotated[tuple[PathText, ...], Meta(min_length=1, max_length=10_000)],
        Meta(
            description="Logs, folders of logs or patterns. Logs keep their order as result_0.txt and on; those of a "
            "folder or pattern are sorted by the start of the run."
        ),
    ]
    choose: Annotated[
        Literal["all", "median-window"],
        Meta(description="all, or of more runs than needed the window that the rules let one submit."),
    ] = "all"
    implementation: Annotated[Name, Meta(description="The name of its code's folder.")] | None = None
    setup: (
        Annotated[
            PathText,
            Meta(description="The folder with README.md, setup.sh, init_datasets.sh, run_and_time.sh of this system."),
        ]
        | None
    ) = None
    power: (
        Annotated[
            PathText,
            Meta(
                description="The folder with one folder of power measurements a run, named like its log without .txt."
            ),
        ]
        | None
    ) = None
    notes: Annotated[str, Meta(description="For the reader of the plan; goes into no file.")] | None = None


class WrittenCode(_Part, frozen=True, kw_only=True):
    """Source code of a benchmark."""

    benchmark: str
    implementation: Name
    folder: PathText


class WrittenFile(_Part, frozen=True, kw_only=True, rename={"source": "from"}):
    """Any other file or folder, and its place in the submission."""

    source: Annotated[PathText, Meta(description="A file, or a folder with all it holds.")]
    to: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1024,
            description="Its place in the submission, relative to the organisation's folder.",
        ),
    ]


class WrittenWaiver(_Part, frozen=True, kw_only=True):
    """A rejection that may be written all the same."""

    rule: Annotated[Text, Meta(description="The id of the finding, such as rcp.too-fast.")]
    entry: (
        Annotated[
            Text,
            Meta(description="system/benchmark, or a system; without it the waiver holds for the whole submission."),
        ]
        | None
    ) = None
    reason: Annotated[str, Meta(min_length=10, description="Why; it is printed each time.")]
    expires: Annotated[
        str,
        Meta(
            pattern="^([0-9]{4}-[0-9]{2}-[0-9]{2}|never)$",
            description="The last day on which it holds, such as 2026-12-31, or never.",
            extra_json_schema={"patternErrorMessage": "is not a day such as 2026-12-31, or never"},
        ),
    ]


class WrittenManifest(_Part, frozen=True, kw_only=True):
    """A submission: its systems, where their runs lie, and what else belongs to it."""

    organisation: Annotated[Name, Meta(description="The submitter; the name of the submission's folder.")]
    round: Annotated[
        str | float, Meta(description='The round, such as "5.1". Quote it: without quotes YAML reads 5.10 as 5.1.')
    ]
    usage: Annotated[Literal["training", "hpc", "rehearsal"], Meta(description="training, hpc or rehearsal.")] = (
        "training"
    )
    division: (
        Annotated[DivisionName, Meta(description="The division of the entries that state none of their own.")] | None
    ) = None
    systems: Annotated[
        dict[Name, PathText | KnownSystem],
        Meta(
            min_length=1,
            description="The systems by name, each with the file of its system description, or what makes one of a "
            "known system.",
        ),
    ]
    entries: Annotated[
        tuple[WrittenEntry, ...], Meta(min_length=1, description="System by benchmark: where the runs lie.")
    ]
    code: Annotated[
        tuple[WrittenCode, ...],
        Meta(
            description="Folders of source code; each becomes benchmarks/<benchmark>/implementations/<implementation>."
        ),
    ] = ()
    files: Annotated[
        tuple[WrittenFile, ...],
        Meta(description="Anything else that belongs in the submission: README.md, package_checker_params."),
    ] = ()
    waivers: Annotated[
        tuple[WrittenWaiver, ...],
        Meta(
            description="Rejections that do not keep the submission from being written. The verdict stays what it is."
        ),
    ] = ()


class MadeDescription(msgspec.Struct, frozen=True):
    """A description made from the catalogue: the known system's name, and the content of the file."""

    of: str
    content: bytes
    division: str | None


class System(msgspec.Struct, frozen=True):
    """A system and the file of its description, or the description itself where it is made of a known system's."""

    name: str
    description: Path | None
    line: int
    made: MadeDescription | None = None


class Entry(WrittenEntry, frozen=True, kw_only=True):
    """One system × benchmark, paths absolute.

    ``runs`` are logs, folders of logs and patterns, in the order of the manifest. ``setup`` is the folder whose
    content goes to ``benchmarks/<benchmark>/<system>/``, ``power`` the one with a folder of measurements a run.
    ``division`` is None where only the description has it.
    """

    runs: tuple[str, ...]
    line: int

    @property
    def name(self) -> str:
        """Its place below ``results/``: ``system/benchmark``, in HPC ``system/strong/benchmark``."""
        return "/".join(part for part in (self.system, self.scaling, self.benchmark) if part)


class Code(WrittenCode, frozen=True, kw_only=True):
    """Source code of a benchmark: a folder that becomes ``benchmarks/<benchmark>/implementations/<name>``."""

    line: int


class ExtraFile(WrittenFile, frozen=True, kw_only=True):
    """Any other file or folder, and its place in the submission."""

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
    systems: tuple[System, ...]
    entries: tuple[Entry, ...]
    code: tuple[Code, ...] = ()
    files: tuple[ExtraFile, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    def finding(self, rule: str, message: str, line: int | None = None, actual: str | None = None) -> Finding:
        """A finding on a line of the manifest."""
        return finding(rule, str(self.file), message, line=line, actual=actual)
