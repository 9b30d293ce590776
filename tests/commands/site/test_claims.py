"""The page of claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.site.claims import _sort
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


def test_each_claim_has_a_row_with_its_verdict_and_figures(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    file = tmp_path / "claims.yaml"
    file.write_text(CLAIMS)
    outcome = run("site", tree.folder.parent, "-o", tmp_path / "site", "--claims", file)
    assert (outcome.status, outcome.stderr) == (1, ""), "a claim that fails is told by the status"
    found = Html((tmp_path / "site" / "claims.html").read_bytes())
    at = found.text.index("fast")
    assert found.text[at : at + 3] == ["fast", "holds", "It trains in <script>alert(1)</script> 12 minutes"]
    assert "computed: 12 (published): holds" in found.text[at + 3]
    at = found.text.index("faster")
    assert found.text[at : at + 3] == ["faster", "fails", "It trains in 9 minutes"]
    assert "A <b>page</b>, ACME, 2021-06-30" in found.text
    assert [row["data-verdict"] for row in found.of("tr") if "data-verdict" in row] == ["holds", "fails"]
    assert "Claims" in Html((tmp_path / "site" / "index.html").read_bytes()).text


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
    assert text[at + 1] == "holds"
    assert "14.484628" in text[at + 3]
