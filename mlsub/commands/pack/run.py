"""Plan a package, compare it with what lies in its place, assemble and check it, and put it there."""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import msgspec

from mlsub.commands.pack.manifest import Manifest, Waiver
from mlsub.commands.pack.plan import Plan, Scaffolded, make_plan, missing_files, write_scaffold
from mlsub.commands.pack.runs import LeftOut
from mlsub.commands.pack.waivers import Waived, apply_waivers
from mlsub.findings import Finding, Severity
from mlsub.io.errors import MlsubError
from mlsub.io.folders import Piece, Way, adopt, assemble, digest, foreign_files, named
from mlsub.io.write import remove_leftovers
from mlsub.present.envelope import Answer
from mlsub.rules.catalogue import finding
from mlsub.submission.audit import audit_layout
from mlsub.submission.find import Place, Target, infer_round, is_organisation
from mlsub.submission.listing import Item, ItemKind, Listing, may_be_template, parents
from mlsub.submission.report import Report
from mlsub.submission.templates import begins_as_template
from mlsub.workspace import Settings, check_paths
from mlsub.workspace.package import write_package


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


class Difference(msgspec.Struct, frozen=True):
    """Places of files, sorted: ``extra`` are there and not planned.

    ``foreign`` are those of ``changed`` and ``extra`` that pack did not write, or that were changed since.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        """Whether the tree is as planned."""
        return not (self.new or self.changed or self.extra)


class EntryRuns(msgspec.Struct, frozen=True):
    """The logs of an entry in the order of their results, and how they were chosen."""

    entry: str
    how: str
    runs: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file of the package: copied ``from`` a source, ``made`` anew, or a link."""

    to: str
    source: str | None = msgspec.field(name="from")
    made: str | None
    link: str | None
    executable: bool


class Packing(Answer, frozen=True, kw_only=True):
    """A package as planned, and what came of it.

    ``templates`` are the files to be filled in that --scaffold makes among the sources; ``difference`` is that to the
    folder ``out`` before; ``findings`` are those of packing and on waivers, ``report``
    is that of the check, null where the plan is not sound. ``refused`` says that something keeps the package from
    being written, such as the ``blocking`` rejections.
    """

    SCHEMA: ClassVar[int] = 4

    manifest: str
    out: str
    organisation: str
    usage: str
    round: str
    written: bool
    refused: bool
    runs: tuple[EntryRuns, ...]
    files: tuple[File, ...]
    left_out: tuple[LeftOut, ...]
    templates: tuple[str, ...]
    difference: Difference
    findings: tuple[Finding, ...]
    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    report: Report | None


def pack(manifest: Manifest, out: Path, request: Request) -> tuple[Plan, Packing]:
    """Plan and check a submission, and write it where that is asked for and nothing is in the way.

    Args:
        manifest: the submission.
        out: the organisation's folder; it is the old tree or the new one, whole, whatever happens.
        request: what to do.

    Raises:
        MlsubError: ``out`` is not a folder for a submission, or cannot be written.
    """
    plan, packed = _planned(manifest, out, request)
    if not plan.sound and not (request.partly and any(chosen.runs for chosen in plan.runs)):
        return plan, packed
    if request.write and not packed.refused and not packed.difference.none:
        report, written = write_package(
            plan.items,
            manifest.organisation,
            out,
            _settings(plan, request),
            way=request.way,
            wanted=lambda report: not _judged(packed, report, manifest, request).blocking,
        )
        return plan, msgspec.structs.replace(_judged(packed, report, manifest, request), written=written)
    report = _check_links(plan, request)
    if request.write and plan.sound and packed.difference.none:
        adopt(out, [item.to for item in plan.items])
    return plan, _judged(packed, report, manifest, request)


def _planned(manifest: Manifest, out: Path, request: Request) -> tuple[Plan, Packing]:
    """The plan, and what is known before the check; templates are written here."""
    _check_place(out)
    if request.write:
        remove_leftovers(out.parent)
    try:
        scaffolded = tuple(missing_files(manifest, out)) if request.templates else ()
        if request.write:
            _scaffold(scaffolded, out)
        filled = [each.piece for each in scaffolded if each.filled and not request.write]
        plan = make_plan(manifest, more=filled, settings=request.settings)
        difference = _compare(plan, out) if plan.sound else Difference()
    except OSError as error:
        raise MlsubError(f"{error.filename or out} cannot be read: {error.strerror or error}.") from error
    findings = (*plan.findings, *_other_round(plan, out), *_obstacles(plan, out, difference, force=request.force))
    return plan, Packing(
        manifest=str(manifest.file),
        out=str(out),
        organisation=manifest.organisation,
        usage=manifest.round.usage,
        round=manifest.round.name,
        written=False,
        refused=any(found.severity is Severity.ERROR for found in findings),
        runs=tuple(EntryRuns(of.entry.name, of.how, tuple(map(str, of.runs))) for of in plan.runs),
        files=tuple(
            File(item.to, None if item.source is None else str(item.source), item.made, item.link, item.executable)
            for item in plan.items
        ),
        left_out=plan.left_out,
        templates=tuple(str(each.file) for each in scaffolded),
        difference=difference,
        findings=findings,
        blocking=(),
        waived=(),
        report=None,
    )


def _scaffold(scaffolded: Sequence[Scaffolded], out: Path) -> None:
    """Write templates among the sources.

    Raises:
        MlsubError: one would go into the package, which is replaced as a whole, or cannot be written.
    """
    for each in scaffolded:
        if _lies_in(each.file.parent, out):
            raise MlsubError(f"{each.file.parent} lies in {out}, which is replaced as a whole. Name another as setup.")
    for each in scaffolded:
        write_scaffold(each)


def _judged(packed: Packing, report: Report, manifest: Manifest, request: Request) -> Packing:
    """The package with the report of its check, and what that and the waivers say of writing it."""
    strict = [found for found in packed.findings if found.severity is not Severity.ERROR] if request.strict else None
    outcome = apply_waivers(report, manifest, request.waivers, request.today, strict)
    return msgspec.structs.replace(
        packed,
        findings=(*packed.findings, *outcome.notes),
        refused=packed.refused or bool(outcome.blocking),
        blocking=outcome.blocking,
        waived=outcome.waived,
        report=msgspec.structs.replace(report, root=packed.out, round_from=None),
    )


def _check_links(plan: Plan, request: Request) -> Report:
    """Check the package as it would be, without copying it."""
    with TemporaryDirectory(prefix="mlsub-") as folder:
        tree = Path(folder) / plan.manifest.organisation
        assemble(plan.items, tree, Way.LINK)
        report = check_paths([tree], _settings(plan, request))[0]
    # The links are of this check alone; what the layout will be follows from the plan.
    kept = [found for found in report.findings if not found.rule.startswith("layout.")]
    return msgspec.structs.replace(report, findings=(*kept, *_audit_planned(plan)))


def _audit_planned(plan: Plan) -> Iterator[Finding]:
    round_ = plan.manifest.round
    systems: dict[str, set[str]] = {}
    for planned in plan.runs:
        systems.setdefault(planned.entry.benchmark, set()).add(planned.entry.system)
    unfilled = tuple(item.to for item in plan.items if item.source is not None and _is_template(item.to, item.source))
    yield from audit_layout(Listing(items=tuple(_items(plan)), unfilled=unfilled), systems, round_.usage)


def _is_template(to: str, source: Path) -> bool:
    return may_be_template(to) and begins_as_template(Path(os.path.realpath(source)))


def _items(plan: Plan) -> Iterator[Item]:
    for item in plan.items:
        if item.link is not None:
            yield Item(item.to, ItemKind.LINK, target=item.link)
        else:
            size = len(item.content or b"") if item.source is None else item.source.stat().st_size
            yield Item(item.to, size=size, executable=item.executable)


def _settings(plan: Plan, request: Request) -> Settings:
    round_ = plan.manifest.round
    return msgspec.structs.replace(request.settings, round=round_.name, usage=round_.usage)


def _check_place(out: Path) -> None:
    """Refuse what is not a place for an organisation's tree.

    Raises:
        MlsubError: it is a file or a link, or a folder that holds something else.
    """
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise MlsubError(f"{out} is not a folder of its own. Name another.")
        if out.is_dir() and any(out.iterdir()) and not is_organisation(out):
            raise MlsubError(
                f"{out} holds something other than a submission (neither results nor systems). "
                f"Name the organisation's folder, such as {out / 'Organisation'}."
            )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MlsubError(f"{out} cannot be used: {reason}.") from error


def _compare(plan: Plan, out: Path) -> Difference:
    """Compare a plan with a folder, which need not exist: contents, links, and what may be executed.

    Raises:
        OSError: something in the folder cannot be read.
    """
    if not out.is_dir():
        return Difference(new=tuple(item.to for item in plan.items))
    there = _names(out)
    planned = {item.to: item for item in plan.items}
    same = {to for to, item in planned.items() if to in there and _equal(item, out / to)}
    # Where a folder is there that the plan fills, and is empty, it is nothing extra.
    above = {parent for to in planned for parent in parents(to)}
    changed = tuple(to for to in planned if to in there and to not in same)
    extra = tuple(sorted(there - planned.keys() - above))
    # In an empty folder nothing can be lost.
    lost = [path for path in (*changed, *extra) if (out / path).is_symlink() or not (out / path).is_dir()]
    return Difference(
        new=tuple(to for to in planned if to not in there),
        changed=changed,
        same=tuple(to for to in planned if to in same),
        extra=extra,
        foreign=foreign_files(out, {path: digest(out / path) for path in lost}),
    )


def _names(folder: Path) -> set[str]:
    """All that lies in a folder except folders, and of those the empty ones."""

    def fail(error: OSError) -> None:
        raise error

    found: set[str] = set()
    for place, folders, files in os.walk(folder, onerror=fail):
        here = os.path.relpath(place, folder)
        prefix = "" if here == "." else f"{here}/"
        linked = [name for name in folders if Path(place, name).is_symlink()]
        found.update(prefix + name for name in (*files, *linked))
        if prefix and not folders and not files:
            found.add(here)
    return found


def _equal(item: Piece, file: Path) -> bool:
    status = file.lstat()
    if item.link is not None:
        return stat.S_ISLNK(status.st_mode) and str(file.readlink()) == item.link
    if not stat.S_ISREG(status.st_mode) or bool(status.st_mode & stat.S_IXUSR) != item.executable:
        return False
    if item.source is None:
        return file.read_bytes() == item.content
    return item.source.samefile(file) or filecmp.cmp(item.source, file, shallow=False)


def _obstacles(plan: Plan, out: Path, difference: Difference, *, force: bool) -> Iterator[Finding]:
    """Why OUT must not be replaced, though the package may be fine."""
    if difference.none:
        return
    manifest = plan.manifest
    sources = [manifest.file, *(item.source for item in plan.items if item.source is not None)]
    inside = [str(source) for source in sources if _lies_in(source, out)]
    if inside:
        yield _obstacle("package.source-in-out", out, "Sources lie in the folder that is replaced", inside)
    folders = [code.folder for code in manifest.code]
    folders += [entry.setup for entry in manifest.entries if entry.setup is not None]
    folders += [extra.source for extra in manifest.files if Path(extra.source).is_dir()]
    around = next((folder for folder in folders if _lies_in(out, Path(folder))), None)
    if around is not None:
        message = "The folder lies in one that is packed"
        yield finding("package.out-in-source", str(out), message, actual=around)
    if inside:
        return
    if difference.extra and not force:
        message = "The folder holds files that the manifest does not name"
        yield _obstacle("package.out-has-more", out, message, difference.extra)
    lost = difference.foreign if force else tuple(p for p in difference.foreign if p not in set(difference.extra))
    if lost:
        message = "The folder holds files that pack did not write, or that were changed since"
        yield _obstacle("package.out-changed", out, message, lost)


def _other_round(plan: Plan, out: Path) -> Iterator[Finding]:
    """That a folder above OUT is named like another round."""
    round_ = plan.manifest.round
    place = Path(os.path.abspath(out))  # noqa: PTH100  (links keep the names people gave them)
    named_like = infer_round(Place(place, Target.ORGANISATION, place))
    if named_like.round and (named_like.usage, named_like.round) != (round_.usage, round_.name):
        actual = f"{named_like.usage} {named_like.round} ({named_like.round_from})"
        yield finding("package.round-differs", str(out), expected=f"{round_.usage} {round_.name}", actual=actual)


def _obstacle(rule: str, out: Path, message: str, found: Collection[str]) -> Finding:
    return finding(rule, str(out), message, actual=f"{len(found)}: {named(found)}")


def _lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder, or something in it, by their real names."""
    return f"{os.path.realpath(path)}{os.sep}".startswith(f"{os.path.realpath(folder)}{os.sep}")
