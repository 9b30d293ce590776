"""Read a manifest off a submission that exists."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mlsub.commands.pack.draft import Draft, DraftEntry, listing
from mlsub.divisions import DIVISIONS
from mlsub.rounds import Round
from mlsub.submission.layout.model import Item, ItemKind
from mlsub.submission.layout.strays import stray_paths
from mlsub.submission.layout.walk import list_tree
from mlsub.submission.locate import counted, is_folder
from mlsub.submission.model import EntryFiles
from mlsub.submission.tree import TreeReader
from mlsub.systems.description import read_description

_DIVISIONS = tuple(DIVISIONS)
_POWER = "power"


def draft_of(tree: Path, round_: Round, folder: Path) -> Draft:
    """The manifest that would make this submission.

    Results keep their order: the numbers in their names count as numbers, so that ``result_10.txt`` comes last.

    Args:
        tree: an organisation's folder.
        round_: its round.
        folder: where the manifest is going to lie.
    """
    return _Reader(tree, round_, folder).draft()


class _Reader:
    """One tree; paths in the draft are relative to the manifest's folder."""

    def __init__(self, tree: Path, round_: Round, folder: Path) -> None:
        self._tree, self._round = Path(os.path.abspath(tree)), round_  # noqa: PTH100
        self._folder = folder
        self._notes: list[str] = []
        self._whole: set[str] = set()

    def draft(self) -> Draft:
        files = TreeReader(self._tree, "", self._round).organisation()
        self._notes += [f"Not taken over: {found.path}: {found.message}." for found in files.findings if found.rejects]
        described = [file.name.removesuffix(".json") for file in files.descriptions]
        systems = sorted({*described, *(entry.system for entry in files.entries)})
        entries = tuple(self._entry(entry) for entry in files.entries)
        placed = {f"systems/{name}.json" for name in systems}
        placed |= {path.relative_to(self._tree).as_posix() for entry in files.entries for path in entry.results}
        code = tuple(self._code())
        return Draft(
            organisation=self._tree.name,
            usage=self._round.usage,
            round=self._round.name,
            systems=tuple((name, self._path(f"systems/{name}.json")) for name in systems),
            entries=entries,
            code=code,
            files=tuple(self._rest(placed)),
            notes=tuple(self._notes),
        )

    def _entry(self, entry: EntryFiles) -> DraftEntry:
        inside = entry.folder.relative_to(self._tree).as_posix()
        setup = f"benchmarks/{entry.benchmark}/{entry.system}"
        codes = [code.name for code in self._folders(f"benchmarks/{entry.benchmark}/implementations")]
        division = read_description(self._tree / "systems" / f"{entry.system}.json", "", self._round).division
        runs = sorted(entry.results, key=lambda run: counted(run.name))
        return DraftEntry(
            system=entry.system,
            benchmark=entry.benchmark,
            runs=tuple(self._path(f"{inside}/{run.name}") for run in runs) or (self._path(inside),),
            division=division.lower() if division is not None and division.lower() in _DIVISIONS else None,
            scaling=entry.scaling_type,
            implementation=codes[0] if len(codes) == 1 else None,
            setup=self._path_whole(setup) if is_folder(self._tree / setup) else None,
            power=self._path_whole(f"{inside}/{_POWER}") if is_folder(entry.folder / _POWER) else None,
        )

    def _code(self) -> Iterator[tuple[str, str, str]]:
        for benchmark in self._folders("benchmarks"):
            if benchmark.name not in self._round.benchmarks:
                continue
            for code in self._folders(f"benchmarks/{benchmark.name}/implementations"):
                yield benchmark.name, code.name, self._path_whole(code.relative_to(self._tree).as_posix())

    def _rest(self, placed: set[str]) -> Iterator[tuple[str, str]]:
        """Files that belong to no entry, description or code; what lies about by mistake is told, not taken."""
        listing_ = list_tree(self._tree)
        strays = {path for paths in stray_paths(listing_).values() for path in paths}
        left = []
        for item in listing_.items:
            if item.path in strays:
                left.append(item.path)
            elif item.kind not in (ItemKind.FILE, ItemKind.LINK) or item.path in placed or self._covered(item):
                continue
            elif _hidden(item.path) or item.kind is ItemKind.LINK:
                left.append(item.path)
            else:
                yield self._path(item.path), item.path
        if left:
            self._notes.append(f"Left out: {listing(left)}.")

    def _covered(self, item: Item) -> bool:
        """Whether a file lies in a folder that the manifest names as a whole."""
        parts = item.path.split("/")
        return any("/".join(parts[:n]) in self._whole for n in range(1, len(parts)))

    def _folders(self, path: str) -> list[Path]:
        folder = self._tree / path
        try:
            return sorted(child for child in folder.iterdir() if not child.name.startswith(".") and is_folder(child))
        except OSError:
            return []

    def _path_whole(self, inside: str) -> str:
        """The path of a folder that is taken with all it holds."""
        self._whole.add(inside)
        return self._path(inside)

    def _path(self, inside: str) -> str:
        return Path(os.path.relpath(self._tree / inside, self._folder)).as_posix()


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))
