"""``mlsub audit``: what it says of how results are quoted, and the footnotes it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mlsub.cli import main
from tests.corpus import CORPUS, SHARED

needs_published = pytest.mark.skipif(
    not all((SHARED / name).is_dir() for name in ("corpus", "claims", "seeds")),
    reason="published results are not there",
)


def audit(*options: str) -> Result:
    command = ["audit", str(SHARED / "claims" / "claims.yaml"), "--results", str(CORPUS / "v1.0"), *options]
    return CliRunner().invoke(main, command)


@needs_published
def test_the_worked_examples_with_the_document_they_stand_in() -> None:
    done = audit("--documents", str(SHARED / "seeds"), "--format", "json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert [
        (one["claim"], one["rule"].removeprefix("claim."), one["severity"]) for one in document["messaging"]["findings"]
    ] == [
        ("ttt-bert-pod64", "r02", "warning"),
        ("ttt-bert-pod64", "r11", "warning"),
        ("ttt-resnet-pod64", "r11", "warning"),
        ("perf-per-dollar-resnet", "r11", "warning"),
        ("perf-per-dollar-resnet", "r17", "warning"),
        ("perf-per-dollar-bert", "r11", "warning"),
        ("perf-per-dollar-bert", "r17", "warning"),
        (None, "r03", "warning"),
        (None, "r04", "warning"),
        (None, "r05", "warning"),
        (None, "r19", "info"),
        (None, "r10", "info"),
    ]
    assert {one["verdict"] for one in document["claims"]} == {
        "holds",
        "holds-fragile",
        "holds-only-for",
        "not-verifiable",
    }
    assert document["messaging"]["not_looked_at"] == []
    chips = next(one for one in document["messaging"]["findings"] if "chip" in one["message"])
    assert chips["message"] == "the comparison does not say that the results differ in chip count (8 and 16)"


@needs_published
def test_rules_choose_the_text() -> None:
    documents = ("--documents", str(SHARED / "seeds"))
    old, today = (
        json.loads(audit(*documents, "--guidelines", text, "--format", "json").stdout) for text in ("auto", "2025-07")
    )
    rules = [{one["rule"] for one in document["messaging"]["findings"]} for document in (old, today)]
    assert rules[1] - rules[0] == {"claim.r06", "claim.r20"}
    assert [one["rule"] for one in today["messaging"]["by_hand"]] == ["claim.r08", "claim.r21", "claim.r22"]


@needs_published
def test_footnotes_are_written_when_asked_for() -> None:
    assert "Footnotes, with what is missing" not in audit().stdout
    done = audit("--footnote")
    assert done.exit_code == 0
    assert "entry [ID 1.0-...]" in done.stdout
    assert "missing: result ID of Graphcore IPU-POD64 (bert) and source and date of retrieval" in done.stdout


@needs_published
def test_without_its_document_a_claim_is_told_as_not_looked_at() -> None:
    done = audit()
    assert "Not checked: text 003_2e5ebb5ebe4f65e4.txt is not there; name its folder with --documents." in " ".join(
        done.stdout.split()
    )


@needs_published
def test_strict_counts_findings() -> None:
    assert audit("--strict").exit_code == 1


@needs_published
def test_the_example_of_the_docs_is_what_is_said(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "messaging.md").read_text()
    [claims] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    [said] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (tmp_path / "quoted.yaml").write_text(claims)
    done = CliRunner().invoke(main, ["audit", str(tmp_path / "quoted.yaml"), "--results", str(CORPUS / "v1.0")])
    assert done.exit_code == 0
    assert f"\n\n{said}\n" in done.stdout


def test_an_unknown_text_is_refused() -> None:
    done = CliRunner().invoke(main, ["audit", "x.yaml", "--results", ".", "--guidelines", "2023"])
    assert done.exit_code == 2
    assert "2021-06" in done.stderr


@pytest.mark.parametrize("number", range(1, 23))
def test_every_rule_can_be_explained(number: int) -> None:
    done = CliRunner().invoke(main, ["explain", f"claim.r{number:02}"])
    assert done.exit_code == 0
    assert "review" in done.stdout
