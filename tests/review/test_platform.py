"""submission_platform beside the system's names: pairs of published packages, and what a reviewer would say of each."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mlsub.review.cross import contradicts
from tests.commands.runner import check
from tests.corpus import CORPUS

PAIRS: dict[str, dict[str, list[list[str]]]] = yaml.safe_load(Path(__file__).with_name("platforms.yaml").read_text())


@pytest.mark.parametrize(
    ("verdict", "said", "names"),
    [
        (verdict, said, tuple(names))
        for verdict, rounds in PAIRS.items()
        for pairs in rounds.values()
        for said, *names in pairs
    ],
)
def test_a_platform_is_judged_as_by_hand(verdict: str, said: str, names: tuple[str, ...]) -> None:
    assert (contradicts(said, names) is None) is (verdict == "right")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("tpu-v5p", "names another accelerator"),
        ("X86", "has no word in common"),
    ],
)
def test_the_message_says_what_is_wrong(said: str, words: str) -> None:
    assert words in str(contradicts(said, ("cloud-tpu-trillium-1024", "TPU-trillium")))


@pytest.mark.long
@pytest.mark.skipif(not (CORPUS / "v5.1").is_dir(), reason="published results are not there")
def test_every_finding_of_a_published_round_is_in_the_table() -> None:
    found = {(f["actual"].strip('"'), f["expected"]) for f in check(CORPUS / "v5.1").of("cross.platform")}
    assert found == {(said, " / ".join(names)) for said, *names in PAIRS["wrong"]["v5.1"]}
