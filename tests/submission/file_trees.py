"""Listings to audit: made by hand, and those of published packages."""

from __future__ import annotations

from collections.abc import Mapping

from mlsub.findings import Finding
from mlsub.submission.audit import audit_layout
from mlsub.submission.file_tree import FileTree, Item, ItemKind
from tools.support.corpus import CORPUS

#: A package of one entry that has everything.
COMPLETE = (
    "systems/rack1.json",
    "benchmarks/bert/implementations/pytorch/train.py",
    "benchmarks/bert/rack1/README.md",
    "benchmarks/bert/rack1/setup.sh",
    "benchmarks/bert/rack1/init_datasets.sh",
    "benchmarks/bert/rack1/run_and_time.sh",
    "benchmarks/bert/rack1/rack1_pytorch.json",
    "results/rack1/bert/result_0.txt",
)
ENTRY = {"bert": {"rack1"}}

Systems = Mapping[str, set[str]]


def file_tree(*more: str | Item, without: str = "", links: dict[str, str] | None = None) -> FileTree:
    """The complete package with more in it, and without the paths that hold a text."""
    kept = [Item(path, executable=path.endswith(".sh")) for path in COMPLETE if not without or without not in path]
    kept += [item if isinstance(item, Item) else Item(item) for item in more]
    kept += [Item(path, ItemKind.LINK, target=target) for path, target in (links or {}).items()]
    return FileTree(items=tuple(sorted(kept, key=lambda item: item.path)))


def audited(tree: FileTree, systems: Systems = ENTRY, usage: str = "training") -> list[Finding]:
    return list(audit_layout(tree, systems, usage))


def told(tree: FileTree, systems: Systems = ENTRY) -> list[tuple[str, str, str | None]]:
    """(rule without its group, path, found) of each finding."""
    return [(f.rule.removeprefix("layout."), f.path, f.actual) for f in audited(tree, systems)]


def published(name: str) -> FileTree:
    """A real package's listing, such as ``v1.0/Graphcore``."""
    items = []
    for line in (CORPUS / f"{name}.files.tsv").read_text(errors="surrogateescape").splitlines():
        path, mode, size = line.split("\t")
        kind = ItemKind.LINK if mode == "120000" else ItemKind.FILE
        items.append(Item(path.partition("/")[2], kind, int(size) if size.isdigit() else None, mode == "100755"))
    return FileTree(items=tuple(items))


def systems_of(tree: FileTree) -> Systems:
    """The systems with results of a listing by benchmark, by its result logs (HPC's lie one folder deeper)."""
    systems: dict[str, set[str]] = {}
    for parts in (item.path.split("/") for item in tree.items):
        if parts[0] == "results" and parts[-1].startswith("result_") and len(parts) in (4, 5) and parts[-2] != "power":
            systems.setdefault(parts[-2], set()).add(parts[1])
    return systems
