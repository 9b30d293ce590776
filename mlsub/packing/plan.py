"""Plan a package without writing anything: which file comes from where, and which files are missing.

Also compare the plan with what lies where the package goes, and say why that must not be replaced.
"""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding, Severity
from mlsub.io import reason_of
from mlsub.io.folders import Piece, foreign_files, list_files, path_digest
from mlsub.io.look import lies_in, open_regular
from mlsub.io.show import first_few
from mlsub.packing.manifest import Manifest, ManifestEntry, ManifestItem
from mlsub.packing.runs import EntryRuns, OmittedSource, choose_runs, is_gzip
from mlsub.packing.tree import TreeDifference, compare_trees
from mlsub.rules.catalogue import finding
from mlsub.rules.load import entry_requirements
from mlsub.submission.audit import LINK_ESCAPES, link_faults
from mlsub.submission.code import CODE_USAGES
from mlsub.submission.file_tree import FileTree, ItemKind, parents, read_file_tree, stray_paths
from mlsub.submission.file_tree import Item as Listed
from mlsub.submission.find import PathKind, Place, infer_round
from mlsub.submission.templates import Template, begins_as_template, may_be_template, templates
from mlsub.systems.description import read_description
from mlsub.systems.fields import is_placeholder
from mlsub.workspace import AS_FOUND, Context

#: Why a template stays out.
UNFILLED = "a template: fill it in, and remove every line that asks for it"
#: What goes into a submission, what stays out, or what cannot be packed.
Taken = Piece | OmittedSource | Finding


class PackagePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which file of a package comes from where, each place once; what is left out; and what is wrong with that."""

    pieces: tuple[Piece, ...]
    left_out: tuple[OmittedSource, ...]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing keeps the tree from being assembled."""
        return not any(found.severity is Severity.ERROR for found in self.findings)


class PackPlan(PackagePlan, frozen=True, kw_only=True):
    """The plan of a submission, whose ``pieces`` are sorted by place."""

    manifest: Manifest
    runs: tuple[EntryRuns, ...]


def make_plan(manifest: Manifest, context: Context = AS_FOUND) -> PackPlan:
    """Plan a submission.

    Args:
        manifest: what it says; the files it names are looked at here.
        context: how logs are read, where a median window asks for all of them.
    """
    chosen = [choose_runs(manifest, entry, context) for entry in manifest.entries]
    runs = tuple(each for each, _ in chosen)
    parts = [*(part for _, aside in chosen for part in aside), *_collect(manifest, runs)]
    left_out = [part for part in parts if isinstance(part, OmittedSource)]
    kept, conflicts = _each_place_once([part for part in parts if isinstance(part, Piece)], manifest)
    findings = [part for part in parts if isinstance(part, Finding)]
    findings += [*conflicts, *_other_divisions(manifest), *_used_twice(runs, manifest)]
    return PackPlan(
        pieces=kept,
        left_out=tuple(dict.fromkeys(left_out)),
        findings=tuple(dict.fromkeys(findings)),
        manifest=manifest,
        runs=runs,
    )


def _collect(manifest: Manifest, runs: Iterable[EntryRuns]) -> Iterator[Taken]:
    """Yield what goes into the submission, source by source, what stays out, and what cannot be packed."""
    for entry, chosen in zip(manifest.entries, runs, strict=True):
        to = f"results/{entry.name}"
        for number, run in enumerate(map(Path, chosen.runs)):
            log = _file(manifest, run, f"{to}/result_{number}.txt", entry, executable=False)
            if isinstance(log, Piece) and not manifest.prepare.gunzip and is_gzip(run):
                log = manifest.finding("package.compressed", f"{run.name} is gzip", entry, actual=str(run))
            yield log
            if entry.power is not None:
                folder = Path(entry.power, run.name.removesuffix(".txt"))
                yield from _folder(manifest, folder, f"{to}/power/result_{number}", entry)
    for system in manifest.systems:
        yield _file(manifest, system.file, f"systems/{system.name}.json", system, executable=False)
    missing = "package.code-missing"
    for code in manifest.code:
        to = f"benchmarks/{code.benchmark}/implementations/{code.implementation}"
        yield from _folder(manifest, Path(code.folder), to, code, missing)
    for entry in manifest.entries:
        setup = manifest.setup_of(entry)
        if entry.setup is not None or setup.is_dir():
            yield from _folder(manifest, setup, f"benchmarks/{entry.benchmark}/{entry.system}", entry, missing)
    for extra in manifest.files:
        source = Path(extra.source)
        if source.is_dir():
            yield from _folder(manifest, source, extra.to, extra)
        else:
            yield _file(manifest, source, extra.to, extra)


def _each_place_once(items: Iterable[Piece], manifest: Manifest) -> tuple[tuple[Piece, ...], list[Finding]]:
    """Return items sorted by place; two sources of one place, and a file where others need a folder, are findings."""
    places: dict[str, Piece] = {}
    findings = []
    for item in items:
        other = places.setdefault(item.to, item)
        if other.source != item.source:
            message = f"Two files would become {item.to}"
            actual = f"{other.source} and {item.source}"
            findings.append(manifest.finding("package.two-sources", message, actual=actual))
    for to in places:
        above = next((parent for parent in parents(to) if parent in places), None)
        if above is not None:
            message = f"{above} would be a file, but {to} needs a folder there"
            findings.append(manifest.finding("package.two-sources", message))
    return tuple(places[to] for to in sorted(places)), findings


def _other_divisions(manifest: Manifest) -> Iterator[Finding]:
    """Yield entries whose manifest and system description name different divisions."""
    stated = {
        system.name: read_description(system.file, system.name, manifest.round).division
        for system in manifest.systems
        if system.file.is_file()
    }
    for entry in manifest.entries:
        said = stated.get(entry.system)
        if entry.division is not None and said is not None and said.lower() != entry.division:
            does = "states another division than the manifest"
            does = "does not state its division yet" if is_placeholder(said) else does
            message = f"The description of {entry.system} {does}"
            yield manifest.finding("package.division-differs", message, entry, expected=entry.division, actual=said)


def _used_twice(runs: Iterable[EntryRuns], manifest: Manifest) -> Iterator[Finding]:
    """Yield logs that two entries submit."""
    owner: dict[str, ManifestEntry] = {}
    for entry, chosen in zip(manifest.entries, runs, strict=True):
        for run in chosen.runs:
            first = owner.setdefault(os.path.realpath(run), entry)
            if first is not entry:
                message = f"{entry.name} and {first.name} submit the same log"
                yield manifest.finding("package.run-twice", message, entry, actual=run)


def expected_paths(manifest: Manifest) -> dict[str, str]:
    """Return what the submission rules ask for, a word on each path by the path, in the order of the tree.

    The logs of an entry are one path. The source is the directory structure in MLCommons' submission rules.
    """
    expected = {f"systems/{entry.system}.json": "describes the system" for entry in manifest.entries}
    if manifest.round.usage in CODE_USAGES:
        for entry in manifest.entries:
            code = f"benchmarks/{entry.benchmark}/implementations/{_implementation(manifest, entry)}/"
            expected |= {code: "the code that ran"} | {one.path: one.word for one in _templates(manifest, entry)}
    for entry in manifest.entries:
        folder = f"results/{entry.name}"
        runs = entry_requirements(manifest.round.usage, manifest.round.name, entry.benchmark).runs
        more = f" to result_{runs - 1}.txt" if runs > 1 else ""
        expected[f"{folder}/result_0.txt{more}"] = f"logs of {runs} runs" if runs > 1 else "log of a run"
        for run in range(runs if entry.power is not None else 0):
            expected[f"{folder}/power/result_{run}/"] = "power of that run: node_<j>.txt, sw_<k>.txt"
    return expected


def _implementation(manifest: Manifest, entry: ManifestEntry) -> str:
    """Return the name of an entry's implementation: its own, or that of the benchmark's first code."""
    first = next((code.implementation for code in manifest.code if code.benchmark == entry.benchmark), "implementation")
    return entry.implementation or first


def _templates(manifest: Manifest, entry: ManifestEntry) -> tuple[Template, ...]:
    return templates(entry.system, entry.benchmark, _implementation(manifest, entry))


def _file(manifest: Manifest, source: Path, to: str, named: ManifestItem, *, executable: bool | None = None) -> Taken:
    """Return a single file; links are followed, for it is named by the manifest itself.

    Args:
        manifest: the submission.
        source: the file.
        to: its place.
        named: the part of the manifest that names it.
        executable: whether it will be; None to leave it as it is.
    """
    try:
        with open_regular(source) as stream:
            runs = bool(os.fstat(stream.fileno()).st_mode & stat.S_IXUSR) if executable is None else executable
            return Piece(to=to, source=source, executable=runs)
    except (FileNotFoundError, NotADirectoryError):
        rule, why = "package.source-missing", "The file does not exist"
    except OSError as error:
        rule, why = "package.not-a-file", f"The file cannot be read: {reason_of(error)}"
    return manifest.finding(rule, why, named, actual=str(source))


def _folder(
    manifest: Manifest, folder: Path, to: str, named: ManifestItem, missing: str = "package.source-missing"
) -> Iterator[Taken]:
    """Yield a folder with all it holds; what editors, caches and version control leave behind stays out.

    Args:
        manifest: the submission.
        folder: the source.
        to: its place.
        named: the part of the manifest that names it.
        missing: the rule that is broken where there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        there = folder.exists()
        rule, why = ("package.not-a-file", "It is not a folder") if there else (missing, "The folder does not exist")
        yield manifest.finding(rule, why, named, actual=str(folder))
        return
    file_tree = read_file_tree(folder)
    strays = {path: kind for kind, paths in stray_paths(file_tree).items() for path in paths}
    yield from (
        OmittedSource(str(folder / path), f"{kind} do not belong in a submission") for path, kind in strays.items()
    )
    items = [item for item in file_tree.items if not strays.keys() & {item.path, *parents(item.path)}]
    faults = list(_faults(manifest, named, folder, file_tree, items))
    taken = [item for item in items if item.kind in (ItemKind.FILE, ItemKind.LINK)]
    if not taken and not faults:
        faults.append(manifest.finding(missing, "The folder holds no files", named, actual=str(folder)))
    for item in taken:
        source = None if item.kind is ItemKind.LINK else folder / item.path
        place = f"{to}/{item.path}"
        if source is not None and may_be_template(place) and begins_as_template(source):
            yield OmittedSource(str(source), UNFILLED)
        else:
            yield Piece(to=place, source=source, link=item.target, executable=item.executable)
    yield from faults


def _faults(
    manifest: Manifest, named: ManifestItem, folder: Path, file_tree: FileTree, items: Iterable[Listed]
) -> Iterator[Finding]:
    """Yield what cannot be listed, links that lead out of the folder or nowhere, and pipes and the like."""

    def fault(message: str, found: Path | str, rule: str = "package.not-a-file") -> Finding:
        return manifest.finding(rule, message, named, actual=str(found))

    if file_tree.cut is not None:
        yield fault(f"The folder holds {file_tree.cut}, which no source code needs", folder)
    for closed in file_tree.closed:
        yield fault("The folder cannot be read", folder / closed)
    for unread, reason in file_tree.unread.items():
        yield fault(f"The file cannot be read: {reason}", folder / unread)
    leads = dict(link_faults(file_tree))
    for item in items:
        path = folder / item.path
        if item.kind is ItemKind.OTHER:
            yield fault("It is not a regular file", path)
        elif item.kind is ItemKind.FILE and not os.access(path, os.R_OK):
            yield fault("The file cannot be read", path)
        elif item.path in leads:
            message = f"The link leads {'out of its folder' if leads[item.path] == LINK_ESCAPES else 'nowhere'}"
            yield fault(message, f"{path} -> {item.target}", "package.link-escapes")


def missing_files(manifest: Manifest) -> dict[Path, Template]:
    """Return the templates of what the sources lack, by the files beside an entry's setup that they become."""
    found: dict[Path, Template] = {}
    if manifest.round.usage in CODE_USAGES:
        brought = tuple(f"{extra.to}/" for extra in manifest.files)
        for entry in manifest.entries:
            for template in _templates(manifest, entry):
                file = manifest.setup_of(entry) / Path(template.path).name
                if not os.path.lexists(file) and not f"{template.path}/".startswith(brought):
                    found.setdefault(file, template)
    return found


def compare_folder(pieces: Sequence[Piece], out: Path) -> TreeDifference:
    """Compare the files of a package with a folder, which need not exist: contents, links, and what may be executed.

    Raises:
        OSError: something in the folder cannot be read.
    """
    there = {path: out / path for path in list_files(out)} if out.is_dir() else {}
    difference = compare_trees({piece.to: piece for piece in pieces}, there, _equal)
    digests = {path: path_digest(out / path) for path in (*difference.changed, *difference.extra)}
    return replace(difference, foreign=foreign_files(out, digests))


def _equal(item: Piece, file: Path) -> bool:
    status = file.lstat()
    if item.link is not None:
        return stat.S_ISLNK(status.st_mode) and str(file.readlink()) == item.link
    if not stat.S_ISREG(status.st_mode) or bool(status.st_mode & stat.S_IXUSR) != item.executable:
        return False
    assert item.source is not None  # noqa: S101  (it is no link)
    return item.source.samefile(file) or filecmp.cmp(item.source, file, shallow=False)


def obstacles(plan: PackPlan, out: Path, difference: TreeDifference, *, force: bool) -> Iterator[Finding]:
    """Yield why OUT must not be replaced, though the package may be fine; a folder above named like another round."""
    yield from _other_round(plan, out)
    if difference.none:
        return
    manifest = plan.manifest
    sources = [manifest.file, *(item.source for item in plan.pieces if item.source is not None)]
    inside = [str(source) for source in sources if lies_in(source, out)]
    if inside:
        yield _obstacle("package.source-in-out", out, "Sources lie in the folder that is replaced", inside)
    folders = [code.folder for code in manifest.code]
    folders += [entry.setup for entry in manifest.entries if entry.setup is not None]
    folders += [extra.source for extra in manifest.files if Path(extra.source).is_dir()]
    around = next((folder for folder in folders if lies_in(out, Path(folder))), None)
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


def _other_round(plan: PackPlan, out: Path) -> Iterator[Finding]:
    round_ = plan.manifest.round
    place = Path(os.path.abspath(out))  # noqa: PTH100  (links keep the names people gave them)
    named_like = infer_round(Place(place, PathKind.ORGANISATION, place))
    if named_like.round and (named_like.usage, named_like.round) != (round_.usage, round_.name):
        actual = f"{named_like.usage} {named_like.round} ({named_like.round_from})"
        yield finding("package.round-differs", str(out), expected=f"{round_.usage} {round_.name}", actual=actual)


def _obstacle(rule: str, out: Path, message: str, found: Collection[str]) -> Finding:
    return finding(rule, str(out), message, actual=f"{len(found)}: {first_few(found)}")
