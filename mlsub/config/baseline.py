"""The baseline: findings that are known, so that only new ones count. Other line numbers do not make a finding new."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from mlsub.config import relative_path
from mlsub.findings import Effect, Finding, Suppression
from mlsub.io import MlsubError, reason_of
from mlsub.io.look import open_regular
from mlsub.io.show import encodable, show
from mlsub.rules.catalogue import has_effect
from mlsub.submission.report import Report

#: A baseline of every published package is a tenth of that.
_MAX_BYTES = 64 << 20
#: Characters of a reason, which may quote a name of the file.
_LONGEST = 300
_VERSION = 1
_TITLE = "Known findings for mlsub check --baseline"


class KnownFinding(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A finding that is known, so many times in one file.

    ``path`` is relative to the folder of the baseline. Rule, path, message, and what was expected and found are what
    makes a finding the same; its line is not.
    """

    path: str
    rule: str
    message: str
    expected: str = ""
    found: str = ""
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    title: str = _TITLE
    baseline: int = _VERSION
    findings: tuple[KnownFinding, ...]

    def content(self) -> bytes:
        """The file, a line each for what makes a finding the same, so that changes are easy to read."""
        return json.dumps(msgspec.to_builtins(self), indent=1).encode("ascii") + b"\n"


def read_baseline(file: Path) -> Baseline:
    """The baseline in a file.

    Raises:
        MlsubError: it cannot be read, or is not a baseline.
    """
    try:
        with open_regular(file) as stream:
            content = stream.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise MlsubError(f"{file}: not a baseline: larger than {_MAX_BYTES >> 20} MiB")
        read = msgspec.json.decode(content, type=Baseline)
    except FileNotFoundError:
        raise MlsubError(f"There is no baseline {file}. Write it with --write-baseline.") from None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise MlsubError(
            f"{file}: not a baseline: {reason_of(error)[:_LONGEST]}. Write it with --write-baseline."
        ) from error
    if read.baseline != _VERSION:
        raise MlsubError(f"{file}: a baseline of version {show(read.baseline)}, expected {_VERSION}. Update mlsub.")
    return read


def make_baseline(reports: Sequence[Report], file: Path, paths: Sequence[str], old: Baseline | None = None) -> Baseline:
    """A baseline of all findings of reports that are not waived.

    Args:
        reports: what was checked.
        file: the baseline.
        paths: what was asked for; what an old baseline has of other places stays.
        old: the baseline that is there.
    """
    folder = _folder(file)
    found = Counter(
        _to_known(finding, report, folder)
        for report in reports
        for finding in report.findings
        if not has_effect(finding, Effect.UNWAIVABLE)
        and (finding.suppressed is None or finding.suppressed.by != "waiver")
    )
    asked = _relative_paths(paths, folder)
    kept = [known for known in (old.findings if old else ()) if not _below(known.path, asked)]
    return Baseline(findings=tuple(sorted([*kept, *(replace(one, count=count) for one, count in found.items())])))


def suppress(
    reports: Sequence[Report], baseline: Baseline, file: Path, paths: Sequence[str]
) -> tuple[list[Report], int]:
    """Reports with the findings marked that a baseline has, and how many of those it has for the paths are gone.

    Of several equal findings in one file, as many are known as the baseline counts.
    """
    folder = _folder(file)
    left = Counter({replace(one, count=1): one.count for one in baseline.findings})
    says = Suppression(by="baseline", reason="known before", source=str(file))

    def marked(finding: Finding, report: Report) -> Finding:
        if finding.suppressed is not None or has_effect(finding, Effect.UNWAIVABLE):
            return finding
        known = _to_known(finding, report, folder)
        if left[known] <= 0:
            return finding
        left[known] -= 1
        return replace(finding, suppressed=says)

    done = [replace(one, findings=tuple(marked(finding, one) for finding in one.findings)) for one in reports]
    asked = _relative_paths(paths, folder)
    return done, sum(count for known, count in left.items() if count > 0 and _below(known.path, asked))


def _folder(file: Path) -> str:
    return os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120


def _relative_paths(paths: Sequence[str], folder: str) -> tuple[str, ...]:
    """The paths that were asked for, as the baseline sees them."""
    return tuple(relative_path(folder, os.path.abspath(path), ".") for path in paths)  # noqa: PTH100


def _below(place: str, folders: Sequence[str]) -> bool:
    return any(folder in (".", place) or place.startswith(f"{folder}/") for folder in folders)


def _to_known(finding: Finding, report: Report, folder: str) -> KnownFinding:
    path = encodable(relative_path(folder, report.root, finding.path))
    expected, found = encodable(finding.expected or ""), encodable(finding.actual or "")
    return KnownFinding(path, finding.rule, encodable(finding.message), expected, found)
