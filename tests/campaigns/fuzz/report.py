"""What campaigns have found and run, for people: findings as blocks, figures as a table for docs/reliability.md."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns.fuzz.finding import Finding
from tests.campaigns.fuzz.harness import Harness, harnesses
from tests.campaigns.fuzz.reach import lines
from tests.campaigns.fuzz.state import State


def table(state: State) -> str:
    """A row for each harness: inputs, inputs in a second of CPU time, lines of mlsub reached, findings open."""
    rows = ["| surface | harness | inputs | a second | lines reached | findings open |", "|---|---|--:|--:|--:|--:|"]
    inputs, cpu, reached, findings = 0, 0.0, set[int](), 0
    for harness in harnesses().values():
        progress = state.load(harness.name)
        here = lines(progress.reached)
        speed = progress.total / progress.cpu if progress.cpu else 0
        rows.append(
            f"| {harness.surface} | `{harness.name}` | {progress.total:,} | {speed:,.0f} | {len(here):,} "
            f"| {len(progress.findings)} |"
        )
        inputs, cpu, findings = inputs + progress.total, cpu + progress.cpu, findings + len(progress.findings)
        reached |= here
    speed = inputs / cpu if cpu else 0
    rows.append(f"| all | {len(harnesses())} | {inputs:,} | {speed:,.0f} | {len(reached):,} | {findings} |")
    return "\n".join(rows)


def print_finding(harness: Harness, finding: Finding, file: Path) -> None:
    """Print a finding in one block."""
    rule = "=" * 100
    lines = (
        rule,
        f"{harness.name} ({harness.surface}): {finding.failure.signature}",
        f"input {finding.number} of seed {finding.seed}, {len(finding.data)} bytes: {finding.data[:400]!r}",
        "",
        finding.failure.text.rstrip(),
        "",
        f"again: python -m tests.campaigns.fuzz replay {harness.name} {file}",
        rule,
    )
    print("\n".join(lines), flush=True)
