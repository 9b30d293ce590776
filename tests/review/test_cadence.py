"""Evaluation frequency: case tables of schedules, and what holds for every schedule."""

from __future__ import annotations

import re
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io.data import load_yaml, shipped
from mlsub.log import run as run_module
from mlsub.review import cadence
from mlsub.review.cadence import Cadence, audit_cadence, compute_amount
from mlsub.rounds import get_round, known_rounds
from mlsub.rules.formula import parse
from tests.review.folding import make_run

FREQUENCIES = shipped(cadence.__file__, "cadence.yaml", dict[str, dict[str, list[Cadence]]])["training"]
MESSAGES = {
    "missing": "Two evaluations are further apart than the rules ask for",
    "stop": "The run stops at an evaluation that the rules do not ask for",
    "place": "An evaluation is not where the rules ask for one",
}
FIRST = re.compile(
    r"First evaluation after .+; the rules ask for |No evaluation where the rules ask for .+; one is after "
)
CASES = load_yaml(Path(__file__).with_name("cadence.yaml"))


def every(step: float, start: float | None = None, times: int = 5) -> list[float]:
    return [(step if start is None else start) + step * n for n in range(times)]


def found(count: str, name: str, division: str = "closed") -> tuple[list[Any], list[Finding]]:
    """Where the run of a case was evaluated, and the findings on it."""
    round_, benchmark, batch, places, *_ = CASES[count][name]
    places = every(**places) if isinstance(places, dict) else places
    values = {} if batch is None else {"global_batch_size": batch}
    run = make_run(benchmark, places, count, division, **values)
    return places, list(audit_cadence(run, "log", "training", round_))


@pytest.mark.parametrize(("count", "name"), [(count, name) for count, cases in CASES.items() for name in cases])
def test_a_run_keeps_to_the_written_frequency(count: str, name: str) -> None:
    _, _, batch, _, *expected = CASES[count][name]
    places, findings = found(count, name)
    told = ["first" if FIRST.match(finding.message) else finding.message for finding in findings]
    assert told == [MESSAGES.get(message, message) for message in expected[:1]]
    assert found(count, name, "open")[1] == []
    for finding in findings:
        # Blocks and evaluations take turns behind the head of the log.
        assert finding.line == 4 + (batch is not None) + 2 * places.index(expected[1]) + 1
        assert finding.rule == "run.eval-cadence"
        assert finding.expected is not None and finding.expected.startswith("every ")
        assert "training rules" in finding.source


def test_where_a_run_stops_that_did_not_converge_gains_nothing() -> None:
    run = make_run("resnet", [3, 7, 9], global_batch_size=3200)
    (stops,) = audit_cadence(run, "log", "training", "1.0")
    assert stops.message == MESSAGES["stop"]
    assert list(audit_cadence(replace(run, status="aborted"), "log", "training", "1.0")) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ssd, every other epoch", "First evaluation after 2 epochs; the rules ask for one every 1"),
        ("resnet, a late start", "First evaluation after 8 epochs; the rules ask for the first at 1, 2, 3 or 4"),
        ("unet3d, too early", "No evaluation where the rules ask for the first at 1,000; one is after 940 epochs"),
    ],
)
def test_a_finding_says_where_the_first_evaluation_is(name: str, message: str) -> None:
    _, (finding,) = found("epoch_num", name)
    assert finding.message == message


def test_a_finding_shows_the_schedule_and_the_places_around() -> None:
    _, (finding,) = found("epoch_num", "resnet, one left out")
    assert (finding.expected, finding.actual) == ("every 4 epochs, first at 1, 2, 3 or 4", "3, 7, 15")
    _, (finding,) = found("epoch_num", "bert, too rarely")
    assert finding.expected is not None
    assert finding.expected.startswith("every 150,000 samples (floor(0.05 × (230.23 × global_batch_size")
    assert finding.actual == "175,000, 350,000 … 875,000"
    _, (finding,) = found("epoch_num", "unet3d, samples, every second")
    epochs = "ceil(20 × 168 / (ceil(168 / global_batch_size) × global_batch_size)) epochs"
    assert finding.expected == f"every 3,360 samples ({epochs}), first at 168,000"
    assert finding.actual == "168,000, 174,720, 181,440 … 194,880"


def test_two_benchmarks_with_one_interval_are_two_defects_with_a_source_each() -> None:
    runs = [make_run(name, every(0.1), global_batch_size=65536) for name in ("dlrm_dcnv2", "rgat")]
    dlrm, rgat = (finding for run in runs for finding in audit_cadence(run, "log", "training", "5.1"))
    assert (dlrm.message, dlrm.expected) == (rgat.message, rgat.expected)
    assert dlrm.defect != rgat.defect
    assert ("DLRMv2" in dlrm.source, "R-GAT" in rgat.source) == (True, True)


def test_diffusion_of_its_first_round_counts_steps() -> None:
    steps = make_run("stable_diffusion", [500, 1000, 1500], "step_num", global_batch_size=1024)
    assert list(audit_cadence(steps, "log", "training", "3.1")) == []
    odd = make_run("stable_diffusion", [500, 750], "step_num", global_batch_size=1024)
    assert [f.message for f in audit_cadence(odd, "log", "training", "3.1")] == [MESSAGES["place"]]


@given(steps=st.integers(18, 2_000), cut=st.booleans(), gone=st.integers(2, 30))
def test_two_decimal_places_never_add_up_to_a_miss(steps: int, cut: bool, gone: int) -> None:
    """Evaluations every twentieth of an epoch of so many steps, whose place is rounded or cut."""
    every = -(-steps // 20) / steps
    exact = [number * every for number in range(1, 60)]
    places = [floor(place * 100) / 100 if cut else round(place, 2) for place in exact]
    assert every > 0.0524 or not list(audit_cadence(make_run("rgat", places), "log", "training", "5.1"))
    left_out = [place for number, place in enumerate(places) if number != gone]
    assert list(audit_cadence(make_run("rgat", left_out), "log", "training", "5.1"))


@given(start=st.integers(1, 4), times=st.integers(1, 40), gone=st.integers(1, 60))
def test_a_schedule_fits_and_one_with_a_gap_does_not(start: int, times: int, gone: int) -> None:
    places = every(4, start, times)
    assert list(audit_cadence(make_run("resnet", places), "log", "training", "2.0")) == []
    inner = [place for n, place in enumerate(places) if n != gone]
    left_out = 0 < gone < times - 1
    assert bool(list(audit_cadence(make_run("resnet", inner), "log", "training", "2.0"))) == left_out


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from([10**400, 1e308])
ODD |= st.lists(st.integers(), max_size=2)


@given(
    places=st.lists(ODD, max_size=6),
    batch=ODD,
    benchmark=st.sampled_from(sorted(FREQUENCIES)),
    round_=st.sampled_from([*known_rounds("training"), "", "x", "999.9"]),
    count=st.sampled_from(["epoch_num", "samples_count", "step_num"]),
)
def test_nothing_that_a_log_can_hold_raises(
    places: list[Any], batch: Any, benchmark: str, round_: str, count: str
) -> None:
    run = make_run(benchmark, places, count, global_batch_size=batch)
    assert len(list(audit_cadence(run, "log", "training", round_))) <= 1


def test_a_log_with_more_evaluations_than_are_kept_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "MAX_EVALUATIONS", 3)
    monkeypatch.setattr("mlsub.review.cadence.MAX_EVALUATIONS", 3)
    assert list(audit_cadence(make_run("resnet", [3, 9, 15]), "log", "training", "2.0")) == []


def test_every_benchmark_of_the_rounds_with_rules_of_their_own_has_its_frequency_or_none() -> None:
    known = {name for round_ in known_rounds("training") for name in get_round("training", round_).benchmarks}
    assert set(FREQUENCIES) <= known
    for name, facts in FREQUENCIES.items():
        rounds = [tuple(map(int, fact.since.split("."))) for fact in facts]
        assert rounds == sorted(set(rounds)), name
        for fact in facts:
            assert fact.not_checked is not None or fact.every
            for value in (fact.every, *(fact.first or []), fact.samples):
                if isinstance(value, str):
                    assert parse(value[1:]).names == ("global_batch_size",)
                    assert (compute_amount(value, 512) or 0) > 0
