"""What is new, in three sentences that are made of the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlsub.commands.site.home import news, records_beaten
from mlsub.commands.site.results import Site
from tests.commands.site.many import site_of

CASES = yaml.safe_load(Path(__file__).with_name("news.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_sentences_say_what_the_results_say(case: dict[str, Any]) -> None:
    assert list(news(site_of(case["rounds"]))) == case["sentences"]


def test_without_results_there_is_no_news() -> None:
    assert news(Site([])) == news(site_of({"5.0": []})) == ()


def test_many_records_are_counted_and_the_greatest_gains_named() -> None:
    names = ["bert", "resnet", "unet3d", "maskrcnn", "rnnt"]
    before = [[name, "ACME", "NVIDIA A100", 8, 60.0] for name in names]
    after = [[name, "ACME", "NVIDIA A100", 8, 50.0 - place] for place, name in enumerate(names)]
    site = site_of({"2.0": before, "2.1": after})
    second = news(site)[1]
    assert second.startswith("Records fell on 5 of its 5 benchmarks with comparable results of earlier rounds: RNN-T ")
    assert second.endswith("(ACME, 8 × A100, of 2 results given), and 2 more.")
    beaten = records_beaten("v2.1", site.benchmarks)
    assert [new.benchmark_title for _, new, _ in beaten][:2] == ["RNN-T", "Mask R-CNN"]
    assert [new.train_minutes for _, new, _ in beaten] == [46.0, 47.0, 48.0, 49.0, 50.0]


def test_names_from_outside_are_shortened_text() -> None:
    hostile = "<script>alert(1)</script>\x00\n" + "x" * 500
    words = news(site_of({"5.0": [["bert", hostile, "N/A", 0, 3.0]]}))
    assert all(len(sentence) < 300 and "\x00" not in sentence and "\n" not in sentence for sentence in words)
