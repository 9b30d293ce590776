"""Evaluation frequency: case tables of schedules, and what holds for every schedule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log import run as run_module
from mlsub.review import cadence
from mlsub.review.cadence import Cadence, amount, audit_cadence
from mlsub.rounds import get_round, known_rounds
from mlsub.rules.formula import parse
from tests.review.folding import make_run

FREQUENCIES = shipped(cadence.__file__, "cadence.yaml", dict[str, dict[str, list[Cadence]]])["training"]
FIRST = "No evaluation is where the rules require the first one"
MISSING = "An evaluation that the rules require is missing"
STOPS = "The run stops at an evaluation that the rules do not require"
OFF = "An evaluation is not where the rules require it"


def every(step: float, start: float | None = None, times: int = 5) -> list[float]:
    return [(step if start is None else start) + step * n for n in range(times)]


# Round, benchmark, batch size, places, and what is found at which place.
CASES: dict[str, tuple[str, str, Any, list[Any], str | None, Any]] = {
    "resnet": ("1.0", "resnet", 3200, [3, 7, 11, 15], None, None),
    "resnet, every offset": ("1.0", "resnet", 3200, [4, 8, 12], None, None),
    "resnet, before training": ("1.0", "resnet", 3200, [0, 1, 5, 9], None, None),
    "resnet, numbers rounded": ("1.0", "resnet", 3200, [3.0, 6.0, 10.0, 14.0], None, None),
    "resnet, a late start": ("1.0", "resnet", 3200, [8, 12, 16], FIRST, 8),
    "resnet, one left out": ("1.0", "resnet", 3200, [3, 7, 15], MISSING, 15),
    "resnet, every third": ("2.0", "resnet", 3200, [3, 6, 9, 12, 15], MISSING, 9),
    "resnet, more of them": ("4.0", "resnet", 1536, [3, 7, 11, 12, 13, 14, 15], None, None),
    "resnet, ending between two": ("4.0", "resnet", 1536, [3, 7, 11, 12, 13], STOPS, 13),
    "resnet, more in v0.7": ("0.7", "resnet", 3200, [2, 4, 6, 8, 9], None, None),
    "resnet, fewer in v0.7": ("0.7", "resnet", 3200, [4, 8, 16], MISSING, 16),
    "resnet before there were rules": ("0.6", "resnet", 3200, [7, 40], None, None),
    "ssd": ("1.1", "ssd", 912, every(5), None, None),
    "ssd, one left out": ("1.1", "ssd", 912, [5, 10, 20], MISSING, 20),
    "ssd on another data set": ("2.0", "ssd", 256, [1, 2, 3, 4], None, None),
    "ssd, every other epoch": ("2.0", "ssd", 256, [2, 4], FIRST, 2),
    "ssd, v0.7": ("0.7", "ssd", 4096, [40, 50, 55, 60], None, None),
    "rnnt": ("1.0", "rnnt", 2048, every(1), None, None),
    "bert": ("1.0", "bert", 448, every(150_080), None, None),
    "bert, large": ("1.0", "bert", 6912, every(228_096), None, None),
    "bert, too rarely": ("1.0", "bert", 448, every(175_000), FIRST, 175_000),
    "bert, a longer pause": ("1.0", "bert", 448, [150_080, 300_160, 600_320], MISSING, 600_320),
    "bert, epochs": ("1.0", "bert", 448, [1, 1, 1], None, None),
    "bert, one epoch": ("1.0", "bert", 448, [1], None, None),
    "bert without a batch size": ("1.0", "bert", None, every(1_000), None, None),
    "bert, v0.7": ("0.7", "bert", 448, [6, 7], None, None),
    "dlrm from 1": ("1.0", "dlrm", 55_296, [1.0499947, 1.0999895, 1.149984], None, None),
    "dlrm from 0": ("1.0", "dlrm", 55_296, [0.05, 0.1, 0.15], None, None),
    "dlrm, every tenth": ("1.0", "dlrm", 55_296, [1.1, 1.2], FIRST, 1.1),
    "unet3d, whole batches": ("1.0", "unet3d", 56, every(20, 1000), None, None),
    "unet3d, padded": ("1.0", "unet3d", 32, every(18, 875), None, None),
    "unet3d, too early": ("1.0", "unet3d", 56, every(20, 900, 3), FIRST, 940),
    "unet3d, samples": ("4.0", "unet3d", 56, every(3360, 168_000), None, None),
    "gpt3": ("4.1", "gpt3", 1536, every(24_576 * 2048), None, None),
    "gpt3, every second": ("4.1", "gpt3", 1536, every(2 * 24_576 * 2048), FIRST, 2 * 24_576 * 2048),
}
# The same with the count samples_count.
SAMPLES: dict[str, tuple[str, str, Any, list[Any], str | None, Any]] = {
    "lora": ("5.0", "llama2_70b_lora", 8, every(384, 1536), None, None),
    "lora, an early one": ("5.1", "llama2_70b_lora", 16, every(384, 1536), None, None),
    "lora, every second": ("4.0", "llama2_70b_lora", 64, every(768, 8448), FIRST, 8448),
    "8b": ("5.1", "llama31_8b", 32, every(12_288), None, None),
    "8b, a batch early": ("5.1", "llama31_8b", 32, every(12_288, 12_256), None, None),
    "8b, whole batches": ("5.1", "llama31_8b", 96, every(12_384), None, None),
    "8b, too often": ("5.1", "llama31_8b", 32, every(8192), FIRST, 16_384),
    "405b": ("5.0", "llama31_405b", 1008, every(46_368), None, None),
    "405b with a schedule of its own": ("5.1", "llama31_405b", 1152, every(18_432, 294_912), None, None),
    "diffusion, all": ("4.1", "stable_diffusion", 1024, every(512_000), None, None),
    "diffusion, some, in any order": ("4.1", "stable_diffusion", 256, [2_560_000, 2_048_000, 2_560_000], None, None),
    "diffusion, whole batches": ("5.0", "stable_diffusion", 384, [1_536_768, 2_561_280], None, None),
    "diffusion, between two": ("5.0", "stable_diffusion", 256, [1_664_000, 1_792_000], OFF, 1_664_000),
    "flux": ("5.1", "flux1", 1024, every(262_144), None, None),
    "flux, rcp": ("5.1", "flux1", 512, every(262_144, 7_602_176), None, None),
}
TABLE = [
    *((name, "epoch_num", case) for name, case in CASES.items()),
    *((name, "samples_count", case) for name, case in SAMPLES.items()),
]


def found(case: tuple[str, str, Any, list[Any], str | None, Any], count: str, division: str) -> list[Finding]:
    round_, benchmark, batch, places, _, _ = case
    values = {} if batch is None else {"global_batch_size": batch}
    return list(audit_cadence(make_run(benchmark, places, count, division, **values), "log", "training", round_))


@pytest.mark.parametrize(("name", "count", "case"), TABLE, ids=[name for name, *_ in TABLE])
def test_a_run_keeps_to_the_written_frequency(name: str, count: str, case: Any) -> None:
    _, _, batch, places, message, place = case
    findings = found(case, count, "closed")
    assert [finding.message for finding in findings] == ([message] if message else [])
    assert found(case, count, "open") == []
    if message:
        (finding,) = findings
        # Blocks and evaluations take turns behind the head of the log.
        assert finding.line == 4 + (batch is not None) + 2 * places.index(place) + 1
        assert finding.rule == "run.eval-cadence"
        assert finding.expected is not None and finding.expected.startswith("every ")
        assert "training rules" in finding.source


def test_where_a_run_stops_that_did_not_converge_gains_nothing() -> None:
    run = make_run("resnet", [3, 7, 9], global_batch_size=3200)
    (stops,) = audit_cadence(run, "log", "training", "1.0")
    assert stops.message == STOPS
    assert list(audit_cadence(replace(run, status="aborted"), "log", "training", "1.0")) == []


def test_a_finding_shows_the_schedule_and_the_places_around() -> None:
    (finding,) = found(CASES["resnet, one left out"], "epoch_num", "closed")
    assert (finding.expected, finding.actual) == ("every 4 epochs, first at 1, 2, 3 or 4", "3, 7, 15")
    (finding,) = found(CASES["bert, too rarely"], "epoch_num", "closed")
    assert finding.expected is not None
    assert finding.expected.startswith("every 150,000 samples (floor(0.05 × (230.23 × global_batch_size")
    assert finding.actual == "175,000, 350,000 … 875,000"


def test_diffusion_of_its_first_round_counts_steps() -> None:
    steps = make_run("stable_diffusion", [500, 1000, 1500], "step_num", global_batch_size=1024)
    assert list(audit_cadence(steps, "log", "training", "3.1")) == []
    odd = make_run("stable_diffusion", [500, 750], "step_num", global_batch_size=1024)
    assert [f.message for f in audit_cadence(odd, "log", "training", "3.1")] == [OFF]


@given(start=st.integers(1, 4), times=st.integers(1, 40), gone=st.integers(1, 60))
def test_a_schedule_fits_and_one_with_a_gap_does_not(start: int, times: int, gone: int) -> None:
    places = every(4, start, times)
    assert list(audit_cadence(make_run("resnet", places), "log", "training", "2.0")) == []
    inner = [place for n, place in enumerate(places) if n != gone]
    left_out = 0 < gone < times - 1
    assert bool(list(audit_cadence(make_run("resnet", inner), "log", "training", "2.0"))) == left_out


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
    st.sampled_from([10**400, -1, 0, 1e308]),
)


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
            assert (fact.silent is None) == bool(fact.every)
            for value in (fact.every, *(fact.first or [])):
                if isinstance(value, str):
                    assert parse(value[1:]).names == ("global_batch_size",)
                    assert (amount(value, make_run(name, global_batch_size=512)) or 0) > 0
