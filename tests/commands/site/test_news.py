"""What is new, in three sentences that are made of the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.site.news import falls_in, news
from tests.commands.site.many import rounds_of, whole_of

CASES = yaml.safe_load(Path(__file__).with_name("news.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_sentences_say_what_the_results_say(case: dict[str, Any]) -> None:
    assert list(news(rounds_of(case["rounds"]))) == case["sentences"]


def test_without_results_there_is_no_news() -> None:
    assert news([]) == news(rounds_of({"5.0": []})) == ()


def test_many_records_are_counted_and_the_greatest_gains_named() -> None:
    names = ["bert", "resnet", "unet3d", "maskrcnn", "rnnt"]
    before = [[name, "ACME", "NVIDIA A100", 8, 60.0] for name in names]
    after = [[name, "ACME", "NVIDIA A100", 8, 50.0 - place] for place, name in enumerate(names)]
    rounds = rounds_of({"2.0": before, "2.1": after})
    second = news(rounds)[1]
    assert second.startswith("Records fell on 5 of its 5 benchmarks with comparable results of earlier rounds: RNN-T ")
    assert second.endswith("(ACME, 8 × A100), and 2 more.")
    falls = falls_in("2.1", whole_of({"2.0": before, "2.1": after}).histories)
    assert [fall.gain for fall in falls] == sorted((fall.gain for fall in falls), reverse=True)
    assert [fall.history.title for fall in falls][:2] == ["RNN-T", "Mask R-CNN"]


def test_names_from_outside_are_shortened_text() -> None:
    hostile = "<script>alert(1)</script>\x00\n" + "x" * 500
    words = news(rounds_of({"5.0": [["bert", hostile, "N/A", 0, 3.0]]}))
    assert all(len(sentence) < 300 and "\x00" not in sentence and "\n" not in sentence for sentence in words)
