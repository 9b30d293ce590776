"""The catalogue against what was published, and descriptions made with it or from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlsub.io import MlsubError
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round, known_rounds
from mlsub.systems import catalogue as module
from mlsub.systems.catalogue import (
    Accelerator,
    KnownSystem,
    SourcedValue,
    accelerators,
    facts_of_model,
    find_accelerator,
    find_known,
    find_system,
    system_names,
)
from mlsub.systems.description import read_description
from mlsub.systems.draft import NOT_PUBLISHED, TO_FILL_IN, Asked, Draft
from mlsub.systems.draft import draft as drafted
from mlsub.systems.fields import fields, is_meaningful
from mlsub.systems.names import find_name, registry
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description
from tools.support.runner import run

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
needs_corpus = pytest.mark.skipif(not present(), reason=ABSENT)
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
def test_a_system_is_whole_accepted_in_every_round_and_nothing_to_tell(system: KnownSystem, tmp_path: Path) -> None:
    draft = drafted(system, Asked(status="onprem"), published=True)
    assert list(draft.values) == list(fields().required)
    assert all(value.source for value in draft.values.values())
    # Nobody submitted it, so there is no example of a submission.
    theirs = ["submitter", "division", "framework", "other_software_stack"]
    open_ends = theirs if system.name == "ipu-m2000" else []
    assert draft.to_fill_in() == open_ends
    for name in known_rounds("training"):
        assert _judged(draft, tmp_path, name) == ["system.placeholder"] * bool(open_ends)


@needs_corpus
@pytest.mark.parametrize(("name", "framework"), PUBLISHED)
def test_a_system_says_what_was_published_but_for_its_faults(name: str, framework: str) -> None:
    said = json.loads((CORPUS / PUBLISHED[name, framework]).read_text())
    ours = drafted(find_system(name), Asked(framework=framework), published=True).description()
    for field, value in said.items():
        if field in COUNTS or field not in fields().fields:
            continue
        unsaid = ours[field] == "not published" and value in ("", "TODO")
        mended = TABLES["mended"].get(field, {})
        assert unsaid or ours[field] == mended.get(value if isinstance(value, str) else "", value), field
    # However hosts are told: so many processors and accelerators there were in all.
    for part in ("host_processors_per_node", "accelerators_per_node"):
        assert len({int(one["number_of_nodes"]) * int(one[part]) for one in (ours, said)}) == 1
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


MODEL = "accelerator_model_name"


@pytest.mark.parametrize(
    ("asked", "remark"),
    [
        (
            Asked(changes=((MODEL, "Graphcor IPU GC200"),)),
            f"{MODEL} is 'Graphcor IPU GC200'. Did you mean Graphcore IPU GC200?",
        ),
        (Asked(framework="TensorFlwo 2.4"), "framework is 'TensorFlwo 2.4'. Did you mean TensorFlow?"),
        *((Asked(framework=name), None) for name in ("Pytorch 2", "tinygrad", "")),
    ],
)
def test_a_misspelt_value_gets_a_did_you_mean(asked: Asked, remark: str | None) -> None:
    assert drafted(find_system("ipu-pod16"), asked).remarks == ((remark,) if remark else ())


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


# The catalogue of accelerators.

RAW = load_yaml(Path(module.__file__).with_name("accelerators.yaml"))
NEWEST = ("v4.0", "v4.1", "v5.0", "v5.1")
every = pytest.mark.parametrize("accelerator", accelerators(), ids=lambda each: each.name)


def test_those_that_were_asked_for_are_there() -> None:
    names = {each.name for each in accelerators()}
    assert names >= {
        "h100-sxm", "h200-sxm", "b200", "gb200", "b300", "gb300", "mi300x", "mi325x", "mi350x", "mi355x", "gaudi2",
        "gaudi3", "tpu-v5e", "tpu-v5p", "tpu-trillium", "mtt-s4000",
    }  # fmt: skip


@every
def test_facts_mean_something_and_have_a_source(accelerator: Accelerator) -> None:
    assert accelerator.model in registry().accelerators.names
    assert set(accelerator.published) <= {f"v{name}" for name in known_rounds("training")}
    for name, value in accelerator.fields.items():
        assert value.source and is_meaningful(fields().fields[name], value.value), name
    facts = drafted(accelerator, Asked(), published=True)
    assert [name for name in fields().fields if name in facts.values] == list(facts.values)
    assert facts.not_published() == [name for name in facts.values if name in accelerator.unpublished]


def test_every_source_is_used_and_known() -> None:
    used = {key for entry in RAW["accelerators"].values() for fact in entry["facts"].values() for key in fact["source"]}
    assert used == set(RAW["sources"])


def published(round_: str) -> list[tuple[Path, dict[str, Any]]]:
    files = sorted(CORPUS.glob(f"{round_}/*/systems/*.json"))
    return [(file, json.loads(file.read_text("utf-8"))) for file in files]


@needs_corpus
@pytest.mark.parametrize("round_", NEWEST)
def test_every_accelerator_of_these_rounds_is_known(round_: str) -> None:
    for file, content in published(round_):
        found = find_accelerator(content["accelerator_model_name"])
        assert found is not None, file
        assert round_ in found.published, (file, found.name)


def plain(text: str) -> str:
    """As two descriptions of the same would be compared: PCIe 5.0x16 is PCIe Gen5 x16."""
    text = "".join(char for char in text.lower() if char.isalnum())
    return text.replace("gen", "").replace("pcie40", "pcie4").replace("pcie50", "pcie5")


@needs_corpus
@every
def test_a_fact_is_what_its_source_says(accelerator: Accelerator) -> None:
    """Where the source is a description of the corpus, and the fact has no note that says it is not word for word."""
    for name, fact in RAW["accelerators"][accelerator.name]["facts"].items():
        for key in fact["source"]:
            words = RAW["sources"][key].split()
            if words[:2] != ["MLPerf", "Training"] or "note" in fact or not (CORPUS / words[2]).is_dir():
                continue
            files = [path for part in words[4:] if part != "and" for path in _named(CORPUS / words[2], words[4], part)]
            contents = [json.loads(file.read_text("utf-8")) for file in files]
            said = {
                plain(str(content[name]))
                for content in contents
                if find_name(registry().accelerators, content["accelerator_model_name"]) == accelerator.model
            }
            if files:
                assert plain(fact["value"]) in said, (name, key)


def _named(round_: Path, first: str, part: str) -> list[Path]:
    part = part.rstrip(",")
    return list(round_.glob(part if "/" in part else f"{first.rpartition('/')[0]}/{part}"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("B200", "b200"), ("nvidia b200", "b200"), ("NVIDIA Blackwell GPU (GB200)", "gb200"), ("MI300X", "mi300x"),
        ("AMD Instinct MI300X 192GB HBM3", "mi300x"), ("NVIDIA H100 80GB HBM3", "h100-sxm"), ("h100 sxm", "h100-sxm"),
        ("NVIDIA A100-SXM4-80GB (400W)", "a100-sxm-80gb"), ("Intel(R) Gaudi(R) 2 AI Accelerator", "gaudi2"),
    ],
)  # fmt: skip
def test_the_names_people_and_tools_use(text: str, name: str) -> None:
    found = find_accelerator(text)
    assert found is not None and found.name == name


def test_an_unknown_name_has_a_did_you_mean() -> None:
    assert find_accelerator("NVIDIA B2000") is None and facts_of_model(SourcedValue("8x NVIDIA B200", "")) == {}
    assert isinstance(find_known("ipu-pod16"), KnownSystem)
    for text, meant in (("mi350", "mi3"), ("ipu-pod46", "ipu-pod")):
        with pytest.raises(MlsubError, match=f"no system '{text}'; mlsub system list .* Did you mean {meant}"):
            find_known(text)


@every
def test_a_new_system_has_its_facts_and_the_rest_to_fill_in(accelerator: Accelerator) -> None:
    draft = drafted(accelerator, Asked(submitter="ACME", hosts=4, framework="jax 0.6"))
    values = draft.description()
    assert list(values) == list(fields().required)
    assert values["accelerator_model_name"] == accelerator.model
    assert (values["number_of_nodes"], values["framework"], values["submitter"]) == ("4", "JAX 0.6", "ACME")
    assert {"accelerators_per_node", "host_memory_capacity", "cooling", "system_name"} <= set(draft.to_fill_in())
    assert draft.not_published() == [name for name in values if name in accelerator.unpublished]
    assert values["accelerator_memory_capacity"] != NOT_PUBLISHED


# From a file.


def made_of(tmp_path: Path, asked: Asked | None = None, /, **changes: Any) -> dict[str, Any]:
    file = tmp_path / "rack7.json"
    file.write_text(json.dumps(make_description() | changes))
    return drafted(file, asked or Asked()).description()


def test_what_describes_the_machine_is_kept_and_what_is_of_the_submission_is_not(tmp_path: Path) -> None:
    before = make_description()
    after = made_of(tmp_path, sw_notes="as v5.0", hw_notes="400 W", notes="x", racks="2", framework_name="")
    assert {after[name] for name in ("submitter", "division", "status", "system_name")} == {TO_FILL_IN}
    assert (after["sw_notes"], after["hw_notes"], after["racks"]) == ("", "400 W", "2")
    assert "notes" not in after and "framework_name" not in after
    kept = [name for name in before if name.startswith(("host", "cooling", "number", "operating", "framework"))]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_gaps_are_to_fill_in_but_for_what_the_catalogue_has(tmp_path: Path) -> None:
    gaps = {"accelerator_memory_capacity": "", "accelerator_frequency": "TBD", "accelerator_on-chip_memories": "64 MB"}
    after = made_of(tmp_path, accelerator_model_name="NVIDIA Blackwell GPU (B200-SXM-180GB)", cooling="TODO", **gaps)
    assert (after["accelerator_memory_capacity"], after["accelerator_frequency"]) == ("180 GB", "1965 MHz")
    assert after["accelerator_on-chip_memories"] == "64 MB"
    assert after["cooling"] == TO_FILL_IN
    assert made_of(tmp_path, accelerators_per_node=8)["accelerators_per_node"] == "8"
    assert made_of(tmp_path, framework=["x"])["framework"] == TO_FILL_IN


def test_another_framework_leaves_the_old_ones_software_out(tmp_path: Path) -> None:
    asked = Asked(hosts=8, framework="pytorch 2.8", status="cloud")
    after = made_of(tmp_path, asked, other_software_stack={"cuda": "12"})
    assert (after["framework"], after["other_software_stack"]) == ("PyTorch 2.8", TO_FILL_IN)
    assert (after["number_of_nodes"], after["status"]) == ("8", "Available cloud")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is not JSON"),
        (b"[1]", "is not an object"),
        (b"\xff", "The file is not JSON"),
        (b"{", "not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    done = run("system", "new", "--from", file)
    assert (done.status, done.stdout) == (2, "") and words in done.stderr and done.stderr.count("\n") == 1
    gone = run("system", "new", "--from", tmp_path / "gone.json")
    assert gone.status == 2 and f"There is no {tmp_path / 'gone.json'}. Name a system description" in gone.stderr


@needs_corpus
@pytest.mark.parametrize("round_", NEWEST)
def test_a_new_description_from_each_published_one_is_accepted(round_: str, tmp_path: Path) -> None:
    said = Asked(submitter="ACME", division="closed", status="onprem", changes=(("system_name", "rack1"),))
    for number, (file, _) in enumerate(published(round_)):
        made = tmp_path / f"{number}.json"
        made.write_text(json.dumps(drafted(file, said).description()))
        again = read_description(made, made.name)
        assert again.accepted, file
        rules = {finding.rule for finding in again.findings}
        assert "system.empty-value" not in rules, file
