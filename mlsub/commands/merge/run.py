"""Read packages to merge, plan which file comes from where and which conflict, and write the result.

The result is judged as :mod:`mlsub.packing.pack` judges a package; a waiver of a part's manifest holds for that part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Severity, Verdict
from mlsub.io import MlsubError
from mlsub.io.folders import Piece, check_free
from mlsub.io.look import content_digest, lies_in
from mlsub.io.show import first_few, plural
from mlsub.log.changes import changed_fields
from mlsub.packing.pack import GivenWaivers, PackOptions, Waived, judge
from mlsub.packing.plan import PackagePlan
from mlsub.packing.read import read_waivers
from mlsub.packing.runs import OmittedSource
from mlsub.packing.tree import compare_trees
from mlsub.present.document import Document, Facts, Findings, Items, Lines, Span, Text, Words, document
from mlsub.present.entries import package_blocks
from mlsub.present.envelope import Answer
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.audit import escaping_links
from mlsub.submission.file_tree import FileTree, Item, ItemKind, read_file_tree, stray_kind
from mlsub.submission.find import PathKind, Place, locate, manifest_near
from mlsub.submission.model import RESULT_PATTERN
from mlsub.submission.report import Report
from mlsub.systems.description import read_description
from mlsub.workspace.package import check_place, write_package
from mlsub.workspace.runs import round_of

#: Teams upload as ``<organisation>_<number>`` (mlcommons/training issue 877).
_NUMBER = re.compile(r"_[0-9]+$")
#: Folders that are left out, and rules, that are named.
_SHOWN = 3


class MergeSource(msgspec.Struct, frozen=True, dict=True):
    """A package to join: its path as given, its folder, and what lies in it."""

    path: str
    folder: Path
    file_tree: FileTree

    @cached_property
    def items(self) -> dict[str, SourceItem]:
        """What is joined, by path: all but folders of caches and of version control, and what mlsub never finished."""
        return {item.path: (self, item) for item in self.file_tree.items if not stray_kind(item.name)}

    def logs_by_entry(self, round_: Round) -> dict[str, set[str]]:
        """Return the paths of the result logs by the folder of their entry."""
        entries: dict[str, set[str]] = {}
        for path in self.items:
            folder, _, name = path.rpartition("/")
            deep = folder.startswith("results/") and folder.count("/") == (3 if round_.scaling_folders else 2)
            if deep and fnmatchcase(name, RESULT_PATTERN):
                entries.setdefault(folder, set()).add(path)
        return entries


#: What lies in a package, and the package.
SourceItem = tuple[MergeSource, Item]


class MergePart(msgspec.Struct, frozen=True, kw_only=True):
    """What comes from one package: its files, those only it has, and its entries (``rack1/bert``)."""

    path: str
    files: int
    own: int
    entries: tuple[str, ...]


class Merge(Answer, frozen=True, kw_only=True):
    """A merge as planned, and with ``--write`` the report of the check and whether it is in place.

    ``output`` is the organisation's folder to be; ``files`` counts the files and links that it gets, ``joined`` those
    that are the same in several packages; ``left_out`` are folders of caches and version control, and what a
    killed command left. With ``findings``, or with what is ``blocking`` in the report, nothing is written;
    ``waived`` is what the waivers of the packages' manifests cover, ``notes`` what there is to say of these.
    """

    SCHEMA: ClassVar[int] = 8

    usage: str
    round: str
    output: str
    written: bool
    organisation: str
    parts: tuple[MergePart, ...]
    files: int
    joined: int
    left_out: tuple[str, ...]
    findings: tuple[Finding, ...]
    blocking: tuple[Finding, ...] = ()
    waived: tuple[Waived, ...] = ()
    notes: tuple[Finding, ...] = ()
    report: Report | None

    @property
    def exit_status(self) -> int:
        """0 nothing stands in the way, or it is written; 1 conflicts, or something in the result is blocking."""
        return int(bool(self.findings or self.blocking) or (self.report is not None and not self.written))


def document_of(merge: Merge) -> Document:
    """Return what is joined, what stands in the way, and what was done."""
    return document(
        f"Merge of {merge.organisation}, {merge.usage} v{merge.round}",
        Facts(tuple(_facts(merge))),
        Findings(merge.findings, label="conflict"),
        *(package_blocks(merge.report) if merge.report is not None else ()),
        Findings(merge.notes),
        Items(tuple(each.line for each in merge.waived)),
        Text(_outcome(merge)),
    )


def _facts(merge: Merge) -> Iterator[tuple[str, str | Span | Lines]]:
    yield "into", Span(merge.output, "path")
    parts: list[Words] = [
        (
            Span(part.path, "path"),
            f": {part.files} files, {part.own} of them only there; {', '.join(part.entries) or 'no entries'}",
        )
        for part in merge.parts
    ]
    yield "from", Lines(tuple(parts))
    yield "together", f"{merge.files} files; {merge.joined} are in several packages"
    if merge.left_out:
        yield "left out, as caches, version control or unfinished", first_few(merge.left_out, _SHOWN)


def _outcome(merge: Merge) -> Words:
    if merge.findings:
        return f"{plural(len(merge.findings), 'conflict')}: nothing was written."
    if merge.report is None:
        return "No conflicts. Nothing was written: add --write to check the result and put it in place."
    if merge.written:
        return ("Written: ", Span(merge.output, "path"))
    rules = first_few(dict.fromkeys(found.rule for found in merge.blocking), _SHOWN, "rule")
    if any(found.rejects for found in merge.blocking) or not rules:
        return "Rejected, so nothing was written. Fix it, or add --even-rejected."
    if any(found.severity is Severity.ERROR for found in merge.blocking):
        return f"A reviewer will raise errors ({rules}), so nothing was written. Fix them, or add --even-with-errors."
    return f"--strict refuses review warnings ({rules}), so nothing was written."


def merge(paths: Sequence[str], output: Path, options: PackOptions, *, even_rejected: bool) -> Merge:
    """Join packages, or say what stands in the way.

    Args:
        paths: the packages, which are never changed.
        output: the organisation's folder to be.
        options: what to do; ``force`` lets a folder that mlsub wrote be replaced. Where its context names no round, it
            is that of the folders above the packages.
        even_rejected: whether a package that is rejected is put in place as well.

    Raises:
        MlsubError: something cannot be read or written, or ``output`` cannot be used; then nothing has changed.
    """
    sources = read_sources(paths)
    rules = round_of([source.folder for source in sources], options.context.request, "packages")
    _check_place(output, sources, force=options.force)
    place = output.absolute()
    plan = plan_merge(sources, rules, place.name)
    check_free(output, {piece.to: piece.source for piece in plan.pieces if piece.source is not None})
    planned = describe_plan(plan, sources, rules, output)
    given = _waivers(sources)
    if plan.findings or not options.write:
        return planned
    report, written = write_package(
        plan.pieces,
        place.name,
        place,
        options.context.in_round(rules),
        wanted=lambda report: (
            not judge(report, given, options).blocking or (even_rejected and report.official is Verdict.REJECTED)
        ),
    )
    judged = msgspec.structs.asdict(judge(report, given, options))
    report = msgspec.structs.replace(report, root=str(place))
    return msgspec.structs.replace(planned, **judged, report=report, written=written)


def _waivers(sources: Sequence[MergeSource]) -> list[GivenWaivers]:
    """Return the waivers of the manifests near the packages, each for what its packages bring."""
    paths: dict[Path, set[str]] = {}
    for source in sources:
        near = manifest_near(Place(source.folder, PathKind.ORGANISATION, source.folder))
        if near is not None:
            systems = (f"systems/{path.split('/')[1]}.json" for path in source.items if path.startswith("results/"))
            paths.setdefault(near.file, set()).update(source.items, systems)
    return [GivenWaivers(str(file), read_waivers(file), brought) for file, brought in paths.items()]


def read_sources(paths: Sequence[str]) -> list[MergeSource]:
    """Return the packages.

    Raises:
        MlsubError: fewer than two, one is named twice, is not an organisation, or cannot be read whole.
    """
    if len(paths) < 2:
        raise MlsubError("a merge needs two packages or more")
    sources: list[MergeSource] = []
    for path in paths:
        place = locate(Path(path))
        if place.kind is not PathKind.ORGANISATION or place.organisation is None:
            raise MlsubError(f"{path} is not an organisation's tree: it has neither results/ nor systems/")
        folder = place.organisation
        twin = next((source for source in sources if source.folder.samefile(folder)), None)
        if twin is not None:
            raise MlsubError(f"{twin.path} and {path} are the same folder")
        file_tree = read_file_tree(folder)
        closed = (*file_tree.closed, *file_tree.unread)
        if closed or file_tree.cut:
            what = file_tree.cut or f"{closed[0]} cannot be read"
            raise MlsubError(f"{path} cannot be listed whole: {what}")
        sources.append(MergeSource(path, folder, file_tree))
    return sources


def _check_place(output: Path, sources: Sequence[MergeSource], *, force: bool) -> None:
    """Find out what would keep the result from its place.

    Raises:
        MlsubError: it has another name than the organisation, lies in a package or around one, or is there.
    """
    check_place(output)
    place, name = output.absolute(), sources[0].folder.name
    if any(source.folder.name != name for source in sources):
        name = _NUMBER.sub("", name)
    if place.name not in (sources[0].folder.name, _NUMBER.sub("", name)):
        raise MlsubError(f"{output} is to be the organisation's folder; name it {output / name}")
    for source in sources:
        if lies_in(place, source.folder) or lies_in(source.folder, place):
            raise MlsubError(f"{output} and {source.path} lie in each other; name another place")
    if place.exists() and not force:
        raise MlsubError(f"{output} exists; add --force to replace it")


def plan_merge(sources: Sequence[MergeSource], round_: Round, organisation: str) -> PackagePlan:
    """Return the plan for joining packages; reads what several of them have, and writes nothing."""
    planned, conflicts = _join(sources, round_)
    strays = {item.path: stray_kind(item.name) for each in sources for item in each.file_tree.items}
    return PackagePlan(
        pieces=tuple(_piece(path, sources) for path, (_, item) in planned.items() if item.kind is not ItemKind.FOLDER),
        left_out=tuple(OmittedSource(path, why) for path, why in sorted(strays.items()) if why),
        findings=(*_other_organisations(sources, organisation), *conflicts, *_not_copied(sources)),
    )


def describe_plan(plan: PackagePlan, sources: Sequence[MergeSource], round_: Round, output: Path) -> Merge:
    """Return the merge as planned, before anything is checked or written."""
    owners = Counter(path for source in sources for path in source.items)
    parts = []
    for source in sources:
        mine = [piece.to for piece in plan.pieces if piece.to in source.items]
        entries = sorted(entry.removeprefix("results/") for entry in source.logs_by_entry(round_))
        own = sum(owners[path] == 1 for path in mine)
        parts.append(MergePart(path=source.path, files=len(mine), own=own, entries=tuple(entries)))
    return Merge(
        usage=round_.usage,
        round=round_.name,
        output=str(output),
        written=False,
        organisation=output.absolute().name,
        parts=tuple(parts),
        files=len(plan.pieces),
        joined=sum(owners[piece.to] > 1 for piece in plan.pieces),
        left_out=tuple(left.path for left in plan.left_out),
        findings=plan.findings,
        report=None,
    )


def _join(sources: Sequence[MergeSource], round_: Round) -> tuple[dict[str, SourceItem], list[Finding]]:
    """Return what comes from where, by path, and what later packages do not have alike: one finding a defect."""
    planned: dict[str, SourceItem] = {}
    entries: dict[str, tuple[MergeSource, set[str]]] = {}
    other_runs: dict[str, Finding] = {}
    other_files: dict[str, Finding] = {}
    for source in sources:
        changed = compare_trees(planned, source.items, _alike).changed
        logs = source.logs_by_entry(round_)
        for entry, theirs in logs.items():
            first, ours = entries.setdefault(entry, (source, theirs))
            differing = theirs.intersection(changed)
            if differing or ours != theirs:
                some = f"{len(differing)} of {len(ours & theirs)} logs of the same name differ"
                counts = f"{first.path} has {plural(len(ours), 'log')}, {source.path} has {len(theirs)}"
                actual = f"{counts}; {some if differing else 'other logs'}"
                message = "An entry has other runs in another package"
                other_runs.setdefault(entry, finding("merge.entry", entry, message, actual=actual))
        for path in set(changed).difference(*logs.values()):
            if path not in other_files:
                other_files[path] = _path_conflict(path, planned[path], source.items[path])
        planned = source.items | planned
    found = [conflicts[path] for conflicts in (other_runs, other_files) for path in sorted(conflicts)]
    return planned, found


def _alike(one: SourceItem, other: SourceItem) -> bool:
    """Return whether two packages have the same at a path; what cannot be read is not."""
    (first, ours), (second, theirs) = one, other
    if ours.kind is not theirs.kind:
        return False
    if ours.kind in (ItemKind.FOLDER, ItemKind.LINK):
        return ours.target == theirs.target
    if ours.size != theirs.size:
        return False
    content = content_digest(first.folder / ours.path)
    return content is not None and content == content_digest(second.folder / theirs.path)


def _path_conflict(path: str, one: SourceItem, other: SourceItem) -> Finding:
    """Return how two packages differ at a path."""
    folders = (one[0].folder, other[0].folder)
    names = f"{one[0].path} and {other[0].path}"
    if ItemKind.FOLDER in (one[1].kind, other[1].kind):
        return finding("merge.file", path, "A path is a folder in one package and none in another", actual=names)
    if not (path.startswith("systems/") and path.endswith(".json")):
        return finding("merge.file", path, "A file differs between packages", actual=names)
    contents = [read_description(folder / path, path).content for folder in folders]
    changed = [change.name for change in changed_fields(*contents)]
    detail = f"{names}: {first_few(changed) or 'layout alone'}"
    return finding("merge.system", path, "A system is described differently", actual=detail)


def _piece(path: str, sources: Sequence[MergeSource]) -> Piece:
    """Return the first package's file; one that can be executed, where only the modes differ."""
    have = [source.items[path] for source in sources if path in source.items]
    source, item = next((one for one in have if one[1].executable), have[0])
    link = item.target if item.kind is ItemKind.LINK else None
    return Piece(to=path, source=source.folder / path, link=link, executable=item.executable, size=item.size)


def _other_organisations(sources: Sequence[MergeSource], organisation: str) -> Iterator[Finding]:
    names = list(dict.fromkeys(source.folder.name for source in sources))
    if any(organisation not in (name, _NUMBER.sub("", name)) for name in names):
        message = "The packages are of several organisations"
        yield finding("merge.organisation", ".", message, expected=organisation, actual=", ".join(names))


def _not_copied(sources: Sequence[MergeSource]) -> Iterator[Finding]:
    """Yield what cannot be copied at all."""
    for source in sources:
        for path in escaping_links(source.file_tree):
            yield finding("merge.link", path, "A link leads out of its package", actual=source.path)
        for item in source.file_tree.items:
            if item.kind is ItemKind.OTHER:
                yield finding("merge.special-file", item.path, "A pipe, socket or device", actual=source.path)
