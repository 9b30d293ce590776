"""One row a result: what the cells are, and where they come from."""

from __future__ import annotations

import math
import typing

import msgspec
import pytest

from mlsub.findings import Verdict
from mlsub.score.columns import ColumnKind, columns
from mlsub.score.table import Row, code_url, details_url, rows_of, status_notes
from mlsub.submission.report import EnergyResult, Report, SystemResult
from tests.score.reports import (
    make_entry,
    make_facts,
    make_report,
    make_row,
    make_score,
    make_system,
    organisations,
    variety,
)

TYPES = {ColumnKind.TEXT: str, ColumnKind.COUNT: int, ColumnKind.NUMBER: float}
OF_THE_SYSTEM = (
    "availability",
    "submitter",
    "system",
    "number_of_nodes",
    "host_processor_model_name",
    "host_processors_count",
    "accelerator_model_name",
    "accelerators_count",
    "framework",
    "notes",
)


def test_the_columns_are_the_fields_of_a_row_in_order_and_type() -> None:
    assert [column.name for column in columns()] == list(Row.__struct_fields__)
    hints = typing.get_type_hints(Row)
    for column in columns():
        held = set(typing.get_args(hints[column.name]) or (hints[column.name],)) - {type(None)}
        assert held == {TYPES[column.kind]}, column.name
    titles = [column.title for column in columns()]
    assert len(titles) == len(set(titles))


def test_the_official_columns_come_first() -> None:
    assert [column.name for column in columns()][:15] == [
        "division",
        "availability",
        "submitter",
        "system",
        "number_of_nodes",
        "host_processor_model_name",
        "host_processors_count",
        "accelerator_model_name",
        "accelerators_count",
        "framework",
        "benchmark",
        "result_minutes",
        "notes",
        "details_url",
        "code_url",
    ]


def test_a_row_joins_the_entry_and_its_system() -> None:
    entry = make_entry(energy=EnergyResult(unscaled=1.0, scaled=1.0034, runs=(1.0,)))
    assert make_row(make_report(entry)) == Row(
        division="closed",
        availability="Available on-premise",
        submitter="ACME Inc.",
        system="Rack One",
        number_of_nodes=4,
        host_processor_model_name="EPYC 9575F",
        host_processors_count=8,
        accelerator_model_name="MI355X",
        accelerators_count=32,
        framework="PyTorch 2.5",
        benchmark="llama2_70b_lora",
        result_minutes=27.123456789012345,
        notes="air cooled;nightly",
        details_url="https://github.com/mlcommons/training_results_v5.1/blob/main/ACME/systems/rack1.json",
        code_url="https://github.com/mlcommons/training_results_v5.1/blob/main/ACME/benchmarks",
        usage="training",
        round="5.1",
        organisation="ACME",
        system_folder="rack1",
        path="results/rack1/llama2_70b_lora",
        scaling_type=None,
        verdict="accepted",
        runs=10,
        compliant=9,
        converged=9,
        batch_size=8.0,
        convergence=3168.0,
        convergence_unit="samples",
        rcp="pass",
        rcp_counted="samples_count",
        rcp_logs_unit=None,
        rcp_also=None,
        scaling=1.0,
        expected_scaling=1.0034,
        unscaled_minutes=27.123456789012345,
        published_minutes=27.123456789012345,
        expected_minutes=27.123456789012345 * 1.0034,
        instance_scale=None,
        energy_joules=1.0034,
    )


def test_each_entry_gets_the_description_of_its_own_organisation_and_system() -> None:
    rows = rows_of([variety()])
    assert [row.availability for row in rows] == [
        "Available on-premise",
        "Available on-premise",
        "Available cloud",
        "onprems (unknown)",
        "onprems (unknown)",
    ]
    strong, weak, other = rows_of([organisations()])
    assert strong.submitter == weak.submitter == "ACME Inc."
    assert (strong.scaling_type, weak.scaling_type) == ("strong", "weak")
    assert other.submitter is None
    assert strong.details_url == "https://github.com/mlcommons/hpc_results_v3.0/blob/main/ACME/systems/rack1.json"


def test_two_trees_of_one_name_do_not_share_descriptions() -> None:
    entries = [make_entry(path=f"{above}/ACME/results/rack1/bert", benchmark="bert") for above in ("a", "b")]
    systems = [
        SystemResult(
            path=f"{above}/ACME/systems/rack1.json",
            organisation="ACME",
            official=Verdict.ACCEPTED,
            facts=make_facts(submitter=above),
        )
        for above in ("a", "b")
    ]
    rows = rows_of([make_report(*entries, systems=tuple(systems))])
    assert [row.submitter for row in rows] == ["a", "b"]


@pytest.mark.parametrize("path", [".", "resnet", "some/where/resnet", "results/resnet"])
def test_a_lone_benchmark_folder_has_empty_cells_for_the_system(path: str) -> None:
    row = make_row(make_report(make_entry(path=path), systems=(make_system(),)))
    assert [getattr(row, name) for name in OF_THE_SYSTEM] == [None] * len(OF_THE_SYSTEM)
    assert (row.details_url, row.code_url) == (None, None)
    assert (row.result_minutes, row.runs, row.rcp) == (27.123456789012345, 10, "pass")


def test_an_unreadable_description_leaves_its_cells_empty_and_the_links() -> None:
    unread = SystemResult(path="systems/rack1.json", organisation="ACME", official=Verdict.REJECTED)
    for systems in ((), (unread,)):
        row = make_row(make_report(systems=systems))
        assert [getattr(row, name) for name in OF_THE_SYSTEM] == [None] * len(OF_THE_SYSTEM)
        assert row.details_url is not None


@pytest.mark.parametrize(
    ("changes", "column", "value"),
    [
        ({"number_of_nodes": None}, "accelerators_count", None),
        ({"number_of_nodes": None}, "host_processors_count", None),
        ({"accelerators_per_node": 0}, "accelerators_count", 0),
        ({"accelerators_per_node": None}, "accelerators_count", None),
        ({"status": None}, "availability", None),
        ({"hw_notes": "", "sw_notes": "x"}, "notes", "x"),
        ({"hw_notes": None, "sw_notes": "x"}, "notes", "x"),
        ({"hw_notes": "x", "sw_notes": ""}, "notes", "x"),
        ({"hw_notes": "", "sw_notes": ""}, "notes", ""),
        ({"hw_notes": None, "sw_notes": None}, "notes", None),
        ({"system_name": "tpu-v3", "accelerators_per_node": 1024}, "system", "TPUv3.2048"),
        ({"system_name": "tpu-v3", "accelerators_per_node": None}, "system", "tpu-v3"),
        ({"accelerator_model_name": "tpu-v3"}, "accelerator_model_name", "TPUv3"),
        ({"framework": "TensorFlow 1.14 commit hash = 1a2b"}, "framework", "TensorFlow 1.14"),
        ({"framework": "JAX commit hash = 1a2b"}, "framework", "JAX commit hash = 1a2b"),
        ({"framework": None}, "framework", None),
    ],
)
def test_cells_of_the_system(changes: dict[str, object], column: str, value: object) -> None:
    row = make_row(make_report(systems=(make_system(facts=make_facts(**changes)),)))
    assert getattr(row, column) == value


def test_a_count_of_the_largest_system_fits_64_bits() -> None:
    facts = make_facts(number_of_nodes=999_999_999, accelerators_per_node=999_999_999)
    row = make_row(make_report(systems=(make_system(facts=facts),)))
    assert row.accelerators_count is not None
    assert row.accelerators_count < 2**63


def test_a_score_that_is_no_number_is_an_empty_cell() -> None:
    row = make_row(make_report(make_entry(score=make_score(math.nan, math.inf, math.inf))))
    assert (row.result_minutes, row.published_minutes, row.unscaled_minutes) == (None, None, None)
    assert row.expected_minutes is None


def test_the_result_is_the_published_score_whatever_is_expected() -> None:
    row = make_row(make_report(make_entry(score=make_score(30.0, 1.5, 1.25))))
    assert (row.result_minutes, row.published_minutes, row.expected_minutes) == (45.0, 45.0, 37.5)
    assert (row.unscaled_minutes, row.scaling, row.expected_scaling) == (30.0, 1.5, 1.25)


def test_a_report_that_checked_nothing_has_no_rows() -> None:
    nothing = Report(usage=None, round=None, root=".", official=Verdict.NOT_CHECKED)
    assert rows_of([nothing]) == ()
    assert len(rows_of([nothing, variety(), organisations()])) == 8


@pytest.mark.parametrize(
    ("usage", "organisation", "url"),
    [
        ("training", "Quanta_Cloud-9", "https://github.com/mlcommons/training_results_v5.1/blob/main/Quanta_Cloud-9"),
        ("training", "HPE+LBNL x", "https://github.com/mlcommons/training_results_v5.1/blob/main/HPE%2BLBNL%20x"),
        ("hpc", "a/../b?c#d", "https://github.com/mlcommons/hpc_results_v5.1/blob/main/a%2F..%2Fb%3Fc%23d"),
        (
            "training",
            "M\u00f8ller\udcff",
            "https://github.com/mlcommons/training_results_v5.1/blob/main/M%C3%B8ller%ED%B3%BF",
        ),
    ],
)
def test_links_lead_to_the_folder_and_nowhere_else(usage: str, organisation: str, url: str) -> None:
    assert code_url(usage, "5.1", organisation) == f"{url}/benchmarks"
    assert details_url(usage, "5.1", organisation, "x)](y") == f"{url}/systems/x%29%5D%28y.json"


def test_what_is_not_published_has_no_links() -> None:
    assert details_url("rehearsal", "1.0", "ACME", "rack1") is None
    assert code_url("", "", "ACME") is None


def test_an_unknown_status_is_told_with_a_guess() -> None:
    assert status_notes([variety()]) == (
        "systems/rack2.json: the status 'onprems' is not a known availability. Did you mean Available on-premise?",
    )
    strange = make_report(systems=(make_system(facts=make_facts(status="???")),))
    assert status_notes([strange]) == (
        "systems/rack1.json: the status '???' is not a known availability. Known are Available on-premise, "
        "Available cloud, Preview, Research, Development, or Internal (RDI).",
    )


def test_known_and_missing_statuses_are_not_told() -> None:
    silent = make_report(systems=(make_system(), make_system("x", make_facts(status=None))))
    assert status_notes([silent]) == ()


def test_notes_on_statuses_are_bounded() -> None:
    systems = tuple(make_system(f"s{number}", make_facts(status="x" * 2000)) for number in range(25))
    notes = status_notes([make_report(systems=systems)])
    assert len(notes) == 11
    assert notes[-1] == "and 15 more system descriptions with an unknown status"
    assert all(len(note) < 400 for note in notes)


def test_a_row_is_as_it_was_after_a_round_trip() -> None:
    row = make_row()
    assert msgspec.json.decode(msgspec.json.encode(row), type=Row) == row
