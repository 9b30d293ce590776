"""Claims that were once said to hold, and are false or say more than was checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.audit.document import build_document
from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import JudgedClaim
from mlsub.present.text import render
from mlsub.workspace import Context
from tests.commands.audit.claims import audited, problems, table
from tools.support.make_tree import make_tree
from tools.support.runner import run

RESULTS = {
    "dell": {"round": "v1.1", "submitter": "Dell", "system": "rack1", "benchmark": "resnet"},
    "nvidia": {"round": "v1.1", "submitter": "NVIDIA", "system": "rack1", "benchmark": "resnet", "id": "1.1-2011"},
    "google": {"round": "v1.1", "submitter": "Google", "system": "rack1", "benchmark": "resnet"},
    "witches": {"round": "v1.1", "submitter": "Witches", "system": "rack1", "benchmark": "resnet"},
    "wizards": {"round": "v1.1", "submitter": "Wizards", "system": "rack1", "benchmark": "resnet"},
    "before": {"round": "v1.0", "submitter": "NVIDIA", "system": "rack1", "benchmark": "resnet"},
}
INPUTS: dict[str, Any] = {
    "theirs": {"value": 24, "unit": "min", "kind": "time", "source": "a post"},
    "plain": {"value": 24, "kind": "price", "source": "a post"},
    "dell_usd": {"value": 200, "unit": "USD", "kind": "price", "source": "a list"},
    "nvidia_usd": {"value": 100, "unit": "USD", "kind": "price", "source": "a list"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In v1.1 Dell takes 24 minutes on 8 MI300X, NVIDIA 12 on 8 H100, Google 4 on 80 TPU v4; NVIDIA 18 in v1.0."""
    folder = tmp_path_factory.mktemp("misleading")
    for round_, org, minutes, nodes, chip in (
        ("v1.1", "Dell", 24, 1, "AMD Instinct MI300X"),
        ("v1.1", "NVIDIA", 12, 1, "NVIDIA H100"),
        ("v1.1", "Google", 4, 10, "TPU v4"),
        ("v1.0", "NVIDIA", 18, 1, "NVIDIA H100"),
        ("v1.1", "Witches", 5, 1, "NVIDIA H100"),
        ("v1.1", "Wizards", 10, 1, "NVIDIA H100"),
    ):
        tree = make_tree(folder, round_, org)
        tree.describe(accelerator_model_name=chip, number_of_nodes=str(nodes))
        tree.edit(lambda log, minutes=minutes: log.last(minutes), *range(5))  # type: ignore[misc]
    return folder


def judged(place: Path, *claims: dict[str, Any], **content: Any) -> tuple[JudgedClaim, ...]:
    numbered = [{"id": f"c{at}", **one} for at, one in enumerate(claims)]
    return audited(place, results=RESULTS, inputs=INPUTS, claims=numbered, **content)


CASES = table("misleading.yaml")


@pytest.mark.parametrize(
    ("text", "expr", "stated", "verdict", "why"), CASES["judged"], ids=lambda value: str(value)[:60]
)
def test_what_is_false_or_not_checked_does_not_hold(
    text: str, expr: str, stated: dict[str, Any], verdict: str, why: str, place: Path
) -> None:
    [found] = judged(place, {"text": text, "expr": expr, "stated": stated})
    assert found.verdict.value == verdict, (found.reason, found.differences)
    assert why in (found.reason or ""), found.reason


@pytest.mark.parametrize("text", CASES["hidden"])
def test_no_letter_hides_a_word(text: str, place: Path) -> None:
    [found] = judged(place, {"text": text, "expr": "minutes(nvidia)", "stated": {"value": 12, "unit": "min"}})
    assert found.verdict == "holds-in-part"


@pytest.mark.parametrize("text", CASES["seen"])
def test_signs_and_accents_are_no_other_letters(text: str, place: Path) -> None:
    [found] = judged(place, {"text": text, "expr": "minutes(nvidia)", "stated": {"value": 12, "unit": "min"}})
    assert (found.verdict, found.reason) == ("holds", None)


def test_a_published_score_is_held_against_the_logs(place: Path) -> None:
    five, twelve = ({"expr": "minutes(nvidia)", "stated": {"value": value, "unit": "min"}} for value in (5, 12))
    right = {"nvidia": {"minutes": "12.0", "source": "a table"}}
    false = {"nvidia": {"minutes": "5.0", "source": "a table"}}
    assert [one.verdict.value for one in judged(place, five, twelve, published=right)] == ["fails", "holds"]
    found = judged(place, five, twelve, published=false)
    assert [one.verdict.value for one in found] == ["fails", "holds-in-part"]
    assert found[1].reason == "nvidia has 5 minutes under published, and 12 by its logs"
    text = run("audit", place / "claims.yaml", "--results", place).stdout
    assert "5 minutes (a table) is not the score of its logs" in " ".join(text.split())


def test_a_published_score_has_the_factor_of_the_review(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tree.entry() / "scaling.json").write_text('{"scaling_factor": 1.5}')
    results = {"acme": {"round": "v1.0", "submitter": "ACME", "system": "rack1", "benchmark": "resnet"}}
    claims = [{"id": "one", "expr": "minutes(acme)", "stated": {"value": 18, "unit": "min"}}]
    for minutes, verdict in (("18.00", "holds"), ("17.99", "holds-in-part"), ("12", "holds-in-part")):
        published = {"acme": {"minutes": minutes, "source": "a table"}}
        [found] = audited(tmp_path, results=results, published=published, claims=claims)
        assert found.verdict.value == verdict


def test_a_tolerance_has_an_end(tmp_path: Path) -> None:
    text = "claims_version: 1\nsource: {title: A post}\nclaims:\n- {id: one, unverifiable: no log, stated: %s}\n"
    stated = "{value: 12, wording: about, tolerance: %s}"
    assert problems(tmp_path, text % stated % "25%") == []
    assert problems(tmp_path, text % stated % "1000%") == ["4: claims.one.stated: a tolerance is at most 25%"]


def test_a_value_that_is_no_result_is_refused_where_it_stands_for_one(place: Path) -> None:
    file = place / "claims.yaml"
    judged(place, {"expr": "minutes(nvidia)", "stated": {"value": 12}})
    values = "values: {x: \"hyper(nvidia, 'opt_name')\"}\n"
    file.write_text(values + file.read_text().replace("expr: minutes(nvidia)", "expr: minutes(x)"))
    outcome = run("audit", file, "--results", place)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.endswith("a result is needed as an argument of minutes, not a number or text\n")


def test_a_figure_for_scale_is_a_percentage_only_where_it_is_a_part(place: Path) -> None:
    near = {
        "minutes(nvidia) - 1": "11",
        "minutes(nvidia) / 2 - 1": "5",
        "minutes(dell) / minutes(nvidia) - 1": "100%",
        "ratio(dell, nvidia) - 1": "100%",
        "1 - minutes(nvidia) / minutes(dell)": "50%",
        "speedup(dell, nvidia)": "100%",
    }
    judged(place, {"expr": "minutes(nvidia)", "stated": {"value": 12}, "nearest": list(near)})
    text = render(build_document(audit(place / "claims.yaml", [str(place)], context=Context(jobs=1))))
    assert all(f"{expr}: {shown}\n" in text for expr, shown in near.items()), text


LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the United States "
    "and other countries. All rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more "
    "information."
)
RESNET = "Image classification, ResNet-50 v1.5 on ImageNet"


def test_the_footnotes_of_the_results_that_are_used(place: Path) -> None:
    results = {
        "new": RESULTS["nvidia"],
        "dell": {**RESULTS["dell"], "reviewed": False},
        "old": {**RESULTS["before"], "retrieved": "2021-07-01"},
        "unused": RESULTS["google"],
    }
    claims = [{"id": "one", "expr": "max(minutes(new), minutes(old))", "stated": {"value": 18, "unit": "min"}}]
    claims += [{"id": "two", "expr": "minutes(dell)", "stated": {"value": 23, "unit": "min"}}]
    audited(place, results=results, claims=claims, retrieved="2021-12-02")
    outcome = run("audit", place / "claims.yaml", "--results", place, "--footnote")
    assert (outcome.status, outcome.stderr) == (1, "")
    assert [" ".join(part.split()) for part in outcome.stdout.strip().split("\n\n")] == [
        "Footnotes to the claims of A post",
        f"[1] Unverified MLPerf® Training v1.1 Closed, {RESNET}: Dell rack1. Result not verified by MLCommons "
        f"Association. {LEGEND}",
        f"[2] MLPerf® Training v1.1 Closed, {RESNET}: NVIDIA rack1, entry 1.1-2011. Retrieved: from "
        f"https://github.com/mlcommons/training_results_v1.1 on 2021-12-02. {LEGEND}",
        f"[3] MLPerf® Training v1.0 Closed, {RESNET}: NVIDIA rack1, entry [ID 1.0-...]. Retrieved: from "
        f"https://github.com/mlcommons/training_results_v1.0 on 2021-07-01. {LEGEND}",
    ]
    found = run("audit", place / "claims.yaml", "--results", place, "--format", "json").document
    starts = [one["footnote"].partition(" v1")[0] for one in found["results"]]
    assert starts == ["Unverified MLPerf® Training", "MLPerf® Training", "MLPerf® Training"]
