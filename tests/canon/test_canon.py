"""Names in one spelling: the tables beside this file, and every name in the published packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.canon.accelerators import accelerator, accelerators, families
from mlsub.canon.benchmarks import benchmark_of
from mlsub.canon.organisations import organisation, organisations
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round, known_rounds, usages
from tests.differential import shared

HERE = Path(__file__).parent
CHIPS = load_yaml(HERE / "accelerators.yaml")


@pytest.mark.parametrize(("said", "meant"), load_yaml(HERE / "organisations.yaml").items())
def test_organisations(said: str, meant: str) -> None:
    assert organisation(said) == meant


def test_an_organisation_in_its_own_spelling_is_itself() -> None:
    assert {name: organisation(name) for name in organisations()} == {name: name for name in organisations()}


@pytest.mark.parametrize(("said", "meant"), CHIPS.items())
def test_accelerators(said: str, meant: list[Any] | None) -> None:
    model, _, besides = said.partition(" | ")
    found = accelerator(model, besides)
    shown = [found.name, found.vendor[0], found.family, found.memory_of(model)] if found else None
    assert shown == meant


def test_an_accelerator_in_its_own_spelling_is_itself() -> None:
    for name, one in accelerators().items():
        for text in one.spelled:
            found = accelerator(text)
            assert found is not None, text
            assert found.name == name
    assert {member for family in families().values() for member in family.of} <= accelerators().keys()


@given(st.text(max_size=300))
def test_no_name_is_too_odd(text: str) -> None:
    assert isinstance(organisation(text), str)
    accelerator(text, text)


@pytest.mark.skipif(not shared.present(), reason=shared.ABSENT)
def test_published_packages_name_accelerators_that_are_known() -> None:
    unknown = set()
    for file in shared.CORPUS.glob("*/*/systems/*.json"):
        try:
            said = json.loads(file.read_bytes())
        except ValueError:
            continue
        model = str(said.get("accelerator_model_name", ""))
        if accelerator(model, str(said.get("system_name")), file.stem) is None:
            unknown.add(model)
    assert unknown == {"N/A"}  # Systems that train on their processors.


@pytest.mark.parametrize(
    ("round_", "folder", "title"),
    [
        ("1.1", "ssd", "SSD"),
        ("2.0", "ssd", "RetinaNet"),
        ("5.0", "retinanet", "RetinaNet"),
        ("4.0", "gnn", "R-GAT"),
        ("5.0", "rgat", "R-GAT"),
        ("0.7", "bert", "BERT"),
        ("9.9", "ssd", "RetinaNet"),
        ("1.0", "unheard", None),
    ],
)
def test_benchmarks_over_the_rounds(round_: str, folder: str, title: str | None) -> None:
    found = benchmark_of("training", round_, folder)
    assert (found.title if found else None) == title


def test_every_folder_of_every_round_holds_a_benchmark() -> None:
    for usage in usages():
        for name in known_rounds(usage):
            for folder in get_round(usage, name).benchmarks:
                assert benchmark_of(usage, name, folder) is not None, (usage, name, folder)
