"""Descriptions, the catalogue and verdicts on descriptions, for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from mlsub.commands.system.check import Checked
from mlsub.findings import Kind, Verdict
from mlsub.io.plain import plain
from mlsub.present.columns import WIDTH, columns, wrapped
from mlsub.present.report import VERDICT_STYLES, grouped, print_group
from mlsub.systems.catalogue import System
from mlsub.systems.draft import Draft


def width_of_terminal() -> int:
    """The terminal's width; 100 where there is none, so that a file reads the same everywhere."""
    return max(60, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH


def catalogue_text(systems: Iterable[System], width: int) -> str:
    """The systems there are, a row each."""
    rows = []
    for system in systems:
        hosts = sorted({software.hosts for software in system.software})
        count = f"{system.accelerators} a host" if system.per_host else str(system.accelerators)
        model = str(system.fields["accelerator_model_name"].value)
        used = [f"{s.used} ({s.name})" for s in system.software]
        published = ", ".join(used) or "never submitted"
        rows.append((system.name, count, model, ", ".join(map(str, hosts)) or "-", published))
    heads = ("system", "accelerators", "model", "hosts", "published")
    return "\n".join(columns(rows, heads, width=width)) + "\n"


def draft_text(title: str, draft: Draft, width: int, *, sources: bool) -> str:
    """A description field by field, with its sources if asked for, and what it leaves open."""
    if sources:
        table = sources_text(draft, width).splitlines()
    else:
        table = columns([(name, _shown(v.value) or "-") for name, v in draft.values.items()], width=width, caps=(34,))
    open_ends = open_text(draft, width)
    return "\n".join([*wrapped(plain(title), width), "", *table, *([""] if open_ends else []), *open_ends]) + "\n"


def sources_text(draft: Draft, width: int) -> str:
    """Each field with its value and the number of its source, and the sources below."""
    numbers = {source: n for n, source in enumerate(dict.fromkeys(v.source for v in draft.values.values()), start=1)}
    rows = [(f"[{numbers[v.source]}]", name, _shown(v.value) or "-") for name, v in draft.values.items()]
    lines = columns(rows, ("source", "field", "value"), width=width, caps=(6, 34))
    legend = columns([(f"[{number}]", plain(source)) for source, number in numbers.items()], width=width)
    return "\n".join([*lines, "", *legend]) + "\n"


def open_text(draft: Draft, width: int) -> list[str]:
    """What is still to be filled in or looked over; nothing where all is said."""
    lines: list[str] = []
    for names, words in (
        (draft.to_fill_in(), "Still to be filled in"),
        (draft.not_published(), "Not published, so yours to fill in if you know"),
        (draft.taken_over(), "Taken over as published, so look over"),
    ):
        if names:
            lines += wrapped(f"{words}: {', '.join(names)}", width, hang=2)
    return lines + [plain(remark) for remark in draft.remarks]


def print_checked(results: Sequence[Checked], out: Console) -> None:
    """Print verdicts: each round once, every defect once with all its places, then the sum."""
    for heading in dict.fromkeys(_heading(checked) for checked in results):
        out.print(heading, style="bold")
    for group in grouped(finding for checked in results for finding in checked.findings):
        print_group(group, out)
    good = sum(checked.official is Verdict.ACCEPTED for checked in results)
    verdict = Verdict.ACCEPTED if good == len(results) else Verdict.REJECTED
    line = Text(verdict.value, style=VERDICT_STYLES[verdict])
    line.append(f": {good} of {len(results)} system descriptions accepted", style="default")
    out.print(line)
    audit = sum(finding.kind is Kind.REVIEW for checked in results for finding in checked.findings)
    if audit:
        out.print(f"{audit} review finding{'s' * (audit > 1)}: no part of the verdict unless --strict")


def _heading(checked: Checked) -> str:
    how = {
        "given": "",
        "folder": f" (read off the folder {plain(checked.round_from or '')})",
        "newest": " (the newest round, which asks most; --round names another)",
    }
    return f"{checked.usage} v{checked.round}{how[checked.how]}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{plain(str(name))}: {_shown(part)}" for name, part in value.items())
    return plain(value if isinstance(value, str) else str(value))
