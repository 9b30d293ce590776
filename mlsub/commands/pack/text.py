"""What packing found, for people: the plan, the check, and what was done or keeps it from being done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.pack import Packed
from mlsub.commands.pack.plan import Plan, PlannedRuns
from mlsub.findings import Finding, Verdict
from mlsub.io.plain import plain
from mlsub.present.columns import columns
from mlsub.present.report import entries_table, grouped, print_group, print_summary

#: Names shown of many; JSON has them all.
MAX_SHOWN = 10
_WIDTH = 1000


def render_text(packed: Packed, out: Console, *, wanted: bool) -> None:
    """Print what came of packing.

    Args:
        packed: the result.
        out: where to.
        wanted: whether the package was to be written.
    """
    plan = packed.plan
    manifest = plan.manifest
    title = f"{manifest.organisation}, {manifest.round.title}: {manifest.file} to {packed.out}"
    out.print(plain(title))
    for line in plan_lines(plan):
        out.print(line)
    if packed.findings:
        out.print()
    for group in grouped(packed.findings):
        print_group(group, out)
    if packed.report is not None:
        out.print()
        if packed.report.entries:
            out.print(entries_table(packed.report.entries))
        for group in grouped(packed.report.findings):
            print_group(group, out, forgiven=packed.report.official is Verdict.ACCEPTED)
        print_summary(packed.report, out)
    for line in _waived(packed):
        out.print(line)
    out.print()
    for line in _ending(packed, wanted=wanted):
        out.print(line)


def plan_lines(plan: Plan) -> Iterator[str]:
    """The plan: results run by run, everything else by folder, what is made anew and what is left out."""
    near = _Near(plan.manifest.file)
    for planned in plan.runs:
        yield ""
        yield from _runs(planned, near)
    rest = [item for item in plan.items if not item.to.startswith("results/")]
    copied = [item for item in rest if item.content is None]
    if copied:
        yield ""
        rows = [(plain(to), f"<- {source}") for to, source in _folders(copied, near)]
        yield from columns(rows, width=_WIDTH)
    for how in dict.fromkeys(item.made for item in rest if item.made is not None):
        yield from _named(f"made of {how}", [item.to for item in rest if item.made == how])
    yield from _named("kept as it is there", [item.to for item in rest if item.kept])
    yield from _named("left out", [f"{near(left.path)}: {left.why}" for left in plan.left_out])


class _Near:
    """Paths as a reader of the manifest writes them: relative to it where that is not longer than the whole path."""

    def __init__(self, manifest: Path) -> None:
        self._folder = Path(os.path.abspath(manifest)).parent  # noqa: PTH100

    def __call__(self, path: Path) -> str:
        relative = os.path.relpath(path, self._folder)
        return plain(min((relative, str(path)), key=len))


def _runs(planned: PlannedRuns, near: _Near) -> Iterator[str]:
    entry, runs = planned.entry, planned.runs
    facts = [entry.division or "", f"{len(runs)} runs" if len(runs) != 1 else "1 run", plain(planned.how)]
    facts += [f"implementation {plain(entry.implementation)}"] if entry.implementation else []
    facts += ["with power measurements"] if entry.power else []
    yield f"results/{plain(entry.name)}: {', '.join(filter(None, facts))}"
    if entry.notes:
        yield f"  {plain(' '.join(entry.notes.split()))}"
    parents = {run.parent for run in runs}
    if len(runs) > 1 and len(parents) == 1 and all(run.name == f"result_{n}.txt" for n, run in enumerate(runs)):
        yield f"  result_0.txt to result_{len(runs) - 1}.txt  <- {near(parents.pop())}, names as they are"
        return
    rows = [(f"result_{n}.txt", f"<- {near(run)}") for n, run in enumerate(runs)]
    yield from columns(rows, width=_WIDTH, indent=2)


def _folders(items: Iterable[PlanItem], near: _Near) -> Iterator[tuple[str, str]]:
    """Single files one by one, folders of code as a whole."""
    groups: dict[tuple[str, str], int] = {}
    for item in items:
        parts = item.to.split("/")
        depth = (4 if parts[2:3] == ["implementations"] else 3) if parts[0] == "benchmarks" else len(parts)
        below = len(parts) - depth
        if below <= 0:
            yield item.to, near(item.source) if item.source is not None else f"link to {plain(item.link or '')}"
        elif item.source is not None:
            key = ("/".join(parts[:depth]), near(item.source.parents[below - 1]))
            groups[key] = groups.get(key, 0) + 1
    for (to, source), number in groups.items():
        yield f"{to}/", f"{source}, {number} file{'s' * (number != 1)}"


def _named(title: str, names: Sequence[str]) -> Iterator[str]:
    if not names:
        return
    yield ""
    yield f"{title}:"
    for name in names[:MAX_SHOWN]:
        yield f"  {plain(name)}"
    if len(names) > MAX_SHOWN:
        yield f"  and {len(names) - MAX_SHOWN} more"


def _waived(packed: Packed) -> Iterator[str]:
    for each in packed.outcome.waived if packed.outcome else ():
        ends = f"until {each.waiver.expires}" if each.waiver.expires else "without an end"
        yield f"waived {ends}: {each.finding.rule} of {plain(each.finding.path)}: {plain(each.waiver.reason)}"


def _ending(packed: Packed, *, wanted: bool) -> Iterator[str]:
    where, difference = plain(str(packed.out)), packed.difference
    if packed.report is None:
        yield "Nothing was checked or written: mend what is wrong with the plan first."
        return
    blocking = packed.outcome.blocking if packed.outcome else ()
    if blocking:
        yield f"{'Not written' if wanted else 'It would not be written'}: rejected by {_reasons(blocking)}."
        yield "Mend it, or waive it by name: --allow RULE --reason TEXT, or waivers: in the manifest."
    elif packed.refused:
        yield f"{'Not written' if wanted else 'It would not be written'}: see the errors above."
    elif packed.written:
        yield f"Written to {where}: {_changes(packed)}."
    elif difference.none:
        yield f"{where} is as planned: nothing to write."
    else:
        yield f"Nothing is written yet. With --write, {where} has {_changes(packed)}."
    if difference.extra:
        yield from _named("gone from there" if packed.written else "not in the plan, but there", difference.extra)


def _changes(packed: Packed) -> str:
    difference = packed.difference
    parts = [f"{len(difference.new)} new"]
    parts += [f"{len(difference.changed)} changed"] if difference.changed else []
    parts += [f"{len(difference.same)} as before"] if difference.same else []
    parts += [f"{len(difference.extra)} removed"] if difference.extra else []
    return f"{len(packed.plan.items)} files ({', '.join(parts)})"


def _reasons(findings: Iterable[Finding]) -> str:
    counts: dict[str, int] = {}
    for found in findings:
        counts[found.rule] = counts.get(found.rule, 0) + 1
    return ", ".join(f"{rule} ({number} times)" if number > 1 else rule for rule, number in counts.items())
