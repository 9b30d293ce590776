"""The olympic mean, the three bases of a score, and the factor in scaling.json; one that cannot be used is told."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlperf_logging.result_summarizer import result_summarizer
from mlperf_logging.result_summarizer.result_summarizer import _compute_olympic_average

from mlsub.log.run import Timeline
from mlsub.score import (
    FILE,
    MAX_BYTES,
    ScalingFile,
    add_in_order,
    audit_scaling,
    olympic_mean,
    read_scaling,
    score_of,
    weak_minutes,
)
from tools.support.corpus import CORPUS
from tools.support.runner import check


def test_a_sum_is_the_same_in_every_python() -> None:
    """From 3.12 on, ``sum`` makes 1.0 of it."""
    assert add_in_order([0.1] * 10) == 0.9999999999999999
    assert olympic_mean([0.0, *[0.1] * 10, 1.0], 1) == 0.09999999999999999


@pytest.mark.parametrize("expected", [1.0, 1.25])
@pytest.mark.parametrize(("file", "scaling"), [(None, 1.0), (1.0, 1.0), (1.5, 1.5)])
def test_the_published_score_has_the_factor_of_the_file_alone(
    expected: float, file: float | None, scaling: float
) -> None:
    score = score_of(10.0, expected, ScalingFile(file))
    assert (score.unscaled, score.published, score.expected) == (10.0, 10.0 * scaling, 10.0 * expected)
    assert (score.scaling, score.expected_scaling, score.scaling_file) == (scaling, expected, file is not None)


def test_without_a_mean_there_is_no_score() -> None:
    score = score_of(None, 1.25, ScalingFile())
    assert (score.unscaled, score.published, score.expected) == (None, None, None)


def test_a_product_beyond_all_numbers_is_no_score() -> None:
    published = score_of(1.7e308, 1.0, ScalingFile(2.0))
    assert (published.unscaled, published.published, published.expected) == (1.7e308, None, 1.7e308)
    expected = score_of(1.7e308, 2.0, ScalingFile())
    assert (expected.unscaled, expected.published, expected.expected) == (1.7e308, 1.7e308, None)


@pytest.mark.parametrize(
    ("file", "expected", "same"),
    [
        *((None, 1.0, True), (None, 1.0 + 2**-52, True), (None, 1.000001, False), (None, 1.25, False)),
        *((1.25, 1.25, True), (1.250001, 1.25, True), (1.2501, 1.25, False), (1.0, 1.25, False), (1.25, 1.0, False)),
    ],
)
def test_rounding_in_a_file_makes_no_difference(file: float | None, expected: float, same: bool) -> None:
    assert score_of(10.0, expected, ScalingFile(file)).as_expected is same


@pytest.mark.parametrize(
    ("content", "factor"),
    [
        *(('{"scaling_factor": 1.023}', 1.023), ('{\n "scaling_factor": 2}', 2.0), ('{"scaling_factor": 1e3}', 1000.0)),
        ('{"scaling_factor": 2}'.ljust(MAX_BYTES), 2.0),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_factor_is_read(content: str, factor: float, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    assert read_scaling(tmp_path, "x") == ScalingFile(factor)


def test_no_file_is_no_factor(tmp_path: Path) -> None:
    assert read_scaling(tmp_path, "x") == ScalingFile()


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "{}", "1.02", "null", "[" * 50_000, " " * 100_000, '{"factor": 1.02}'),
        *(f'{{"scaling_factor": {odd}}}' for odd in ("null", '"1.02"', "true", "0", "-1", "NaN", "Infinity")),
        *('{"scaling_factor": 1e308}', '{"scaling_factor": 1000.01}', '{"scaling_factor": 1e999}'),
        '{"scaling_factor": 2}'.ljust(MAX_BYTES + 1),
    ],
)
def test_a_file_that_cannot_be_used_is_one_finding(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    read = read_scaling(tmp_path, "ACME/x")
    assert read.factor is None
    (finding,) = read.findings
    assert (finding.rule, finding.path, finding.kind) == ("score.scaling-file", f"ACME/x/{FILE}", "review")
    assert len(finding.actual or "") < 200


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_an_encoding_that_the_official_summarizer_does_not_read_is_a_finding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"scaling_factor": 1.023}', encoding=encoding)
    with pytest.raises((TypeError, ValueError)):  # It stumbles over its own error as well.
        result_summarizer._get_scaling_factor(str(tmp_path))
    read = read_scaling(tmp_path, ".")
    assert (read.factor, [f.rule for f in read.findings]) == (None, ["score.scaling-file"])


def test_bytes_that_are_no_text_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff\xfe\x00")
    assert [f.rule for f in read_scaling(tmp_path, ".").findings] == ["score.scaling-file"]
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    assert [f.path for f in read_scaling(tmp_path, ".").findings] == [FILE]


@pytest.mark.parametrize(("file", "told"), [(1.0238, False), (1.0238001, False), (1.0284, True), (None, False)])
def test_a_published_factor_that_is_not_the_expected_one_is_told(file: float | None, told: bool) -> None:
    found = list(audit_scaling("x", score_of(10.0, 1.0238, ScalingFile(file))))
    assert [(f.rule, f.expected, f.actual) for f in found] == (
        [("score.scaling-differs", "1.023800", "1.028400 in scaling.json")] if told else []
    )


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_a_factor_beside_a_bypassed_test_is_a_note() -> None:
    """It is the mean of the reference by that of the runs, which miss the limit by less than a tenth of a percent."""
    (found,) = check(CORPUS / "v2.0" / "Google").of("score.scaling-differs")
    assert (found["severity"], found["actual"]) == ("note", "1.023000 in scaling.json")


def test_weak_scaling_counts_from_the_first_start_to_the_last_stop() -> None:
    runs = [Timeline(run_start=60_000.0 * n, run_stop=60_000.0 * (n + 10)) for n in range(4)]
    assert weak_minutes(runs, 4) == 13.0
    assert weak_minutes(runs, 5) is None
    assert weak_minutes([Timeline()], 1) is None


TIMES = st.floats(min_value=0.001, max_value=1e6, allow_nan=False)
exactly = settings(derandomize=True, deadline=None)

# Minutes of the runs, how many fall out at each end, the mean.
TABLE: dict[str, tuple[list[float | None], int, float | None]] = {
    "five runs": ([10.0, 11.0, 12.0, 13.0, 14.0], 1, 12.0),
    "in any order": ([14.0, 10.0, 13.0, 11.0, 12.0], 1, 12.0),
    "outliers count for nothing": ([0.5, 11.0, 12.0, 13.0, 9000.0], 1, 12.0),
    "equal runs": ([7.25] * 10, 1, 7.25),
    "one failed is the slowest": ([10.0, None, 12.0, 13.0, 14.0], 1, 13.0),
    "a failed run is slower than any time": ([10.0, 11.0, 12.0, 1e300, None], 1, (11.0 + 12.0 + 1e300) / 3),
    "two failed": ([10.0, None, None, 13.0, 14.0], 1, None),
    "all failed": ([None] * 5, 1, None),
    "four of forty failed": ([None] * 4 + [float(n) for n in range(1, 37)], 4, 20.5),
    "five of forty failed": ([None] * 5 + [float(n) for n in range(1, 36)], 4, None),
    "three runs": ([1.0, 2.0, 30.0], 1, 2.0),
    "too few to drop any": ([1.0, 2.0], 1, None),
    "one run": ([1.0], 1, None),
    "no run": ([], 1, None),
    "no run, none to drop": ([], 0, None),
    "nothing dropped": ([1.0, 2.0, 6.0], 0, 3.0),
    "nothing dropped, one failed": ([1.0, None], 0, None),
    "a negative time is a time": ([-5.0, 1.0, 2.0, 3.0, 4.0], 1, 2.0),
    "not rounded": ([0.1, 0.2, 0.3, 0.4, 0.5], 1, (0.2 + 0.3 + 0.4) / 3),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table(name: str) -> None:
    minutes, dropped, mean = TABLE[name]
    assert olympic_mean(minutes, dropped) == mean


@exactly
@given(st.lists(TIMES, min_size=9, max_size=40), st.integers(min_value=0, max_value=8))
def test_there_is_a_score_exactly_while_no_more_runs_fail_than_fall_out(minutes: list[float], failed: int) -> None:
    runs = [*minutes[failed:], *[None] * failed]
    assert (olympic_mean(runs, 4) is not None) is (failed <= 4)


@exactly
@given(st.lists(TIMES, max_size=60), st.integers(min_value=0, max_value=5), st.sampled_from([1, 4]))
def test_it_is_that_of_the_official_summarizer_to_the_last_bit(minutes: list[float], failed: int, most: int) -> None:
    official = _compute_olympic_average(list(minutes), failed, most) if failed <= most else None
    assert olympic_mean([*minutes, *[None] * failed], most) == official


@exactly
@given(st.lists(st.one_of(st.none(), TIMES), max_size=40), st.integers(min_value=0, max_value=45))
def test_the_answer_is_a_finite_number_or_none_and_the_input_is_left_alone(
    minutes: list[float | None], dropped: int
) -> None:
    before = list(minutes)
    mean = olympic_mean(minutes, dropped)
    assert mean is None or math.isfinite(mean)
    assert minutes == before
