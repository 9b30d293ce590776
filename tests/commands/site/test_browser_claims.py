"""The page of claims in a real browser: the bar chooses, words search, sliders compute anew, and axe finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.runner import run
from tests.commands.site.browser import Opened
from tests.make_tree import make_tree

CLAIMS = """\
claims_version: 1
source: {title: Prices, publisher: ACME, date: 2021-06-30}
results:
  ours: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet}
  open: {round: v1.0, submitter: ACME, system: rack2, benchmark: resnet}
inputs:
  usd: {value: 100, unit: USD/h, kind: price, source: a list, plus_minus: 10%}
claims:
  - {id: cost, text: A training costs 20 dollars, expr: minutes(ours) * usd / 60, stated: {value: 20, unit: USD}}
  - {id: lead, text: Each costs less than 15, expr: minutes(ours) * usd / 60 < 15, stated: {value: true}}
  - {id: slow, text: It takes an hour, expr: minutes(ours), also: minutes(open), stated: {value: 1, unit: h}}
  - {id: power, text: Half the power, unverifiable: no power was measured}
"""


@pytest.fixture(scope="module")
def claims_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("claims")
    tree = make_tree(folder / "all")
    tree.add_system("rack2", "open")
    tree.add_entry("resnet", "rack2", "open")
    (folder / "claims.yaml").write_text(CLAIMS)
    outcome = run("site", folder / "all", "-o", folder / "site", "--claims", folder / "claims.yaml")
    assert (outcome.status, outcome.stderr) == (1, "")
    return folder / "site"


def _shown(opened: Opened) -> list[str]:
    shown = opened.page.locator("article.claim:visible")
    return [one.get_attribute("id").removeprefix("claim-0-") for one in shown.all()]


def test_the_bar_and_words_choose_claims(browser: Any, claims_site: Path) -> None:
    with Opened(browser, claims_site, "claims.html") as opened:
        page = opened.page
        assert _shown(opened) == ["cost", "lead", "slow", "power"]
        page.click("[data-only=fails]")
        assert _shown(opened) == ["lead", "slow"]
        assert page.locator("[data-claims] output").inner_text() == "2 of 4 claims"
        page.click("[data-only=not-verifiable]")
        assert _shown(opened) == ["lead", "slow", "power"]
        page.fill("[data-claims] input", "less than")
        assert _shown(opened) == ["lead"]
        page.click("[data-claims] button")
        page.wait_for_function("document.querySelector('[data-claims] output').textContent === '4 of 4 claims'")
        assert opened.said == []


def test_a_slider_computes_the_figure_anew_and_moves_its_mark(browser: Any, claims_site: Path) -> None:
    with Opened(browser, claims_site, "claims.html") as opened:
        cost = opened.page.locator("#claim-0-cost")
        slider, outcome, legend = (cost.locator(name) for name in ("input[type=range]", ".sliders output", ".legend"))
        assert outcome.inner_text() == "20 USD: holds"
        assert "as tried" not in legend.inner_text()
        slider.fill("120")
        assert outcome.inner_text() == "24 USD: fails"
        assert "as tried" in legend.inner_text()
        assert cost.locator("label").inner_text().strip() == "usd: 120 USD/h"
        slider.press("ArrowLeft")
        assert outcome.inner_text() == "23.9 USD: fails"
        cost.locator(".sliders button").click()
        assert outcome.inner_text() == "20 USD: holds"
        assert "as tried" not in legend.inner_text()
        lead = opened.page.locator("#claim-0-lead")
        assert lead.locator("output").inner_text() == "false: fails"
        lead.locator("input").fill("60")
        assert lead.locator("output").inner_text() == "true: holds"
        slow = opened.page.locator("#claim-0-slow")
        assert slow.locator("input").count() == 0
        assert slow.locator("svg.plot [data-mark=bar] rect").count() == 2, "a band for each reading"
        assert slow.locator("svg.plot [data-mark=dot] :is(circle, path)").count() == 2
        assert opened.said == []


def test_without_scripts_the_claims_and_what_their_number_lines_say_are_there(browser: Any, claims_site: Path) -> None:
    with Opened(browser, claims_site, "claims.html", java_script_enabled=False) as opened:
        assert _shown(opened) == ["cost", "lead", "slow", "power"]
        assert opened.page.locator("article figcaption:visible, article .about:visible").count() == 4
        assert opened.page.locator("button:visible, input:visible").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(browser: Any, claims_site: Path, scheme: str) -> None:
    with Opened(browser, claims_site, "claims.html", color_scheme=scheme) as opened:
        assert opened.violations() == []
        opened.screenshot(f"{scheme}/claims-made.html")


def test_a_phone_and_paper_show_all_of_it(browser: Any, claims_site: Path) -> None:
    with Opened(browser, claims_site, "claims.html") as opened:
        opened.page.set_viewport_size({"width": 390, "height": 800})
        assert opened.overflow() == 0
        opened.screenshot("narrow/claims-made.html")
        opened.page.emulate_media(media="print")
        assert opened.page.locator(".sliders:visible, .verdicts button:visible").count() == 0
        assert opened.page.locator("svg.plot:visible").count() == 2
