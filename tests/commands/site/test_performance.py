"""The performance page: what it tells of figures from other sources."""

from __future__ import annotations

from pathlib import Path

from mlsub.commands.db.records import read_records
from mlsub.commands.site.performance import performance

FILE = Path(__file__).resolve().parents[3] / "submissions" / "records" / "graphcore.yaml"


def against() -> dict[tuple[str, str], set[str]]:
    """What stands under "against" in each row of records, by model and value."""
    found: dict[tuple[str, str], set[str]] = {}
    for section in performance((), [read_records(FILE)]).sections:
        for table in section.tables:
            heads = [head.title for head in table.heads]
            if "against" in heads:
                at, value = heads.index("against"), heads.index("value")
                for row in table.rows:
                    key = (row.cells[0].text, row.cells[value].text.partition(" [")[0])
                    found.setdefault(key, set()).add(row.cells[at].text)
    return found


def test_a_gain_from_one_release_to_another_says_against_which() -> None:
    rows = against()
    for model, value in (("ResNet-50", "2.1"), ("BERT-Large", "1.6"), ("EfficientNet", "1.5")):
        assert rows[model, value] == {"IPU, system not stated; Poplar SDK 1.4; measured"}


def test_the_other_side_keeps_its_software_framework_and_batch_size() -> None:
    rows = against()
    assert "A100-SXM4-80GB; TensorFlow; mixed; batch size 256; published" in rows["ResNet-50 v1.5", "2.6"]
    assert "A100-SXM4-80GB; TensorRT 7.2.1; int8; batch size 1 to 206; published" in rows["ResNet-50 v1.5", "4.6"]
    assert "A100-SXM4-40GB; TensorRT 7.2; int8; batch size 1, 2, 8; published" in rows["BERT-Large", "3.4"]
