"""A merge as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from rich.console import Console

import mlsub
from mlsub.commands.merge.model import Plan
from mlsub.io.plain import plain
from mlsub.present.report import entries_table, grouped, print_group, print_summary
from mlsub.present.report_json import to_document
from mlsub.rounds import Round
from mlsub.submission.report import Report

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 1


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a merge: the plan, and with ``--write`` the report of the check and whether it is in place."""

    plan: Plan
    round: Round
    output: Path
    report: Report | None = None
    written: bool = False

    @property
    def exit_status(self) -> int:
        """0 nothing stands in the way, or it is written and accepted; 1 conflicts, or the result is rejected."""
        return int(bool(self.plan.findings) or (self.report is not None and self.report.exit_status() != 0))


def render_json(outcome: Outcome) -> str:
    """The one document, plain ASCII, ending in a line feed."""
    plan = outcome.plan
    document = {
        "schema": SCHEMA,
        "mlsub": mlsub.__version__,
        "kind": "merge",
        "usage": outcome.round.usage,
        "round": outcome.round.name,
        "output": str(outcome.output),
        "written": outcome.written,
        "organisation": plan.organisation,
        "parts": msgspec.to_builtins(plan.parts),
        "files": len(plan.steps),
        "joined": plan.joined,
        "left_out": plan.left_out,
        "findings": msgspec.to_builtins(plan.findings),
        "report": to_document([outcome.report]) if outcome.report else None,
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def render_text(outcome: Outcome, out: Console) -> None:
    """Print what is joined, what stands in the way, and what was done."""
    plan = outcome.plan
    out.print(plain(f"{plan.organisation}, {outcome.round.usage} v{outcome.round.name}: {outcome.output}"))
    for part in plan.parts:
        entries = ", ".join(part.entries) or "no entries"
        out.print(plain(f"  {part.path}: {part.files} files, {part.own} of them only there; {entries}"))
    out.print(f"  together {len(plan.steps)} files; {plan.joined} are in several packages")
    if plan.left_out:
        more = f", and {len(plan.left_out) - 3} more" if len(plan.left_out) > 3 else ""
        out.print(plain(f"  left out, as caches or version control: {', '.join(plan.left_out[:3])}{more}"))
    for group in grouped(plan.findings):
        print_group(group, out, label="conflict")
    if outcome.report is not None:
        _print_report(outcome.report, out)
    out.print(plain(_last_words(outcome)))


def _print_report(report: Report, out: Console) -> None:
    """The verdict on the merged package, and what it rests on; the audit is for ``mlsub check``."""
    if report.entries:
        out.print(entries_table(report.entries))
    for group in grouped(finding for finding in report.findings if finding.rejects):
        print_group(group, out, forgiven=report.exit_status() == 0)
    print_summary(report, out)


def _last_words(outcome: Outcome) -> str:
    if outcome.plan.findings:
        count = len(outcome.plan.findings)
        return f"{count} conflict{'s' * (count > 1)}: nothing was written."
    if outcome.report is None:
        return "No conflicts. Nothing was written: add --write to check the result and put it in place."
    if not outcome.written:
        return "Rejected, so nothing was written. Mend it, or add --even-rejected."
    return f"Written: {outcome.output}"
