"""The catalogue of systems against what was published, and drafts made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.io.errors import MlsubError
from mlsub.rounds import get_round, known_rounds
from mlsub.systems.catalogue import System, find_system, system_names
from mlsub.systems.description import read_description
from mlsub.systems.draft import Asked, Draft
from mlsub.systems.draft import draft as drafted
from mlsub.systems.fields import fields
from tools.oracle.shared import ABSENT, CORPUS, present

SYSTEMS = [find_system(name) for name in system_names()]
PODS = (16, 64, 128, 256)
_V11, _V20, _NVIDIA = "v1.1/Graphcore/systems/ipu-pod", "v2.0/Graphcore/systems/ipu-pod", "v1.1/NVIDIA/systems/dgxa100"
#: (system, framework) and the published file.
PUBLISHED = {
    **{(f"ipu-pod{n}", "PopART"): f"{_V11}{n}-POPART-closed.json" for n in PODS[:3]},
    **{(f"ipu-pod{n}", "TensorFlow"): f"{_V11}{n}-TF1.json" for n in PODS},
    **{(f"bow-pod{n}", "PopART"): f"{_V20}{n}-POPART-closed.json" for n in PODS},
    **{(f"bow-pod{n}", "TensorFlow"): f"{_V20}{n}-TF1-closed.json" for n in PODS},
    **{(f"bow-pod{n}", "PaddlePaddle"): f"{_V20}{n}-PaddlePaddle-closed.json" for n in PODS[:2]},
    ("dgx-a100-640gb", "MXNet"): f"{_NVIDIA}_ngc21.09_mxnet.json",
    ("dgx-a100-640gb", "PyTorch"): f"{_NVIDIA}_ngc21.09_pytorch.json",
}
TABLES = load_yaml(Path(__file__).with_name("catalogue.yaml"))
COUNTS = ("number_of_nodes", "host_processors_per_node", "accelerators_per_node")


def _judged(draft: Draft, folder: Path, round_: str) -> list[str]:
    file = folder / "x.json"
    file.write_text(json.dumps(draft.description()))
    description = read_description(file, "x.json", get_round("training", round_))
    assert description.accepted
    return [finding.rule for finding in description.findings]


def test_the_systems_asked_for_are_there() -> None:
    pods = [f"{family}{n}" for family in ("bow-pod", "ipu-pod") for n in PODS]
    assert set(system_names()) == {*pods, "ipu-m2000", "dgx-a100-640gb"}
    assert {name for name, _ in PUBLISHED} == set(system_names()) - {"ipu-m2000"}
    assert {(s.name, of.name) for s in SYSTEMS for of in s.software} == set(PUBLISHED)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_system_is_whole_accepted_in_every_round_and_nothing_to_tell(system: System, tmp_path: Path) -> None:
    draft = drafted(system, Asked(status="onprem"), published=True)
    assert list(draft.values) == list(fields().required)
    assert all(value.source for value in draft.values.values())
    # Nobody submitted it, so there is no example of a submission.
    theirs = ["submitter", "division", "framework", "other_software_stack"]
    open_ends = theirs if system.name == "ipu-m2000" else []
    assert draft.to_fill_in() == open_ends
    for name in known_rounds("training"):
        assert _judged(draft, tmp_path, name) == ["system.placeholder"] * bool(open_ends)


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize(("name", "framework"), PUBLISHED)
def test_a_system_says_what_was_published_but_for_its_faults(name: str, framework: str) -> None:
    published = json.loads((CORPUS / PUBLISHED[name, framework]).read_text())
    ours = drafted(find_system(name), Asked(framework=framework), published=True).description()
    for field, value in published.items():
        if field in COUNTS or field not in fields().fields:
            continue
        unsaid = ours[field] == "not published" and value in ("", "TODO")
        assert unsaid or ours[field] == TABLES["mended"].get(field, {}).get(
            value if isinstance(value, str) else "", value
        ), field
    # However hosts are told: so many processors and accelerators there were in all.
    for part in ("host_processors_per_node", "accelerators_per_node"):
        assert int(ours["number_of_nodes"]) * int(ours[part]) == int(published["number_of_nodes"]) * int(
            published[part]
        )
    assert ours["host_processors_per_node"] == "2"


@pytest.mark.parametrize(("name", "asked", "counts"), TABLES["hosts"])
def test_hosts_are_told_as_they_are(name: str, asked: dict[str, Any], counts: str) -> None:
    for published in (True, False):
        made = drafted(find_system(name), Asked(**asked), published=published).description()
        assert " ".join(made[field] for field in COUNTS) == counts


def test_software_follows_the_hosts_it_was_published_on() -> None:
    pod64 = find_system("ipu-pod64")
    assert drafted(pod64, Asked(hosts=4), published=True).description()["framework"].startswith("TensorFlow 1.15")
    assert drafted(pod64, Asked(hosts=1), published=True).description()["framework"].startswith("PopART")


def test_a_new_description_leaves_to_the_submitter_what_is_theirs() -> None:
    pod64 = find_system("ipu-pod64")
    assert drafted(pod64, Asked()).to_fill_in() == [
        "submitter", "division", "status", "framework", "other_software_stack", "operating_system",
    ]  # fmt: skip
    own = drafted(pod64, Asked(framework="pytorch 1.10 Poplar SDK 3.0", status="cloud", changes=(("cooling", "air"),)))
    assert own.description()["framework"] == "PyTorch 1.10 Poplar SDK 3.0"
    assert own.description()["status"] == "Available cloud"
    assert own.to_fill_in() == ["submitter", "division", "other_software_stack", "operating_system"]
    assert own.taken_over() == [] and "cooling" not in own.not_published()
    taken = drafted(pod64, Asked(framework="tensorflow"))
    assert taken.taken_over() == ["framework", "other_software_stack", "operating_system"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"hosts": 3}, "64 accelerators cannot be shared evenly among 3 hosts; 1, 2, 4, 8, 16, 32, 64 can."),
        ({"status": "onprm"}, "'onprm' is not a known status. Did you mean Available on-premise?"),
        ({"status": "q"}, "'q' is not a known status. Known are onprem, cloud, preview and rdi."),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(MlsubError) as caught:
        drafted(find_system("ipu-pod64"), Asked(**asked))
    assert str(caught.value) == words


def test_a_misspelt_value_gets_a_did_you_mean() -> None:
    draft = drafted(find_system("ipu-pod16"), Asked(changes=(("accelerator_model_name", "Graphcor IPU GC200"),)))
    assert draft.remarks == ("accelerator_model_name is 'Graphcor IPU GC200'. Did you mean Graphcore IPU GC200?",)


@pytest.mark.parametrize(
    ("framework", "meant"), [("TensorFlwo 2.4", "TensorFlow"), ("Pytorch 2", None), ("tinygrad", None), ("", None)]
)
def test_a_misspelt_framework_gets_a_did_you_mean(framework: str, meant: str | None) -> None:
    remarks = drafted(find_system("ipu-pod16"), Asked(framework=framework)).remarks
    assert remarks == ((f"framework is {framework!r}. Did you mean {meant}?",) if meant else ())


@pytest.mark.parametrize("text", ["IPU-POD64", "ipu_pod64", "IPUPOD64", "ipu pod64"])
def test_a_system_is_found_however_it_is_spelled(text: str) -> None:
    assert find_system(text).name == "ipu-pod64"


@pytest.mark.parametrize(
    ("text", "meant"), [("ipu-pod46", "ipu-pod64"), ("dgx-a100", "dgx-a100-640gb"), ("\x1b", None)]
)
def test_an_unknown_system_gets_a_did_you_mean(text: str, meant: str | None) -> None:
    with pytest.raises(MlsubError) as caught:
        find_system(text)
    assert (f"Did you mean {meant}?" in str(caught.value)) is (meant is not None)
