"""Results that are compared with like ones: at which size, what is left of ideal scaling, and what else changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mlsub.score.alike import SystemSize, changes, scaling_families, usual_size
from mlsub.submission.result import Result
from tests.review.folding import make_run, report_of
from tests.score.reports import make_result, make_score

USUAL = make_result()
COUNTS, MINUTES = st.integers(1, 10_000), st.floats(1e-3, 1e5)


def made(count: int | None, minutes: float | None = 10.0, round_: str = "5.1", **facts: Any) -> Result:
    """A result of so many H200, and what is not as usual."""
    usual = {"accelerator_name": "H200", "framework": "PyTorch 2.5", "round": round_}
    return replace(USUAL, accelerators_count=count, score=make_score(minutes), **usual | facts)


@pytest.mark.parametrize(
    ("results", "size"),
    [
        ([], None),
        ([made(0, number_of_nodes=None), made(None)], None),
        ([made(0, number_of_nodes=4), made(0, number_of_nodes=2)], SystemSize(2, "node")),
        ([made(64), made(64, round_="5.0"), made(8)], SystemSize(8)),
        ([made(512), made(64), made(64), made(512, round_="5.0"), made(0)], SystemSize(512)),
        ([made(512), made(64), made(64)], SystemSize(64)),
        ([made(512), made(64)], SystemSize(64)),
    ],
    ids=["none", "not-stated", "without-accelerators", "8", "most-rounds", "most-results", "least"],
)
def test_results_are_compared_at_8_or_the_size_that_most_rounds_have(
    results: list[Result], size: SystemSize | None
) -> None:
    assert usual_size(results) == usual_size(results[::-1]) == size


@given(st.lists(st.tuples(COUNTS, st.sampled_from(["4.1", "5.0", "5.1"])), min_size=1, max_size=12))
def test_the_usual_size_is_one_that_no_other_is_more_usual_than(sizes: list[tuple[int, str]]) -> None:
    found = usual_size(made(count, round_=name) for count, name in sizes)
    rounds = {count: {name for other, name in sizes if other == count} for count, _ in sizes}
    assert found is not None
    assert found.number == 8 if 8 in rounds else len(rounds[found.number]) == max(map(len, rounds.values()))


def test_a_size_is_told_in_words() -> None:
    assert [str(size) for size in (SystemSize(1), SystemSize(2048), SystemSize(1, "node"), SystemSize(4, "node"))] == [
        "1 accelerator",
        "2,048 accelerators",
        "1 node without accelerators",
        "4 nodes without accelerators",
    ]


def efficiencies(*results: Result) -> list[list[tuple[int | None, float]]]:
    families = scaling_families(results)
    return [[(step.result.accelerators_count, round(step.efficiency, 3)) for step in steps] for steps in families]


def test_efficiency_is_what_is_left_of_the_chip_minutes_of_the_smallest_size() -> None:
    """Sizes as those of GB200 on Llama 3.1 405B."""
    gb200 = [made(2560, 18.79), made(512, 84.93), made(5120, 9.99)]
    assert efficiencies(*gb200) == [[(512, 1.0), (2560, 0.904), (5120, 0.85)]]


@pytest.mark.parametrize(
    "other",
    [
        {"round": "5.0"}, {"division_name": "open"}, {"benchmark_name": "bert"}, {"organisation_name": "ZETA"},
        {"accelerator_name": "B200"}, {"accelerator_name": None}, {"scaling_type": "weak"},
        {"score": make_score(None)}, {"accelerators_count": 0}, {"accelerators_count": 8},
    ],
    ids=lambda other: "-".join(map(str, *other.items())),
)  # fmt: skip
def test_a_family_is_of_one_submitter_accelerator_benchmark_round_and_division(other: dict[str, Any]) -> None:
    assert efficiencies(made(8), replace(made(64, 2.0), **other)) == []


def test_open_results_which_may_be_of_several_models_have_no_efficiency() -> None:
    assert efficiencies(made(8, division_name="open"), made(64, 2.0, division_name="open")) == []


def test_of_several_results_of_a_size_the_best_counts() -> None:
    assert efficiencies(made(8, 20.0), made(8, 10.0), made(16, 10.0), made(16, 6.25)) == [[(8, 1.0), (16, 0.8)]]


@given(st.dictionaries(COUNTS, MINUTES, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_efficiency_is_the_speed_up_by_the_accelerators_in_any_order(sizes: dict[int, float], order: Any) -> None:
    results = [made(count, minutes) for count, minutes in sizes.items()]
    order.shuffle(results)
    (family,) = scaling_families(results)
    least = min(sizes)
    assert [step.result.accelerators_count for step in family] == sorted(sizes)
    for step in family:
        count = step.result.accelerators_count or 0
        assert step.efficiency == pytest.approx(sizes[least] / sizes[count] / (count / least))


@given(COUNTS, MINUTES, st.integers(2, 64))
def test_ideal_scaling_is_all_of_it(count: int, minutes: float, times: int) -> None:
    ((_, step),) = scaling_families([made(count, minutes), made(count * times, minutes / times)])
    assert step.efficiency == pytest.approx(1.0)


def logged(**values: Any) -> dict[str, Any]:
    return {"logs": tuple(report_of(make_run("llama2_70b_lora", **values)) for _ in range(3))}


def rcp(**values: Any) -> dict[str, Any]:
    return {"rcp": replace(USUAL.rcp, **values)}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({}, {}, ()),
        (rcp(batch_size=1536), rcp(batch_size=1048576.0), ("batch size 1,536 to 1,048,576",)),
        (rcp(batch_size=None), rcp(), ()),
        (rcp(mean=100.0), rcp(mean=123.0), ("23% more samples to converge",)),
        (rcp(mean=100.0), rcp(mean=75.0), ("25% fewer samples to converge",)),
        (rcp(mean=100.0), rcp(mean=100.4), ()),
        (rcp(mean=None), rcp(), ()),
        (logged(a="b", global_batch_size=8, number_of_nodes=1), logged(a="b", global_batch_size=16), ()),
        (logged(a=1), logged(a=2), ("1 other hyperparameter (a)",)),
        (logged(a=1, b=1, c=1, d=1), logged(), ("4 other hyperparameters (a, b, c and 1 more)",)),
        ({}, {"framework": None}, ("software PyTorch 2.5 to –",)),
    ],
)  # fmt: skip
def test_what_else_changed_is_told(one: dict[str, Any], other: dict[str, Any], said: tuple[str, ...]) -> None:
    assert changes(made(8, **one), made(64, **other)) == said
