"""How to cite a result: the footnote of the guidelines and BibTeX, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from mlsub.commands.site.page import number_text
from mlsub.commands.site.result_page import bibtex, citation_section, footnote, result_title
from mlsub.commands.site.results import SiteResult
from tests.commands.site.sites import one_round, rounds
from tools.oracle.shared import ABSENT, folder, present
from tools.support.make_tree import make_tree

LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the United States "
    "and other countries. All rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more "
    "information."
)
WHERE = "https://github.com/mlcommons/training_results_v1.0"
CHIP = "NVIDIA A100-SXM-80GB"
TITLE = "Image classification, ResNet-50 v1.5 on ImageNet"


def result(tmp_path: Path, **description: object) -> SiteResult:
    tree = make_tree(tmp_path)
    tree.describe(accelerator_model_name=CHIP, **description)
    (found,) = one_round(tree).results
    return found


def test_the_footnote_is_that_of_the_guidelines(tmp_path: Path) -> None:
    found = result(tmp_path, system_name="Rack One")
    assert footnote(found) == (
        f"MLPerf® Training v1.0 Closed, {TITLE}: ACME Rack One, entry [ID 1.0-...]. "
        f"Retrieved: from {WHERE} on [date]. {LEGEND}"
    )


def test_what_was_not_published_is_called_unverified(tmp_path: Path) -> None:
    found = result(tmp_path)
    unpublished = replace(found, publication_date=None)
    section = citation_section(unpublished)
    assert section.words == ("MLCommons has not published this round, so the result may be quoted only as unverified.",)
    sentence, note = section.quotes
    assert sentence.text == (
        "Unverified: in MLPerf Training v1.0 Closed, ACME rack1 with 8 A100 trained ResNet-50 in 12 minutes [1]."
    )
    assert note.text == (
        f"[1] Unverified MLPerf® Training v1.0 Closed, {TITLE}: ACME rack1. "
        f"Result not verified by MLCommons Association. {LEGEND}"
    )


def test_bibtex_has_no_sign_that_tex_takes_for_its_own(tmp_path: Path) -> None:
    assert bibtex(result(tmp_path, system_name=r"A_1 & {50 %} \end")).splitlines() == [
        "@misc{mlperf-training-1-0-acme-rack1-resnet,",
        r"  title = {{MLPerf Training v1.0 Closed, ResNet-50: A\_1 \& \{50 \%\} \textbackslash{}end}},",
        "  author = {{ACME}},",
        "  year = {2021},",
        "  month = jun,",
        "  publisher = {MLCommons},",
        f"  url = {{{WHERE}}},",
        "  note = {MLPerf result, retrieved on [date]},",
        "}",
    ]


def test_a_title_says_who_what_on_what_and_when(tmp_path: Path) -> None:
    assert result_title(result(tmp_path)) == "ACME, ResNet-50, rack1 (8 × A100), Closed, v1.0"
    assert result_title(result(tmp_path, system_name="8xA100 box")) == "ACME, ResNet-50, 8xA100 box, Closed, v1.0"


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_a_published_result_is_cited_with_its_repository() -> None:
    (found,) = rounds(folder("1.0") / "Graphcore")
    (bert,) = [one for one in found.results if one.path.endswith("ipu-pod16-POPART-closed/bert")]
    assert result_title(bert) == "Graphcore, BERT, IPU-POD16 (16 × GC200), Closed, v1.0"
    sentence, note, _ = citation_section(bert).quotes
    minutes = number_text(bert.published_minutes, 3)
    assert sentence.text == (
        f"In MLPerf Training v1.0 Closed, Graphcore IPU-POD16 with 16 GC200 trained BERT in {minutes} minutes [1]."
    )
    assert f"Graphcore IPU-POD16, entry [ID 1.0-...]. Retrieved: from {WHERE} on [date]." in note.text
