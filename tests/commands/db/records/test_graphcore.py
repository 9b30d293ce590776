"""The example has every figure that the documents state, each on its line, and none that they do not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from mlsub.score.records import Records, Source, read_records

REPOSITORY = Path(__file__).resolve().parents[4]
SEEDS = REPOSITORY.parent / "shared" / "seeds"
FILE = REPOSITORY / "submissions" / "records" / "graphcore.yaml"
#: The start of each document's file.
FILES = {"mk2-page": "000", "mk2-post": "001", "results-page": "002", "mlperf-v1.0-post": "003", "mk2-charts": "004"}
#: What each document states: ratios of a measure, absolute figures, MLPerf IDs.
STATED = {
    "mk2-page": ("", 0),
    "mk2-post": ("10x 10x 13x 16x 17x 18x 2.6x 3.4x 3.7x 4.6x 40x 5x 60x 600x 3 48 58,112", 0),
    "results-page": ("", 7),
    "mlperf-v1.0-post": ("2.1x 1.6x 1.5x", 6),
    "mk2-charts": ("10x 10x 13.6x 17x 18x 2.6x 27x 3.4x 3.7x 4.6x 40x 5.3x >16x >60x >600x 58 581 595", 0),
}
#: Ratios of MLPerf results: claims that logs can hold or refute, not records.
OF_MLPERF = {("mlperf-v1.0-post", 89)}
#: A number and an x that counts no systems.
_RATIO = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)x(?!\w)(?! (?:IPU|DGX|A100|Latest|to) ?)", re.IGNORECASE)
_ABSOLUTE = re.compile(r"([\d,.]*\d) (?:images per second|hours)")


@pytest.fixture(scope="module")
def records() -> Records:
    return read_records(FILE)


def lines_of(document: str) -> list[str]:
    if not SEEDS.is_dir():
        pytest.skip("the documents are not there")
    [file] = SEEDS.glob(f"{FILES[document]}_*.txt")
    return file.read_text("utf-8").split("\n")


@pytest.mark.parametrize("document", FILES)
def test_every_figure_of_a_document_is_a_record(document: str, records: Records) -> None:
    figures, ids = STATED[document]
    found = [record.stated for record in records.records if record.source.document == document]
    assert Counter(found) == Counter(figures.split())
    cited = [name for item in records.mlperf_ids if item.source.document == document for name in item.ids]
    assert len(set(cited)) == len(cited) == ids


@pytest.mark.parametrize("document", FILES)
def test_every_figure_stands_on_the_line_that_is_named(document: str, records: Records) -> None:
    lines = lines_of(document)
    stating: list[tuple[str, Source]] = [(record.stated, record.source) for record in records.records]
    stating += [(fact.stated, fact.source) for system in records.systems.values() for fact in system.facts]
    stating += [(name, item.source) for item in records.mlperf_ids for name in item.ids]
    for stated, source in stating:
        if source.document == document:
            assert source.line is not None
            assert re.search(rf"(?<![\w.]){re.escape(stated)}(?![\d])", lines[source.line - 1]), (stated, source)


@pytest.mark.parametrize("document", FILES)
def test_no_line_states_a_ratio_or_a_figure_that_is_not_a_record(document: str, records: Records) -> None:
    values = Counter(record.value for record in records.records if record.source.document == document)
    for number, line in enumerate(lines_of(document), 1):
        if (document, number) in OF_MLPERF:
            continue
        stated = [*_RATIO.findall(line), *_ABSOLUTE.findall(line)]
        for value in (float(text.replace(",", "")) for text in stated):
            assert values[value], (document, number, value)


def test_values_are_what_is_stated(records: Records) -> None:
    for record in records.records:
        number = float(record.stated.strip(">x").replace(",", ""))
        assert number == record.value, record.name
        assert record.ratio == record.stated.endswith("x")
        assert (record.bound == "over") or not record.stated.startswith(">")


def test_competitors_have_rows_of_their_own(records: Records) -> None:
    makers = {name: system.maker for name, system in records.systems.items()}
    rows = [(r.name, r.value, r.unit) for r in records.records if makers[r.configuration.system] != "Graphcore"]
    assert rows == [
        ("post-mcmc-training-hours-gpu", 48.0, "h"),
        ("chart-efficientnet-b4-training-gpu", 58.0, "images/s"),
    ]
    assert {makers[r.versus.system] for r in records.records if r.versus} == {"Graphcore", "NVIDIA", "unnamed"}
    assert [(name, s.accelerators) for name, s in records.systems.items() if name.startswith("IPU-")] == [
        ("IPU-M2000", 4),
        ("IPU-POD16", 16),
        ("IPU-POD64", 64),
    ]
