"""Words that describe something other than the results: who, on what, which benchmark, round, division, how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.sentence import read_sentence, vocabulary
from mlsub.commands.audit.verdict import JudgedClaim
from mlsub.systems.names import all_chips
from tests.commands.audit.claims import CASES, audited
from tools.oracle import shared
from tools.support.make_tree import make_tree
from tools.support.runner import run

RESULTS = {
    "nvidia": {"round": "v1.0", "submitter": "NVIDIA", "system": "rack1", "benchmark": "resnet"},
    "dell": {"round": "v1.1", "submitter": "Dell", "system": "rack1", "benchmark": "bert"},
    "pod": {"round": "v1.0", "submitter": "Graphcore", "system": "rack1", "benchmark": "resnet"},
    "tpu": {"round": "v1.1", "submitter": "Google", "system": "rack1", "benchmark": "resnet"},
}
INPUTS = {
    "theirs": {"value": 15, "unit": "images/s", "kind": "throughput", "source": "their table"},
    "usd": {"value": 100, "unit": "USD", "kind": "price", "source": "a list"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four results: NVIDIA's on 72 GB200, Dell's on 8 H100 in Open, Graphcore's on 64 IPUs, Google's on TPU."""
    folder = tmp_path_factory.mktemp("subject")
    tree = make_tree(folder, org="NVIDIA")
    tree.describe(number_of_nodes="18", accelerators_per_node="4", accelerator_model_name="NVIDIA GB200")
    tree = make_tree(folder, "v1.1", org="Dell", benchmarks=["bert"], division="open")
    tree.describe(accelerator_model_name="NVIDIA Hopper H100-SXM5-80GB", host_processor_model_name="AMD EPYC 9654")
    tree = make_tree(folder, org="Graphcore")
    tree.describe(accelerators_per_node="64", accelerator_model_name="Graphcore IPU GC200")
    tree = make_tree(folder, "v1.1", org="Google")
    tree.describe(accelerators_per_node="16", accelerator_model_name="TPU")
    return folder


def judged(place: Path, text: str, expr: str = "minutes(nvidia)", **claim: object) -> JudgedClaim:
    one = {"id": "one", "text": text, "expr": expr, "stated": {"value": 12, "unit": "min"}, **claim}
    [found] = audited(place, results=RESULTS, inputs=INPUTS, claims=[one])
    return found


def said(found: JudgedClaim) -> dict[str, str]:
    return {one.said: one.what for one in found.differences}


def test_a_sentence_about_another_result_fails_with_what_differs(place: Path) -> None:
    found = judged(place, "AMD MI355X trained FLUX.1 in v1.1 in 12 minutes on 8 chips, Open")
    assert (found.verdict, found.reason) == ("fails", "the words describe something other than the results")
    assert [(one.what, one.said, one.results) for one in found.differences] == [
        ("vendor", "AMD", ("NVIDIA",)),
        ("accelerator", "MI355X", ("NVIDIA GB200",)),
        ("benchmark", "FLUX.1", ("resnet",)),
        ("round", "v1.1", ("v1.0",)),
        ("division", "Open", ("closed",)),
        ("count", "8 chips", ("72 accelerators",)),
    ]
    outcome = run("audit", place / "claims.yaml", "--results", place)
    assert outcome.status == 1
    assert "the words describe something other than the results\n" in outcome.stdout
    assert "accelerator: the claim says MI355X, the results have NVIDIA GB200\n" in outcome.stdout
    document = json.loads(run("audit", place / "claims.yaml", "--results", place, "--format", "json").stdout)
    assert document["claims"][0]["differences"][2] == {"what": "benchmark", "said": "FLUX.1", "results": ["resnet"]}
    assert "vendor: the claim says AMD" in outcome.stdout


@pytest.mark.parametrize(("text", "expr", "says", "expected"), CASES["differ"], ids=lambda value: str(value)[:40])
def test_what_differs(text: str, expr: str, says: dict[str, str], expected: dict[str, str], place: Path) -> None:
    found = judged(place, text, expr, says=says)
    assert (said(found), found.verdict.value) == (expected, "fails")


@pytest.mark.parametrize(("text", "expr"), CASES["agree"], ids=lambda value: str(value)[:40])
def test_what_agrees(text: str, expr: str, place: Path) -> None:
    found = judged(place, text, expr, stated={"value": 12, "wording": "about", "tolerance": "25%"})
    assert (said(found), found.verdict.value) == ({}, "holds")


def test_what_counts_ask_for_is_compared_too(place: Path) -> None:
    truth = {"stated": {"value": True}}
    asks = "count('v1.0', 'NVIDIA', benchmark='resnet') > 0"
    assert said(judged(place, "NVIDIA has ResNet-50 results in v1.0, in Open", asks, **truth)) == {}
    assert said(judged(place, "AMD has BERT results in v1.1", asks, **truth)) == {
        "AMD": "organisation",
        "BERT": "benchmark",
        "v1.1": "round",
    }


def test_a_claim_without_results_or_with_one_that_is_not_there_is_left_alone(place: Path) -> None:
    assert judged(place, "AMD MI355X in v5.1", "usd / 100 * 12", stated={"value": 12}).verdict == "holds"
    (place / "v1.0" / "NVIDIA").rename(place / "v1.0" / "Elsewhere")
    try:
        assert judged(place, "AMD MI355X in v5.1").verdict == "not-checked"
    finally:
        (place / "v1.0" / "Elsewhere").rename(place / "v1.0" / "NVIDIA")


@pytest.mark.parametrize(("written", "folder"), CASES["benchmarks"].items())
def test_benchmarks_as_people_write_them(written: str, folder: str) -> None:
    found = [one for one in read_sentence(f"It trains {written} fast").of("benchmark") if one.certain]
    assert any(folder in one.values for one in found)
    assert all(folder in one.values or one.values & {"dlrm", "rgat"} for one in found)


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_every_published_accelerator_and_submitter_is_recognised() -> None:
    seen = 0
    for file in shared.CORPUS.glob("v*/*/systems/*.json"):
        description = json.loads(file.read_text())
        model = str(description.get("accelerator_model_name"))
        if model not in ("N/A", ""):
            seen += 1
            assert read_sentence(model).of("accelerator"), model
        assert read_sentence(file.parents[1].name).of("organisation"), file
    assert seen > 100


def test_the_vocabulary_is_consistent() -> None:
    benchmarks = vocabulary()["benchmark"]
    known = {name for one in benchmarks.means.values() for name in one}
    assert set(benchmarks.vague) <= known
    for name, one in all_chips().items():
        for spelled in one.spelled:
            assert any(name in found.values for found in read_sentence(spelled).of("accelerator")), spelled


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["v1.0", "8", "x", "H100", "GPUs", ",", "Open", "AMD", "in", "İ", "²", "(", "POD"])).map(
        " ".join
    )
)
def test_whatever_stands_in_a_text_names_are_found_or_none(text: str) -> None:
    for one in read_sentence(text).names:
        assert one.values
