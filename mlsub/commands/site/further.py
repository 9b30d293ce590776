"""The pages about what results share: benchmarks, accelerators, organisations and systems, each kind with an index."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.site.accelerators import accelerator_pages
from mlsub.commands.site.benchmarks import benchmark_pages
from mlsub.commands.site.organisations import organisation_pages
from mlsub.commands.site.pages import Page
from mlsub.commands.site.places import ACCELERATORS, BENCHMARKS, ORGANISATIONS, SYSTEMS
from mlsub.commands.site.systems import system_pages
from mlsub.commands.site.whole import Whole

#: The folders that they lie in.
FOLDERS = (BENCHMARKS, ACCELERATORS, ORGANISATIONS, SYSTEMS)


def further_pages(whole: Whole) -> Iterator[Page]:
    """All of them; the indexes lie in the root of the site."""
    yield from benchmark_pages(whole)
    yield from accelerator_pages(whole)
    yield from organisation_pages(whole)
    yield from system_pages(whole)
