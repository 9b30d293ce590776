"""mlsub and the official convergence checker of each round give one verdict on entries about its limit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mlsub.convergence import mean_of, verdict
from tools.oracle.entries import KNOWN, SHAPES, Both, EntryCase, Place, entry_case, places, tried
from tools.oracle.official_rcp import DAYS, official_test, runs_agree
from tools.oracle.shared import ABSENT, folder, has_entries, present, recorded_entries
from tools.support.effort import effort
from tools.support.entry_logs import log_of

SEED = "ci-1"
ENTRIES = effort(180, 1000, 45)
#: Published entries of a round that the oracle is compared on with what was recorded in its day: the smallest.
SMALLEST = effort(2, 10)
LLAMA = Place("training", "5.1", "llama31_8b")
#: ResNet in v1.1 at a batch size with a reference point that accepts means from 38.906 on.
RESNET = Place("training", "1.1", "resnet")


def _problem(number: int, above: Path) -> str | None:
    """What is wrong with a try; each has a folder of its own, as reference data is read once a path."""
    scratch = above / str(number)
    scratch.mkdir()
    return tried(entry_case(SEED, number, scratch), scratch).problem


@pytest.mark.slow
def test_entries_about_the_limit_get_one_verdict(tmp_path: Path) -> None:
    assert [problem for number in range(ENTRIES) if (problem := _problem(number, tmp_path))] == []


def test_the_entries_are_of_every_round_and_of_every_shape(tmp_path: Path) -> None:
    cases = [entry_case(SEED, number, tmp_path) for number in range(effort(2, 6) * len(places()))]
    assert {case.place for case in cases} == set(places())
    assert {(place.usage, place.round) for place in places()} >= DAYS.keys()
    assert all(any(shape in case.what for case in cases) for shape in SHAPES)


def test_a_mean_that_is_off_by_one_in_1e12_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "mean_of", lambda values: mean_of(values) * (1 + 1e-12))
    assert any(_problem(number, tmp_path) for number in range(ENTRIES))


@pytest.mark.parametrize("place", places(), ids=lambda place: "-".join(place))
def test_the_oracle_asks_for_as_many_runs_as_the_round(place: Place) -> None:
    assert runs_agree(*place)


def test_the_oracle_with_its_statistics_kept_answers_as_without(tmp_path: Path) -> None:
    latest = [place for place in places() if (place.usage, place.round) not in DAYS]
    number, compared = 0, 0
    while compared < effort(5, 20):
        case = entry_case(SEED, number, tmp_path)
        number += 1
        # Files of one content: the installed checker reads them in the order in which the file system lists them.
        if case.place in latest and case.reference is None and len(set(case.logs)) == 1:
            theirs = tried(case, tmp_path).theirs
            as_is = official_test(
                tmp_path / case.place.name, *case.place[:2], bypass=case.bypass, samples=case.samples, today=True
            )
            assert str(theirs) == str(as_is)
            compared += 1


def _smallest(round_name: str) -> list[str]:
    """Small published entries whose answer was recorded."""
    if not present() or not has_entries(round_name):
        return []
    recorded = recorded_entries(round_name)
    asked = [path for path, entry in recorded.items() if (entry.get("rcp") or {}).get("epochs", {}).get("msg")]
    sizes = {
        path: sum(log.stat().st_size for log in (folder(round_name) / path).glob("result_*.txt")) for path in asked
    }
    return sorted(asked, key=lambda path: (sizes[path], path))[:SMALLEST]


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("round_name", [name for usage, name in DAYS if usage == "training"])
def test_the_oracle_says_what_was_recorded_in_the_day_of_a_round(round_name: str) -> None:
    paths = _smallest(round_name)
    assert paths
    for path in paths:
        recorded = recorded_entries(round_name)[path]["rcp"]["epochs"]
        theirs = official_test(folder(round_name) / path, "training", round_name)
        assert (theirs.passed, theirs.message[:12]) == (bool(recorded["passed"]), recorded["msg"][:12]), path


def case_of(place: Place, sizes: list[Any], points: list[Any], *, bypass: bool = False, **more: Any) -> EntryCase:
    unit = "samples_count" if place is LLAMA else "epoch_num"
    pairs = zip(sizes, points, strict=True)
    logs = tuple(log_of(place.name, size, point, unit=unit, **more) for size, point in pairs)
    return EntryCase(place, logs, bypass, False, None, "by hand")


_SLOW = 10**8
#: An entry for each named difference (docs/deviations.yaml): mlsub rejects it, the official checker does not.
DIFFERENT: dict[str, EntryCase] = {
    "nan-count": case_of(LLAMA, [32] * 10, [float("nan")] + [_SLOW] * 9),
    "endless-size": case_of(LLAMA, [-1e15] * 10, [_SLOW] * 10),
    "endless-count": case_of(LLAMA, [32] * 10, [10**400] + [_SLOW] * 9),
    "too-few-runs": case_of(LLAMA, [32] * 2, [_SLOW] * 2, bypass=True),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_each_named_difference_is_one(name: str, tmp_path: Path) -> None:
    both = tried(DIFFERENT[name], tmp_path)
    assert (both.passed, both.theirs.passed, both.problem) == (False, True, None)
    assert [other for other, known in KNOWN.items() if known(both)] == [name]


def _own(case: EntryCase, above: Path, *records: tuple[int, list[float]]) -> Both:
    content = {
        f"{n}": {"Benchmark": case.place.name, "BS": size, "Hyperparams": {}, "Epochs to converge": points}
        for n, (size, points) in enumerate(records)
    }
    (above / "reference.json").write_text(json.dumps(content))
    return tried(case._replace(reference="by hand"), above)


def test_a_mean_of_zero_has_no_factor(tmp_path: Path) -> None:
    """The round lets the benchmark be 46,080 samples earlier than the limit, which here is below zero."""
    case = case_of(Place("training", "5.1", "llama31_405b"), [64] * 3, [0] * 3)
    case = case._replace(logs=tuple(text.replace("epoch_num", "samples_count") for text in case.logs))
    both = _own(case, tmp_path, (64, [40.0, 41.0, 39.0] * 3))
    assert (both.passed, both.theirs.passed, both.problem) == (True, True, None)
    assert (both.ours.scaling, both.theirs.scaling) == (1.0, math.inf)


FAST, SLOW, MIDDLE = [10.0, 10.1, 9.9] * 4, [40.0, 40.1, 39.9] * 4, [20.0, 20.1, 19.9] * 4


@pytest.mark.parametrize("place", [RESNET, RESNET._replace(round="2.1"), RESNET._replace(round="4.0")], ids=str)
@pytest.mark.parametrize("size", [64, 100, 128, 150, 256])
@pytest.mark.parametrize("point", [9.95, 19.95, 25, 39.95])
def test_of_reference_points_of_one_batch_size_the_first_counts(
    place: Place, size: int, point: float, tmp_path: Path
) -> None:
    """All of them stay where the pruning keeps one; people's own reference data may be like that."""
    case = case_of(place, [size] * 5, [point] * 5)
    both = _own(case, tmp_path, (64, FAST), (128, SLOW), (128, MIDDLE), (256, SLOW), (256, [45.0, 45.1, 44.9] * 4))
    assert both.problem is None
