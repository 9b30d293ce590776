"""Scores on their three bases, results that are ranked whatever their verdict, and BERT by both counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlsub.convergence import Options
from mlsub.convergence.reference import reference_file
from mlsub.io import MlsubError
from tests.commands.db.place import Place
from tools.support.make_tree import RUNS, make_tree
from tools.support.runner import call, run


def too_fast(place: Place) -> None:
    """BERT of v1.1: a fast result that passes by train_samples alone, and a slower one that passes by both counts."""
    for org, minutes, progress in (("NVIDIA", 0.25, 1), ("Graphcore", 6.75, 3_000_000)):
        tree = make_tree(place.rounds, "v1.1", org, ("bert",))
        for number in range(RUNS["bert"]):
            tree.edit(lambda log, minutes=minutes: log.last(minutes), number, benchmark="bert")  # type: ignore[misc]
            metadata = {"epoch_num": progress}
            tree.edit(lambda log, m=metadata: log.put("eval_accuracy", metadata=m), number, benchmark="bert")  # type: ignore[misc]


@pytest.mark.slow
def test_an_entry_has_its_score_on_three_bases(place: Place) -> None:
    tree = make_tree(place.rounds, "v4.0", "Cato")
    for system, epochs in (("rack1", 35), ("rack2", 35), ("rack3", 40)):
        if system != "rack1":
            tree.add_system(system)
            tree.add_entry("resnet", system)
        put = {"epoch_num": epochs}
        tree.edit(lambda log, put=put: log.put("eval_accuracy", metadata=put), *range(5), system=system)  # type: ignore[misc]
    (tree.entry(system="rack2") / "scaling.json").write_text('{"scaling_factor": 1.5}')
    place.build(tree.folder)
    factor = pytest.approx(1.004223, abs=1e-6)
    statement = (
        "SELECT system, unscaled_minutes, published_minutes, expected_minutes, scaling, expected_scaling "
        "FROM entries ORDER BY system"
    )
    assert place.select(statement) == [
        ("rack1", 12.0, 12.0, pytest.approx(12.050679, abs=1e-6), 1.0, factor),
        ("rack2", 12.0, 18.0, pytest.approx(12.050679, abs=1e-6), 1.5, factor),
        ("rack3", 12.0, 12.0, 12.0, 1.0, 1.0),
    ]
    assert place.select("SELECT system, minutes, scaling FROM results ORDER BY system") == [
        ("rack1", 12.0, 1.0),
        ("rack2", 18.0, 1.5),
        ("rack3", 12.0, 1.0),
    ]


@pytest.mark.slow
def test_the_fastest_result_is_the_fastest_that_was_published(place: Place) -> None:
    """The fastest BERT of v1.1 is NVIDIA's, which today's test rejects by epochs, and not the fastest accepted one."""
    too_fast(place)
    place.build()
    ranked = place.select(
        "SELECT organisation, minutes, verdict, rcp_verdict, rcp_also_verdict FROM results "
        "WHERE benchmark = 'bert' AND division = 'closed' ORDER BY minutes"
    )
    assert ranked == [
        ("NVIDIA", 0.25, "rejected", "fail", "pass"),
        ("Graphcore", 6.75, "accepted", "pass", "pass"),
    ]


@pytest.mark.slow
def test_a_submission_is_counted_not_stamped(place: Place) -> None:
    too_fast(place)
    nvidia = make_tree(place.rounds, "v1.1", "NVIDIA")
    assert nvidia.entry("bert").is_dir()
    place.build()
    counts = "SELECT organisation, entries, accepted FROM submissions WHERE round = '1.1' ORDER BY ALL"
    assert place.select(counts) == [("Bolt", 1, 1), ("Graphcore", 1, 1), ("NVIDIA", 2, 1)]
    assert not [row for row in place.select("DESCRIBE submissions") if row[0] == "verdict"]


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_bert_has_both_counts_and_the_option_turns_them_round(place: Place) -> None:
    too_fast(place)
    place.build()
    statement = (
        "SELECT verdict, rcp_counted, rcp_verdict, rcp_mean, rcp_also_counted, rcp_also_verdict, rcp_also_mean "
        "FROM entries WHERE organisation = 'NVIDIA'"
    )
    samples = 156_725_653.0
    assert place.select(statement) == [("rejected", "epoch_num", "fail", None, "train_samples", "pass", samples)]
    assert place.select("SELECT DISTINCT rcp_counted, rcp_also_verdict FROM entries WHERE benchmark = 'resnet'") == [
        ("epoch_num", None)
    ]
    assert place.build(convergence=Options(train_samples=True)).written
    assert place.select(statement) == [("accepted", "train_samples", "pass", samples, "epoch_num", "fail", None)]
    assert not place.build(convergence=Options(train_samples=True)).written
    assert place.build().written


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_a_file_of_reference_points_counts_and_its_content_is_remembered(place: Place) -> None:
    installed = reference_file("training", "1.0.0", "resnet")
    assert installed is not None
    file = place.folder / "rcps_resnet.json"
    file.write_bytes(installed.read_bytes())
    options = Options(reference=str(file))
    verdicts = "SELECT DISTINCT verdict FROM entries"
    place.build(convergence=options)
    assert place.select(verdicts) == [("accepted",)]
    assert place.select("SELECT DISTINCT rcp_reference_points FROM entries") == [("own",)]
    assert place.build(convergence=options).written is False
    records = json.loads(file.read_bytes())
    for record in records.values():
        record["Epochs to converge"] = [3 * epochs for epochs in record["Epochs to converge"]]
    file.write_text(json.dumps(records))
    # A process reads the points of a file once.
    outcome = call("db", "build", place.rounds, "-o", place.database, "--rcp", file, "--format", "json")
    assert json.loads(outcome.stdout)["written"]
    assert place.select(verdicts) == [("rejected",)]
    file.unlink()
    with pytest.raises(MlsubError, match=r"rcps_resnet\.json cannot be read"):
        place.build(convergence=options)


def test_the_command_takes_the_options_of_check(place: Place) -> None:
    too_fast(place)
    assert run("db", "build", "rounds", "--rcp-bert-train-samples").status == 0
    question = "SELECT verdict, rcp_counted FROM entries WHERE organisation = 'NVIDIA'"
    answer = json.loads(run("db", "query", question, "--format", "json").stdout)
    assert answer["rows"] == [["accepted", "train_samples"]]
    Path("broken.json").write_text("[")
    before = place.database.read_bytes()
    outcome = run("db", "build", "rounds", "--rcp", "broken.json")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub db build: broken.json: ")
    assert place.database.read_bytes() == before
