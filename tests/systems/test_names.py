"""The registry of names."""

from __future__ import annotations

import pytest

from mlsub.systems.names import Naming, find, namings, normalised, registry, slips, suggestion


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("AMD EPYC 7742 64-Core Processor", "AMD EPYC 7742"),
        ("  Intel(R) Xeon(R) Platinum 8481C", "Intel Xeon Platinum 8481C"),
        ("Intel(R) Xeon(R) Gold 6240R CPU @ 2.40GHz", "Intel Xeon Gold 6240R"),
        ("Intel(R) Xeon(R) Platinum 8480+ @ 2.00GHz", "Intel Xeon Platinum 8480+"),
        ("AMD EPYC 9999X 300-Core Processor", "AMD EPYC 9999X"),
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("Neoverse-N1", "Neoverse-N1"),
    ],
)
def test_a_processor_as_tools_print_it(printed: str, name: str) -> None:
    assert normalised(registry().processors, printed) == name


def test_accelerators_as_tools_print_them() -> None:
    kind = registry().accelerators
    assert find(kind, "NVIDIA H100 80GB HBM3") == "NVIDIA H100-SXM5-80GB"
    assert find(kind, "nvidia a100-sxm4-80gb (400W)") == "NVIDIA A100-SXM4-80GB"
    assert find(kind, "NVIDIA A100-SXM4-80GB (x)") is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("AMD EPIC 7742", "AMD EPYC 7742"),
        ("Intel Xenon Platinum 8380", "Intel Xeon Platinum 8380"),
        ("NVIDA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"),
        ("Graphcor Bow IPU", "Graphcore Bow IPU"),
        ("EPYC 7742", "AMD EPYC 7742"),
        ("AMD EPYC9575F", "AMD EPYC 9575F"),
        ("Xeon 8570", "Intel Xeon Platinum 8570"),
        ("AMD MI355X", "AMD Instinct MI355X 288GB HBM3e"),
        ("NVIDIA B300 Ultra", "NVIDIA Blackwell Ultra GPU (B300-SXM-270GB)"),
    ],
)
def test_slips_in_words_have_a_did_you_mean(text: str, meant: str) -> None:
    assert meant in (suggestion(registry().processors, text), suggestion(registry().accelerators, text))


OTHER_MODELS = """
AMD EPYC 7743, AMD EPYC 7742P, AMD EPYC 9575, AMD Instinct MI300A, Ascend 910 Pro B, Ascend 910 Premium B,
Intel Xeon Gold 8380, NVIDIA A100-SXM4-64GB, NVIDIA B300, NVIDIA GB300, NVIDIA GeForce RTX 5090,
NVIDIA H100, NVIDIA L40, NVIDIA RTX A6000, TPU-v6e,
"""


@pytest.mark.parametrize("text", [name.strip() for name in OTHER_MODELS.split(",")])
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
NAMINGS = [
    (PROCESSOR, "INTEL(R) XEON(R) PLATINUM 8592+", "Intel Xeon Platinum 8592+", "form"),
    (PROCESSOR, "Intel(R)  Xeon(R) 6767P ", "Intel Xeon 6767P", "right"),
    (PROCESSOR, "AMD EPYC 9575F 64-Core Processor", "AMD EPYC 9575F", "form"),
    (PROCESSOR, "AMD Rome", None, "unknown"),
    (ACCELERATOR, "AMD Instinct MI325X 256GB HBM3E", "AMD Instinct MI325X 256GB HBM3e", "form"),
    (ACCELERATOR, "NVIDIA B300 Blackwell Ultra GPU", "NVIDIA Blackwell Ultra GPU (B300-SXM-270GB)", "spelling"),
    (ACCELERATOR, "NVIDIA X9000", None, "unknown"),
    ("framework", "Pytorch", "PyTorch", "form"),
]


@pytest.mark.parametrize(("field", "written", "wanted", "how"), NAMINGS)
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
