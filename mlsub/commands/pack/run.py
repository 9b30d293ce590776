"""Plan, assemble, check, and put in place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

import msgspec

from mlsub.commands.pack.manifest import Manifest, Waiver
from mlsub.commands.pack.model import EntryRuns, File, Packing
from mlsub.commands.pack.plan import Plan, make_plan
from mlsub.commands.pack.scaffold import Scaffolded, missing_files, write_scaffold
from mlsub.commands.pack.there import Difference, check_place, compare, in_the_way, lies_in, other_round
from mlsub.commands.pack.waive import Outcome, weigh
from mlsub.findings import Finding, Severity
from mlsub.io.assemble import Way, assemble
from mlsub.io.errors import MlsubError
from mlsub.io.write import remove_leftovers, staging_beside, temporary_folder
from mlsub.io.written import adopt, replace_folder
from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Item, ItemKind, Listing, Place
from mlsub.submission.layout.walk import begins_as_template, may_be_template
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to do.

    ``waivers`` are those beyond the manifest's; ``force`` lets files of OUT go that pack wrote and the manifest no
    longer names. ``templates`` are for files that the sources lack; ``strict`` refuses for review findings, too.
    ``partly`` checks what there is of an unsound plan, which is never written. ``settings`` say how logs are read.
    """

    today: date
    write: bool = False
    force: bool = False
    way: Way = Way.COPY
    templates: bool = False
    strict: bool = False
    partly: bool = False
    waivers: tuple[Waiver, ...] = ()
    settings: Settings = Settings()


def pack(manifest: Manifest, out: Path, request: Request) -> tuple[Plan, Packing]:
    """Plan and check a submission, and write it where that is asked for and nothing is in the way.

    Args:
        manifest: the submission.
        out: the organisation's folder; it is the old tree or the new one, whole, whatever happens.
        request: what to do.

    Raises:
        MlsubError: ``out`` is not a folder for a submission, or cannot be written.
    """
    check_place(out)
    if request.write:
        remove_leftovers(out.parent)
    try:
        scaffolded = tuple(missing_files(manifest, out)) if request.templates else ()
        if request.write:
            _scaffold(scaffolded, out)
        filled = [each.item for each in scaffolded if each.filled and not request.write]
        plan = make_plan(manifest, more=filled, settings=request.settings)
        difference = compare(plan, out) if plan.sound else Difference()
    except OSError as error:
        raise MlsubError(f"{error.filename or out} cannot be read: {error.strerror or error}.") from error
    findings = (*plan.findings, *other_round(plan, out), *in_the_way(plan, out, difference, force=request.force))
    state = State(difference, findings, tuple(str(each.file) for each in scaffolded))
    if not plan.sound:
        report = _check_links(plan, request) if request.partly and any(of.runs for of in plan.runs) else None
        weighed = None if report is None else _weigh(report, manifest, request, findings)
        return plan, _packing(plan, out, state, report, weighed)
    stopped = any(found.severity is Severity.ERROR for found in findings)
    written = False
    if not request.write or difference.none or stopped:
        report = _check_links(plan, request)
        outcome = _weigh(report, manifest, request, findings)
        if request.write and difference.none:
            adopt(out, [item.to for item in plan.items])
    else:
        with staging_beside(out) as staging:
            tree = staging / manifest.organisation
            assemble(plan.items, tree, request.way)
            report = _check(tree, plan, request)
            outcome = _weigh(report, manifest, request, findings)
            written = not outcome.blocking
            if written:
                replace_folder(tree, out)
    return plan, _packing(plan, out, state, report, outcome, written=written)


class State(msgspec.Struct, frozen=True):
    """What was found before the check; ``templates`` are the files that scaffolding makes among the sources."""

    difference: Difference
    findings: tuple[Finding, ...]
    templates: tuple[str, ...]


def _scaffold(scaffolded: Iterable[Scaffolded], out: Path) -> None:
    """Write templates among the sources.

    Raises:
        MlsubError: one would go into the package, which is replaced as a whole, or cannot be written.
    """
    scaffolded = tuple(scaffolded)
    for each in scaffolded:
        if lies_in(each.file.parent, out):
            raise MlsubError(f"{each.file.parent} lies in {out}, which is replaced as a whole. Name another as setup.")
    for each in scaffolded:
        write_scaffold(each)


def _weigh(report: Report, manifest: Manifest, request: Request, findings: Sequence[Finding]) -> Outcome:
    waivers = (*manifest.waivers, *request.waivers)
    beside = [found for found in findings if found.severity is not Severity.ERROR] if request.strict else None
    return weigh(report, waivers, request.today, str(manifest.file), beside)


def _packing(
    plan: Plan,
    out: Path,
    state: State,
    report: Report | None = None,
    outcome: Outcome | None = None,
    *,
    written: bool = False,
) -> Packing:
    manifest = plan.manifest
    findings = (*state.findings, *(outcome.notes if outcome else ()))
    blocked = outcome is None or bool(outcome.blocking)
    return Packing(
        manifest=str(manifest.file),
        out=str(out),
        organisation=manifest.organisation,
        usage=manifest.round.usage,
        round=manifest.round.name,
        written=written,
        refused=blocked or any(found.severity is Severity.ERROR for found in findings),
        runs=tuple(EntryRuns(of.entry.name, of.how, tuple(map(str, of.runs))) for of in plan.runs),
        files=tuple(
            File(item.to, None if item.source is None else str(item.source), item.made, item.link, item.executable)
            for item in plan.items
        ),
        left_out=plan.left_out,
        templates=state.templates,
        difference=state.difference,
        findings=findings,
        blocking=outcome.blocking if outcome else (),
        waived=outcome.waived if outcome else (),
        report=report and msgspec.structs.replace(report, root=str(out), round_from=None),
    )


def _check_links(plan: Plan, request: Request) -> Report:
    """Check the package as it would be, without copying it."""
    with temporary_folder() as folder:
        tree = folder / plan.manifest.organisation
        assemble(plan.items, tree, Way.LINK)
        report = _check(tree, plan, request)
    # The links are of this check alone; what the layout will be follows from the plan.
    kept = [found for found in report.findings if not found.rule.startswith("layout.")]
    return msgspec.structs.replace(report, findings=(*kept, *_audit_planned(plan)))


def _audit_planned(plan: Plan) -> Iterator[Finding]:
    round_ = plan.manifest.round
    places = [Place(planned.entry.system, planned.entry.benchmark) for planned in plan.runs]
    unfilled = tuple(item.to for item in plan.items if item.source is not None and _is_template(item.to, item.source))
    yield from audit_layout(Listing(items=tuple(_items(plan)), unfilled=unfilled), places, round_.usage)


def _is_template(to: str, source: Path) -> bool:
    return may_be_template(to) and begins_as_template(Path(os.path.realpath(source)))


def _items(plan: Plan) -> Iterator[Item]:
    for item in plan.items:
        if item.link is not None:
            yield Item(item.to, ItemKind.LINK, target=item.link)
        else:
            size = len(item.content or b"") if item.source is None else item.source.stat().st_size
            yield Item(item.to, size=size, executable=item.executable)


def _check(tree: Path, plan: Plan, request: Request) -> Report:
    round_ = plan.manifest.round
    settings = msgspec.structs.replace(request.settings, round=round_.name, usage=round_.usage)
    return check_paths([tree], settings)[0]
