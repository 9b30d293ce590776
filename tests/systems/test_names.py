"""The registry of names."""

from __future__ import annotations

import pytest

from mlsub.systems.names import find, normalised, registry, slips, spellings, suggestion


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
    ],
)
def test_slips_in_words_have_a_did_you_mean(text: str, meant: str) -> None:
    assert meant in (suggestion(registry().processors, text), suggestion(registry().accelerators, text))


OTHER_MODELS = """
AMD EPYC 7743, AMD EPYC 7742P, AMD EPYC 9575, AMD Instinct MI300A, Ascend 910 Pro B, Ascend 910 Premium B,
Habana Gaudi 2, Intel Xeon Gold 8380, NVIDIA A100-SXM4-64GB, NVIDIA B300, NVIDIA GB300, NVIDIA GeForce RTX 5090,
NVIDIA H100, NVIDIA L40, NVIDIA RTX A6000, TPU-v6e,
"""


@pytest.mark.parametrize("text", [name.strip() for name in OTHER_MODELS.split(",")])
def test_other_models_are_no_misspellings(text: str) -> None:
    assert suggestion(registry().processors, text) is suggestion(registry().accelerators, text) is None


def test_no_name_is_told_of_itself_and_every_other_spelling_is() -> None:
    for kind in registry().kinds:
        for field in kind.fields:
            for name, info in kind.names.items():
                for fine in (name, *info.prints):
                    assert list(spellings(field, fine)) == [], fine
                for other in info.also:
                    assert [meant for _, meant in spellings(field, other)] == [name], other


def test_spellings_are_unambiguous() -> None:
    for kind in registry().kinds:
        written = [text.lower() for name, info in kind.names.items() for text in (name, *info.prints, *info.also)]
        assert len(written) == len(set(written))


def test_slips_are_words_of_their_own() -> None:
    assert slips("iDRAC9, ExpressX5 Compute") == [("ExpressX5", "iDRAC9 Express or ConnectX-5, whichever is meant")]
    assert slips("Dual Potato, NVLINED") == []
