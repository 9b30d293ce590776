"""Names as people write them, and what they probably mean."""

from __future__ import annotations

import pytest

from mlsub.io.show import likely_name, same_name
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import names_by_title
from mlsub.rules.aspects.values import _FORMATS

FORMATS = "fp64 fp32 tf32 fp16 fp8 mxfp6 nvfp4 mxfp4 bfloat16 int8 uint8 int4 uint4".split()  # noqa: SIM905
MEANT = {
    **{"bf16": "bfloat16", "BF16": "bfloat16", "FP-16": "fp16", "float16": "fp16", "fp 32": "fp32", "half": "fp16"},
    **{"flot16": "bfloat16", "fpp16": "fp16", "NVFP4": "nvfp4", "vfp4": "nvfp4", "uit8": "uint8"},
}
#: What could be several, or something else.
UNCLEAR = ["bf8", "fp4", "mxfp8", "nxfp4", "tf16", "int16", "fp12", "fp128", "16", "", "?", "yes"]


@pytest.mark.parametrize(("text", "name"), MEANT.items())
def test_another_name_comes_before_one_that_is_near(text: str, name: str) -> None:
    assert likely_name(text, FORMATS, _FORMATS) == name


@pytest.mark.parametrize("text", UNCLEAR)
def test_there_is_no_advice_rather_than_a_wrong_one(text: str) -> None:
    assert likely_name(text, FORMATS, _FORMATS) is None


@pytest.mark.parametrize(
    ("text", "name", "same"),
    [
        ("gpt-oss-20b", "gpt_oss_20b", True),
        ("GPT-OSS 20B", "gpt_oss_20b", True),
        ("DeepSeek V3 671B", "deepseekv3_671b", True),
        ("Llama 3.1 8B", "llama31_8b", True),
        ("FLUX.1", "flux1", True),
        ("gpt_os_20b", "gpt_oss_20b", False),
        ("llama31_70b", None, False),
        ("retinanet", None, False),
    ],
)
def test_benchmarks_are_known_by_their_titles(text: str, name: str | None, same: bool) -> None:
    known = get_round("training", "6.0").benchmarks
    assert likely_name(text, known, names_by_title()) == name
    assert same_name(text, known, names_by_title()) == (name if same else None)


def test_a_name_that_stands_for_one_that_is_not_there_is_none() -> None:
    assert same_name("half", ["fp32"], _FORMATS) is None
