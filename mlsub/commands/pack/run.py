"""Plan, assemble, check, and put in place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import msgspec

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.manifest import Manifest, Waiver
from mlsub.commands.pack.model import EntryRuns, File, Packing
from mlsub.commands.pack.plan import Plan, make_plan
from mlsub.commands.pack.there import Difference, check_place, compare, in_the_way, keep_filled
from mlsub.commands.pack.waive import Outcome, weigh
from mlsub.findings import Finding, Severity
from mlsub.io.assemble import Way, assemble
from mlsub.io.errors import MlsubError
from mlsub.io.output_folder import staging_beside
from mlsub.io.written import adopt, replace_folder
from mlsub.judge.pool import Progress
from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Item, ItemKind, Listing, Place
from mlsub.submission.layout.templates import is_unfilled
from mlsub.submission.layout.walk import begins_as_template, may_be_template
from mlsub.submission.report import Report
from mlsub.workspace import Settings, check_paths


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to do.

    ``waivers`` are those beyond the manifest's; ``force`` lets files of OUT go that pack wrote and the manifest no
    longer names.
    """

    today: date
    write: bool = False
    force: bool = False
    way: Way = Way.COPY
    templates: bool = False
    waivers: tuple[Waiver, ...] = ()
    jobs: int | None = None
    progress: Progress | None = None


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
    plan = make_plan(manifest, templates=request.templates, jobs=request.jobs)
    try:
        plan = keep_filled(plan, out)
        difference = compare(plan, out) if plan.sound else Difference()
    except OSError as error:
        raise MlsubError(f"{error.filename or out} cannot be read: {error.strerror or error}.") from error
    findings = (*plan.findings, *in_the_way(plan, out, difference, force=request.force))
    if not plan.sound:
        return plan, _packing(plan, out, difference, findings)
    stopped = any(found.severity is Severity.ERROR for found in findings)
    written = False
    if not request.write or difference.none or stopped:
        report = _check_links(plan, request)
        outcome = _weigh(report, manifest, request)
        if request.write and difference.none:
            adopt(out, [item.to for item in plan.items if not item.kept])
    else:
        with staging_beside(out) as staging:
            tree = staging / manifest.organisation
            assemble(plan.items, tree, request.way)
            report = _check(tree, plan, request)
            outcome = _weigh(report, manifest, request)
            written = not outcome.blocking
            if written:
                replace_folder(tree, out, kept={item.to for item in plan.items if item.kept})
    return plan, _packing(plan, out, difference, findings, report, outcome, written=written)


def _weigh(report: Report, manifest: Manifest, request: Request) -> Outcome:
    return weigh(report, (*manifest.waivers, *request.waivers), request.today, str(manifest.file))


def _packing(
    plan: Plan,
    out: Path,
    difference: Difference,
    findings: tuple[Finding, ...],
    report: Report | None = None,
    outcome: Outcome | None = None,
    *,
    written: bool = False,
) -> Packing:
    manifest = plan.manifest
    findings += outcome.notes if outcome else ()
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
        difference=difference,
        findings=findings,
        blocking=outcome.blocking if outcome else (),
        waived=outcome.waived if outcome else (),
        report=report and msgspec.structs.replace(report, root=str(out), round_from=None),
    )


def _check_links(plan: Plan, request: Request) -> Report:
    """Check the package as it would be, without copying it."""
    with tempfile.TemporaryDirectory(prefix="mlsub-pack-") as folder:
        tree = Path(folder, plan.manifest.organisation)
        assemble(plan.items, tree, Way.LINK)
        report = _check(tree, plan, request)
    # The links are of this check alone; what the layout will be follows from the plan.
    kept = [found for found in report.findings if not found.rule.startswith("layout.")]
    return msgspec.structs.replace(report, findings=(*kept, *_audit_planned(plan)))


def _audit_planned(plan: Plan) -> Iterator[Finding]:
    round_ = plan.manifest.round
    places = [Place(planned.entry.system, planned.entry.benchmark) for planned in plan.runs]
    unfilled = tuple(item.to for item in plan.items if may_be_template(item.to) and _is_template(item))
    yield from audit_layout(Listing(items=tuple(_items(plan)), unfilled=unfilled), places, round_.usage)


def _is_template(item: PlanItem) -> bool:
    if item.source is None:
        return item.content is not None and is_unfilled(item.content)
    return begins_as_template(Path(os.path.realpath(item.source)))


def _items(plan: Plan) -> Iterator[Item]:
    for item in plan.items:
        if item.link is not None:
            yield Item(item.to, ItemKind.LINK, target=item.link)
        else:
            size = len(item.content or b"") if item.source is None else item.source.stat().st_size
            yield Item(item.to, size=size, executable=item.executable)


def _check(tree: Path, plan: Plan, request: Request) -> Report:
    round_ = plan.manifest.round
    settings = Settings(round_.name, round_.usage, request.jobs, request.progress)
    return check_paths([tree], settings)[0]
