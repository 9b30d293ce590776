"""The catalogue of accelerators against what was published, and descriptions made with it or from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.io.errors import MlsubError
from mlsub.rounds import known_rounds
from mlsub.systems import catalogue as module
from mlsub.systems.catalogue import (
    Accelerator,
    System,
    Value,
    accelerators,
    facts_of_model,
    find_accelerator,
    find_known,
)
from mlsub.systems.description import read_description
from mlsub.systems.draft import NOT_PUBLISHED, TO_FILL_IN, Asked
from mlsub.systems.draft import draft as drafted
from mlsub.systems.fields import fields, is_meaningful
from mlsub.systems.names import find, registry
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description
from tools.support.runner import run

RAW = load_yaml(Path(module.__file__).with_name("accelerators.yaml"))
ROUNDS = ("v4.0", "v4.1", "v5.0", "v5.1")
every = pytest.mark.parametrize("accelerator", accelerators(), ids=lambda each: each.name)
needs_corpus = pytest.mark.skipif(not present(), reason=ABSENT)


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
@pytest.mark.parametrize("round_", ROUNDS)
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
                if find(registry().accelerators, content["accelerator_model_name"]) == accelerator.model
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
    assert find_accelerator("NVIDIA B2000") is None and facts_of_model(Value("8x NVIDIA B200", "")) == {}
    assert isinstance(find_known("ipu-pod16"), System)
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
    assert {name: after[name] for name in ("submitter", "division", "status", "system_name")} == dict.fromkeys(
        ("submitter", "division", "status", "system_name"), TO_FILL_IN
    )
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
@pytest.mark.parametrize("round_", ROUNDS)
def test_a_new_description_from_each_published_one_is_accepted(round_: str, tmp_path: Path) -> None:
    said = Asked(submitter="ACME", division="closed", status="onprem", changes=(("system_name", "rack1"),))
    for number, (file, _) in enumerate(published(round_)):
        made = tmp_path / f"{number}.json"
        made.write_text(json.dumps(drafted(file, said).description()))
        again = read_description(made, made.name)
        assert again.accepted, file
        rules = {finding.rule for finding in again.findings}
        assert "system.empty-value" not in rules, file
