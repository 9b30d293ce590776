"""Listings to audit: made by hand, and those of published packages."""

from __future__ import annotations

from mlsub.findings import Finding
from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.model import Item, ItemKind, Listing, Place
from tests.corpus import CORPUS

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
ENTRY = (Place("rack1", "bert"),)


def listing(*more: str | Item, without: str = "", links: dict[str, str] | None = None) -> Listing:
    """The complete package with more in it, and without the paths that hold a text."""
    kept = [Item(path, executable=path.endswith(".sh")) for path in COMPLETE if not without or without not in path]
    kept += [item if isinstance(item, Item) else Item(item) for item in more]
    kept += [Item(path, ItemKind.LINK, target=target) for path, target in (links or {}).items()]
    return Listing(items=tuple(sorted(kept, key=lambda item: item.path)))


def audited(tree: Listing, places: tuple[Place, ...] = ENTRY, usage: str = "training") -> list[Finding]:
    return list(audit_layout(tree, places, usage))


def told(tree: Listing, places: tuple[Place, ...] = ENTRY) -> list[tuple[str, str, str | None]]:
    """(rule without its group, path, found) of each finding."""
    return [(f.rule.removeprefix("layout."), f.path, f.actual) for f in audited(tree, places)]


def published(name: str) -> Listing:
    """A real package's listing, such as ``v1.0/Graphcore``."""
    items = []
    for line in (CORPUS / f"{name}.files.tsv").read_text(errors="surrogateescape").splitlines():
        path, mode, size = line.split("\t")
        kind = ItemKind.LINK if mode == "120000" else ItemKind.FILE
        items.append(Item(path.partition("/")[2], kind, int(size) if size.isdigit() else None, mode == "100755"))
    return Listing(items=tuple(items))


def places_of(tree: Listing) -> tuple[Place, ...]:
    """The entries of a listing, by its result logs (HPC's lie one folder deeper)."""
    paths = [item.path.split("/") for item in tree.items]
    return tuple(
        sorted(
            {
                Place(p[1], p[-2])
                for p in paths
                if p[0] == "results" and p[-1].startswith("result_") and len(p) in (4, 5) and p[-2] != "power"
            },
            key=str,
        )
    )
