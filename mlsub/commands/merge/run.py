"""Read packages to merge, plan which file comes from where and which conflict, and write the result.

The result is judged as :mod:`mlsub.packing.pack` judges a package; a waiver of a part's manifest holds for that part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.io import MlsubError
from mlsub.io.folders import Piece, check_free
from mlsub.io.look import content_digest
from mlsub.io.show import first_few, plural
from mlsub.log.changes import changed_fields
from mlsub.packing.pack import GivenWaivers, PackOptions, Waived, judge
from mlsub.packing.read import read_waivers
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


class Source(msgspec.Struct, frozen=True, dict=True):
    """A package to join: its path as given, its folder, and what lies in it."""

    path: str
    folder: Path
    file_tree: FileTree

    @cached_property
    def items(self) -> dict[str, Item]:
        """What is joined, by path: all but folders of caches and of version control, and what mlsub never finished."""
        return {item.path: item for item in self.file_tree.items if not stray_kind(item.name)}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What comes from one source: its files, those only it has, and its entries (``rack1/bert``)."""

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
    parts: tuple[Part, ...]
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
    plan, pieces = plan_merge(sources, rules, output)
    check_free(output, {piece.to: piece.source for piece in pieces if piece.source is not None})
    given = _waivers(sources)
    if plan.findings or not options.write:
        return plan
    place = output.absolute()
    report, written = write_package(
        pieces,
        place.name,
        place,
        options.context.in_round(rules),
        wanted=lambda report: (
            not judge(report, given, options).blocking or (even_rejected and report.official is Verdict.REJECTED)
        ),
    )
    judged = msgspec.structs.asdict(judge(report, given, options))
    return msgspec.structs.replace(
        plan, **judged, report=msgspec.structs.replace(report, root=str(place)), written=written
    )


def _waivers(sources: Sequence[Source]) -> list[GivenWaivers]:
    """Return the waivers of the manifests near the packages, each for what its packages bring."""
    paths: dict[Path, set[str]] = {}
    for source in sources:
        near = manifest_near(Place(source.folder, PathKind.ORGANISATION, source.folder))
        if near is not None:
            systems = (f"systems/{path.split('/')[1]}.json" for path in source.items if path.startswith("results/"))
            paths.setdefault(near.file, set()).update(source.items, systems)
    return [GivenWaivers(str(file), read_waivers(file), brought) for file, brought in paths.items()]


def read_sources(paths: Sequence[str]) -> list[Source]:
    """Return the packages.

    Raises:
        MlsubError: fewer than two, one is named twice, is not an organisation, or cannot be read whole.
    """
    if len(paths) < 2:
        raise MlsubError("a merge needs two packages or more")
    sources: list[Source] = []
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
        sources.append(Source(path, folder, file_tree))
    return sources


def _check_place(output: Path, sources: Sequence[Source], *, force: bool) -> None:
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
        folder, real = source.folder.resolve(), place.resolve()
        if real.is_relative_to(folder) or folder.is_relative_to(real):
            raise MlsubError(f"{output} and {source.path} lie in each other; name another place")
    if place.exists() and not force:
        raise MlsubError(f"{output} exists; add --force to replace it")


def plan_merge(sources: Sequence[Source], round_: Round, output: Path) -> tuple[Merge, tuple[Piece, ...]]:
    """Return the plan for joining packages, and its files; reads what several of them have, and writes nothing."""
    owners: dict[str, list[Source]] = {}
    for source in sources:
        for path in source.items:
            owners.setdefault(path, []).append(source)
    entries: dict[str, list[str]] = {}
    for path in owners:
        folder, _, name = path.rpartition("/")
        deep = folder.startswith("results/") and folder.count("/") == (3 if round_.scaling_folders else 2)
        if deep and fnmatchcase(name, RESULT_PATTERN):
            entries.setdefault(folder, []).append(path)
    files = {path: have for path, have in owners.items() if have[0].items[path].kind is not ItemKind.FOLDER}
    merge = Merge(
        usage=round_.usage,
        round=round_.name,
        output=str(output),
        written=False,
        organisation=output.absolute().name,
        parts=tuple(_part(source, files, entries) for source in sources),
        files=len(files),
        joined=sum(len(have) > 1 for have in files.values()),
        left_out=tuple(
            sorted({item.path for each in sources for item in each.file_tree.items if stray_kind(item.name)})
        ),
        findings=tuple(_conflicts(output.absolute().name, sources, owners, entries)),
        report=None,
    )
    return merge, tuple(_piece(path, have) for path, have in files.items())


def _piece(path: str, have: Sequence[Source]) -> Piece:
    """Return the first source's file; one that can be executed, where only the modes differ."""
    source = next((source for source in have if source.items[path].executable), have[0])
    item = source.items[path]
    link = item.target if item.kind is ItemKind.LINK else None
    return Piece(to=path, source=source.folder / path, link=link, executable=item.executable, size=item.size)


def _part(source: Source, files: Mapping[str, Sequence[Source]], entries: Mapping[str, Sequence[str]]) -> Part:
    mine = [have for path, have in files.items() if path in source.items]
    return Part(
        path=source.path,
        files=len(mine),
        own=sum(len(have) == 1 for have in mine),
        entries=tuple(
            sorted(entry.removeprefix("results/") for entry, logs in entries.items() if source.items.keys() & logs)
        ),
    )


def _conflicts(
    organisation: str,
    sources: Sequence[Source],
    owners: Mapping[str, Sequence[Source]],
    entries: Mapping[str, Sequence[str]],
) -> Iterator[Finding]:
    """Yield what several sources do not have alike, and what cannot be copied at all: one finding a defect."""
    names = list(dict.fromkeys(source.folder.name for source in sources))
    if any(organisation not in (name, _NUMBER.sub("", name)) for name in names):
        message = "The packages are of several organisations"
        yield finding("merge.organisation", ".", message, expected=organisation, actual=", ".join(names))
    reported: set[str] = set()
    for entry, logs in sorted(entries.items()):
        if problem := _entry_conflict(entry, logs, sources):
            reported.update(logs)
            yield problem
    for path, (first, *others) in sorted(owners.items()):
        problems = (_path_conflict(path, first, other) for other in others if path not in reported)
        if problem := next(filter(None, problems), None):
            yield problem
    for source in sources:
        for path in escaping_links(source.file_tree):
            yield finding("merge.link", path, "A link leads out of its package", actual=source.path)
        for item in source.file_tree.items:
            if item.kind is ItemKind.OTHER:
                yield finding("merge.special-file", item.path, "A pipe, socket or device", actual=source.path)


def _entry_conflict(entry: str, paths: Sequence[str], sources: Sequence[Source]) -> Finding | None:
    """Return that an entry of several sources does not have the same logs in each; None where it has."""
    (first, ours), *others = [(each, logs) for each in sources if (logs := each.items.keys() & paths)]
    for other, theirs in others:
        shared = ours & theirs
        differing = sum(not _alike(path, first, other) for path in shared)
        if differing or ours != theirs:
            shown = f"{differing} of {len(shared)} logs of the same name differ" if differing else "other logs"
            counts = f"{first.path} has {plural(len(ours), 'log')}, {other.path} has {len(theirs)}; {shown}"
            return finding("merge.entry", entry, "An entry has other runs in another package", actual=counts)
    return None


def _path_conflict(path: str, one: Source, other: Source) -> Finding | None:
    """Return how a path of two sources differs; None where it does not, or is a folder in both."""
    kinds = {one.items[path].kind, other.items[path].kind}
    if kinds == {ItemKind.FOLDER} or _alike(path, one, other):
        return None
    names = f"{one.path} and {other.path}"
    if ItemKind.FOLDER in kinds:
        return finding("merge.file", path, "A path is a folder in one package and none in another", actual=names)
    if not (path.startswith("systems/") and path.endswith(".json")):
        return finding("merge.file", path, "A file differs between packages", actual=names)
    contents = [read_description(source.folder / path, path).content for source in (one, other)]
    changed = [change.name for change in changed_fields(*contents)]
    detail = f"{names}: {first_few(changed) or 'layout alone'}"
    return finding("merge.system", path, "A system is described differently", actual=detail)


def _alike(path: str, one: Source, other: Source) -> bool:
    """Return whether two sources have the same at a path; what cannot be read is not."""
    ours, theirs = one.items[path], other.items[path]
    if ours.kind is not theirs.kind:
        return False
    if ours.kind is ItemKind.LINK:
        return ours.target == theirs.target
    if ours.size != theirs.size:
        return False
    content = content_digest(one.folder / path)
    return content is not None and content == content_digest(other.folder / path)
