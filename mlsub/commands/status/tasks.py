"""List what is left to do, in the order in which it is done: describe, record, repair, fill in, add code."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from mlsub.findings import Effect, Finding, Severity
from mlsub.io.show import first_few, plural
from mlsub.packing.pack import Packing, count_by_rule
from mlsub.packing.plan import UNFILLED, PackPlan
from mlsub.rules.catalogue import has_effect
from mlsub.submission.find import is_folder
from mlsub.submission.templates import Unfilled, content_of, may_be_unfilled, unfilled_of
from mlsub.systems.fields import is_placeholder

What = Literal["description", "plan", "runs", "rejected", "fill-in", "template", "code"]


class EntryStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One system and benchmark: ``runs`` of ``needed``; the rest is null where there is nothing to look at yet.

    ``rcp`` is the verdict of the convergence test, ``open`` where runs are missing; ``percent`` says how far the mean
    of the runs lies above the limit of that test (below 0: under it); ``minutes`` is the score.
    """

    entry: str
    division: str | None
    runs: int
    needed: int
    official: str | None = None
    rcp: str | None = None
    percent: float | None = None
    minutes: float | None = None

    @property
    def missing(self) -> int:
        """How many runs are missing."""
        return max(self.needed - self.runs, 0)


class Task(msgspec.Struct, frozen=True):
    """Something that is left to do: what kind of thing, where, in words, and the command that helps."""

    kind: What
    where: str
    words: str
    command: str


#: Names shown of many.
_FIELDS = 5


def tasks_of_plan(plan: PackPlan, packed: Packing, entries: Sequence[EntryStatus], look: str) -> Iterator[Task]:
    """Yield what a manifest lacks.

    Args:
        plan: what is packed.
        packed: what came of it.
        entries: with the runs that there are.
        look: the command that shows what is wrong.
    """
    systems = {system.line: system for system in plan.manifest.systems}
    # Missing runs are a task of their own.
    errors = [f for f in plan.findings if f.severity is Severity.ERROR and not has_effect(f, Effect.RUNS_MISSING)]
    # A description that says TODO is to be filled in, which is said below.
    wrong = [f for f in errors if not (has_effect(f, Effect.UNFILLED) and is_placeholder(f.actual))]
    undescribed = [f for f in wrong if has_effect(f, Effect.MISSING) and f.line in systems]
    for system in (systems[found.line or 0] for found in undescribed):
        where = plan.manifest.near(system.file)
        yield Task("description", where, "describe the system", plan.manifest.to_capture(system))
    for found in (found for found in wrong if found not in undescribed):
        where = f"{found.path}:{found.line}" if found.line else found.path
        yield Task("plan", where, f"{found.message} [{found.rule}]", look)
    sources = {entry.name: entry.sources for entry in plan.manifest.entries}
    for entry in entries:
        if entry.missing:
            yield _record_runs(
                entry, [plan.manifest.near(run) for run in sources[entry.entry]], plan.manifest.round.name
            )
    incomplete = tuple(f"results/{entry.entry}" for entry in entries if entry.missing)
    unfilled = tuple(_unfilled(plan))
    blocking = [
        found
        for found in packed.blocking
        if not (undescribed and has_effect(found, Effect.UNDESCRIBED))
        and not (unfilled and has_effect(found, Effect.UNFILLED))
    ]
    yield from rejections(blocking, incomplete, look)
    stopping = [found for found in packed.findings[len(plan.findings) :] if found.severity is Severity.ERROR]
    yield from (Task("plan", found.path, f"{found.message} [{found.rule}]", look) for found in stopping)
    yield from fill_in(unfilled)
    if packed.templates:
        count = len(packed.templates)
        words = f"{plural(count, 'file')} beside the code {'are' if count > 1 else 'is'} missing"
        where = plan.manifest.near(os.path.commonpath([Path(file).parent for file in packed.templates]))
        yield Task("template", where, words, f"{look} --scaffold --write")
    for found in plan.findings:
        if has_effect(found, Effect.NO_CODE):
            where = plan.manifest.near(found.actual or ".")
            yield Task("code", where, "put the code there", look)


def _record_runs(entry: EntryStatus, sources: Sequence[str], round_: str) -> Task:
    count = plural(entry.missing, "more run" if entry.runs else "run")
    folder = next((source for source in sources if is_folder(Path(source))), None)
    command = f"mlsub watch {shlex.quote(folder)}" if folder else None
    keys = f"mlsub rules keys {entry.entry.rpartition('/')[2]} --round {round_}"
    where = folder or sources[0] if len(sources) == 1 else entry.entry
    return Task("runs", where, f"record {count} of {entry.entry} ({entry.runs} of {entry.needed})", command or keys)


def rejections(blocking: Iterable[Finding], incomplete: Container[str], look: str) -> Iterator[Task]:
    """Yield what rejects a package, each rule once; missing runs are a task of their own."""
    kept = [f for f in blocking if not (has_effect(f, Effect.RUNS_MISSING) and f.path in incomplete)]
    for first, count in count_by_rule(kept):
        places = f" ({count} places)" if count > 1 else ""
        yield Task("rejected", first.path, f"{first.message} [{first.rule}]{places}", look)


def _unfilled(plan: PackPlan) -> Iterator[Unfilled]:
    """Yield what is not filled in among the sources."""
    sources = [(item.to, item.source) for item in plan.pieces if item.source is not None and may_be_unfilled(item.to)]
    files = [(to, plan.manifest.near(source), content_of(source)) for to, source in sources]
    templates = dict.fromkeys(plan.manifest.near(left.path) for left in plan.left_out if left.why == UNFILLED)
    yield from unfilled_of(files)
    yield from (Unfilled(path, template=True) for path in templates)


def fill_in(unfilled: Iterable[Unfilled], root: Path | None = None) -> Iterator[Task]:
    """Yield descriptions and files that somebody began, one by one, and then templates by their folders.

    Args:
        unfilled: what is left.
        root: the folder that its paths are relative to, None for the current one.
    """
    folders: dict[str, list[str]] = {}
    for each in unfilled:
        if each.template:
            folders.setdefault(os.path.dirname(each.path), []).append(each.path)  # noqa: PTH120  (text for people)
            continue
        yield Task("fill-in", each.path, f"fill in {first_few(each.fields, _FIELDS)}", _edit(root, each.path))
    for folder, paths in folders.items():
        names = first_few((Path(path).name for path in paths), _FIELDS)
        noun = f"{len(paths)} templates" if len(paths) > 1 else "the template"
        words = f"fill in {noun}, and remove every line that asks for it: {names}"
        yield Task("fill-in", folder, words, _edit(root, paths[0]))


def _edit(root: Path | None, path: str) -> str:
    return f"${{EDITOR:-vi}} {shlex.quote(str(root / path) if root is not None else path)}"
