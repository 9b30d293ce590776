"""The table of all results in a real browser: facets, sort, columns, the address, and files of a selection."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site
from mlsub.commands.site.dataset import downloads, results_script
from mlsub.commands.site.page import RESULTS_SCRIPT
from mlsub.present.tables import columns
from tests.commands.site.browser import Opened
from tests.commands.site.sites import checked, one_round, result_rows
from tools.support.make_tree import make_tree

TITLE, MINUTES = 1, 3


class Table(Opened):
    """The page of all results."""

    def __init__(self, browser: Any, site: Path, choice: str = "", **context: Any) -> None:
        super().__init__(browser, site, "results.html", accept_downloads=True, **context)
        if choice:
            self.page.goto(f"{(site / 'results.html').as_uri()}#{choice}")

    def column_of(self, place: int) -> list[str]:
        return self.column("all", place)

    @property
    def shown(self) -> str:
        text: str = self.page.locator("output.shown").inner_text()
        return text

    @property
    def choice(self) -> str:
        return str(self.page.evaluate("location.hash"))[1:]

    def tick(self, facet: str, value: str) -> None:
        box = self.page.locator("details.facet").filter(has=self.page.locator("summary", has_text=facet)).first
        if box.get_attribute("open") is None:
            box.locator("summary").click()
        box.locator("li").first.wait_for(state="attached")
        box.get_by_label(value, exact=False).first.click()

    def counts(self, facet: str) -> dict[str, int]:
        box = self.page.locator("details.facet").filter(has=self.page.locator("summary", has_text=facet)).first
        if box.get_attribute("open") is None:
            box.locator("summary").click()
        box.locator("li").first.wait_for(state="attached")
        rows = [item.inner_text().split("\n") for item in box.locator("li:not([hidden])").all()]
        return {name: int(count) for name, count in rows}

    def download(self, kind: str) -> bytes:
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=kind, exact=True).click()
        assert waiting.value.suggested_filename == f"mlsub-results.{kind.lower()}"
        return Path(waiting.value.path()).read_bytes()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a result whose names mean something to other programs, and its data as if there were 105 of it."""
    above = tmp_path_factory.mktemp("many")
    tree = make_tree(above, benchmarks=["resnet"])
    tree.describe(system_name='=HYPERLINK("x"), a "quoted", name', framework="  +PyTorch <b>;=1+1")
    build_site(checked(tree.folder), above / "site")
    results = one_round(tree).results * 105
    for path, content in {RESULTS_SCRIPT: results_script(results), **downloads(results)}.items():
        (above / "site" / path).write_bytes(content)
    return above / "site"


def test_closed_results_come_first_and_both_divisions_with_a_note(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        note = opened.page.locator(".explorer .note")
        assert (opened.shown, note.is_visible()) == ("3 of 4 results", False)
        assert opened.counts("Division") == {"Closed": 3, "Open": 1}
        opened.tick("Division", "Open")
        assert opened.shown == "4 of 4 results"
        assert "not comparable" in note.inner_text()
        opened.page.locator("th button", has_text="Time to train").click()
        assert opened.column_of(9) == ["closed", "closed", "closed", "open"], "never ranked together"
        assert opened.column_of(MINUTES) == ["12.0", "14.5", "–", "12.0"], "what has no value comes last of its own"
        opened.screenshot("table/both.html")


def test_the_counts_of_a_facet_follow_the_other_choices(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        assert opened.counts("Round") == {"v1.1": 1, "v1.0": 2}
        assert opened.counts("Benchmark") == {"BERT": 1, "ResNet-50": 2}
        opened.tick("Benchmark", "ResNet")
        assert opened.counts("Round") == {"v1.1": 1, "v1.0": 1}
        assert opened.counts("Benchmark") == {"BERT": 1, "ResNet-50": 2}, "those of its own as without it"
        opened.tick("Benchmark", "BERT")
        assert opened.column_of(TITLE) == ["ResNet-50", "BERT", "ResNet-50"], "several of one facet"
        opened.tick("Organisation", "ZETA")
        assert opened.counts("Benchmark") == {"BERT": 0, "ResNet-50": 1}, "what is chosen stays to be taken back"
        opened.page.get_by_role("button", name="Remove Benchmark: ResNet-50").click()
        assert (opened.shown, opened.column_of(TITLE)) == ("0 of 4 results", [])
        opened.page.get_by_role("button", name="Clear all").click()
        assert (opened.shown, opened.choice) == ("4 of 4 results", "division_name=")
        assert opened.said == []


def test_the_newest_round_comes_first_and_then_benchmarks_the_fastest_first(browser: Any, history: Path) -> None:
    with Table(browser, history) as opened:
        shown = list(zip(opened.column_of(2), opened.column_of(MINUTES), opened.column_of(7), strict=True))
        assert shown == [
            ("v1.1", "1.50", "512"), ("v1.1", "25.0", "8"), ("v1.1", "200", "CPU only"),
            ("v1.0", "5.00", "64"), ("v1.0", "30.0", "8"), ("v1.0", "40.0", "16"),
        ]  # fmt: skip
        assert opened.counts("Accelerator count")["CPU only"] == 1
        assert opened.said == []


FACETS = (
    ("Round", "v1.1", 1), ("Organisation", "ACME", 2), ("Accelerator", "–", 3), ("Accelerator count", "8", 3),
    ("Availability", "Available on-premise", 3), ("Framework", "some framework", 3), ("Verdict", "rejected", 1),
)  # fmt: skip


def test_each_facet_chooses(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        for facet, value, rows in FACETS:
            assert opened.counts(facet)[value] == rows
            opened.tick(facet, value)
            assert opened.shown == f"{rows} of 4 results"
            opened.tick(facet, value)
            assert opened.shown == "3 of 4 results"


def test_a_link_restores_the_view_and_the_back_button_undoes_a_choice(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        opened.tick("Round", "v1.0")
        opened.page.locator("th button", has_text="Time to train").click()
        opened.page.locator("th button", has_text="Time to train").press("Enter")
        opened.page.locator(".columns summary").click()
        opened.page.get_by_label("Organisation", exact=True).last.uncheck()
        assert opened.choice == (
            "division_name=closed&round_key=v1.0&sort=-published_minutes&columns=benchmark_title,round_key,published_minutes,verdict,system_name,accelerators_count,accelerator_name"
        )
        opened.page.get_by_placeholder("any words").fill("Rack1 ACME")
        link, rows = opened.choice, opened.column_of(MINUTES)
        assert rows == ["14.5", "12.0"]
        opened.page.go_back()
        assert opened.choice == "division_name=closed&round_key=v1.0&sort=-published_minutes", (
            "words and columns are gone"
        )
        assert opened.page.get_by_placeholder("any words").input_value() == ""
        opened.page.go_back()
        head = opened.page.locator("th[aria-sort]")
        assert head.get_attribute("aria-sort") == "ascending"
        opened.page.go_forward()
        assert head.get_attribute("aria-sort") == "descending"
    with Table(browser, site, link) as pasted:
        assert pasted.column_of(MINUTES) == rows
        assert pasted.page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
        assert pasted.page.locator("thead th").all_inner_texts()[:3] == [
            "Benchmark",
            "Round",
            "Time to train (minutes)",
        ]
        assert pasted.page.get_by_placeholder("any words").input_value() == "Rack1 ACME"


ADDRESSES = {
    "": "3 of 4", "division_name=": "4 of 4", "division_name=open": "1 of 4", "round_key=v9.9": "3 of 4",
    "sort=nothing&columns=nothing": "3 of 4", "%": "3 of 4", "round_key=%3Cimg%20src%3Dx%3E": "3 of 4",
    "benchmark_name=ResNet50": "2 of 4", "q=resnet50": "2 of 4", "q=res": "2 of 4", "q=esnet": "2 of 4",
    "constructor=1&__proto__=2": "3 of 4", "benchmark_name=resnet&benchmark_name=bert&q=zeta": "1 of 4",
}  # fmt: skip


def test_any_address_is_read(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        for choice, shown in ADDRESSES.items():
            opened.page.goto(f"{(site / 'results.html').as_uri()}#{choice}")
            opened.page.locator("output.shown", has_text=f"{shown} results").wait_for()
            assert (opened.said, opened.page.locator("main img").count()) == ([], 0)


def test_what_no_result_has_is_named_and_chooses_nothing(browser: Any, site: Path) -> None:
    with Table(browser, site, "benchmark_name=foo&organisation_name=acme") as opened:
        note = opened.page.locator(".explorer .note")
        assert note.inner_text() == "No result here has the benchmark “foo”, so it chooses nothing."
        assert opened.shown == "2 of 4 results"
        opened.page.get_by_placeholder("any words").fill("resnte")
        opened.page.get_by_role("button", name="resnet", exact=True).click()
        assert opened.choice == "division_name=closed&organisation_name=ACME&q=resnet"
        assert (opened.shown, note.is_visible(), opened.said) == ("1 of 4 results", False, [])


def test_rows_beyond_the_first_hundred_come_by_a_button(browser: Any, many: Path) -> None:
    with Table(browser, many) as opened:
        rows = opened.page.locator(".results tbody tr")
        assert (opened.shown, rows.count()) == ("105 of 105 results", 100)
        opened.page.get_by_role("button", name="Show 5 more").press("Enter")
        assert rows.count() == 105
        focused = "document.activeElement === document.querySelectorAll('.results tbody a')[100]"
        assert opened.page.evaluate(focused), "keys go on with the rows that came"
        assert opened.page.get_by_role("button", name="more").count() == 0
        assert opened.column_of(6)[0] == '=HYPERLINK("x"), a "quoted", name'


def test_on_paper_all_rows_are_there_and_no_choices(browser: Any, many: Path, tmp_path: Path) -> None:
    with Table(browser, many) as opened:
        opened.page.pdf(path=str(tmp_path / "page.pdf"))
        assert opened.page.locator(".results tbody tr").count() == 105
        opened.page.emulate_media(media="print")
        assert not opened.page.locator(".facets").is_visible()


def rows_of(kind: str, content: bytes) -> list[dict[str, Any]]:
    if kind == "CSV":
        return list(csv.DictReader(io.StringIO(content.decode())))
    if kind == "JSON":
        found: list[dict[str, Any]] = json.loads(content)
        return found
    parquet = pytest.importorskip("pyarrow.parquet")
    table: list[dict[str, Any]] = parquet.read_table(io.BytesIO(content)).to_pylist()
    return table


def all_rows(kind: str, folder: Path) -> list[dict[str, Any]]:
    """All results as a file of the site has them, or where it has none of the kind, its script."""
    if kind != "JSON":
        return rows_of(kind, (folder / "data" / f"results.{kind.lower()}").read_bytes())
    names = [column.name for column in columns()]
    return [{name: row[name] for name in names} for row in result_rows((folder / RESULTS_SCRIPT).read_bytes())]


@pytest.mark.parametrize("kind", ["CSV", "JSON", "Parquet"])
def test_a_selection_is_saved_as_the_site_has_all_results(browser: Any, site: Path, many: Path, kind: str) -> None:
    for folder, choice in ((site, "division_name="), (many, "")):
        whole = all_rows(kind, folder)
        with Table(browser, folder, choice) as opened:
            saved = rows_of(kind, opened.download(kind))
        assert sorted(saved, key=lambda row: row["entry"]) == sorted(whole, key=lambda row: row["entry"])
    hrefs = {row["entry"]: row["href"] for row in result_rows((site / RESULTS_SCRIPT).read_bytes())}
    with Table(browser, site, "division_name=&benchmark_name=resnet&sort=-organisation_name") as opened:
        saved = rows_of(kind, opened.download(kind))
        links = [link.get_attribute("href") for link in opened.page.locator(".results tbody a").all()]
        assert [hrefs[row["entry"]] for row in saved] == links, "in the order of the table"
        assert set(links) == {href for href in hrefs.values() if "resnet" in href}
        assert (opened.said, opened.elsewhere) == ([], [])


def test_columns_of_files_have_one_type_even_without_values(browser: Any, site: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with Table(browser, site, "division_name=closed&organisation_name=ZETA") as opened:
        saved = parquet.read_schema(io.BytesIO(opened.download("Parquet")))
    whole = parquet.read_schema(site / "data" / "results.parquet")
    assert {field.name: str(field.type) for field in saved} == {field.name: str(field.type) for field in whole}


def test_without_scripts_there_are_links_to_all_of_it(browser: Any, site: Path) -> None:
    with Opened(browser, site, "results.html", java_script_enabled=False) as opened:
        assert "Without them, the pages of the rounds have all rows" in opened.page.locator("#all").inner_text()
        links = [link.get_attribute("href") for link in opened.page.locator("#files a").all()]
        assert links == [
            *(f"data/results.{ending}" for ending in ("csv", "parquet")),
            "rounds/training_1.0.html", "rounds/training_1.1.html",
        ]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (390, "dark"), (320, "light")])
def test_the_table_is_accessible_and_fits(browser: Any, site: Path, width: int, scheme: str) -> None:
    with Table(browser, site, color_scheme=scheme) as opened:
        if width < 1280:
            opened.page.set_viewport_size({"width": width, "height": 844})
            opened.page.locator(".facets > summary").click()
        opened.page.locator(".columns summary").click()
        assert opened.overflow() == 0
        if width != 320:
            assert opened.violations() == []
        opened.screenshot(f"table/{width}-{scheme}.html")


def test_keys_alone_choose_and_sort(browser: Any, site: Path) -> None:
    with Table(browser, site) as opened:
        opened.page.locator("details.facet summary").first.focus()
        opened.page.keyboard.press("Tab")
        opened.page.keyboard.press("Space")
        assert opened.shown == "4 of 4 results"
        assert opened.page.evaluate("document.activeElement.type") == "checkbox", "the focus stays"
        opened.page.locator(".results th button", has_text="Organisation").focus()
        opened.page.keyboard.press("Enter")
        assert opened.page.evaluate("document.activeElement.dataset.key") == "organisation_name"
        assert opened.page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
