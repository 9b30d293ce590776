"""What is told while a log still grows: at once what no record can mend any more, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.watch.model import Found
from mlsub.rules.overlay import check_overlay
from tools.support.make_tree import Log, make_log
from tools.support.scene import Fed


def rules_by_line(log: Log, round_name: str = "1.0", overlay: str | None = None) -> list[str]:
    """The rules told, each with the 0-based line after which it was."""
    fed = Fed(round_name, overlay)
    told: dict[str, int] = {}
    for number, line in enumerate(log.text().encode().splitlines(keepends=True)):
        for one in fed.feed(line):
            if isinstance(one, Found):
                told.setdefault(one.finding.rule, number)
    return [f"{rule}@{number}" for rule, number in told.items()]


@pytest.mark.parametrize("benchmark", ["resnet", "bert", "unet3d"])
def test_a_good_log_is_never_blamed(benchmark: str) -> None:
    assert rules_by_line(make_log(benchmark)) == []


def moved(log: Log, key: str, to: str, after: int = 0) -> None:
    """Put one record before another one, or so many lines behind that."""
    record = log.lines.pop(log.at(key))
    log.lines.insert(log.at(to) + after, record)


def optimizer_late(log: Log) -> None:
    log.put("lars_epsilon", value=0.1)
    moved(log, "opt_name", "init_stop")


def repeated(log: Log, **other: Any) -> None:
    log.lines.insert(log.at("global_batch_size") + 3, {**log.records("global_batch_size")[0], **other})


def long_init(log: Log) -> None:
    for record in log.records()[log.at("init_stop") :]:
        record["time_ms"] += 1_800_000


#: What is done to a log; the keys of the rules told, their aspect, and the key at whose line they are, or lines behind.
WRONG: dict[str, tuple[Callable[[Log], object], list[str], str, str, int]] = {
    "a value": (lambda log: log.put("lars_epsilon", value=0.1), ["lars_epsilon"], "value", "lars_epsilon", 0),
    "a value of an optimizer, once that is known": (optimizer_late, ["lars_epsilon"], "value", "opt_name", 0),
    "a key again with another value": (
        lambda log: repeated(log, value=1), ["global_batch_size"], "count", "global_batch_size", 3,
    ),
    "a key again with the same value": (repeated, ["global_batch_size"], "repeated", "global_batch_size", 3),
    "a long init phase": (long_init, ["init_stop"], "time", "init_stop", 0),
    "an order, as soon as both are there": (
        lambda log: moved(log, "init_stop", "run_start", 1), ["init_stop", "run_start"], "order", "init_stop", 0,
    ),
    "metadata": (
        lambda log: log.records("eval_accuracy")[0]["metadata"].clear(),
        ["eval_accuracy"], "metadata", "eval_accuracy", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_at_its_line(name: str) -> None:
    change, keys, aspect, place, behind = WRONG[name]
    log = make_log()
    change(log)
    assert set(rules_by_line(log)) == {f"key.{key}.{aspect}@{log.at(place) + behind}" for key in keys}


def test_a_broken_record_is_told_in_words_that_do_not_end_the_log() -> None:
    fed = Fed()
    [told] = fed.feed(b':::MLLOG {"key": "broken\n')
    assert isinstance(told, Found) and told.finding.message == "A record cannot be decoded"
    assert fed.log.report().findings[0].message.startswith("The log ends with a record")
    fed.log.end(0)
    assert [one.finding.rule for one in fed.news if isinstance(one, Found)].count(told.finding.rule) == 1


@pytest.mark.parametrize("key", ["seed", "cache_clear", "opt_name", "init_start", "block_start", "eval_accuracy"])
def test_nothing_is_missing_before_the_end(key: str) -> None:
    log = make_log()
    log.put("eval_accuracy", value=0.1)  # A target not yet reached is no finding either.
    log.drop(key)
    told = [rule for rule in rules_by_line(log) if ".count@" in rule or ".any-of@" in rule or ".target@" in rule]
    assert told == []


def test_how_often_a_key_of_v0_6_must_appear_is_open_until_its_optimizer_is_known() -> None:
    values = {
        "submission_benchmark": '"resnet"',
        "submission_division": '"closed"',
        "lars_epsilon": "0.0",
        "lars_opt_weight_decay": "-1",
        "opt_name": '"lars"',
    }
    log = Log([f':::MLL 1.0 {key}: {{"value": {value}, "metadata": {{}}}}' for key, value in values.items()])
    assert rules_by_line(log, round_name="0.6") == ["key.lars_opt_weight_decay.value@3"]


def test_measures_that_belong_together_are_judged_only_together() -> None:
    records = [
        ("submission_benchmark", "stable_diffusion", {}),
        ("submission_division", "closed", {}),
        ("eval_accuracy", 100.0, {"metric": "FID", "samples_count": 1}),
        ("eval_accuracy", 0.16, {"metric": "CLIP", "samples_count": 2}),
    ]
    log = Log(
        [
            {"time_ms": n, "key": key, "value": value, "metadata": metadata, "namespace": "", "event_type": ""}
            for n, (key, value, metadata) in enumerate(records)
        ]
    )
    assert rules_by_line(log, round_name="4.0") == []


def test_rules_of_the_house(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text(
        'title: House rules\ncommon:\n  "1.0":\n    both:\n'
        "      submission_platform: {one_of: [rack2]}\n      cluster_id: exactly_one\n"
    )
    log = make_log()
    told = rules_by_line(log, overlay=check_overlay(file))
    assert told == [f"house.submission_platform.value@{log.at('submission_platform')}"]
