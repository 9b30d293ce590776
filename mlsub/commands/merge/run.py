"""Read packages to merge, plan which file comes from where and which conflict, and write the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.io.folders import Piece, check_free
from mlsub.io.look import content_digest
from mlsub.log.changes import fields
from mlsub.present.envelope import Answer
from mlsub.rounds import Round, get_round
from mlsub.rules.catalogue import finding
from mlsub.submission.audit import escaping_links
from mlsub.submission.find import Target, find, locate
from mlsub.submission.listing import Item, ItemKind, Listing, is_stray_folder, list_tree
from mlsub.submission.model import RESULT_PATTERN
from mlsub.submission.report import Report
from mlsub.systems.description import read_description
from mlsub.workspace import Settings
from mlsub.workspace.package import write_package

#: (number of the source, what it has there), for each source that has something of a path.
Found = list[tuple[int, Item]]


class Source(msgspec.Struct, frozen=True):
    """A package to join: its path as given, its folder, and what lies in it."""

    path: str
    folder: Path
    listing: Listing


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What comes from one source: its files, those only it has, and its entries (``rack1/bert``)."""

    path: str
    files: int
    own: int
    entries: tuple[str, ...]


class Merge(Answer, frozen=True, kw_only=True):
    """A merge as planned, and with ``--write`` the report of the check and whether it is in place.

    ``output`` is the organisation's folder to be; ``files`` counts the files and links that it gets, ``joined`` those
    that are the same in several packages; ``left_out`` are folders of caches and version control. With ``findings``
    nothing is written.
    """

    SCHEMA: ClassVar[int] = 5

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
    report: Report | None

    @property
    def exit_status(self) -> int:
        """0 nothing stands in the way, or it is written and accepted; 1 conflicts, or the result is rejected."""
        return int(bool(self.findings) or (self.report is not None and self.report.exit_status() != 0))


def merge(
    paths: Sequence[str], output: Path, settings: Settings, *, write: bool, force: bool, even_rejected: bool
) -> Merge:
    """Join packages, or say what stands in the way.

    Args:
        paths: the packages, which are never changed.
        output: the organisation's folder to be.
        settings: how the result is checked; where they name no round, it is that of the folders above the packages.
        write: whether to write the result.
        force: whether a folder that mlsub wrote may be replaced.
        even_rejected: whether a package that is rejected is put in place as well.

    Raises:
        MlsubError: something cannot be read or written, or ``output`` cannot be used; then nothing has changed.
    """
    sources = read_sources(paths)
    rules = _round_of(sources, settings.round, settings.usage)
    _check_place(output, sources, force=force)
    plan, pieces = plan_merge(sources, rules, output)
    check_free(output, {piece.to: piece.source for piece in pieces if piece.source is not None})
    if plan.findings or not write:
        return plan
    good = (Verdict.ACCEPTED, Verdict.REJECTED) if even_rejected else (Verdict.ACCEPTED,)
    place = output.absolute()
    report, written = write_package(
        pieces,
        place.name,
        place,
        msgspec.structs.replace(settings, round=rules.name, usage=rules.usage),
        wanted=lambda report: report.official in good,
    )
    return msgspec.structs.replace(plan, report=msgspec.structs.replace(report, root=str(place)), written=written)


def read_sources(paths: Sequence[str]) -> list[Source]:
    """The packages.

    Raises:
        MlsubError: fewer than two, one is named twice, is not an organisation, or cannot be read whole.
    """
    if len(paths) < 2:
        raise MlsubError("a merge needs two packages or more")
    sources: list[Source] = []
    for path in paths:
        place = locate(Path(path))
        if place.target is not Target.ORGANISATION or place.organisation is None:
            raise MlsubError(f"{path} is not an organisation's tree: it has neither results/ nor systems/")
        folder = place.organisation
        twin = next((source for source in sources if source.folder.samefile(folder)), None)
        if twin is not None:
            raise MlsubError(f"{twin.path} and {path} are the same folder")
        listing = list_tree(folder)
        closed = (*listing.closed, *listing.unread)
        if closed or listing.cut:
            what = listing.cut or f"{closed[0]} cannot be read"
            raise MlsubError(f"{path} cannot be listed whole: {what}")
        sources.append(Source(path, folder, listing))
    return sources


def _round_of(sources: Sequence[Source], round_: str | None, usage: str | None) -> Round:
    """The one round of all packages: as asked, or as read off the folders above them.

    Raises:
        MlsubError: there is none, or they are of several.
    """
    inferred = {(found.usage, found.round) for s in sources if (found := find(s.folder)).round}
    if round_ is None and len(inferred) > 1:
        named = " and ".join(f"{usage} v{name}" for usage, name in sorted(inferred))
        raise MlsubError(f"the packages lie under several rounds, {named}; say --round")
    if round_ is None and not inferred:
        raise MlsubError("no folder above the packages is named like a round; say --round")
    of, name = next(iter(inferred), ("training", ""))
    return get_round(usage or of, round_ or name)


def _check_place(output: Path, sources: Sequence[Source], *, force: bool) -> None:
    """Find out what would keep the result from its place.

    Raises:
        MlsubError: it has another name than the organisation, lies in a package or around one, or is there.
    """
    name = sources[0].folder.name
    place = output.absolute()
    try:
        real = place.resolve()
        if place.name != name:
            raise MlsubError(f"{output} is to be the organisation's folder; name it {output / name}")
        for source in sources:
            folder = source.folder.resolve()
            if real == folder or folder in real.parents or real in folder.parents:
                raise MlsubError(f"{output} and {source.path} lie in each other; name another place")
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise MlsubError(f"{output} is not a folder of its own; name another place")
        if place.exists() and not force:
            raise MlsubError(f"{output} exists; add --force to replace it")
        if place.exists() and locate(place).target is not Target.ORGANISATION and any(place.iterdir()):
            raise MlsubError(f"{output} is not an organisation's tree, so it is not replaced; name another place")
    except (OSError, ValueError, RuntimeError) as error:
        raise MlsubError(f"{output} cannot be used: {error}") from error


def plan_merge(sources: Sequence[Source], round_: Round, output: Path) -> tuple[Merge, tuple[Piece, ...]]:
    """The plan for joining packages, and its files; reads files that several of them have, and writes nothing."""
    found: dict[str, Found] = {}
    for number, source in enumerate(sources):
        for item in source.listing.items:
            if not is_stray_folder(item):
                found.setdefault(item.path, []).append((number, item))
    conflicts = _Conflicts(sources, round_, found)
    files = {path: some for path, some in found.items() if some[0][1].kind is not ItemKind.FOLDER}
    pieces = tuple(_piece(some, sources) for some in files.values())
    left_out = {item.path for source in sources for item in source.listing.items if is_stray_folder(item)}
    merge = Merge(
        usage=round_.usage,
        round=round_.name,
        output=str(output),
        written=False,
        organisation=sources[0].folder.name,
        parts=tuple(_part(number, source, files, conflicts) for number, source in enumerate(sources)),
        files=len(pieces),
        joined=sum(len(some) > 1 for some in files.values()),
        left_out=tuple(sorted(left_out)),
        findings=tuple(conflicts.all()),
        report=None,
    )
    return merge, pieces


def _piece(some: Found, sources: Sequence[Source]) -> Piece:
    """The first source's file; one that can be executed, where only the modes differ."""
    number, item = next((one for one in some if one[1].executable), some[0])
    source, link = sources[number].folder / item.path, item.target if item.kind is ItemKind.LINK else None
    return Piece(to=item.path, source=source, link=link, executable=item.executable, size=item.size)


def _part(number: int, source: Source, files: dict[str, Found], conflicts: _Conflicts) -> Part:
    mine = [some for some in files.values() if any(who == number for who, _ in some)]
    entries = {entry for entry, logs in conflicts.logs.items() if number in logs}
    return Part(
        path=source.path,
        files=len(mine),
        own=sum(len(some) == 1 for some in mine),
        entries=tuple(sorted(entry.removeprefix("results/") for entry in entries)),
    )


class _Conflicts:
    """What several sources have and do not have alike, and what cannot be copied at all."""

    def __init__(self, sources: Sequence[Source], round_: Round, found: dict[str, Found]) -> None:
        self.sources = sources
        self.depth = 4 if round_.scaling_folders else 3
        self.found = found
        #: Result logs by entry, source and path.
        self.logs: dict[str, dict[int, dict[str, Item]]] = {}
        for path, some in found.items():
            if (entry := self.entry_of(path)) is not None:
                for number, item in some:
                    self.logs.setdefault(entry, {}).setdefault(number, {})[path] = item

    def all(self) -> Iterator[Finding]:
        """Every conflict, one a defect."""
        yield from self._organisations()
        in_conflict = set()
        for entry in sorted(self.logs):
            for problem in self._entry(entry):
                in_conflict.add(entry)
                yield problem
        for path, some in sorted(self.found.items()):
            if len(some) > 1 and self.entry_of(path) not in in_conflict:
                yield from self._path(path, some)
        for source in self.sources:
            yield from self._uncopyable(source)

    def entry_of(self, path: str) -> str | None:
        """The entry's folder that a result log belongs to; None for any other path."""
        parts = path.split("/")
        if parts[0] == "results" and len(parts) == self.depth + 1 and fnmatchcase(parts[-1], RESULT_PATTERN):
            return "/".join(parts[:-1])
        return None

    def _organisations(self) -> Iterator[Finding]:
        names = [source.folder.name for source in self.sources]
        if len(set(names)) > 1:
            yield finding(
                "merge.organisation",
                ".",
                "The packages are of several organisations",
                expected=names[0],
                actual=", ".join(dict.fromkeys(names)),
            )

    def _entry(self, entry: str) -> Iterator[Finding]:
        """An entry of several sources must have the same logs in each."""
        logs = self.logs[entry]
        if len(logs) < 2:
            return
        first, *others = sorted(logs)
        for other in others:
            shared = logs[first].keys() & logs[other].keys()
            differing = sum(not self._alike((first, logs[first][path]), (other, logs[other][path])) for path in shared)
            if differing or logs[first].keys() != logs[other].keys():
                shown = f"{differing} of {len(shared)} logs of the same name differ" if differing else "other logs"
                yield finding(
                    "merge.entry",
                    entry,
                    "An entry has other runs in another package",
                    actual=f"{self._name(first)} has {len(logs[first])} logs, "
                    f"{self._name(other)} has {len(logs[other])}; {shown}",
                )
                return

    def _path(self, path: str, some: Found) -> Iterator[Finding]:
        first, *others = some
        for other in others:
            if {first[1].kind, other[1].kind} == {ItemKind.FOLDER}:
                continue
            if ItemKind.FOLDER in (first[1].kind, other[1].kind):
                rule, message, detail = "merge.file", "A path is a folder in one package and none in another", None
            elif self._alike(first, other):
                continue
            elif path.startswith("systems/") and path.endswith(".json"):
                rule, message = "merge.system", "A system is described differently"
                detail = self._differing_fields(path, first[0], other[0])
            else:
                rule, message, detail = "merge.file", "A file differs between packages", None
            names = f"{self._name(first[0])} and {self._name(other[0])}"
            yield finding(rule, path, message, actual=f"{names}: {detail}" if detail else names)
            return

    def _differing_fields(self, path: str, one: int, other: int) -> str:
        contents = [read_description(self._file(number, path), path).content for number in (one, other)]
        names = [change.name for change in fields(*contents)]
        return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "layout alone"

    def _uncopyable(self, source: Source) -> Iterator[Finding]:
        for path in escaping_links(source.listing):
            yield finding("merge.link", path, "A link leads out of its package", actual=source.path)
        for item in source.listing.items:
            if item.kind is ItemKind.OTHER:
                yield finding("merge.special-file", item.path, "A pipe, socket or device", actual=source.path)

    def _alike(self, one: tuple[int, Item], other: tuple[int, Item]) -> bool:
        """Whether two sources have the same there; what cannot be read is not."""
        ours, theirs = one[1], other[1]
        if ours.kind is not theirs.kind:
            return False
        if ours.kind is ItemKind.LINK:
            return ours.target == theirs.target
        if ours.size != theirs.size:
            return False
        content = content_digest(self._file(one[0], ours.path))
        return content is not None and content == content_digest(self._file(other[0], theirs.path))

    def _file(self, number: int, path: str) -> Path:
        return self.sources[number].folder / path

    def _name(self, number: int) -> str:
        return self.sources[number].path
