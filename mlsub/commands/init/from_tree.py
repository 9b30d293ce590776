"""Draft the manifest of a submission that exists."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlsub.commands.init.draft import Draft, path
from mlsub.divisions import DIVISIONS
from mlsub.io.written import named
from mlsub.rounds import Round
from mlsub.submission.layout.model import Item, ItemKind, parents
from mlsub.submission.layout.strays import stray_paths
from mlsub.submission.layout.walk import list_tree
from mlsub.submission.locate import counted, folders, is_folder
from mlsub.submission.model import EntryFiles
from mlsub.submission.tree import TreeReader
from mlsub.systems.description import read_description

_POWER = "power"


def draft_of(tree: Path, round_: Round, folder: Path) -> tuple[Draft, list[str]]:
    """The manifest that would make this submission, and notes on what it does not take over.

    Results keep their order: the numbers in their names count as numbers, so that ``result_10.txt`` comes last.

    Args:
        tree: an organisation's folder.
        round_: its round.
        folder: where the manifest is going to lie.
    """
    reader = _Reader(tree, round_, folder)
    return reader.draft(), reader.notes


class _Reader:
    """One tree; paths in the draft are relative to the manifest's folder."""

    def __init__(self, tree: Path, round_: Round, folder: Path) -> None:
        self._tree, self._round = Path(os.path.abspath(tree)), round_  # noqa: PTH100
        self._folder = folder
        self.notes: list[str] = []
        self._whole: set[str] = set()

    def draft(self) -> Draft:
        files = TreeReader(self._tree, "", self._round).organisation()
        self.notes += [f"Not taken over: {found.path}: {found.message}." for found in files.findings if found.rejects]
        described = [file.name.removesuffix(".json") for file in files.descriptions]
        systems = sorted({*described, *(entry.system for entry in files.entries)})
        entries = [self._entry(entry) for entry in files.entries]
        placed = {f"systems/{name}.json" for name in systems}
        placed |= {path.relative_to(self._tree).as_posix() for entry in files.entries for path in entry.results}
        code = list(self._code())
        return {
            "organisation": self._tree.name,
            "usage": self._round.usage,
            "round": self._round.name,
            "systems": {name: self._path(f"systems/{name}.json") for name in systems},
            "entries": entries,
            "code": code or None,
            "files": list(self._rest(placed)) or None,
        }

    def _entry(self, entry: EntryFiles) -> dict[str, Any]:
        inside = entry.folder.relative_to(self._tree).as_posix()
        setup = f"benchmarks/{entry.benchmark}/{entry.system}"
        codes = [code.name for code in folders(self._tree / "benchmarks" / entry.benchmark / "implementations")]
        division = read_description(self._tree / "systems" / f"{entry.system}.json", "", self._round).division
        numbered = sorted(entry.results, key=lambda run: counted(run.name))
        runs = [self._path(f"{inside}/{run.name}") for run in numbered] or [self._path(inside)]
        return {
            "system": entry.system,
            "scaling": entry.scaling_type,
            "benchmark": entry.benchmark,
            "division": division.lower() if division is not None and division.lower() in DIVISIONS else None,
            "implementation": codes[0] if len(codes) == 1 else None,
            "setup": self._path_whole(setup) if is_folder(self._tree / setup) else None,
            "power": self._path_whole(f"{inside}/{_POWER}") if is_folder(entry.folder / _POWER) else None,
            "runs": runs[0] if len(runs) == 1 else runs,
        }

    def _code(self) -> Iterator[dict[str, str]]:
        for benchmark in folders(self._tree / "benchmarks"):
            if benchmark.name in self._round.benchmarks:
                for code in folders(benchmark / "implementations"):
                    folder = self._path_whole(code.relative_to(self._tree).as_posix())
                    yield {"benchmark": benchmark.name, "implementation": code.name, "folder": folder}

    def _rest(self, placed: set[str]) -> Iterator[dict[str, str]]:
        """Files that belong to no entry, description or code; what lies about by mistake is reported, not taken."""
        listing = list_tree(self._tree)
        strays = {path for paths in stray_paths(listing).values() for path in paths}
        left = []
        for item in listing.items:
            if item.path in strays:
                left.append(item.path)
            elif item.kind not in (ItemKind.FILE, ItemKind.LINK) or item.path in placed or self._covered(item):
                continue
            elif item.kind is ItemKind.LINK or any(part.startswith(".") for part in item.path.split("/")):
                left.append(item.path)
            else:
                yield {"from": self._path(item.path), "to": item.path}
        if left:
            self.notes.append(f"Left out: {named(left)}.")

    def _covered(self, item: Item) -> bool:
        """Whether a file lies in a folder that the manifest names as a whole."""
        return any(parent in self._whole for parent in parents(item.path))

    def _path_whole(self, inside: str) -> str:
        """The path of a folder that is taken with all it holds."""
        self._whole.add(inside)
        return self._path(inside)

    def _path(self, inside: str) -> str:
        return path(Path(os.path.relpath(self._tree / inside, self._folder)).as_posix())
