"""The sequence of v0.6, measures that belong together, and notes: what is told of a log that breaks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.findings import Finding
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.log import Log, generated
from tools.support.judging import report_on

OLD = Combination("0.6", "ssd", "closed", None)
PAIRED = Combination("5.0", "stable_diffusion", "closed", None)


def _errors(log: Log, combination: Combination, folder: Path) -> list[Finding]:
    file = folder / "result_0.txt"
    file.write_bytes(log.content())
    report = report_on(file, *usage_and_round(combination.round))
    return [finding for finding in report.findings if finding.rejects]


def _with(log: Log, key: str, place: int, **metadata: object) -> Log:
    at = log.places(key)[place]
    return log.altered(at, metadata={**log.metadata(at), **metadata})


@pytest.mark.parametrize(
    ("key", "metadata", "expected", "actual"),
    [
        ("epoch_start", {"epoch_num": 5}, "epoch_num one above that of the epoch before", "5 after 2"),
        ("epoch_stop", {"epoch_num": 5}, "the epoch_num of its epoch_start", "5, not 3"),
        ("eval_start", {"epoch_num": 2}, "epoch_num above that of the evaluation before", "2 after 2"),
        ("eval_start", {"epoch_num": 9}, "epoch_num of an epoch that has begun", "9, the last epoch is 3"),
        ("eval_accuracy", {"epoch_num": 1}, "the epoch_num of the last eval_start", "1, not 3"),
        ("block_start", {"first_epoch_num": 1}, "first_epoch_num that of the next epoch", "1, not 3"),
    ],
)
def test_a_break_of_the_sequence_is_told_once_at_its_line(
    key: str, metadata: dict[str, object], expected: str, actual: str, tmp_path: Path
) -> None:
    log = _with(generated(OLD), key, -1, **metadata)
    (found,) = _errors(log, OLD, tmp_path)
    assert (found.rule, found.expected, found.actual) == (f"key.{key}.nesting", expected, actual)
    assert found.line == log.places(key)[-1] + 1


def test_an_evaluation_before_the_last_one_was_printed(tmp_path: Path) -> None:
    log = generated(Combination("0.6", "minigo", "closed", None))
    at = log.places("eval_accuracy")[0]
    (found,) = _errors(log.replaced(at), OLD, tmp_path)
    assert found.rule == "key.eval_start.nesting"
    assert found.actual == "that evaluation logged none"


def test_measures_are_put_together_by_step_whatever_lies_between(tmp_path: Path) -> None:
    log = generated(PAIRED)
    places = log.places("eval_accuracy")
    pairs = [log[place] for place in places]
    rest = [line for line in log if line.key != "eval_accuracy"]
    shuffled = Log([*rest[:-1], *reversed(pairs), rest[-1]])
    assert _errors(shuffled, PAIRED, tmp_path) == []


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ({"samples_count": 7}, "key.aggregated_eval_accuracy.value"),
        ({"metric": "KID"}, "key.aggregated_eval_accuracy.value"),
        ({"samples_count": [1]}, "key.aggregated_eval_accuracy.metadata"),
    ],
)
def test_a_measure_without_its_partner_rejects(metadata: dict[str, object], rule: str, tmp_path: Path) -> None:
    found = _errors(_with(generated(PAIRED), "eval_accuracy", 0, **metadata), PAIRED, tmp_path)
    assert rule in {finding.rule for finding in found}


def _late(round_name: str, minutes: float, folder: Path) -> list[str | None]:
    """The remedies of a gpt3 log whose initialisation took so long."""
    log = generated(Combination(round_name, "gpt3", "closed", None))
    start = log.record(log.first("init_start"))["time_ms"]
    log = log.altered(log.first("init_stop"), time_ms=start + minutes * 60_000)
    found = _errors(log, Combination(round_name, "gpt3", "closed", None), folder)
    return [finding.fix for finding in found if finding.rule == "key.init_stop.time"]


def test_gpt3_of_v30_is_told_that_the_written_rules_give_more_time(tmp_path: Path) -> None:
    (fix,) = _late("3.0", 45, tmp_path)
    assert "give gpt3 60 minutes; the official checker enforced 30" in str(fix)
    assert len(_late("3.0", 30, tmp_path)) == 1
    assert _late("3.0", 29.999, tmp_path) == []


def test_later_rounds_have_no_such_note(tmp_path: Path) -> None:
    (fix,) = _late("3.1", 45, tmp_path)
    assert "60 minutes" not in str(fix)
