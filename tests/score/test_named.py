"""Results under the names that are the same in every round."""

from __future__ import annotations

import datetime

import msgspec
import pytest

from mlsub.score.named import named
from mlsub.score.table import Row

ROW = msgspec.convert(
    dict.fromkeys(Row.__struct_fields__)
    | {"benchmark": "ssd", "usage": "training", "round": "2.0", "organisation": "QCT", "system_folder": "rack1"}
    | {"path": "results/rack1/ssd", "verdict": "accepted", "runs": 5, "compliant": 5, "converged": 5, "rcp": "pass"}
    | {"scaling": 1.0, "expected_scaling": 1.0, "published_minutes": 2.5, "accelerators_count": 8},
    Row,
)


def test_a_result_has_the_names_of_every_round() -> None:
    found = named(msgspec.structs.replace(ROW, accelerator_model_name="A100-SXM4-40GB", division="Closed"))
    assert (found.organisation, found.benchmark, found.title) == ("Quanta Cloud Technology", "retinanet", "RetinaNet")
    assert (found.accelerator, found.vendor, found.family, found.memory_gb) == (
        "A100",
        "NVIDIA",
        "NVIDIA GPU Ampere",
        40,
    )
    assert (found.division, found.chip_minutes) == ("closed", 20.0)
    assert (found.published, found.published_exact) == (datetime.date(2022, 6, 29), True)


@pytest.mark.parametrize(
    ("usage", "round_name", "folder", "compatible", "group"),
    [
        ("training", "2.0", "ssd", 8, "retinanet v2.0 to v5.1"),
        ("training", "1.1", "ssd", 4, "ssd v0.6 to v1.1"),
        ("training", "0.7", "bert", 0, "bert v0.7"),
        ("training", "9.9", "bert", 0, "bert v9.9"),
        ("training", "4.1", "gnn", 4, "rgat v4.0 to v5.1"),
        ("hpc", "3.0", "openfold", 0, "openfold hpc-v3.0"),
        ("hpc", "1.0", "deepcam", 2, "deepcam hpc-v0.7 to hpc-v1.0"),
        ("training", "1.0", "of_my_own", 0, "of_my_own v1.0"),
    ],
)
def test_rounds_that_go_together_are_a_group(
    usage: str, round_name: str, folder: str, compatible: int, group: str
) -> None:
    found = named(msgspec.structs.replace(ROW, usage=usage, round=round_name, benchmark=folder))
    assert (len(found.compatible), found.group) == (compatible, group)


def test_what_no_table_has_is_as_the_files_say() -> None:
    found = named(msgspec.structs.replace(ROW, usage="own", organisation="Umbrella", benchmark="x", division="both"))
    assert (found.organisation, found.benchmark, found.title, found.task) == ("Umbrella", "x", "x", None)
    assert (found.accelerator, found.family, found.memory_gb, found.division) == (None, None, None, None)
    assert (found.published, found.published_exact) == (None, False)
