"""The pages of a site, as data: a title, words, and sections with tables and charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mlsub.commands.site.model import Cell, Section, Table
from mlsub.commands.site.results import RoundResults
from mlsub.commands.site.tables import (
    files_table,
    rounds_table,
)

#: What the word means on every page.
MINUTES = (
    "Minutes are the published score: the olympic mean of the times to train, times the factor of scaling.json, and "
    "results are ranked by it whatever their verdict. Expected minutes have the factor that the convergence test gives."
)
#: What stands above a page that is not the first.
OVERVIEW = (("Overview", "index.html"),)
REHEARSAL = "A rehearsal: real training, but not an MLPerf result."


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page.

    ``path`` is where it lies in the site; ``crumbs`` are the pages above it, as title and path; ``scripts`` the names
    of further scripts of its own in ``static``; ``whole`` whether it needs the results of the whole site (see
    :mod:`.dataset`). ``score`` is the figure that a page is about, its note says what it is.
    """

    path: str
    title: str
    lead: tuple[str, ...] = ()
    crumbs: tuple[tuple[str, str], ...] = ()
    score: Cell | None = None
    facts: tuple[tuple[str, Cell], ...] = ()
    sections: tuple[Section, ...] = ()
    scripts: tuple[str, ...] = ()
    whole: bool = False


def index_page(path: str, title: str, words: str, section: str, table: Table) -> Page:
    """The page that lists the pages of one kind, each in a row of a table."""
    return Page(path=path, title=title, lead=(words,), sections=(Section(key="all", title=section, tables=(table,)),))


def all_results(rounds: Sequence[RoundResults], files: Iterable[str]) -> Page:
    """The page on which a script makes one table of all results.

    Args:
        rounds: whose results it has.
        files: the paths of the same results as files of the site.
    """
    without = "Scripts make the table. Without them, the pages of the rounds have all rows, and the files below."
    return Page(
        path="results.html",
        title="Results",
        lead=(MINUTES,),
        sections=(
            Section(key="all", title="All results", words=(without,)),
            Section(key="files", title="Files and rounds", tables=(files_table(files), rounds_table(rounds))),
        ),
        scripts=("charts", "pictures", "downloads", "results"),
        whole=True,
    )
