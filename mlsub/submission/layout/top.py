"""What lies at the top of a package, and in ``systems/``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding
from mlsub.submission.layout.gather import named
from mlsub.submission.layout.model import ItemKind, Listing, Place, folder_paths

_FOLDERS = ("systems", "benchmarks", "results")
#: Besides those of the rules: papers, and what the official tools read or write there.
_WELCOME = re.compile(
    r"(readme|licen[cs]|copying|copyright|notice|contributing|citation|changelog|security|codeowners).*"
    r"|package_checker_params|(package|repo|compliance|system_desc|rcp)_check.*|.*summar.*\.(csv|json|log|md|txt)",
    re.IGNORECASE,
)


def audit_top(listing: Listing, places: Sequence[Place], strays: Collection[str]) -> Iterator[Finding]:
    """Names at the top that the rules do not place there, and descriptions of systems without results."""
    top = {item.path.partition("/")[0] for item in listing.items}
    odd = sorted(
        name
        for name in top
        if name not in _FOLDERS and not _WELCOME.fullmatch(name) and not name.startswith(".") and name not in strays
    )
    folders = folder_paths(listing.items)
    if "benchmarks" not in top:
        # That of a misspelled benchmarks folder is another finding.
        odd = [name for name in odd if not (name in folders and name.startswith("bench"))]
    if odd:
        yield finding(
            "layout.top-level",
            odd[0] if len(odd) == 1 else ".",
            "The top level has files or folders that the rules do not know",
            expected="systems/, benchmarks/, results/",
            actual=named(odd) if len(odd) > 1 else None,
        )
    yield from _unused_descriptions(listing, places)


def _unused_descriptions(listing: Listing, places: Sequence[Place]) -> Iterator[Finding]:
    with_results = {place.system for place in places}
    unused = sorted(
        item.name.removesuffix(".json")
        for item in listing.items
        if item.parent == "systems"
        and item.kind in (ItemKind.FILE, ItemKind.LINK)
        and item.name.endswith(".json")
        and not item.name.startswith(".")
        and item.name.removesuffix(".json") not in with_results
    )
    if unused and with_results:
        yield finding(
            "layout.system-unused",
            "systems" if len(unused) > 1 else f"systems/{unused[0]}.json",
            "Described systems have no results",
            actual=named(unused) if len(unused) > 1 else None,
        )
