"""Where pages about a thing that results share lie in the site: one address, whoever links to it.

Things whose addresses are the same have one page: whoever makes the pages groups the results by these addresses.
"""

from __future__ import annotations

import re
from hashlib import sha256

from mlsub.commands.site.results import slug_of
from mlsub.score.named import Named
from mlsub.score.table import Row

#: The folders of these pages.
BENCHMARKS, ORGANISATIONS, ACCELERATORS, SYSTEMS = "benchmarks", "organisations", "accelerators", "systems"
#: Longer names of files are cut; a hash keeps them apart.
_MAX_SLUG = 100
#: Names that slugs keep apart but for the case of letters and what stands between words; others get a hash.
_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[ _.+/(),-]+[A-Za-z0-9]+)*[ )]*")


def benchmark_href(of: Named) -> str:
    """The page of a benchmark over all its rounds, from the root of the site."""
    return _place(BENCHMARKS, of.benchmark)


def organisation_href(of: Named) -> str:
    """The page of an organisation, in one spelling over all rounds."""
    return _place(ORGANISATIONS, of.organisation)


def accelerator_href(of: Named) -> str | None:
    """The page of an accelerator; None for one that no table of names has."""
    return _place(ACCELERATORS, of.accelerator) if of.accelerator else None


def system_href(of: Named, row: Row) -> str:
    """The page of an organisation's system, by the name that its description gives it: rounds name folders anew."""
    return _place(SYSTEMS, of.organisation, row.system or row.system_folder)


def _place(folder: str, *names: str) -> str:
    slug = slug_of(*names)
    if len(slug) > _MAX_SLUG or not all(map(_PLAIN.fullmatch, names)):
        token = sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:10]
        slug = f"{slug[:_MAX_SLUG]}-{token}"
    return f"{folder}/{slug}.html"
