"""mlsub reads the published packages as the official tools of the round's day did."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import mlsub
from mlsub.convergence import mean_of, trim
from mlsub.findings import Verdict
from mlsub.submission.report import Report
from tools.oracle.generate import ROUNDS as ALL_ROUNDS
from tools.oracle.generate import usage_and_round
from tools.oracle.oracle import official
from tools.oracle.recorded import COMPARED, check, compared_logs
from tools.oracle.shared import ABSENT, folder, has_entries, present, recorded_entries, recorded_logs
from tools.support.corpus import SHARED

pytestmark = pytest.mark.skipif(not present(), reason=ABSENT)

ROUNDS = tuple(name for name in ALL_ROUNDS if folder(name).is_dir())
each_round = pytest.mark.parametrize("round_name", ROUNDS)

#: Published logs that lie one folder too deep: no official tool reads them, and no verdict is recorded.
TOO_DEEP = {"1.0": "Habana/results/*/resnet/bert/*"}
#: Packages of which not all that was published is there; the entries without logs are rejected for that.
INCOMPLETE = {"4.0": "JuniperNetworks"}
#: Packages that the convergence test of the round's day rejects as they were published: they converge too fast by every
#: count. The review let them pass by a flag of its own, or by a factor on the score (v4.0 Google).
TOO_FAST = {"1.0": {"Graphcore"}, "1.1": {"Graphcore"}, "2.0": {"Graphcore"}, "4.0": {"Google"}}
#: Rounds of which the figures of entries were recorded.
WITH_ENTRIES = tuple(name for name in ROUNDS if has_entries(name))
RELATIVE = 1e-9


@cache
def checked(round_name: str) -> Report:
    """By the reference points of the recorded answers."""
    return check(round_name)


@cache
def published(round_name: str) -> Report:
    """By the reference points at publication, as users do."""
    usage, name = usage_and_round(round_name)
    return mlsub.check(folder(round_name), usage=usage, round=name, jobs=1)


def organisations() -> list[tuple[str, str]]:
    if not present():
        return []
    found = [(name, path.name) for name in ROUNDS for path in sorted(folder(name).iterdir()) if path.is_dir()]
    return [place for place in found if place not in INCOMPLETE.items()]


def refused(round_name: str) -> set[str]:
    """The organisations that are rejected, and should be."""
    incomplete = {INCOMPLETE[round_name]} if round_name in INCOMPLETE else set()
    return TOO_FAST.get(round_name, set()) | incomplete


@pytest.mark.product
@each_round
def test_each_log_has_the_recorded_verdict(round_name: str):
    compared = list(compared_logs(round_name, checked(round_name)))
    assert {log.path for log in compared} == recorded_logs(round_name).keys()
    assert [log.describe(round_name) for log in compared if log.then is not log.now] == []


@each_round
def test_the_installed_checker_has_the_recorded_verdicts(round_name: str):
    """So the live oracle, made lenient where it is, stands for the round's day."""
    recorded = {path: answer["compliant"] for path, answer in recorded_logs(round_name).items()}
    small = [path for path in recorded if (folder(round_name) / path).stat().st_size < 100_000][::3]
    live = {path: official(folder(round_name) / path, round_name).compliant for path in small}
    assert live == {path: recorded[path] for path in small}


@each_round
def test_the_round_is_accepted_but_for_those_who_were_too_fast(round_name: str):
    report = checked(round_name)
    rejected = [entry for entry in report.entries if entry.official is not Verdict.ACCEPTED]
    assert {entry.organisation for entry in rejected} == refused(round_name)
    why = {f.rule for f in report.findings if f.rejects and f.path in {entry.path for entry in rejected}}
    assert why <= {"rcp.too-fast", *(["entry.run-count"] if round_name in INCOMPLETE else [])}
    assert {system.official for system in report.systems} == {Verdict.ACCEPTED}
    assert (report.official is Verdict.ACCEPTED) == (not refused(round_name))
    assert (report.usage, report.round) == usage_and_round(round_name)


@pytest.mark.product
@pytest.mark.parametrize(("round_name", "organisation"), organisations())
def test_each_organisation_has_its_verdict(round_name: str, organisation: str):
    report = mlsub.check(folder(round_name) / organisation, jobs=1)
    accepted = organisation not in refused(round_name)
    assert (report.official is Verdict.ACCEPTED) == accepted, [f for f in report.findings if f.rejects][:5]
    assert (report.usage, report.round) == usage_and_round(round_name)


@pytest.mark.parametrize("round_name", WITH_ENTRIES)
def test_each_entry_has_the_recorded_figures(round_name: str):
    recorded, ours = recorded_entries(round_name), {entry.path: entry for entry in checked(round_name).entries}
    gone = {path for path in recorded if not (folder(round_name) / path).is_dir()}
    assert set(ours) == set(recorded) - gone
    assert {path.split("/")[0] for path in gone} <= {INCOMPLETE.get(round_name)}
    for path, entry in recorded.items():
        if path in gone:
            continue
        assert ours[path].runs == entry["runs"], path
        if isinstance(entry["score"]["unscaled"], int | float):
            assert ours[path].score.unscaled == pytest.approx(entry["score"]["unscaled"], rel=RELATIVE), path
            assert ours[path].minutes == ours[path].score.published, path


@pytest.mark.parametrize("what", COMPARED)
@pytest.mark.parametrize("round_name", WITH_ENTRIES)
def test_each_entry_is_answered_as_recorded(round_name: str, what: str):
    """Of the convergence test and seeds each Closed one; where the tool of the day said nothing, nothing is checked."""
    compared = list(COMPARED[what](round_name, checked(round_name)))
    assert [entry.describe(round_name) for entry in compared if entry.then is not entry.now] == []
    silent = round_name == "0.7" and what in ("convergence", "seeds")
    assert len(compared) >= (0 if silent else 1 if what == "seeds" else 10)


#: Entries that pass, and were published without the factor of the convergence test or with another one: that factor.
OTHER_FACTOR = {
    ("3.0", "Intel/results/16-nodes-SPR-pytorch/resnet"): 1.0043956043956044,
    # Its point was merged on the day of publication; the published factor is that of the points at the deadline.
    ("3.0", "IEI/results/nf5468m6_hugectr/dlrm_dcnv2"): 1.0238095238095237,
    # The published factor is that of the interpolation between the points beside the one of this batch size.
    ("4.0", "Google/results/cloud-tpu-v5p-3072-maxtext/gpt3"): 1.0,
}


@pytest.mark.product
@each_round
def test_the_published_score_is_the_unscaled_one_times_the_factor_in_the_package(round_name: str):
    other: dict[tuple[str, str], float] = {}
    for entry in published(round_name).entries:
        score, file = entry.score, folder(round_name) / entry.path / "scaling.json"
        factor = json.loads(file.read_bytes())["scaling_factor"] if file.is_file() else 1.0
        assert (score.scaling_file, score.scaling) == (file.is_file(), factor), entry.path
        if score.unscaled is None:
            assert (entry.minutes, score.published, score.expected) == (None, None, None), entry.path
            continue
        assert entry.minutes == score.published == pytest.approx(score.unscaled * factor, abs=1e-9), entry.path
        assert score.expected == pytest.approx(score.unscaled * entry.rcp.scaling, abs=1e-9), entry.path
        if entry.rcp.verdict == "pass" and abs(score.expected_scaling - factor) > RELATIVE:
            other[round_name, entry.path] = score.expected_scaling
    assert other == {key: pytest.approx(value) for key, value in OTHER_FACTOR.items() if key[0] == round_name}


#: Packages with flags of their own, which the recorded answers are without: what the flag makes of BERT.
FLAGGED = {("2.0", "Google"): ("bypassed", "epoch_num"), ("2.1", "Baidu"): ("pass", "train_samples")}


def recorded_bert(round_name: str) -> dict[str, dict[str, bool]]:
    """Whether each Closed BERT of a round passes by each count, as recorded."""
    every = recorded_entries(round_name).items()
    bert = {path: entry["rcp"] for path, entry in every if path.endswith("/bert") and entry.get("rcp")}
    return {path: {kind: answer["passed"] for kind, answer in answers.items()} for path, answers in bert.items()}


@pytest.mark.parametrize("round_name", WITH_ENTRIES)
def test_bert_has_the_recorded_answer_by_each_count_and_train_samples_decide_where_epochs_are_rejected(round_name: str):
    ours = {entry.path: entry.rcp for entry in checked(round_name).entries}
    for path in sorted(recorded_bert(round_name).keys() & ours.keys()):
        passes = recorded_bert(round_name)[path]
        rcp, also = ours[path], ours[path].also
        assert also is not None
        found = {one.counted: one.verdict for one in (rcp, also)}
        flagged = FLAGGED.get((round_name, path.partition("/")[0]))
        if flagged is not None:
            assert (rcp.verdict, rcp.counted) == flagged, path
            continue
        assert {kind: found[kind] == "pass" for kind in found} == {
            "epoch_num": passes["epochs"],
            "train_samples": passes["train_samples"],
        }, path
        by_samples = passes["train_samples"] and not passes["epochs"]
        assert rcp.counted == ("train_samples" if by_samples else "epoch_num"), path
        assert (rcp.verdict == "pass") == any(passes.values()), path


@pytest.mark.skipif(not set(WITH_ENTRIES) >= {"1.0", "1.1", "2.0"}, reason="needs the rounds with such entries")
def test_only_bert_that_fails_by_both_counts_stays_rejected():
    of_graphcore = {"1.0": ["pod64"], "1.1": ["pod16", "pod64"], "2.0": ["pod256"]}
    expected = [
        f"{round_name} Graphcore/results/ipu-{pod}-POPART-closed/bert"
        for round_name, pods in of_graphcore.items()
        for pod in pods
    ]
    found = [
        f"{round_name} {entry.path}"
        for round_name in WITH_ENTRIES
        for entry in checked(round_name).entries
        if entry.benchmark == "bert" and entry.rcp.verdict in ("fail", "missing")
    ]
    assert sorted(found) == sorted(expected)


#: How far the published results that count as the reference does are off at most, either way.
COMPARABLE = 2.0


@pytest.mark.parametrize("round_name", WITH_ENTRIES)
def test_counts_are_compared_unless_they_are_far_off_in_the_unit_of_the_reference(round_name: str):
    """What is compared is within a factor of 2 of the reference, and what is not lies more than 10,000 times off."""
    for entry in checked(round_name).entries:
        for rcp in filter(None, (entry.rcp, entry.rcp.also)):
            if rcp.reference_mean and rcp.logs_unit is None and rcp.mean is not None:
                assert 1 / COMPARABLE < rcp.mean / rcp.reference_mean < COMPARABLE, entry.path
            elif rcp.reference_mean and rcp.logs_unit is not None:
                assert all(point is None or 1e4 * point < rcp.reference_mean for point in rcp.points), entry.path


def test_the_epochs_of_unet3d_beside_a_reference_in_samples_are_not_compared():
    """The review committee's factor of this entry is the reference's mean by 168 times its own: it counts epochs."""
    place = SHARED / "cases" / "v3.1" / "Quanta_Cloud_Technology"
    if not place.is_dir():
        pytest.skip(f"needs {place}")
    (entry,) = mlsub.check(place, usage="training", round="3.1", jobs=1).entries
    rcp = entry.rcp
    said = (entry.official, rcp.verdict, rcp.mean, rcp.unit, rcp.logs_unit)
    assert said == (Verdict.REJECTED, "fail", None, "samples", "epochs")
    assert rcp.reference_mean is not None
    points = [0.0 if point is None else point for point in rcp.points]
    assert rcp.reference_mean / (168 * mean_of(trim(points, "unet3d"))) == pytest.approx(entry.score.scaling)


@pytest.mark.parametrize("round_name", TOO_DEEP)
def test_logs_one_folder_too_deep_are_no_results(round_name: str):
    deep = [path.relative_to(folder(round_name)).as_posix() for path in folder(round_name).glob(TOO_DEEP[round_name])]
    assert len([path for path in deep if Path(path).name.startswith("result_")]) == 10
    assert not {log.path for log in checked(round_name).logs}.intersection(deep)
