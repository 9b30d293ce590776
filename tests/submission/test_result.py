"""The result of an entry: what it takes from the description of its system, and what the tables of names add."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.score.document import status_notes
from mlsub.findings import Finding, Verdict
from mlsub.io.data import load_yaml
from mlsub.present.tables import columns
from mlsub.rules.catalogue import finding
from mlsub.submission.report import EmptyFolder, EnergyResult, RcpResult, Report, SystemResult
from mlsub.submission.result import results_of
from tests.conftest import ExpectedText
from tests.score.reports import (
    make_entry,
    make_facts,
    make_report,
    make_result,
    make_row,
    make_score,
    make_system,
    organisations,
    rows_of,
    variety,
)

TABLES = load_yaml(Path(__file__).with_name("result.yaml"))
TYPES = {"text": str, "count": int, "number": float}
OF_THE_SYSTEM = (
    "availability",
    "submitter",
    "system_name",
    "number_of_nodes",
    "host_processor_model_name",
    "host_processors_count",
    "accelerator_model_name",
    "accelerators_count",
    "framework",
    "notes",
)


def test_the_columns_of_the_table_are_facts_of_a_result_of_their_kind() -> None:
    entries = (make_entry(energy=EnergyResult(unscaled=1.0, scaled=2.0, runs=())), *organisations().entries)
    for row in rows_of(variety(), make_report(*entries)):
        for column in columns():
            assert row[column.name] is None or type(row[column.name]) is TYPES[column.kind], column.name
    titles = [column.title for column in columns()]
    assert len(titles) == len(set(titles))


def test_the_columns_are_those_of_the_official_table_and_then_the_rest(expected_text: ExpectedText) -> None:
    entry = make_entry(energy=EnergyResult(unscaled=1.0, scaled=1.0034, runs=(1.0,)))
    row = make_row(make_report(entry))
    expected_text("row.json", json.dumps({column.name: row[column.name] for column in columns()}, indent=1) + "\n")
    assert [column.name for column in columns()][14:16] == ["code_url", "entry"]


def test_the_other_way_of_counting_has_columns_of_its_own() -> None:
    also = RcpResult(verdict="pass", counted="train_samples", mean=2.0)
    row = make_row(make_report(make_entry(rcp=RcpResult(verdict="fail", counted="epoch_num", mean=1.0, also=also))))
    assert [row[f"{start}_{name}"] for start in ("rcp", "rcp_also") for name in ("verdict", "counted", "mean")] == [
        *("fail", "epoch_num", 1.0),
        *("pass", "train_samples", 2.0),
    ]


def test_each_entry_gets_the_description_of_its_own_organisation_and_system() -> None:
    assert [row["availability"] for row in rows_of(variety())] == [
        "Available on-premise",
        "Available on-premise",
        "Available cloud",
        "onprems (unknown)",
        "onprems (unknown)",
    ]
    strong, weak, other = results_of(organisations())
    assert strong.submitter == weak.submitter == "ACME Inc."
    assert (strong.scaling_type, weak.scaling_type) == ("strong", "weak")
    assert other.submitter is None
    assert strong.details_url == "https://github.com/mlcommons/hpc_results_v3.0/blob/main/ACME/systems/rack1.json"
    assert (strong.round_key, make_result().round_key) == ("hpc-v3.0", "v5.1")
    assert strong.description_path == "ACME/systems/rack1.json"
    assert str(strong.folder) == "/somewhere/hpc-v3.0/ACME/results/rack1/strong/cosmoflow"


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
    found = results_of(make_report(*entries, systems=tuple(systems)))
    assert [result.submitter for result in found] == ["a", "b"]


@pytest.mark.parametrize("path", [".", "resnet", "some/where/resnet", "results/resnet"])
def test_a_lone_benchmark_folder_has_empty_cells_for_the_system(path: str) -> None:
    result = make_result(make_report(make_entry(path=path), systems=(make_system(),)))
    assert [getattr(result, name) for name in OF_THE_SYSTEM] == [None] * len(OF_THE_SYSTEM)
    assert (result.details_url, result.code_url) == (None, None)
    assert (result.published_minutes, result.runs, result.rcp.verdict) == (27.123456789012345, 10, "pass")


def test_an_unreadable_description_leaves_its_cells_empty_and_the_links() -> None:
    unread = SystemResult(path="systems/rack1.json", organisation="ACME", official=Verdict.REJECTED)
    for systems in ((), (unread,)):
        result = make_result(make_report(systems=systems))
        assert [getattr(result, name) for name in OF_THE_SYSTEM] == [None] * len(OF_THE_SYSTEM)
        assert result.details_url is not None


@pytest.mark.parametrize(("changes", "column", "value"), TABLES["cells"])
def test_cells_of_the_system(changes: dict[str, object], column: str, value: object) -> None:
    assert make_row(make_report(systems=(make_system(facts=make_facts(**changes)),)))[column] == value


def test_a_count_of_the_largest_system_fits_64_bits() -> None:
    facts = make_facts(number_of_nodes=999_999_999, accelerators_per_node=999_999_999)
    assert make_row(make_report(systems=(make_system(facts=facts),)))["accelerators_count"] < 2**63


def test_a_score_that_is_no_number_is_an_empty_cell() -> None:
    row = make_row(make_report(make_entry(score=make_score(math.nan, math.inf, math.inf))))
    names = ("published_minutes", "unscaled_minutes", "expected_minutes", "chip_minutes")
    assert [row[name] for name in names] == [None] * 4


def test_the_score_is_the_published_one_whatever_is_expected() -> None:
    result = make_result(make_report(make_entry(score=make_score(30.0, 1.5, 1.25))))
    assert (result.published_minutes, result.chip_minutes) == (45.0, 45.0 * 32)
    row = result.columns()
    assert (row["unscaled_minutes"], row["scaling"], row["expected_scaling"]) == (30.0, 1.5, 1.25)
    assert (row["published_minutes"], row["expected_minutes"]) == (45.0, 37.5)


def test_a_report_without_a_round_has_empty_names_of_it() -> None:
    result = make_result(make_report(usage=None, round=None))
    assert (result.usage, result.round) == ("", "")


def test_a_report_that_checked_nothing_has_no_results() -> None:
    nothing = Report(usage=None, round=None, root=".", official=Verdict.NOT_CHECKED)
    assert results_of(nothing) == ()
    assert len(rows_of(nothing, variety(), organisations())) == 8


def test_a_result_has_the_findings_on_it_its_logs_and_its_system() -> None:
    def at(path: str) -> Finding:
        return finding("seed.missing", path)

    own = [at("results/rack1/bert"), at("results/rack1/bert/result_0.txt"), at("systems/rack1.json")]
    others = [at("results/rack1/resnet/result_0.txt"), at("results/rack1"), at("."), at("systems/rack2.json")]
    entries = [make_entry(path=f"results/rack1/{name}", benchmark=name) for name in ("bert", "resnet")]
    bert, resnet = results_of(make_report(*entries, findings=(*own, *others)))
    assert bert.findings == tuple(own)
    assert resnet.findings == (own[2], others[0])


def test_folders_without_logs_are_counted_by_benchmark() -> None:
    empty = [
        EmptyFolder(path=f"results/{n}/bert", organisation="ACME", system=str(n), benchmark="bert") for n in (1, 2)
    ]
    entries = [make_entry(path=f"results/rack1/{name}", benchmark=name) for name in ("bert", "resnet")]
    found = results_of(make_report(*entries, without_logs=tuple(empty)))
    assert [result.without_logs for result in found] == [2, 0]


def test_an_entry_without_logs_is_no_result() -> None:
    entries = [make_entry(path=f"results/{name}/bert", runs=runs) for name, runs in (("rack1", 10), ("rack2", 0))]
    report = make_report(*entries)
    assert [result.path for result in results_of(report)] == ["results/rack1/bert"]


@pytest.mark.parametrize(
    ("folder", "submitter", "expected"),
    [
        ("MangoBoost", "Supermicro_MangoBoost", "Supermicro+MangoBoost"),
        ("NVIDIA", "NVIDIA + CoreWeave", "NVIDIA+CoreWeave"),
        ("Supermicro_MangoBoost", "MangoBoost", "Supermicro+MangoBoost"),
        ("NVIDIA", "Dell", "NVIDIA"),
        ("NVIDIA", "Dell+CoreWeave", "NVIDIA"),
        ("NVIDIA", None, "NVIDIA"),
        ("Umbrella", "Umbrella and Dell", "Umbrella"),
    ],
)
def test_a_joint_submission_in_the_folder_of_one_of_its_organisations_is_joint(
    folder: str, submitter: str | None, expected: str
) -> None:
    facts = make_facts(submitter=submitter)
    report = make_report(make_entry(organisation=folder), systems=(make_system(facts=facts),))
    assert make_result(report).organisation_name == expected


@pytest.mark.parametrize(
    ("usage", "organisation", "url"),
    [
        ("training", "Quanta_Cloud-9", "https://github.com/mlcommons/training_results_v5.1/blob/main/Quanta_Cloud-9"),
        ("training", "HPE+LBNL x", "https://github.com/mlcommons/training_results_v5.1/blob/main/HPE%2BLBNL%20x"),
        ("hpc", "a/../b?c#d", "https://github.com/mlcommons/hpc_results_v5.1/blob/main/a%2F..%2Fb%3Fc%23d"),
        ("training", "M\u00f8ller\udcff", "https://github.com/mlcommons/training_results_v5.1/blob/main/M%C3%B8ller%ED%B3%BF"),
        ("rehearsal", "ACME", None),
    ],
)  # fmt: skip
def test_links_lead_to_the_folder_and_nowhere_else(usage: str, organisation: str, url: str | None) -> None:
    path = "results/x)](y/bert"
    entry = make_entry(path=path, organisation=organisation, system="x)](y", benchmark="bert")
    result = make_result(make_report(entry, usage=usage))
    assert result.code_url == (url and f"{url}/benchmarks")
    assert result.details_url == (url and f"{url}/systems/x%29%5D%28y.json")


def named(usage: str = "training", round_name: str = "2.0", model: str | None = None, **entry: Any) -> Any:
    """The result of one entry, by the words that the tables of names are asked for."""
    changes = {"path": "results/rack1/ssd", "benchmark": "ssd", "score": make_score(2.5), **entry}
    facts = make_facts(accelerator_model_name=model, number_of_nodes=1)
    systems = (make_system(facts=facts),)
    return make_result(make_report(make_entry(**changes), systems=systems, usage=usage, round=round_name))


def test_a_result_has_the_names_of_every_round() -> None:
    found = named(model="A100-SXM4-40GB", organisation="QCT", division="Closed")
    assert (found.organisation_name, found.benchmark_name, found.benchmark_title) == (
        *("Quanta Cloud Technology", "retinanet", "RetinaNet"),
    )
    assert (found.accelerator_name, found.vendor, found.family) == ("A100", "NVIDIA", "NVIDIA GPU Ampere")
    assert (found.division_name, found.chip_minutes) == ("closed", 20.0)
    assert (found.publication_date, found.publication_precision) == (datetime.date(2022, 6, 29), "day")


@pytest.mark.parametrize(("usage", "round_name", "folder", "compatible", "group"), TABLES["groups"])
def test_rounds_that_go_together_are_a_group(
    usage: str, round_name: str, folder: str, compatible: int, group: str
) -> None:
    found = named(usage, round_name, benchmark=folder)
    assert (len(found.compatible_rounds), found.compatible_group) == (compatible, group)


def test_what_no_table_has_is_as_the_files_say() -> None:
    found = named("own", organisation="Umbrella", benchmark="x", division="both")
    assert (found.organisation_name, found.benchmark_name, found.benchmark_title, found.task) == (
        *("Umbrella", "x", "x", None),
    )
    assert (found.accelerator_name, found.vendor, found.family, found.division_name) == (None, None, None, None)
    assert (found.publication_date, found.publication_precision) == (None, None)


def test_an_unknown_status_is_told_with_a_guess() -> None:
    assert tuple(status_notes([variety()])) == (
        "systems/rack2.json: the status 'onprems' is not a known availability. Did you mean Available on-premise?",
    )
    strange = make_report(systems=(make_system(facts=make_facts(status="???")),))
    assert tuple(status_notes([strange])) == (
        "systems/rack1.json: the status '???' is not a known availability. Known are Available on-premise, "
        "Available cloud, Preview, Research, Development, or Internal (RDI).",
    )


def test_known_and_missing_statuses_are_not_told() -> None:
    silent = make_report(systems=(make_system(), make_system("x", make_facts(status=None))))
    assert not tuple(status_notes([silent]))


def test_notes_on_statuses_are_bounded() -> None:
    systems = tuple(make_system(f"s{number}", make_facts(status="x" * 2000)) for number in range(25))
    notes = [*status_notes([make_report(systems=systems)])]
    assert len(notes) == 11
    assert notes[-1] == "and 15 more system descriptions with an unknown status"
    assert all(len(note) < 400 for note in notes)
