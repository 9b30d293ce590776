"""The audit of an organisation's tree, added to what was found while listing its entries."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.rounds import Round
from mlsub.rules.isolate import reviewed
from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Place
from mlsub.submission.layout.walk import list_tree
from mlsub.submission.model import OrganisationFiles


def with_layout(files: OrganisationFiles, prefix: str, round_: Round) -> OrganisationFiles:
    """An organisation's files with the findings on its tree; ``prefix`` starts its paths in the report."""
    places = tuple(dict.fromkeys(Place(entry.system, entry.benchmark) for entry in files.entries if entry.results))
    told = {finding.path for finding in files.findings}
    judged = {
        _inside(files, file) for file in (*files.descriptions, *(log for e in files.entries for log in e.results))
    }
    review = reviewed("layout", ".", lambda: audit_layout(list_tree(files.folder), places, round_.usage, judged))
    found = [_placed(f, prefix) for f in review]
    # A link of results/ that leads nowhere, or a folder there that is closed, is an official finding already.
    fresh = [finding for finding in found if finding.path not in told]
    return msgspec.structs.replace(files, findings=(*files.findings, *fresh))


def _inside(files: OrganisationFiles, file: Path) -> str:
    return file.relative_to(files.folder).as_posix()


def _placed(finding: Finding, prefix: str) -> Finding:
    path = (prefix.rstrip("/") or ".") if finding.path == "." else prefix + finding.path
    return msgspec.structs.replace(finding, path=path)
