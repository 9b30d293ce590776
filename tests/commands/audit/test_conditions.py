"""Claims that fail keep what they come to: the parts of a condition that are not true, and each of several figures."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import JudgedClaim
from mlsub.workspace import Context
from tests.commands.audit.claims import audited
from tests.conftest import ExpectedText
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import run

RESULTS = {
    name: {"round": round_, "submitter": org, "system": "rack1", "benchmark": "resnet"}
    for name, round_, org in (
        ("new", "v1.1", "ACME"),
        ("old", "v1.0", "ACME"),
        ("older", "v0.7", "ACME"),
        ("other", "v1.1", "BETA"),
    )
}


def timed(tree: Tree, minutes: float) -> Tree:
    """Give every run the same time to train."""
    for at in range(5):
        tree.edit(lambda log: log.last(minutes), at)
    return tree


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ACME takes 20 minutes in v0.7, 16 in v1.0, 12 in v1.1, and 30 in Open of v1.1; BETA takes 24."""
    folder = tmp_path_factory.mktemp("instead")
    timed(make_tree(folder, "v0.7"), 20)
    timed(make_tree(folder, "v1.0"), 16)
    tree = timed(make_tree(folder, "v1.1"), 12)
    tree.add_system("rack2", "open")
    tree.add_entry(system="rack2", division="open")
    for at in range(5):
        tree.edit(lambda log: log.last(30), at, system="rack2")
    timed(make_tree(folder, "v1.1", org="BETA"), 24)
    return folder


def judged(place: Path, **claim: object) -> JudgedClaim:
    usd = {"value": 100, "unit": "USD", "kind": "price", "source": "a list", "plus_minus": "10%"}
    [found] = audited(place, results=RESULTS, inputs={"usd": usd}, claims=[{"id": "one", **claim}])
    return found


def test_of_a_condition_the_parts_that_do_not_hold(place: Path) -> None:
    expr = "minutes(new) < minutes(old) and chips(new) == 16 and minutes(new) > minutes(older) and not available(new)"
    found = judged(place, expr=expr, stated={"value": True})
    assert found.reason == "chips(new) is 8; minutes(new) is 12, minutes(older) is 20; not available(new) is false"
    assert judged(place, expr="minutes(new) < minutes(old)", stated={"value": False}).reason is None
    assert judged(place, expr="minutes(new) < minutes(old)", stated={"value": True}).reason is None


def test_of_several_figures_each_that_fails(place: Path, expected_text: ExpectedText) -> None:
    stated = [
        {"value": 12, "unit": "min", "expr": "minutes(new)"},
        {"value": 26, "unit": "%", "reading": "reduction", "expr": "reduction(old, new)"},
        {"value": "2.5", "unit": "x", "expr": "ratio(other, new)"},
    ]
    found = judged(place, stated=stated)
    assert (found.verdict, [one.verdict.value for one in found.further]) == ("fails", ["fails", "fails"])
    text = run("audit", place / "claims.yaml", "--results", place).stdout
    expected_text("several.txt", text[text.index("one: fails") : text.index("  source:")])
    document = run("audit", place / "claims.yaml", "--results", place, "--format", "json").document
    [one] = document["claims"]
    assert [part["claim"]["expr"] for part in one["further"]] == ["reduction(old, new)", "ratio(other, new)"]
    page = run("audit", place / "claims.yaml", "--results", place, "--format", "html").stdout
    assert "25% (published): fails" in page


@pytest.mark.parametrize(
    "part",
    [
        "minutes( new )  < 12",
        "(minutes(new) - minutes(old)) * 2 > 1",
        "-(minutes(new)) > 1",
        "count( 'v1.1', division = 'open' ) == 5",
    ],
)
def test_a_part_is_shown_as_it_is_written(part: str, place: Path) -> None:
    side = part[: max(part.rfind("<"), part.rfind(">"), part.rfind("=="))].rstrip()
    assert str(judged(place, expr=f"1 < 2 and ({part})", stated={"value": True}).reason).startswith(f"{side} is ")


def test_folders_of_a_round_may_be_given_apart(place: Path, tmp_path: Path) -> None:
    """What is read of several rounds at once stays with its folder, in whatever order these are given."""
    all_rounds = {"id": "all", "expr": "rank(new, rounds='all') == 1", "stated": {"value": True}}
    one_round = {"id": "one", "expr": "fastest('v1.1', 'resnet')", "stated": {"value": 12, "unit": "min"}}
    content = {"claims_version": 1, "source": {"title": "A post"}, "results": {"new": RESULTS["new"]}}
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump({**content, "claims": [all_rounds, one_round]}))
    folders = [str(place / name) for name in ("v1.1/BETA", "v1.0/ACME", "v1.1/ACME")]
    found = audit(file, folders, context=Context(jobs=1)).claims
    assert [(one.verdict, one.computed) for one in found] == [("holds", True), ("holds", 12)]
