"""The performance page in a real browser: it draws, can be read anywhere, and has every result of its organisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.commands.db.records import read_records
from mlsub.commands.site.build import Wanted, build_site
from tests.commands.site.browser import Opened
from tests.commands.site.sites import RECORDS, checked, two_rounds
from tests.differential.shared import ABSENT, folder, present

PAGE = "performance.html"
LIGHT = "rgb(255, 255, 255)"


@pytest.fixture(scope="module")
def graphcore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of Graphcore's three rounds, with NVIDIA's results that its prices stand beside."""
    if not present():
        pytest.skip(ABSENT)
    paths = [*(folder(name) / "Graphcore" for name in ("1.0", "1.1", "2.0")), folder("1.0") / "NVIDIA"]
    site = tmp_path_factory.mktemp("graphcore") / "site"
    build_site(checked(*paths), site, Wanted(records=(read_records(RECORDS),)))
    return site


def read(opened: Opened, section: str) -> list[dict[str, str]]:
    """The rows of a section's first table, by their heads."""
    found: list[dict[str, str]] = opened.page.locator(f"#{section} table").first.evaluate(
        """({tHead, tBodies}) => Array.from(tBodies[0].rows, (row) => Object.fromEntries(
            Array.from(row.cells, (cell, at) => [tHead.rows[0].cells[at].textContent, cell.textContent.trim()])))"""
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_draws_and_has_no_serious_violation(browser: Any, graphcore: Path, scheme: str) -> None:
    with Opened(browser, graphcore, PAGE, color_scheme=scheme) as opened:
        assert (opened.said, opened.elsewhere) == ([], [])
        assert len(opened.marks()) == 21
        assert all(opened.marks())
        assert opened.violations() == []
        opened.screenshot(f"{scheme}/performance-graphcore")


@pytest.mark.parametrize("width", [320, 390])
def test_it_fits_a_phone(browser: Any, graphcore: Path, width: int) -> None:
    with Opened(browser, graphcore, PAGE) as opened:
        opened.page.set_viewport_size({"width": width, "height": 844})
        opened.page.wait_for_timeout(100)
        assert opened.overflow() == 0
        for chart in opened.page.locator("svg.plot").all():
            box = chart.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert opened.said == []
        opened.screenshot(f"phone/performance-graphcore-{width}")


def test_on_paper_it_is_light_and_whole(browser: Any, graphcore: Path, tmp_path: Path) -> None:
    with Opened(browser, graphcore, PAGE, color_scheme="dark") as opened:
        opened.page.emulate_media(media="print", color_scheme="dark")
        assert opened.colour() == LIGHT
        clipped = "element => element.scrollHeight > element.clientHeight + 1"
        assert not any(table.evaluate(clipped) for table in opened.page.locator("section > .table").all())
        assert opened.page.pdf(path=str(tmp_path / "page.pdf"), format="A4").startswith(b"%PDF")
        opened.screenshot("print/performance-graphcore")


def test_every_published_result_is_there_with_its_verdict_and_division(browser: Any, graphcore: Path) -> None:
    with Opened(browser, graphcore, PAGE) as opened:
        found = {
            (key, row["benchmark"], row["system"], row["division"]): (row["minutes"], row["verdict"])
            for key in ("1-0", "1-1")
            for row in read(opened, f"mlperf-training-{key}")
        }
        assert len(found) == 6 + 10
        # These three were missing: the official checker does not accept them, and the rounds have published them.
        assert found["1-0", "BERT", "IPU-POD64", "closed"] == ("11.075850", "rejected")
        assert found["1-1", "BERT", "IPU-POD16", "closed"] == ("32.696756", "rejected")
        assert found["1-1", "BERT", "IPU-POD64", "closed"] == ("10.563702", "rejected")
        assert found["1-0", "BERT", "IPU-POD64", "open"] == ("9.392079", "accepted")
        legend = opened.page.locator("#mlperf-training-1-0 figure.chart .legend").first
        assert "does not meet the official checker" in legend.inner_text()
        for link in opened.page.locator("#mlperf-training-1-1 table a").all():
            assert (graphcore / str(link.get_attribute("href"))).is_file()


def test_the_three_footnotes_are_explained_and_sources_named(browser: Any, graphcore: Path) -> None:
    with Opened(browser, graphcore, PAGE) as opened:
        assert [row["mark"] for row in read(opened, "footnotes")] == ["[*1]", "[*2]", "[*3]"]
        assert all(row["meaning"] for row in read(opened, "footnotes"))
        documents = {row["document"] for row in read(opened, "sources")}
        for key in ("training-throughput", "training-time-to-result", "inference-throughput", "inference-latency"):
            rows = read(opened, key)
            assert rows
            assert {row["source"].partition(",")[0] for row in rows} <= documents
            assert opened.page.locator(f"#{key} figcaption").first.inner_text().endswith("(not MLPerf)")


def test_without_scripts_the_figures_are_there_as_tables(browser: Any, graphcore: Path) -> None:
    with Opened(browser, graphcore, PAGE, java_script_enabled=False) as opened:
        assert opened.page.get_by_text("11.075850").first.is_visible()
        assert opened.page.get_by_text("58,112 images/s").first.is_visible()


def test_a_mark_of_a_page_below_the_root_leads_to_its_result(browser: Any, tmp_path: Path) -> None:
    given = read_records(RECORDS)
    documents = {key: msgspec.structs.replace(one, publisher="ACME") for key, one in given.documents.items()}
    acme = msgspec.structs.replace(given, documents=documents)
    documents = {key: msgspec.structs.replace(one, publisher="ZETA") for key, one in given.documents.items()}
    zeta = msgspec.structs.replace(given, documents=documents)
    build_site(checked(*two_rounds(tmp_path)), tmp_path / "site", Wanted(records=(acme, zeta)))
    with Opened(browser, tmp_path / "site", "performance.html") as opened:
        opened.page.get_by_role("link", name="ACME").click()
        assert opened.page.url.endswith("/performance/acme.html")
        chart = opened.page.locator("svg.plot").first
        chart.locator("[data-mark=dot] :is(circle, path)").first.hover()
        chart.locator("[data-mark=dot] :is(circle, path)").first.click(force=True)
        assert opened.page.url.endswith("/results/training_1.0_acme_rack1_bert.html")
        assert opened.said == []
