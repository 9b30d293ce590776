"""The registry of names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.systems.names import (
    Naming,
    accelerators_in,
    all_chips,
    check_names,
    chip_of,
    find_name,
    find_slips,
    normalise,
    registry,
    suggest_name,
)
from tools.oracle import shared

TABLES = load_yaml(Path(__file__).with_name("names.yaml"))


@pytest.mark.parametrize(("printed", "name"), TABLES["printed"].items())
def test_a_processor_as_tools_print_it(printed: str, name: str) -> None:
    assert normalise(registry().processors, printed) == name


def test_accelerators_as_tools_print_them() -> None:
    kind = registry().accelerators
    assert find_name(kind, "NVIDIA H100 80GB HBM3") == "NVIDIA H100-SXM5-80GB"
    assert find_name(kind, "nvidia a100-sxm4-80gb (400W)") == "NVIDIA A100-SXM4-80GB"
    assert find_name(kind, "NVIDIA A100-SXM4-80GB (x)") is None


@pytest.mark.parametrize(("text", "meant"), TABLES["slips"].items())
def test_slips_in_words_have_a_did_you_mean(text: str, meant: str) -> None:
    assert meant in (suggest_name(registry().processors, text), suggest_name(registry().accelerators, text))


@pytest.mark.parametrize("text", TABLES["others"])
def test_other_models_are_no_misspellings(text: str) -> None:
    assert suggest_name(registry().processors, text) is suggest_name(registry().accelerators, text) is None


def test_every_way_to_write_a_name_is_known() -> None:
    for kind in registry().kinds:
        for field in kind.fields:
            for name, info in kind.names.items():
                told = {text: list(check_names({field: text})) for text in (name, *info.printed, *info.aliases)}
                assert told[name] == ([Naming(field, name, name, "right")] if kind.whole else []), name
                assert all(told[text] == [Naming(field, text, name, "form")] for text in info.printed), name
                assert all(told[text] == [Naming(field, text, name, "spelling")] for text in info.aliases), name


PROCESSOR, ACCELERATOR = "host_processor_model_name", "accelerator_model_name"


@pytest.mark.parametrize(("field", "written", "wanted", "how"), TABLES["namings"])
def test_names_as_written_and_as_they_should_be(field: str, written: str, wanted: str | None, how: str) -> None:
    told = [(naming.field, naming.written, naming.wanted, naming.how) for naming in check_names({field: written})]
    assert told == [(field, written, wanted, how)]


@pytest.mark.parametrize("value", ["", " ", "N/A", "TODO", None, 8, ["PyTorch"]])
def test_what_is_no_name_has_none(value: object) -> None:
    assert [*check_names(dict.fromkeys((PROCESSOR, ACCELERATOR, "framework"), value))] == []


def test_every_name_has_its_maker() -> None:
    known = registry()
    published = [name for kind in (known.processors, known.accelerators) for name in kind.names]
    assert [name for name in published if known.maker_of(name) is None] == []


def test_spellings_are_unambiguous() -> None:
    for kind in registry().kinds:
        written = [text.lower() for name, info in kind.names.items() for text in (name, *info.printed, *info.aliases)]
        assert len(written) == len(set(written))


def test_slips_are_words_of_their_own() -> None:
    assert find_slips("iDRAC9, ExpressX5 Compute") == [
        ("ExpressX5", "iDRAC9 Express or ConnectX-5, whichever is meant")
    ]
    assert find_slips("Dual Potato, NVLINED") == []


# Accelerators by the name that people use: the table beside this file, and every published description.

CHIPS = load_yaml(Path(__file__).parent / "chips.yaml")


@pytest.mark.parametrize(("said", "meant"), CHIPS.items())
def test_accelerators(said: str, meant: list[Any] | None) -> None:
    model, _, besides = said.partition(" | ")
    found = chip_of(model, besides)
    shown = [found.name, found.vendor[0], found.family, found.memory_of(model)] if found else None
    assert shown == meant


def test_an_accelerator_in_its_own_spelling_is_itself() -> None:
    for name, one in all_chips().items():
        for text in one.spelled:
            found = chip_of(text)
            assert found is not None, text
            assert found.name == name
    assert {member for family in registry().families.values() for member in family.members} <= all_chips().keys()


def test_every_model_is_of_its_accelerator() -> None:
    for name, variants in registry().models.items():
        for model, written in variants.items():
            for text in (model, *written.printed, *written.aliases):
                found = chip_of(text)
                assert (found.name if found else None) == name, text


@pytest.mark.parametrize(
    ("name", "contains"),
    [
        ("dgxa100_n8_ngc23.09", ["a100"]), ("dgx_h100", ["h100"]), ("a10x2-mxnet_22.08", ["a10"]),
        ("1xSMC-H100-SXM-80GB", ["h100"]), ("theia_ngpu8 GB300", ["b300"]), ("MI300X_EPYC_9575F_pytorch", ["mi300"]),
        ("MI300 series", ["mi300"]), ("AMD MI308X", ["mi308"]), ("cloudtpu-v4", ["tpuv4"]),
        ("tpu-v5litepod-256", ["tpuv5"]), ("cloud-tpu-v6", ["trillium"]), ("GeForce RTX 3090", ["rtx3090"]),
        ("RTX PRO 6000 and RTX 4090", ["rtx4090", "rtx6000"]),
        ("Bow-Pod16", ["bowipu"]), ("h20", ["h20"]), ("h2000", []), ("elbow", []), ("TPU", []), ("nf5488m6", []),
    ],
)  # fmt: skip
def test_names_of_systems_contain_accelerators(name: str, contains: list[str]) -> None:
    assert sorted(accelerators_in(name.lower())) == contains


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_published_packages_name_accelerators_that_are_known() -> None:
    unknown = set()
    for file in shared.CORPUS.glob("*/*/systems/*.json"):
        try:
            said = json.loads(file.read_bytes())
        except ValueError:
            continue
        model = str(said.get("accelerator_model_name", ""))
        if chip_of(model, str(said.get("system_name")), file.stem) is None:
            unknown.add(model)
    assert unknown == {"N/A"}  # Systems that train on their processors.


@given(st.text(max_size=300))
def test_no_name_is_too_odd(text: str) -> None:
    chip_of(text, text)
    accelerators_in(text)
