"""``benchmarks/``: the code of each benchmark with results, and the scripts of each system."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path

from msgspec.structs import replace

from mlsub.findings import Finding, Severity
from mlsub.io.data import group_by_key
from mlsub.log.lengths import StatedSetting
from mlsub.rules.catalogue import finding
from mlsub.submission.file_tree import FileTree, Item, ItemKind, gathered, named, parents, stray_kind
from mlsub.submission.templates import README, SCRIPTS, content_of

#: The usages whose submission rules ask for code; a rehearsal runs code that everybody has.
CODE_USAGES = ("training", "hpc")
RUN_SCRIPT = "run_and_time.sh"
#: The limit of the official repository check (``mlperf_logging.repo_checker``), and a reviewer's for code, in bytes.
MAX_BYTES, MAX_CODE_BYTES = 50 * 1024 * 1024, 10 * 1024 * 1024
_PROGRAMS, _LOGS = "compiled libraries and programs", "logs that are no results"
_COMPILED = (".c", ".cc", ".cpp", ".cu", ".cxx", ".hip", ".rs", ".go")
#: What starts a training, by its name, besides scripts.
_RUNS = re.compile(r"makefile|run.*|train.*|main\.py")
#: Names compared with each other where one is missing.
_COMPARED = 50
_EXPECTED = f"{README}, {', '.join(SCRIPTS)} and <system>_<implementation>.json"


class CodeKind(StrEnum):
    """What a file of the code is by its name; ``SETTINGS`` configure or start a training, as scripts do."""

    PROGRAM = "program"
    DOCUMENT = "document"
    SCRIPT = "script"
    SETTINGS = "settings"
    OTHER = "other"


#: The first that matches a whole name, in lower case; data and licences count among the documents.
_KINDS = re.compile(
    r"(?P<program>.*\.(?:py|cu|cc|cpp|rs|go|jl|ipynb))"
    r"|(?P<document>(?:licen[cs]e|notice|copying|third).*|.*\.(?:json|txt|csv|md|rst|patch|diff))"
    r"|(?P<script>.*\.(?:sh|bash|sub|slurm|sbatch))"
    r"|(?P<settings>[^.]+|(?:dockerfile|makefile|\.?env).*|.*\.(?:ya?ml|toml|cfg|conf|ini|env))"
)
#: What is kept of a file's text, in bytes: of one that is a program, or that nobody knows, its head.
MAX_HEAD, MAX_WHOLE = 1 << 11, 1 << 16
#: What is kept of all of them, and what is read of a program whose lines are counted.
MAX_TEXT, MAX_PROGRAM = 1 << 24, 10 << 20


@lru_cache(maxsize=4096)
def kind_of(name: str) -> CodeKind:
    """Return what a file of the code is by its name."""
    match = _KINDS.fullmatch(name.lower())
    return CodeKind((match and match.lastgroup) or CodeKind.OTHER)


class SubmittedCode:
    """The code of an organisation while its package is judged: each file is opened when it is asked for, and once.

    ``files`` are their paths below the organisation's folder, ``links`` those of them that are links, which are not
    followed; ``is_whole`` says whether all are listed.

    Args:
        folder: the organisation's.
        file_tree: what lies in it.
        most: how many bytes of text are kept; where it is 0, names alone are known.
    """

    def __init__(self, folder: Path, file_tree: FileTree | None, most: int = MAX_TEXT) -> None:
        tree = file_tree or FileTree(items=())
        self.files = tree.code
        self.links = frozenset(item.path for item in tree.items if item.kind is ItemKind.LINK)
        self.is_whole = not tree.cut and not tree.closed
        self._folder = folder
        self._texts: dict[str, bytes] = {}
        self._lines: dict[str, float] = {}
        self._left = most

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The files by their names without folders."""
        return group_by_key((path.rpartition("/")[2], path) for path in self.files)

    def of_kind(self, *kinds: CodeKind) -> list[str]:
        """Return the files of some kinds."""
        return [path for path in self.files if kind_of(path.rpartition("/")[2]) in kinds]

    def read(self, path: str) -> bytes:
        """Return the text of a file, as much as is kept of one of its kind; none of what cannot be read."""
        if path not in self._texts and self._left > 0:
            self._open(path)
        return self._texts.get(path, b"")

    def settings(self, path: str) -> Mapping[str, StatedSetting]:
        """Return what a configuration assigns."""
        if not (text := self.read(path)):
            return {}
        from mlsub.log.settings import read_configuration

        return read_configuration(path, text)

    def count_lines(self, path: str) -> float:
        """Return the lines of a file; infinity where nobody knows."""
        if path not in self._lines:
            self._open(path, MAX_PROGRAM)
        return self._lines.setdefault(path, math.inf)

    def _open(self, path: str, limit: int = 0) -> None:
        """Keep the text of a file, and how many lines it has where all of it is read."""
        kind = kind_of(path.rpartition("/")[2])
        kept = min(self._left, MAX_HEAD if kind in (CodeKind.PROGRAM, CodeKind.OTHER) else MAX_WHOLE)
        limit = max(limit, kept)
        try:
            content = content_of(f"{self._folder}/{path}", limit, follow=False)
        except OSError:
            content = b""  # There is a finding on it.
        if 0 < len(content) < limit:
            self._lines[path] = content.count(b"\n") + (content[-1:] != b"\n")
        if path not in self._texts:
            text = content[:kept]
            self._texts[path] = text if b"\0" not in text else b""
            self._left -= len(text)


def select_code(benchmark: str, benchmarks: Collection[str], code: Iterable[str]) -> list[str]:
    """Return the files of a benchmark's code among those of an organisation, wherever in its folder they lie.

    Where no folder has the benchmark's name, that is meant whose name is near it, else each that no benchmark has.

    Args:
        benchmark: the name that its folder should have.
        benchmarks: those that the organisation has results of.
        code: the files of all its code.
    """
    below = [(path.split("/")[1:], path) for path in code]
    folders = {parts[0] for parts, _ in below if len(parts) > 1}
    meant = [benchmark]
    if not any(parts[0] == benchmark for parts, _ in below):  # A link is one, whatever lies behind it.
        others = sorted(folders.difference(benchmarks))[:_COMPARED]
        meant = get_close_matches(benchmark, others, 1) or others
    return [path for parts, path in below if len(parts) > 1 and parts[0] in meant]


def audit_code(file_tree: FileTree, systems: Mapping[str, Collection[str]]) -> Iterator[Finding]:
    """Yield what the code of entries with results lacks, by benchmark; a missing ``benchmarks`` is one finding."""
    if not systems:
        return
    if "benchmarks" not in file_tree.folders:
        if not any(item.path == "benchmarks" and item.kind is ItemKind.LINK for item in file_tree.items):
            yield _no_benchmarks(file_tree)
        if (folder := file_tree.code_folder) != "benchmarks":
            for found in audit_code(_rename_code(file_tree, folder), systems):
                yield replace(found, path=folder + found.path.removeprefix("benchmarks"))
        return
    yield from audit_artefacts(file_tree)
    code = _by_benchmark(file_tree)
    for name in sorted(systems):
        if name not in code:
            yield _no_code(name, sorted(code))
        elif not any(item.path == f"benchmarks/{name}" for item in code[name]):
            yield from _benchmark(name, sorted(systems[name]), code[name], file_tree.folders)
    yield from gathered("layout.template-unfilled", file_tree.unfilled)
    scripts = [item for name in set(systems) & set(code) for item in code[name] if item.path not in file_tree.unread]
    yield from gathered("layout.not-executable", _not_executable(scripts), within="benchmarks")


def _rename_code(file_tree: FileTree, folder: str) -> FileTree:
    """Return the tree as if its folder of code had the right name."""
    parts = ((item, item.path.partition("/")) for item in file_tree.items)
    items = (
        replace(one, path=f"benchmarks{slash}{rest}") if top == folder else one for one, (top, slash, rest) in parts
    )
    return replace(file_tree, items=tuple(items))


def _by_benchmark(file_tree: FileTree) -> dict[str, list[Item]]:
    """Return what lies in the folder of each benchmark; a link in the place of the folder itself."""
    found: dict[str, list[Item]] = {name: [] for name in _names_below("benchmarks", file_tree.folders)}
    for item in file_tree.items:
        top, *below = item.path.split("/")
        # What lies behind a link is listed elsewhere, or not at all.
        if top == "benchmarks" and (len(below) > 1 or (below and item.kind is ItemKind.LINK)):
            found.setdefault(below[0], []).append(item)
    return found


def _no_benchmarks(file_tree: FileTree) -> Finding:
    top = sorted({path.partition("/")[0] for path in file_tree.folders} - {"results", "systems"})
    close = get_close_matches("benchmarks", top, n=1)
    return finding(
        "layout.benchmarks-missing",
        "benchmarks",
        actual=f"a folder {close[0]}" if close else None,
        fix=f"Rename {close[0]} to benchmarks." if close else None,
    )


def _no_code(name: str, there: list[str]) -> Finding:
    close = get_close_matches(name, there, n=1)
    return finding(
        "layout.code-missing",
        f"benchmarks/{name}",
        actual=f"benchmarks contains {named(there)}" if there else "benchmarks is empty",
        fix=f"If benchmarks/{close[0]} contains its code, rename that folder." if close else None,
    )


def _benchmark(name: str, systems: list[str], code: list[Item], folders: Collection[str]) -> Iterator[Finding]:
    folder = f"benchmarks/{name}"
    items = [item for item in code if item.kind is not ItemKind.FOLDER]
    there = _names_below(folder, folders)
    elsewhere = [name for name in there if name not in systems]
    if f"{folder}/implementations" not in folders:
        alone = elsewhere[0] if len(elsewhere) == 1 else None
        message = f"The code is in {alone}, not in implementations/<implementation>/" if alone else None
        actual = named(there) if there else "no folder"
        yield finding(
            "layout.implementations-missing", f"{folder}/{alone}" if alone else folder, message, actual=actual
        )
    scripts = [item.path for item in items if item.name.startswith("run_and_time") and item.name.endswith(".sh")]
    # Where there is no program at all, that is a finding of its own.
    if not scripts and any(kind_of(item.name) is CodeKind.PROGRAM for item in items):
        yield finding("layout.run-script-missing", folder)
    own = {system: at for system in systems if (at := _own_folder(folder, system, folders))}
    without = [system for system in systems if system not in own]
    if without:
        yield _no_system_folder(folder, without, scripts, folders)
    yield from _lacking_files(folder, own, items)
    if all("/implementations/" in at for at in own.values()):
        yield from _implementations(folder, items, folders)


def _implementations(folder: str, items: list[Item], folders: Collection[str]) -> Iterator[Finding]:
    """Yield implementations without files, and those without README or a script to run them."""
    above = f"{folder}/implementations" if f"{folder}/implementations" in folders else folder
    places = [f"{above}/{name}" for name in _names_below(above, folders)]
    if above == folder and any(item.parent == folder for item in items):
        places = [folder]
    lacking: dict[str, list[str]] = {}
    for at in places:
        names = [item.name.lower() for item in items if item.path.startswith(f"{at}/")]
        kinds = set(map(kind_of, names))
        if not names:
            lacking.setdefault("file", []).append(at)
        if CodeKind.PROGRAM not in kinds:
            continue  # The files of a system, which the code of another folder uses.
        above_it = [item.name.lower() for item in items if item.parent in (folder, above)]
        if not any(name.startswith("readme") for name in (*names, *above_it)):
            lacking.setdefault("README", []).append(at)
        if CodeKind.SCRIPT not in kinds and not any(map(_RUNS.fullmatch, names)):
            lacking.setdefault("script that runs it", []).append(at)
    for what, bad in lacking.items():
        where = bad[0] if len(bad) == 1 else folder
        actual = named(bad, folder) if len(bad) > 1 else None
        yield finding("layout.implementation-lacking", where, f"An implementation has no {what}", actual=actual)


def audit_artefacts(file_tree: FileTree) -> Iterator[Finding]:
    """Yield what is no code among the code: programs, packages, archives, logs, and files above 10 MB."""
    code = [item for item in file_tree.items if item.path.startswith("benchmarks/") and item.kind is ItemKind.FILE]
    kinds: dict[str, list[str]] = {_PROGRAMS: list(file_tree.programs)}
    for item in code:
        what = stray_kind(item.name, "code") or (_LOGS if "output" in item.parent.split("/") else None)
        if what is not None and item.name[0] != ".":
            kinds.setdefault(what, []).append(item.path)
    for kind, paths in kinds.items():
        severity = Severity.WARNING if kind == _PROGRAMS and not _have_sources(paths, code) else None
        for found in gathered("layout.not-code", sorted(set(paths)), f"The code contains {kind}"):
            yield replace(found, severity=severity or found.severity)
    large = [item.path for item in code if MAX_CODE_BYTES < (item.size or 0) <= MAX_BYTES]
    yield from gathered("layout.large-code", large)


def _have_sources(programs: Iterable[str], code: Iterable[Item]) -> bool:
    """Return whether files that programs are compiled from lie in each program's folder, beside it or below."""
    with_sources = {above for item in code if item.name.endswith(_COMPILED) for above in parents(item.path)}
    return all(not with_sources.isdisjoint(parents(program)[-2:]) for program in programs)


def _own_folder(folder: str, system: str, folders: Collection[str]) -> str | None:
    """Return a system's folder: where the rules want it, or among the implementations, where many have it."""
    places = (f"{folder}/{system}", f"{folder}/implementations/{system}")
    return next((place for place in places if place in folders), None)


def _no_system_folder(folder: str, without: list[str], scripts: list[str], folders: Collection[str]) -> Finding:
    where = sorted({path.rpartition("/")[0].removeprefix(f"{folder}/") for path in scripts})
    there = [*_names_below(folder, folders), *_names_below(f"{folder}/implementations", folders)]
    close = [name for system in without[:_COMPARED] for name in get_close_matches(system, there[:_COMPARED], 1, 0.9)]
    return finding(
        "layout.system-folder-missing",
        folder,
        expected=f"<system>/ with {_EXPECTED}",
        actual=named(without) + (f" ({RUN_SCRIPT} is in {named(where)})" if where else ""),
        fix=f"The name of the folder {close[0]} is similar; if it is the system's folder, rename it."
        if close
        else None,
    )


def _lacking_files(folder: str, own: dict[str, str], items: list[Item]) -> Iterator[Finding]:
    """Yield what the systems' folders lack; systems that lack the same are one finding."""
    names: dict[str, set[str]] = {}
    for item in items:
        names.setdefault(item.parent, set()).add(item.name)
    described = [item.name for item in items if item.name.endswith(".json")]
    alike: dict[tuple[str, ...], list[str]] = {}
    for system, place in own.items():
        # A README that an implementation lacks is another finding.
        known = {README} if "/implementations/" in place else set()
        alike.setdefault(_lacking(names.get(place, set()) | known, system, described), []).append(place)
    for lacking, places in alike.items():
        if lacking:
            listed = f" in {named(places, folder)}" if len(places) > 1 else ""
            yield finding(
                "layout.files-missing",
                places[0] if len(places) == 1 else folder,
                expected=_EXPECTED,
                actual=f"no {', no '.join(lacking)}{listed}",
            )


def _lacking(names: set[str], system: str, described: list[str]) -> tuple[str, ...]:
    lacking = [] if any(name.lower() == README.lower() for name in names) else [README]
    lacking += [name for name in SCRIPTS if name not in names]
    # The description of system and implementation counts wherever the benchmark's code keeps it.
    if not any(name.startswith(f"{system}_") for name in described):
        lacking.append("<system>_<implementation>.json")
    return tuple(lacking)


def _not_executable(items: list[Item]) -> list[str]:
    """Return the scripts of the rules, in the folders of systems and of implementations, that cannot be executed."""
    return [
        item.path
        for item in items
        if item.name in SCRIPTS
        and item.kind is ItemKind.FILE
        and not item.executable
        and item.path.count("/") == (4 if "/implementations/" in item.path else 3)
    ]


def _names_below(folder: str, folders: Collection[str]) -> list[str]:
    return sorted(path.rpartition("/")[2] for path in folders if path.rpartition("/")[0] == folder)
