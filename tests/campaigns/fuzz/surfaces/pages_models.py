"""Pages of reports, comparisons, inspections, audits and results: names and values in them are anything."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence

from mlsub.commands.audit.document import document_of as audit_document
from mlsub.commands.check.document import document_of as check_document
from mlsub.commands.compare.document import packages_document, trainings_document
from mlsub.commands.db.records import read_records
from mlsub.commands.inspect.document import document_of as inspection_document
from mlsub.commands.score.document import document_of as score_document
from mlsub.commands.site.dataset import downloads, results_script
from mlsub.commands.site.groups import group_pages
from mlsub.commands.site.home import home_page, results_page, round_page
from mlsub.commands.site.page import Page
from mlsub.commands.site.performance import performance_pages
from mlsub.commands.site.render import render_page
from mlsub.commands.site.result_page import result_page
from mlsub.commands.site.results import Site, build_rounds
from mlsub.present import html, markdown, text
from mlsub.present.document import Document
from mlsub.present.findings import View
from mlsub.submission.ids import Ids
from tests.campaigns.fuzz.documents import NO_DIGITS, Harmless
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.marked import NAMES, TEXTS, Filled, Models, models
from tests.campaigns.fuzz.pagecheck import Read, check_characters
from tests.campaigns.fuzz.provider import Provider
from tests.campaigns.fuzz.seeds import MARKUP, texts
from tests.campaigns.fuzz.surfaces.terminal import check_harmless
from tests.commands.site.sites import RECORDS

_VIEW = View(detail="full")


def _documents(found: Models) -> Sequence[Callable[[], Document]]:
    reports = [one.report for one in found.checked]
    return (
        lambda: check_document(reports, _VIEW, verdict_last=False),
        lambda: packages_document(found.packages),
        lambda: trainings_document(found.trainings),
        lambda: inspection_document(found.inspection, "full"),
        lambda: audit_document(found.audit, with_footnotes=True),
        lambda: score_document(reports),
    )


def _built(found: Models) -> Site:
    return Site(build_rounds(found.checked, None, Ids({})))


def _pages(found: Models) -> Sequence[Callable[[], Sequence[Page]]]:
    site = _built(found)
    return (
        lambda: (home_page(site, None), results_page(site, ())),
        lambda: performance_pages(site, [read_records(RECORDS)]),
        lambda: tuple(group_pages(site))[:6],
        lambda: (round_page(site, site.rounds[-1]),),
        lambda: (result_page(site.results[-1]),),
    )


def _filled(data: bytes) -> tuple[Provider, Models, Models]:
    """What is asked for, the models with texts of the input, and with harmless ones."""
    said, quiet = Provider(data), Harmless()
    said.byte()
    found = {mark: said.text() for mark in (*TEXTS, *NAMES)}
    for mark in NAMES:
        found[mark] = found[mark].replace("/", "").replace("\0", "").translate(NO_DIGITS) or "x"
    harmless = {mark: quiet(one) for mark, one in found.items()}
    return Provider(data), Models(*map(Filled(found), models())), Models(*map(Filled(harmless), models()))


def _answers(data: bytes) -> None:
    said, found, quiet = _filled(data)
    which = said.below(6)
    document = _documents(found)[which]()
    check_harmless(text.render(document, 40 + which * 30), "text")
    check_harmless(markdown.render(document), "Markdown")
    _same(html.render(document), html.render(_documents(quiet)[which]()))


def _site(data: bytes) -> None:
    said, found, quiet = _filled(data)
    which = said.below(6)
    if which == 5:
        _scripts(found)
        return
    for page, other in zip(_pages(found)[which](), _pages(quiet)[which](), strict=True):
        navigation = (("Overview", "index.html"), (page.title, page.path))
        _same(render_page(navigation, page), render_page((navigation[0], (other.title, other.path)), other))


def _scripts(found: Models) -> None:
    """The scripts with the results define what they say, and the files to download read back."""
    results = _built(found).results
    line = results_script(results).decode("utf-8")
    start = '"use strict";\nwindow.mlsubResults = '
    if not line.startswith(start) or any(sign in line for sign in "<>&\u2028\u2029"):
        raise BrokenError(f"another script: {line[:200]!r}")
    json.loads(line.removeprefix(start).removesuffix(";\n"))
    files = downloads(results)
    rows = list(csv.DictReader(io.StringIO(files["data/results.csv"].decode("utf-8"), newline="")))
    records = json.loads(files["data/results.json"])
    if [row["href"] for row in rows] != [record["href"] for record in records]:
        raise BrokenError("the files to download have other rows")


def _same(page: str, quiet: str) -> None:
    """The page has as many elements of each kind, with the same attributes, as the one of harmless text.

    Names are sorted, so that their order says nothing; and ``class`` says of a text that it is long.
    """
    check_characters(page)
    ours, theirs = (_kinds(Read(one)) for one in (page, quiet))
    if ours != theirs:
        raise BrokenError(f"{(ours - theirs) + Counter()} more, {(theirs - ours) + Counter()} fewer")


def _kinds(read: Read) -> Counter[tuple[str, ...]]:
    return Counter((tag, *(name for name, _ in found if name != "class")) for tag, found in read.elements)


_SEEDS = tuple(bytes([which]) + texts(*(b"text %s" % mark.encode() for mark in (*TEXTS, *NAMES))) for which in range(6))

HARNESSES = (
    Harness(
        "page-answers",
        "pages of verdicts, comparisons and audits",
        _answers,
        lambda: _SEEDS,
        MARKUP,
        longest=2_000,
        seconds=30.0,
    ),
    Harness("page-results", "pages of results", _site, lambda: _SEEDS, MARKUP, longest=2_000, seconds=30.0),
)
