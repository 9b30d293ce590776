"""Plan a package, compare it with what lies in its place, assemble and check it, and put it there.

A waiver changes nothing about the verdict: it says who knew of the rejection, and why the package is wanted all the
same, for a resubmission, an appeal, or a record of what was once published.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import msgspec

from mlsub.findings import Effect, Finding, Severity, Verdict
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.folders import Piece, assemble, failing_to_read, record_existing
from mlsub.io.look import failing_as, lies_in
from mlsub.io.write import make_folder, write_file
from mlsub.packing.manifest import Manifest, Preparation, Waiver, to_ask
from mlsub.packing.plan import PackPlan, compare_folder, make_plan, missing_files, obstacles
from mlsub.packing.prepare import prepare, unasked_words
from mlsub.packing.runs import EntryRuns, OmittedSource
from mlsub.packing.tree import TreeDifference
from mlsub.present.envelope import Answer
from mlsub.rules.catalogue import finding, has_effect
from mlsub.submission.audit import audit_layout
from mlsub.submission.file_tree import FileTree, Item, ItemKind
from mlsub.submission.find import SCALING_FOLDERS
from mlsub.submission.report import Report
from mlsub.submission.templates import Template, begins_as_template, may_be_template
from mlsub.workspace import AS_FOUND, Context, check_paths
from mlsub.workspace.package import check_place, write_package


class PackOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to do.

    ``today`` decides which waivers have expired; ``waivers`` are those beyond the manifest's; ``force`` lets files of
    OUT go that pack wrote and the manifest no longer names. ``templates`` are for files that the sources lack;
    ``strict`` refuses for review warnings, too, ``even_with_errors`` writes whatever review errors there are.
    ``partly`` checks what there is of an unsound plan, which is never written. ``context`` says how logs are read.
    """

    today: date = msgspec.field(default_factory=lambda: datetime.now(UTC).date())
    write: bool = False
    force: bool = False
    templates: bool = False
    strict: bool = False
    even_with_errors: bool = False
    partly: bool = False
    waivers: tuple[Waiver, ...] = ()
    context: Context = AS_FOUND


class File(msgspec.Struct, frozen=True):
    """A file of the package: copied ``from`` a source, or a link.

    ``prepared`` says what is done to it on its way, in that order; one that ``scaling`` makes has no source.
    """

    to: str
    source: str | None = msgspec.field(name="from")
    link: str | None
    executable: bool
    prepared: tuple[str, ...]


class Waived(msgspec.Struct, frozen=True):
    """A rejection that is waived, until a day or ``never``."""

    rule: str
    path: str
    reason: str
    expires: str

    @property
    def line(self) -> str:
        """The line that people read."""
        ends = "without an end" if self.expires == "never" else f"until {self.expires}"
        return f"waived {ends}: {self.rule} of {self.path}: {self.reason}"


class Packing(Answer, frozen=True, kw_only=True):
    """A package as planned, and what came of it.

    ``templates`` are the files to be filled in that --scaffold makes among the sources; ``difference`` is that to the
    folder ``out`` before, ``unasked`` the words of ``prepare`` in the manifest that may take it away;
    ``findings`` are those of packing and on waivers, ``report``
    is that of the check, null where the plan is not sound. ``refused`` says that something keeps the package from
    being written, such as the ``blocking`` rejections.
    """

    SCHEMA: ClassVar[int] = 8

    manifest: str
    out: str
    organisation: str
    usage: str
    round: str
    written: bool
    refused: bool
    runs: tuple[EntryRuns, ...]
    files: tuple[File, ...]
    left_out: tuple[OmittedSource, ...]
    templates: tuple[str, ...]
    difference: TreeDifference
    unasked: tuple[str, ...]
    findings: tuple[Finding, ...]
    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    report: Report | None


def pack(manifest: Manifest, out: Path, options: PackOptions) -> tuple[PackPlan, Packing]:
    """Plan and check a submission, and write it where that is asked for and nothing is in the way.

    Args:
        manifest: the submission.
        out: the organisation's folder; it is the old tree or the new one, whole, whatever happens.
        options: what to do.

    Raises:
        MlsubError: ``out`` is not a folder for a submission, or cannot be written.
    """
    context = options.context.in_round(manifest.round)
    with TemporaryDirectory(prefix="mlsub-") as folder:
        plan, pieces, packed = _plan_package(manifest, out, options, context, Path(folder))
        if not plan.sound and not (options.partly and any(chosen.runs for chosen in plan.runs)):
            return plan, packed
        if options.write and not packed.refused and not packed.difference.none:
            report, written = write_package(
                pieces,
                manifest.organisation,
                out,
                context,
                wanted=lambda report: not _judge(packed, report, manifest, options).blocking,
            )
            return plan, msgspec.structs.replace(_judge(packed, report, manifest, options), written=written)
        report = _check_links(manifest, context, pieces)
    if options.write and plan.sound and packed.difference.none:
        record_existing(out, [item.to for item in pieces])
    return plan, _judge(packed, report, manifest, options)


def _plan_package(
    manifest: Manifest, out: Path, options: PackOptions, context: Context, folder: Path
) -> tuple[PackPlan, Sequence[Piece], Packing]:
    """Return the plan, its files as they come into the package, and what is known before the check.

    Files are prepared in ``folder``. With ``templates``, what the sources lack is written where the package is.
    """
    check_place(out)
    with failing_to_read(out):
        missing = missing_files(manifest) if options.templates else {}
        if options.write:
            _write_templates(missing, out)
        plan = make_plan(manifest, options.context)
        wanted = manifest.prepare if plan.sound or options.partly else Preparation()
        pieces, done = prepare(plan.pieces, wanted, folder, partial(_check_links, manifest, context))
        difference = compare_folder(pieces, out) if plan.sound else TreeDifference()
        unasked = unasked_words(difference, wanted, pieces, out)
    sources = {item.to: str(item.source) for item in plan.pieces if item.source is not None}
    findings = (*plan.findings, *obstacles(plan, out, difference, force=options.force))
    if unasked:
        findings = (*findings, manifest.finding("package.unasked", expected=to_ask(unasked)))
    packed = Packing(
        manifest=str(manifest.file),
        out=str(out),
        organisation=manifest.organisation,
        usage=manifest.round.usage,
        round=manifest.round.name,
        written=False,
        refused=any(found.severity is Severity.ERROR for found in findings),
        runs=plan.runs,
        files=tuple(
            File(item.to, sources.get(item.to), item.link, item.executable, done.get(item.to, ())) for item in pieces
        ),
        left_out=plan.left_out,
        templates=tuple(map(str, missing)),
        difference=difference,
        unasked=unasked,
        findings=findings,
        blocking=(),
        waived=(),
        report=None,
    )
    return plan, pieces, packed


def _write_templates(missing: Mapping[Path, Template], out: Path) -> None:
    """Write the files that the sources lack, to be filled in.

    Raises:
        MlsubError: one lies in the folder of the package, or cannot be written.
    """
    for file in missing:
        if lies_in(file.parent, out):
            raise MlsubError(f"{file.parent} lies in {out}, which is replaced as a whole. Name another as setup.")
    for file, template in missing.items():
        with failing_as(f"{file.parent} cannot be made", ". Name another folder as setup."):
            make_folder(file.parent)
        write_file(file, template.content.encode(), force=False, executable=template.executable)


def _check_links(manifest: Manifest, context: Context, pieces: Sequence[Piece]) -> Report:
    """Check the package as it would be, without copying it."""
    with TemporaryDirectory(prefix="mlsub-") as folder:
        tree = Path(folder) / manifest.organisation
        assemble(pieces, tree, linked=True)
        report = check_paths([tree], context)[0]
    # The links are of this check alone; what the layout will be follows from the plan.
    kept = [found for found in report.findings if not has_effect(found, Effect.LAYOUT)]
    return msgspec.structs.replace(report, findings=(*kept, *_audit_planned(manifest, pieces)))


def _audit_planned(manifest: Manifest, pieces: Sequence[Piece]) -> Iterator[Finding]:
    """Yield what is odd about the layout of the package as it would be."""
    systems = group_by_key(dict.fromkeys((entry.benchmark, entry.system) for entry in manifest.entries))
    unfilled = tuple(
        item.to
        for item in pieces
        if item.source is not None and may_be_template(item.to) and begins_as_template(item.source.resolve())
    )
    file_tree = FileTree(items=tuple(map(_as_listed, pieces)), unfilled=unfilled)
    yield from audit_layout(file_tree, systems, manifest.round.usage)


def _as_listed(piece: Piece) -> Item:
    if piece.link is not None:
        return Item(piece.to, ItemKind.LINK, target=piece.link)
    size = piece.source.stat().st_size if piece.source is not None else 0
    return Item(piece.to, size=size, executable=piece.executable)


def _judge(packed: Packing, report: Report, manifest: Manifest, options: PackOptions) -> Packing:
    """Return the package with the report of its check, and what that and the waivers say of writing it."""
    given = GivenWaivers(str(manifest.file), (*manifest.waivers, *options.waivers))
    judged = judge(report, [given], options, packed.findings)
    return msgspec.structs.replace(
        packed,
        findings=(*packed.findings, *judged.notes),
        refused=packed.refused or bool(judged.blocking),
        blocking=judged.blocking,
        waived=judged.waived,
        report=msgspec.structs.replace(report, root=packed.out, round_from=None),
    )


class GivenWaivers(msgspec.Struct, frozen=True):
    """The waivers of one manifest; ``paths`` are the files and folders that they are about, None for all."""

    file: str
    waivers: tuple[Waiver, ...]
    paths: Collection[str] | None = None


class Judgement(msgspec.Struct, frozen=True):
    """What keeps a package from being written, what is waived, and what there is to say of the waivers."""

    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    notes: tuple[Finding, ...]


def judge(
    report: Report, given: Sequence[GivenWaivers], options: PackOptions, planned: Iterable[Finding] = ()
) -> Judgement:
    """Return whether a package with this report may be written; ``planned`` are the findings beside the report's."""
    stopping = deciding(report) if options.even_with_errors else [*deciding(report), *report.review_errors()]
    if options.strict:
        stopping += [found for found in planned if found.severity is not Severity.ERROR]
        stopping += [found for found in report.findings if found.counts(Severity.WARNING)]
    covering: dict[Finding, Waiver | None] = dict.fromkeys(stopping)
    notes = []
    for one in given:
        valid = [each for each in one.waivers if each.expires == "never" or each.expires >= options.today.isoformat()]
        about = [found for found in stopping if one.paths is None or found.path == "." or found.path in one.paths]
        covered = {found: waiver for found in about if (waiver := waiver_of(found, valid)) is not None}
        covering |= covered
        for waiver in one.waivers:
            line = waiver.line or None
            if waiver not in valid:
                message = f"The waiver of {waiver.rule} for {waiver.entry or 'the whole package'} has expired"
                notes.append(finding("package.waiver-expired", one.file, message, line=line, actual=waiver.expires))
            elif waiver not in covered.values():
                message = f"There is no {waiver.rule} to waive for {waiver.entry or 'the package'}"
                notes.append(finding("package.waiver-unused", one.file, message, line=line))
    return Judgement(
        blocking=tuple(found for found, waiver in covering.items() if waiver is None),
        waived=tuple(Waived(f.rule, f.path, w.reason, w.expires) for f, w in covering.items() if w is not None),
        notes=tuple(notes),
    )


def deciding(report: Report) -> list[Finding]:
    """Return the findings for which the package is rejected; those of single runs that an entry may hold are not."""
    logs = {log.path for log in report.logs}
    rejected = [entry for entry in report.entries if entry.official is Verdict.REJECTED]
    found = [f for f in report.findings if f.rejects and f.path not in logs]
    on_logs = [f for f in report.findings if f.rejects and f.path in logs]
    for entry in rejected:
        # On seeds, which bind all runs together, or on no run at all.
        found += [f for f in on_logs if f.path.startswith(f"{entry.path}/") and has_effect(f, Effect.DECIDES)]
    if report.official is Verdict.NOT_CHECKED or (report.official is Verdict.REJECTED and not found):
        # Whatever is not accepted has a reason; none may pass because it is of a kind nobody thought of here.
        found += [f for f in report.findings if f.rejects]
    return list(dict.fromkeys(found))


def count_by_rule(findings: Iterable[Finding]) -> list[tuple[Finding, int]]:
    """Return the first finding of each rule, and how many there are of that rule."""
    groups = group_by_key((found.rule, found) for found in findings)
    return [(group[0], len(group)) for group in groups.values()]


def waiver_of(found: Finding, waivers: Sequence[Waiver]) -> Waiver | None:
    """Return the first waiver that covers a finding: of its rule, and of all, its entry or its system."""
    top, *parts = found.path.split("/")
    names: list[str | None] = [None]
    if top == "systems":
        names += [name.removesuffix(".json") for name in parts[:1]]
    elif top == "results":
        depth = 3 if parts[1:] and parts[1] in SCALING_FOLDERS else 2
        names += ["/".join(parts[:1]), "/".join(parts[:depth])]
    return next((waiver for waiver in waivers if waiver.rule == found.rule and waiver.entry in names), None)
