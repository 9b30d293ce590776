"""What a link to a page of a site shows where it is shared: title, description and picture."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from mlsub.commands.site.build import build_site
from mlsub.commands.site.page import Bar, Picture
from mlsub.commands.site.preview import HEIGHT, WIDTH, draw_png
from tests.commands.site.sites import Html, checked, two_rounds
from tests.commands.test_report import run

#: Title and description of a page of each kind.
SAID = {
    "index.html": (
        "MLPerf Training results, v1.0 to v1.1",
        "MLPerf Training v1.1, published on 1 December 2021, is the newest of the 2 rounds here: 1 result from "
        "1 organisation, all Closed. ",
    ),
    "benchmarks/resnet.html": (
        "ResNet-50: MLPerf Training results by round",
        "3 results of the benchmark ResNet-50 in 2 rounds (v1.0 to v1.1). The fastest Closed result of v1.0: "
        "12 minutes, ACME, rack1. ",
    ),
    "organisations/acme.html": (
        "ACME: MLPerf Training results by round",
        "3 results of the organisation ACME in 1 round (v1.0): BERT, ResNet-50. ",
    ),
    "rounds/training_1.0.html": (
        "MLPerf Training v1.0: results of all benchmarks",
        "3 results, 1 organisation. 3 of 3 results meet the official checker of the round. Published on 30 June 2021. ",
    ),
    "results.html": (
        "All MLPerf Training results as one table",
        "4 results to filter, search, sort, and save as CSV, JSON or Parquet.",
    ),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    above = tmp_path_factory.mktemp("shared")
    build_site(checked(*two_rounds(above)), above / "site", url="https://example.org/results/")
    return above / "site"


@pytest.mark.parametrize("name", SAID)
def test_each_page_says_what_it_is(shared: Path, name: str) -> None:
    page = Html((shared / name).read_bytes())
    said = {one.get("name") or one.get("property"): one.get("content") or "" for one in page.of("meta")}
    title, about = SAID[name]
    assert title in page.text
    assert said["description"].startswith(about)
    if (shared / name).with_suffix(".png").exists():
        assert (said["og:title"], said["og:description"]) == (title, said["description"])
        assert said["og:url"] == f"https://example.org/results/{name}"


def test_titles_are_those_of_one_page_each(shared: Path) -> None:
    titles = [(shared / page).read_text().partition("<title>")[2].partition("<")[0] for page in shared.rglob("*.html")]
    assert len(set(titles)) == len(titles)


def test_benchmarks_rounds_and_the_first_page_have_pictures(shared: Path) -> None:
    pictures = sorted(file.relative_to(shared).as_posix() for file in shared.rglob("*.png"))
    assert pictures == [
        *("benchmarks/bert.png", "benchmarks/resnet.png", "index.png"),
        *("rounds/training_1.0.png", "rounds/training_1.1.png"),
    ]
    for name in pictures:
        page = (shared / name.replace(".png", ".html")).read_text()
        assert f'<meta property="og:image" content="https://example.org/results/{name}">' in page
        assert '<meta name="twitter:card" content="summary_large_image">' in page


def test_a_picture_is_small_and_the_same_each_time_whatever_it_says() -> None:
    hostile = Bar("<b>\n\x1b[31m" + "名" * 90 + "é" * 90, "x" * 300, 12.0, "nvidia-2")
    picture = Picture("W" * 300, "é × –", "", (hostile, Bar("", "", 0.0, "c7"), Bar("b", "c", 1e9, "amd-0")))
    found = draw_png(picture)
    assert found == draw_png(picture)
    image = Image.open(io.BytesIO(found))
    assert (image.size, image.mode, image.format) == ((WIDTH, HEIGHT), "P", "PNG")
    assert len(found) < 20_000


@pytest.mark.slow
def test_without_an_address_pictures_are_named_beside_their_pages(tmp_path: Path) -> None:
    build_site(checked(*two_rounds(tmp_path)), tmp_path / "site")
    page = (tmp_path / "site" / "benchmarks" / "bert.html").read_text()
    assert '<meta property="og:image" content="../benchmarks/bert.png">' in page
    assert "og:url" not in page


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    outcome = run("site", "v1.0", "-o", str(tmp_path / "site"), "--url", "example.org")
    assert (outcome.status, outcome.stderr) == (
        2,
        "mlsub site: example.org is no address of a site. It begins with https://.\n",
    )
