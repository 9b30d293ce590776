"""The registry of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.io.data import load_yaml
from mlsub.systems.names import Naming, find, namings, normalised, registry, slips, suggestion

TABLES = load_yaml(Path(__file__).with_name("names.yaml"))


@pytest.mark.parametrize(("printed", "name"), TABLES["printed"].items())
def test_a_processor_as_tools_print_it(printed: str, name: str) -> None:
    assert normalised(registry().processors, printed) == name


def test_accelerators_as_tools_print_them() -> None:
    kind = registry().accelerators
    assert find(kind, "NVIDIA H100 80GB HBM3") == "NVIDIA H100-SXM5-80GB"
    assert find(kind, "nvidia a100-sxm4-80gb (400W)") == "NVIDIA A100-SXM4-80GB"
    assert find(kind, "NVIDIA A100-SXM4-80GB (x)") is None


@pytest.mark.parametrize(("text", "meant"), TABLES["slips"].items())
def test_slips_in_words_have_a_did_you_mean(text: str, meant: str) -> None:
    assert meant in (suggestion(registry().processors, text), suggestion(registry().accelerators, text))


@pytest.mark.parametrize("text", TABLES["others"])
def test_other_models_are_no_misspellings(text: str) -> None:
    assert suggestion(registry().processors, text) is suggestion(registry().accelerators, text) is None


def test_every_way_to_write_a_name_is_known() -> None:
    for kind in registry().kinds:
        for field in kind.fields:
            for name, info in kind.names.items():
                told = {text: list(namings({field: text})) for text in (name, *info.prints, *info.also)}
                assert told[name] == ([Naming(field, name, name, "right")] if kind.whole else []), name
                assert all(told[text] == [Naming(field, text, name, "form")] for text in info.prints), name
                assert all(told[text] == [Naming(field, text, name, "spelling")] for text in info.also), name


PROCESSOR, ACCELERATOR = "host_processor_model_name", "accelerator_model_name"


@pytest.mark.parametrize(("field", "written", "wanted", "how"), TABLES["namings"])
def test_names_as_written_and_as_they_should_be(field: str, written: str, wanted: str | None, how: str) -> None:
    told = [(naming.field, naming.written, naming.wanted, naming.how) for naming in namings({field: written})]
    assert told == [(field, written, wanted, how)]


@pytest.mark.parametrize("value", ["", " ", "N/A", "TODO", None, 8, ["PyTorch"]])
def test_what_is_no_name_has_none(value: object) -> None:
    assert [*namings(dict.fromkeys((PROCESSOR, ACCELERATOR, "framework"), value))] == []


def test_every_name_has_its_maker() -> None:
    known = registry()
    published = [name for kind in (known.processors, known.accelerators) for name in kind.names]
    assert [name for name in published if known.maker_of(name) is None] == []


def test_spellings_are_unambiguous() -> None:
    for kind in registry().kinds:
        written = [text.lower() for name, info in kind.names.items() for text in (name, *info.prints, *info.also)]
        assert len(written) == len(set(written))


def test_slips_are_words_of_their_own() -> None:
    assert slips("iDRAC9, ExpressX5 Compute") == [("ExpressX5", "iDRAC9 Express or ConnectX-5, whichever is meant")]
    assert slips("Dual Potato, NVLINED") == []
