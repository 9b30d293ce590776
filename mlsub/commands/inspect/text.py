"""The inspection as text for people: the worst entry first, and once a rule what would explain it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mlsub.commands.inspect.run import Frequency, Inspected, Inspection
from mlsub.findings import Severity
from mlsub.io.plain import plain
from mlsub.review.runs.observation import Observation
from mlsub.rules.catalogue import catalogue

#: Places shown for one finding; JSON has them all.
MAX_PLACES = 10
_SET_IN = 6
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_LABELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_text(inspection: Inspection, out: Console, width: int) -> None:
    """Print an inspection."""
    for entry in inspection.entries:
        if entry.observations:
            _print_entry(entry, out, width)
    rules = sorted({o.finding.rule for entry in inspection.entries for o in entry.observations}, key=_order().index)
    if rules:
        out.print(Text("What would explain it", style="bold"))
        for rule in rules:
            out.print(_wrapped(f"{rule}: ", catalogue()[rule].fix, width, indent="  "))
        out.print()
    print_summary(inspection, out, width)


def _order() -> list[str]:
    return list(catalogue())


def _print_entry(entry: Inspected, out: Console, width: int) -> None:
    head = Text(plain(entry.path), style="bold")
    said = [f"v{entry.round}", entry.division or "no division", f"{entry.runs} run{'s' * (entry.runs != 1)}"]
    head.append(plain(f" ({', '.join(said)})"), style="not bold")
    out.print(head)
    groups: dict[tuple[str, str], list[Observation]] = {}
    for one in entry.observations:
        groups.setdefault((one.finding.rule, one.finding.message), []).append(one)
    for group in groups.values():
        _print_group(entry, group, out, width)
    out.print()


def _print_group(entry: Inspected, group: Sequence[Observation], out: Console, width: int) -> None:
    first = group[0].finding
    label = f"  {_LABELS[first.severity]}: "
    lines = _wrapped(label, f"{plain(first.message)} [{first.rule}]", width, indent="").splitlines()
    head = Text("\n".join(lines))
    head.stylize(_STYLES[first.severity], 2, len(label) - 1)
    out.print(head)
    for one in group[:MAX_PLACES]:
        place = one.finding.path.removeprefix(entry.path).lstrip("/")
        where = (
            f"{place}:{one.finding.line}: " if place and one.finding.line is not None else f"{place}: " * bool(place)
        )
        out.print(_wrapped("    " + plain(where), plain(one.finding.actual or ""), width, indent=""))
    if len(group) > MAX_PLACES:
        out.print(f"    and {len(group) - MAX_PLACES} more")
    if first.expected is not None:
        out.print(_wrapped("    expected: ", plain(first.expected), width, indent=""), style="dim")


def _wrapped(label: str, text: str, width: int, indent: str) -> str:
    """A labelled text, its further lines set in."""
    return textwrap.fill(
        text,
        width=max(40, width),
        initial_indent=indent + label,
        subsequent_indent=" " * (len(indent) + _SET_IN),
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_summary(inspection: Inspection, out: Console, width: int) -> None:
    """Print how much was inspected and found."""
    found = [o.finding for entry in inspection.entries for o in entry.observations]
    spoken = sum(bool(entry.observations) for entry in inspection.entries)
    logs = sum(entry.runs for entry in inspection.entries)
    count = f"{_many(len(inspection.entries), 'entry', 'entries')}, {_many(logs, 'log', 'logs')}: "
    if found:
        rules = len({finding.rule for finding in found})
        count += f"{_many(len(found), 'finding', 'findings')} of {_many(rules, 'rule', 'rules')} in "
        count += f"{_many(spoken, 'entry', 'entries')}. None is an accusation, and none part of a verdict."
    else:
        count += "nothing a careful reviewer would ask about."
    out.print(_wrapped("", count, width, indent=""))
    out.print(
        _wrapped("", "mlsub check tells of each run by itself. More on a rule: mlsub explain RULE", width, indent="")
    )


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def render_rates(frequencies: Sequence[Frequency], inspection: Inspection, out: Console) -> None:
    """Print how often each detector speaks, as a table."""
    logs = sum(entry.runs for entry in inspection.entries)
    entries = len(inspection.entries)
    out.print(f"{_many(entries, 'entry', 'entries')}, {_many(logs, 'log', 'logs')}")
    wide = max(len(f.rule) for f in frequencies)
    out.print(f"{'rule':<{wide}}  entries   share  findings")
    for one in frequencies:
        share = f"{one.entries / one.of:.1%}" if one.of else "-"
        out.print(f"{one.rule:<{wide}}  {one.entries:>7}  {share:>6}  {one.findings:>8}")
