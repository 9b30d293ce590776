"""Accelerators by the name that people use: the table beside this file, and every published description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.systems.names import all_chips, chip_of, named_in, registry
from tools.oracle import shared

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
    assert {member for family in registry().families.values() for member in family.of} <= all_chips().keys()


def test_every_model_is_of_its_accelerator() -> None:
    for name, variants in registry().models.items():
        for model, written in variants.items():
            for text in (model, *written.prints, *written.also):
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
    assert sorted(named_in(name.lower())) == contains


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
    named_in(text)
