"""Words that describe something other than the results: who, on what, which benchmark, round, division, how many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Judged
from mlsub.commands.audit.vocabulary import accelerators_in, benchmarks_in, named, names, vocabulary
from mlsub.systems.names import all_chips
from mlsub.workspace import Settings
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
    "theirs": {"value": 15, "unit": "min", "kind": "other", "source": "their table"},
    "usd": {"value": 100, "unit": "USD", "kind": "price", "source": "a list"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four results: NVIDIA's on 72 GB200, Dell's on 8 H100 in Open, Graphcore's on 64 IPUs, Google's on TPU."""
    folder = tmp_path_factory.mktemp("subject")
    tree = make_tree(folder, org="NVIDIA")
    tree.describe(number_of_nodes="18", accelerators_per_node="4", accelerator_model_name="NVIDIA GB200")
    tree = make_tree(folder, "v1.1", org="Dell", benchmarks=["bert"], division="open")
    tree.describe(accelerator_model_name="NVIDIA H100-SXM5-80GB", host_processor_model_name="AMD EPYC 9654")
    tree = make_tree(folder, org="Graphcore")
    tree.describe(accelerators_per_node="64", accelerator_model_name="Graphcore IPU GC200")
    tree = make_tree(folder, "v1.1", org="Google")
    tree.describe(accelerators_per_node="16", accelerator_model_name="TPU")
    return folder


def judged(place: Path, text: str, expr: str = "minutes(nvidia)", **claim: object) -> Judged:
    content = {
        "claims_version": 1,
        "source": {"title": "A post"},
        "results": RESULTS,
        "inputs": INPUTS,
        "claims": [{"id": "one", "text": text, "expr": expr, "stated": {"value": 12, "unit": "min"}, **claim}],
    }
    (place / "claims.yaml").write_text(yaml.safe_dump(content))
    [found] = audit(place / "claims.yaml", [str(place)], settings=Settings(jobs=1)).claims
    return found


def said(found: Judged) -> dict[str, str]:
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


#: Words, the expression, what is noted under says -> what differs.
DIFFER = [
    ("GB300 trains it in 12 minutes", "minutes(nvidia)", {}, {"GB300": "accelerator"}),
    ("one GB200 trains it in 12 minutes", "minutes(nvidia)", {}, {"one GB200": "count"}),
    ("64 GB200 train it in 12 minutes", "minutes(nvidia)", {}, {"64 GB200": "count"}),
    ("on 4 nodes", "minutes(nvidia)", {}, {"4 nodes": "count"}),
    ("It trains", "minutes(nvidia)", {"submitter": "AMD"}, {"AMD": "submitter"}),
    ("It trains", "minutes(nvidia)", {"benchmark": "NLP"}, {"NLP": "benchmark"}),
    ("It trains", "minutes(nvidia)", {"round": "v1.1"}, {"v1.1": "round"}),
    ("It trains", "minutes(nvidia)", {"round": "1.1"}, {"1.1": "round"}),
    ("It trains", "minutes(nvidia)", {"division": "open"}, {"open": "division"}),
    ("It trains", "minutes(nvidia)", {"system": "DGX H100"}, {"H100": "accelerator"}),
    # Who made the chips is not who submitted, where that is noted.
    ("NVIDIA H100 train BERT", "minutes(dell)", {"submitter": "NVIDIA"}, {"NVIDIA": "submitter"}),
    ("AMD MI300X beats all", "minutes(dell)", {}, {"AMD": "vendor", "MI300X": "accelerator"}),
    ("faster than the A100", "(minutes(nvidia) + minutes(dell)) / 2", {}, {"A100": "accelerator"}),
    ("the POD16 takes 12 minutes", "minutes(pod)", {}, {"POD16": "count"}),
    ("MLPerf Training 2.0 on 128 IPUs", "minutes(pod)", {}, {"2.0": "round", "128 IPUs": "count"}),
    ("Gaudi 2 takes 12 minutes", "minutes(tpu)", {}, {"Gaudi 2": "accelerator"}),
    # A figure from outside stands for nothing that the sentence does not compare.
    ("AMD trains it", "minutes(nvidia) + theirs - theirs", {}, {"AMD": "organisation"}),
    ("An H100 costs 100 dollars", "minutes(nvidia) * usd / usd", {}, {"H100": "accelerator"}),
]


@pytest.mark.parametrize(("text", "expr", "says", "expected"), DIFFER, ids=lambda value: str(value)[:40])
def test_what_differs(text: str, expr: str, says: dict[str, str], expected: dict[str, str], place: Path) -> None:
    found = judged(place, text, expr, says=says)
    assert (said(found), found.verdict.value) == (expected, "fails")


#: Words that are about the results, or that nobody can compare.
AGREE = [
    ("NVIDIA trained ResNet-50 in MLPerf™ Training v1.0 on 72 GB200 GPUs in the Closed division", "minutes(nvidia)"),
    ("An NVIDIA GB200 NVL72 (72 Blackwell GPUs, 18 nodes with 4 GPUs each) trains ResNet", "minutes(nvidia)"),
    ("One GB200 NVL72 rack", "minutes(nvidia)"),
    ("more than 64 GPUs, for 12 GPU hours, at 2x the GPUs", "minutes(nvidia)"),
    ("ResNet-50 v1.5 with PyTorch v2.0, CUDA v1.1 and open source software", "minutes(nvidia)"),
    ("NVIDIA H100s with two AMD EPYC 9654 train BERT-Large in Open for Dell Technologies", "minutes(dell)"),
    ("Hopper GPUs in a DGX-like system, 8x H100-SXM5-80GB", "minutes(dell)"),
    ("Eight H100 train BERT in 12 minutes, 72 GB200 train ResNet-50 in 12", "(minutes(dell) + minutes(nvidia)) / 2"),
    ("GB200 is as fast as H100; from v1.0 to v1.1; Open and Closed; 80 GPUs", "(minutes(dell) + minutes(nvidia)) / 2"),
    ("The IPU-POD64 with 64 Mk2 IPUs", "minutes(pod)"),
    ("The M2000 in the POD64", "minutes(pod)"),
    ("POD16 and POD64 train as fast", "(minutes(pod) + minutes(tpu)) / 2"),
    ("TPU v4 trains it on 16 chips", "minutes(tpu)"),
    ("Google TPUs: 16 Cloud TPU v4 chips", "minutes(tpu)"),
    ("GB200 is faster than the MI355X of AMD in v1.1", "minutes(nvidia) + theirs - theirs"),
    ("From v1.1 to v2.0 of the Poplar SDK, in Open Source code", "minutes(pod)"),
    ("One GB200 trains as fast as a node of 4", "minutes(nvidia) * chips(nvidia) / chips(nvidia)"),
    ("Wizards trained on 7 wands in Narnia", "minutes(nvidia)"),
]


@pytest.mark.parametrize(("text", "expr"), AGREE, ids=lambda value: str(value)[:40])
def test_what_agrees(text: str, expr: str, place: Path) -> None:
    found = judged(place, text, expr, stated={"value": 12, "wording": "about", "tolerance": "100%"})
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
    assert judged(place, "AMD MI355X in v5.1", "usd / usd * 12", stated={"value": 12}).verdict == "holds"
    (place / "v1.0" / "NVIDIA").rename(place / "v1.0" / "Elsewhere")
    try:
        assert judged(place, "AMD MI355X in v5.1").verdict == "not-checked"
    finally:
        (place / "v1.0" / "Elsewhere").rename(place / "v1.0" / "NVIDIA")


#: How people write the benchmarks -> their folders.
BENCHMARKS = {
    "FLUX.1": "flux1",
    "Flux.1 [schnell]": "flux1",
    "Llama 3.1 405B": "llama31_405b",
    "Llama-3.1-405B": "llama31_405b",
    "llama31_405b": "llama31_405b",
    "Llama3.1 8B": "llama31_8b",
    "Llama 2 70B LoRA": "llama2_70b_lora",
    "Llama2-70B-LoRA": "llama2_70b_lora",
    "ResNet-50": "resnet",
    "ResNet50": "resnet",
    "BERT-Large": "bert",
    "DLRM-DCNv2": "dlrm_dcnv2",
    "DLRM": "dlrm",
    "3D U-Net": "unet3d",
    "Mask R-CNN": "maskrcnn",
    "RetinaNet": "retinanet",
    "R-GAT": "rgat",
    "GPT-3": "gpt3",
    "Stable Diffusion": "stable_diffusion",
    "RNN-T": "rnnt",
}


@pytest.mark.parametrize("written", BENCHMARKS)
def test_benchmarks_as_people_write_them(written: str) -> None:
    from mlsub.io.show import spaced

    found = list(benchmarks_in(spaced(f"It trains {written} fast")))
    assert any(BENCHMARKS[written] in one.values for one in found)
    assert all(BENCHMARKS[written] in one.values or one.values & {"dlrm", "rgat"} for one in found)


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_every_published_accelerator_and_submitter_is_recognised() -> None:
    seen = 0
    for file in shared.CORPUS.glob("v*/*/systems/*.json"):
        description = json.loads(file.read_text())
        model = str(description.get("accelerator_model_name"))
        if model not in ("N/A", ""):
            seen += 1
            assert list(accelerators_in(model.replace("-", " ").replace("(R)", ""))), model
        assert any(one.what == "organisation" for one in named(file.parents[1].name)), file
    assert seen > 100


def test_the_vocabulary_is_consistent() -> None:
    table = vocabulary()
    assert table["benchmarks"]["also"].keys() <= names().keys()
    known = {name for one in names().values() for name in one}
    assert set(table["benchmarks"]["vague"]) <= known
    for name, one in all_chips().items():
        for spelled in one.spelled:
            assert any(name in found.values for found in accelerators_in(spelled)), spelled


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["v1.0", "8", "x", "H100", "GPUs", ",", "Open", "AMD", "in", "İ", "²", "(", "POD"])).map(
        " ".join
    )
)
def test_whatever_stands_in_a_text_names_are_found_or_none(text: str) -> None:
    for one in named(text):
        assert one.values


TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text())
CASES: list[dict[str, Any]] = TABLE["cases"]


@pytest.fixture(scope="module")
def of_table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Judged, ...]:
    content = {
        "claims_version": 1,
        "source": {"title": "words"},
        "results": TABLE["results"],
        "claims": [
            {
                "id": f"c{at}",
                "text": case["says"],
                "expr": f"minutes({case['of']})",
                "stated": {"value": 1, "unit": "min", "wording": "at least"},
            }
            for at, case in enumerate(CASES)
        ],
    }
    file = tmp_path_factory.mktemp("words") / "claims.yaml"
    file.write_text(yaml.safe_dump(content))
    return audit(file, [str(shared.CORPUS)], settings=Settings(jobs=1)).claims


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
@pytest.mark.parametrize("at", range(len(CASES)), ids=[f"{one['of']}: {one['says'][:60]}" for one in CASES])
def test_a_sentence_differs_in_what_is_not_the_results(at: int, of_table: tuple[Judged, ...]) -> None:
    expected = CASES[at].get("differs", {})
    found = of_table[at]
    assert {one.said: one.what for one in found.differences} == expected
    assert found.verdict == ("fails" if expected else "holds")
    assert all(one.results for one in found.differences)
