"""The page of claims."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlsub.commands.audit.facts import TITLES
from mlsub.commands.site.claims import _sort
from mlsub.commands.site.numberline import Mark, NumberLine, Reading, svg
from tests.commands.runner import run
from tests.commands.site.sites import Html
from tests.differential.shared import ABSENT, folder, present
from tests.make_tree import make_tree

CLAIMS = """\
claims_version: 1
source: {title: "A <b>page</b>", publisher: ACME, date: 2021-06-30}
results:
  ours: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
claims:
  - id: fast
    text: "It trains in <script>alert(1)</script> 12 minutes"
    expr: minutes(ours)
    stated: {value: 12, unit: min, wording: exact}
  - id: faster
    text: "It trains in 9 minutes"
    expr: minutes(ours)
    stated: {value: 9, unit: min, wording: exact}
"""
GRAPHCORE = Path(__file__).parents[3] / "submissions" / "graphcore-v1.0" / "claims.yaml"


def site(tmp_path: Path, claims: str) -> bytes:
    tree = make_tree(tmp_path)
    file = tmp_path / "claims.yaml"
    file.write_text(claims)
    outcome = run("site", tree.folder.parent, "-o", tmp_path / "site", "--claims", file)
    assert (outcome.status, outcome.stderr) == (1, ""), "a claim that fails is told by the status"
    return (tmp_path / "site" / "claims.html").read_bytes()


def test_each_claim_has_a_card_with_its_verdict_and_figures(tmp_path: Path) -> None:
    found = Html(site(tmp_path, CLAIMS))
    at = found.text.index("fast")
    assert found.text[at - 1 : at + 2] == ["holds", "fast", "It trains in <script>alert(1)</script> 12 minutes"]
    assert "12 (published): holds" in found.text[at:]
    at = found.text.index("faster")
    assert found.text[at - 1 : at + 2] == ["fails", "faster", "It trains in 9 minutes"]
    assert "12 min published" in found.text[at:]
    assert "A <b>page</b>, ACME, 2021-06-30" in found.text
    assert [one["data-verdict"] for one in found.of("article")] == ["holds", "fails"]
    assert [one["data-only"] for one in found.of("button") if "data-only" in one] == ["holds", "fails"]
    assert [one["width"] for one in found.of("rect") if one["class"].startswith("kind-")] == ["500.0", "500.0"]
    assert [one["src"] for one in found.of("script") if "src" in one][-2:] == ["static/claims.js", "static/tables.js"]
    assert "Claims" in Html((tmp_path / "site" / "index.html").read_bytes()).text


def test_a_number_line_has_the_interval_and_each_figure(tmp_path: Path) -> None:
    found = Html(site(tmp_path, CLAIMS))
    lines = [one for one in found.of("svg") if one.get("class") == "number-line"]
    assert [one["aria-label"] for one in lines] == [
        "Stated is 12 min, which accepts [11.5, 12.5). Found: 12 published.",
        "Stated is 9 min, which accepts [8.5, 9.5). Found: 12 published.",
    ]
    assert [one["class"] for one in found.of("path")] == ["end", "end", "axis", "mark basis-published"] * 2
    bands = [one for one in found.of("rect") if one["class"] == "accepts"]
    assert [(one["x"], one["width"]) for one in bands] == [("50.0", "300.0"), ("50.0", "85.7")]


PRICED = """\
claims_version: 1
source: {title: Prices}
results:
  ours: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
inputs:
  usd: {value: 100, unit: "USD</script>", kind: price, source: a list, plus_minus: 10%}
values:
  cost: minutes(ours) * usd / 60
claims:
  - {id: cost, expr: cost, stated: {value: 20}}
  - {id: per, expr: "per_dollar(ours, usd) * 120000", stated: {value: 90}}
  - {id: both, expr: "not (cost < 10 + 5) and chips(ours) == 8 and max(usd, 3, -usd) > 5", stated: {value: true}}
  - {id: plain, expr: chips(ours), stated: {value: 8}}
"""


def test_a_slider_has_the_expression_with_all_but_the_inputs_computed(tmp_path: Path) -> None:
    found = Html(site(tmp_path, PRICED))
    cost, per, both = found.data
    assert cost["sliders"] == [
        {"name": "usd", "unit": "USD</script>", "value": 100.0, "low": 50.0, "high": 150.0, "step": 0.5}
    ]
    assert cost["figures"] == [
        {
            "line": 0,
            "row": 0,
            "name": "",
            "tree": ["/", ["*", 12.0, ["usd"]], 60.0],
            "turns": None,
            "factor": 1.0,
            "sign": "",
            "accepts": [[19.5, 20.5, True, True]],
        }
    ]
    assert per["figures"][0]["tree"] == ["*", ["/", 1.0, ["*", 12.0, ["usd"]]], 120000.0]
    joined = ["and", ["and", ["not", ["<", ["/", ["*", 12.0, ["usd"]], 60.0], 15.0]], True], None]
    joined[2] = [">", ["max", ["usd"], 3.0, ["neg", ["usd"]]], 5.0]
    assert (both["figures"][0]["tree"], both["figures"][0]["accepts"], both["figures"][0]["line"]) == (joined, True, -1)


def test_an_expression_that_is_too_long_has_no_slider(tmp_path: Path) -> None:
    values = "".join(f"  v{at}: v{at - 1} + v{at - 1}\n" for at in range(1, 20))
    long = PRICED.replace("values:\n", f"values:\n  v0: usd\n{values}")
    found = Html(site(tmp_path, long + "  - {id: long, expr: v19, stated: {value: 3}}\n"))
    assert len(found.data) == 3


@pytest.mark.parametrize(("low", "high"), [(None, 5.0), (5.0, None), (5.0, 5.0), (-1e300, 1e300), (0.0, 0.0)])
def test_a_number_line_holds_whatever_ends_and_figures_there_are(low: float | None, high: float | None) -> None:
    marks = tuple(
        Mark(basis, value, "7 <published>") for basis, value in zip(TITLES, (5.0, 5.0, -3.0, 1e9), strict=True)
    )
    line = NumberLine(about='"<', low=low, high=high, ends=("a<", "b"), readings=(Reading("<r>", marks, (1.0, 2.0)),))
    picture = svg(line)
    assert "nan" not in picture
    assert "inf" not in picture
    assert "<r>" not in picture
    assert 'aria-label="&quot;&lt;"' in picture
    assert all(0 <= float(x) <= 400 for x in re.findall(r'<text class="value" x="([^"]+)"', picture))


def test_logs_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    (tmp_path / "claims.yaml").write_text(CLAIMS)
    monkeypatch.setattr("mlsub.commands.audit.facts.check_with_logs", lambda *_: pytest.fail("read again"))
    outcome = run("site", tree.folder.parent, "-o", tmp_path / "site", "--claims", tmp_path / "claims.yaml")
    assert (outcome.status, outcome.stderr) == (1, "")


@pytest.mark.parametrize("content", ["", "[", "claims_version: 1\nsource: {title: x}\nclaims: 3\n"])
def test_a_claims_file_that_cannot_be_used_leaves_no_site(tmp_path: Path, content: str) -> None:
    tree = make_tree(tmp_path)
    file = tmp_path / "claims.yaml"
    file.write_text(content)
    outcome = run("site", tree.folder.parent, "-o", tmp_path / "site", "--claims", file)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"mlsub site: {file}:")
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("cell", "number"),
    [("149,995", 149995), ("-1.5", -1.5), ("0", 0), ("-", None), ("2021-06-30", None), ("1e999", None), ("٣", None)],
)
def test_cells_that_are_numbers_sort_as_numbers(cell: str, number: float | None) -> None:
    assert _sort(cell) == number


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_the_claims_on_published_results(tmp_path: Path) -> None:
    outcome = run("site", folder("1.0"), "-o", tmp_path / "site", "--claims", GRAPHCORE)
    assert (outcome.status, outcome.stderr) == (1, "")
    text = Html((tmp_path / "site" / "claims.html").read_bytes()).text
    at = text.index("S3-03")
    assert text[at - 1] == "holds"
    assert any("14.484628" in one for one in text[at : at + 20])
