"""A settings file as people write it; its types are its schema. A word that is None was left out."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, get_args

import msgspec

from mlsub.findings import Says
from mlsub.io.documents import DocumentType

_MOST = 1000
_Rule = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The id of a rule, or how ids begin.")]
_Rules = Annotated[tuple[_Rule, ...], msgspec.Meta(max_length=_MOST)]
_Text = Annotated[str, msgspec.Meta(max_length=2000)]
_File = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Format = Literal["text", "json", "markdown", "html", "sarif", "junit", "github", "gitlab"]
#: A folder or file below the folder of the settings file.
_Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class WrittenWaiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding that somebody has accepted, and why; it no longer counts, and the official verdict stays."""

    rule: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The id of the rule, in full.")]
    path: Annotated[
        _Pattern,
        Says("The file or folder, relative to the settings file; * and ** as in shells. A folder is all in it."),
    ]
    reason: Annotated[_Text | None, Says("Why. A waiver without a reason is itself a finding.")] = None
    until: Annotated[date | None, Says("Its last day; after it the waiver is itself a finding.")] = None


class WrittenSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Settings of mlsub: each has the name of its option, and the option on the command line wins."""

    round: Annotated[_Text | None, Says('The round, such as "5.1".')] = None
    usage: Annotated[Literal["training", "hpc", "rehearsal"] | None, Says("training, hpc or rehearsal.")] = None
    rules: Annotated[_File | None, Says("A file with rules of your own; see docs/overlay.md.")] = None
    select: Annotated[_Rules, Says("Show only findings of these rules or prefixes.")] = ()
    ignore: Annotated[_Rules, Says("Hide findings of these rules or prefixes.")] = ()
    per_path_ignores: Annotated[
        dict[_Pattern, _Rules],
        msgspec.Meta(
            max_length=_MOST,
            description="By file or folder, relative to the settings file: hide findings of these rules or prefixes.",
        ),
    ] = {}
    fail_on: Annotated[
        Literal["official", "error", "warning", "note"] | None,
        Says("Exit with 1 from review findings of this severity on; official: only where something is rejected."),
    ] = None
    strict: Annotated[bool | None, Says('The same as fail-on = "warning"; also for audit, pack and merge.')] = None
    format: Annotated[_Format | None, Says("The output format, of the commands that have it.")] = None
    jobs: Annotated[Annotated[int, msgspec.Meta(ge=1, le=4096)] | None, Says("Read logs with so many processes.")] = (
        None
    )
    cache: Annotated[bool | None, Says("Reuse the results of unchanged logs.")] = None
    rcp: Annotated[_File | None, Says("A file of reference points, for the benchmark that it names.")] = None
    rcp_points: Annotated[
        Literal["published", "deadline", "newest"] | None,
        Says("The reference points merged by the publication of the round, by its deadline, or all."),
    ] = None
    rcp_bert_train_samples: Annotated[
        bool | None, Says("Count the convergence of BERT by train_samples (true), or by epoch_num (false).")
    ] = None
    baseline: Annotated[_File | None, Says("The baseline: findings that are known and do not count.")] = None
    waivers: Annotated[
        tuple[WrittenWaiver, ...], msgspec.Meta(max_length=_MOST, description="Findings that somebody has accepted.")
    ] = ()


#: Settings whose value is a path, relative to the settings file.
FILES = ("rules", "rcp", "baseline")
#: What opens a connection, or says where and how much is written: a file that came with a package must not set it.
NOT_IN_FILES = ("executor", "cache-dir", "cache-size")
#: The table that holds the settings in pyproject.toml.
TABLE = ("tool", "mlsub")
FORM = DocumentType(
    WrittenSettings, "settings files", "Settings of mlsub: mlsub.toml, or [tool.mlsub] in pyproject.toml"
)


def formats() -> tuple[str, ...]:
    """The formats that the setting knows; a command takes those that it has."""
    return get_args(_Format)
