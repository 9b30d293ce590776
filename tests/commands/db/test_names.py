"""Tables join by their keys, and names that are the same in every round stand beside those of folders and files."""

from __future__ import annotations

from datetime import date

import pytest

from mlsub.commands.db.schema import tables
from mlsub.present.tables import columns
from mlsub.workspace import Context, check_with_logs
from tests.commands.db.place import Place
from tests.judge.test_package_rounds import make_round
from tools.support.make_tree import make_tree

#: Keys, and the tables that have them once.
KEYS = {
    "submissions": ("usage", "round", "organisation"),
    "systems": ("usage", "round", "organisation", "system"),
    "entries": ("entry",),
    "runs": ("run",),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """More organisations, one under two names, with other spellings of division, accelerator and benchmark."""
    place = Place(tmp_path_factory.mktemp("star"))
    for round_folder, folder, benchmark in (("1.0", "Krai", "resnet"), ("1.1", "krai", "bert")):
        tree = make_tree(place.rounds, round_folder, folder, (benchmark,))
        tree.describe(
            accelerator_model_name="NVIDIA A100-SXM4-40GB (400W)", number_of_nodes="2", accelerators_per_node="4"
        )
    tree.describe(division="close")
    place.bolt.describe(accelerator_model_name="N/A", accelerators_per_node="0")
    for round_name in ("1.1", "2.0", "4.0"):
        # One file shows what the folder is.
        made = make_round(place.folder / "made", round_name, "ssd", runs=1)
        (place.rounds / f"v{round_name}").mkdir(exist_ok=True)
        made.rename(place.rounds / f"v{round_name}" / "Cato")
    place.build()
    return place


@pytest.mark.slow
def test_keys_join(place: Place) -> None:
    columns = {table.name: {column.name for column in table.columns} for table in tables() if table.kind == "table"}
    for dimension, key in KEYS.items():
        keys = ", ".join(key)
        assert place.select(f"SELECT {keys} FROM {dimension} GROUP BY ALL HAVING count(*) > 1") == [], dimension  # noqa: S608
        for table in columns:
            if set(key) <= columns[table] and not table.startswith("record"):
                given = " AND ".join(f"{name} IS NOT NULL" for name in key)
                those = f"SELECT {keys} FROM {table} WHERE {given}"  # noqa: S608
                lost = place.select(f"{those} EXCEPT SELECT {keys} FROM {dimension}")  # noqa: S608
                assert lost == [], (table, dimension)


def test_an_organisation_has_one_name(place: Place) -> None:
    assert place.select(
        "SELECT round, organisation, organisation_name, division, division_name, accelerator_name, family, "
        "generation, vendor, accelerator_memory_gb, accelerators_count, chip_minutes / minutes "
        "FROM results WHERE organisation_name = 'Krai' ORDER BY round"
    ) == [
        ("1.0", "Krai", "Krai", "closed", "closed", *_A100, 8, 8.0),
        ("1.1", "krai", "Krai", "close", "closed", *_A100, 8, 8.0),
    ]


_A100 = ("A100", "NVIDIA GPU Ampere", "Ampere", "NVIDIA", 40)


def test_a_round_has_its_day_or_its_month(place: Place) -> None:
    names = "round, usage, publication_date::VARCHAR, publication_precision"
    assert place.select(f"SELECT DISTINCT {names} FROM entries ORDER BY ALL") == [  # noqa: S608
        ("1.0", "training", "2021-06-30", "day"),
        ("1.1", "training", "2021-12-01", "day"),
        ("2.0", "training", "2022-06-29", "day"),
        ("4.0", "training", "2024-06-15", "month"),
    ]


def test_benchmarks_and_the_rounds_that_go_together(place: Place) -> None:
    assert place.select(
        "SELECT DISTINCT round, benchmark, benchmark_name, compatible_group FROM entries ORDER BY ALL"
    ) == [
        ("1.0", "resnet", "resnet", "resnet v0.6 to v4.0"),
        ("1.1", "bert", "bert", "bert v1.0 to v5.0"),
        ("1.1", "resnet", "resnet", "resnet v0.6 to v4.0"),
        ("1.1", "ssd", "ssd", "ssd v0.6 to v1.1"),
        ("2.0", "ssd", "retinanet", "retinanet v2.0 to v5.1"),
        ("4.0", "ssd", "retinanet", "retinanet v2.0 to v5.1"),
    ]
    assert place.select("SELECT DISTINCT benchmark_name, benchmark_title FROM entries ORDER BY ALL") == [
        ("bert", "BERT"),
        ("resnet", "ResNet-50"),
        ("retinanet", "RetinaNet"),
        ("ssd", "SSD"),
    ]
    assert place.select("SELECT DISTINCT compatible_rounds FROM entries WHERE benchmark_name = 'ssd'") == [
        ("0.6 0.7 1.0 1.1",)
    ]


def test_a_system_without_accelerators_has_no_chip_minutes(place: Place) -> None:
    found = place.select(
        "SELECT accelerator_model_name, accelerator_name, accelerators_count, chip_minutes FROM results "
        "WHERE organisation = 'Bolt'"
    )
    assert found == [("N/A", None, 0, None)]


def test_columns_of_entries_are_those_of_every_other_table_of_results(place: Place) -> None:
    described = place.select("DESCRIBE entries")
    assert [name for name, *_ in described] == [column.name for column in columns()]
    types = {name: type_ for name, type_, *_ in described}
    some = ("entry", "round", "runs", "publication_date", "compatible_rounds", "scaling", "rcp_mean")
    assert [types[name] for name in some] == ["VARCHAR", "VARCHAR", "BIGINT", "DATE", "VARCHAR", "DOUBLE", "DOUBLE"]


def test_a_database_has_the_values_of_the_other_tables(place: Place) -> None:
    """But for the batch size of an entry without a convergence test, which only the logs have."""
    (checked,) = check_with_logs([str(place.acme.folder)], Context())
    (result,) = checked.results
    cells, names = result.columns(), [column.name for column in columns() if column.name != "batch_size"]
    rows = place.select(f"SELECT {', '.join(names)} FROM entries WHERE entry = '{result.entry}'")  # noqa: S608
    found = [[str(value) if isinstance(value, date) else value for value in row] for row in rows]
    assert found == [[cells[name] for name in names]]
