"""What is told while a log still grows: at once what no record can mend any more, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.commands.watch.growing import GrowingLog
from mlsub.judge.log import LogTask
from mlsub.rounds import get_round
from mlsub.rules.overlay import check_overlay
from tests.commands.watch.scene import at
from tests.make_tree import Log, make_log


def rules_by_line(log: Log, usage: str = "training", round_name: str = "1.0", overlay: str | None = None) -> list[str]:
    """The rules told, each with the 0-based line after which it was."""
    task = LogTask("-", "-", usage, round_name, overlay)
    growing = GrowingLog(task, get_round(usage, round_name, overlay), lambda _: None)
    told: dict[str, int] = {}
    for number, line in enumerate(log.text().encode().splitlines(keepends=True)):
        growing.feed(line)
        for found in growing.findings():
            told.setdefault(found.rule, number)
    return [f"{rule}@{number}" for rule, number in told.items()]


def test_a_good_log_is_never_blamed() -> None:
    for benchmark in ("resnet", "bert", "unet3d"):
        assert rules_by_line(make_log(benchmark)) == []


def test_a_wrong_value_at_its_line() -> None:
    log = make_log()
    log.put("lars_epsilon", value=0.1)
    assert rules_by_line(log) == [f"key.lars_epsilon.value@{log.at('lars_epsilon')}"]


def test_a_value_of_an_optimizer_once_the_optimizer_is_known() -> None:
    log = make_log()
    log.put("lars_epsilon", value=0.1)
    name = log.lines.pop(log.at("opt_name"))
    log.lines.insert(log.at("init_stop"), name)
    assert rules_by_line(log) == [f"key.lars_epsilon.value@{log.at('opt_name')}"]


def test_a_key_twice_with_another_value() -> None:
    log = make_log()
    place = log.at("global_batch_size")
    record = log.records("global_batch_size")[0]
    log.lines.insert(place + 3, {**record, "value": 1})
    assert rules_by_line(log) == [f"key.global_batch_size.count@{place + 3}"]


def test_a_key_twice_with_the_same_value_is_a_warning() -> None:
    log = make_log()
    place = log.at("global_batch_size")
    log.lines.insert(place + 3, dict(log.records("global_batch_size")[0]))
    assert rules_by_line(log) == [f"key.global_batch_size.repeated@{place + 3}"]


def test_an_init_phase_over_its_limit() -> None:
    log = make_log()
    for record in log.records()[log.at("init_stop") :]:
        record["time_ms"] += 1_800_000
    assert rules_by_line(log) == [f"key.init_stop.time@{log.at('init_stop')}"]


def test_a_wrong_order_as_soon_as_both_are_there() -> None:
    log = make_log()
    stop = log.lines.pop(log.at("init_stop"))
    log.lines.insert(log.at("run_start") + 1, stop)
    told = rules_by_line(log)
    assert set(told) == {f"key.init_stop.order@{log.at('init_stop')}", f"key.run_start.order@{log.at('init_stop')}"}


def test_metadata_that_lacks_what_it_must_say() -> None:
    log = make_log()
    del log.records("eval_accuracy")[0]["metadata"]["epoch_num"]
    assert rules_by_line(log) == [f"key.eval_accuracy.metadata@{log.at('eval_accuracy')}"]


def test_a_broken_record_at_its_line_and_in_words_that_do_not_end_the_log() -> None:
    log = make_log()
    log.lines.insert(5, ':::MLLOG {"key": "broken')
    assert rules_by_line(log) == ["log.record-undecodable@5"]
    growing = GrowingLog(LogTask("-", "-", "training", "1.0"), get_round("training", "1.0"), lambda _: None)
    growing.feed(b':::MLLOG {"key": "broken\n')
    [found] = growing.findings()
    assert found.message == "A record cannot be decoded"
    last = growing.report().findings[0]
    assert last.message.startswith("The log ends with a record")
    assert (found.rule, found.line, found.expected) == (last.rule, last.line, last.expected)


@pytest.mark.parametrize("key", ["seed", "cache_clear", "opt_name", "init_start", "block_start", "eval_accuracy"])
def test_nothing_is_missing_before_the_end(key: str) -> None:
    log = make_log()
    log.drop(key)
    told = [rule for rule in rules_by_line(log) if ".count@" in rule or ".any-of@" in rule or ".target@" in rule]
    assert told == []


def test_a_target_not_yet_reached_is_no_finding() -> None:
    log = make_log()
    log.put("eval_accuracy", value=0.1)
    assert rules_by_line(log) == []


def test_how_often_a_key_of_v0_6_must_appear_is_open_until_its_optimizer_is_known() -> None:
    record = ':::MLL 1.0 {}: {{"value": {}, "metadata": {{}}}}'
    log = Log(
        [
            record.format("submission_benchmark", '"resnet"'),
            record.format("submission_division", '"closed"'),
            record.format("lars_epsilon", "0.0"),
            record.format("lars_opt_weight_decay", "-1"),
            record.format("opt_name", '"lars"'),
        ]
    )
    assert rules_by_line(log, round_name="0.6") == ["key.lars_opt_weight_decay.value@3"]


def test_measures_that_belong_together_are_judged_only_together() -> None:
    log = Log(
        [
            {"time_ms": n, "key": key, "value": value, "metadata": metadata, "namespace": "", "event_type": ""}
            for n, (key, value, metadata) in enumerate(
                [
                    ("submission_benchmark", "stable_diffusion", {}),
                    ("submission_division", "closed", {}),
                    ("eval_accuracy", 100.0, {"metric": "FID", "samples_count": 1}),
                    ("eval_accuracy", 0.16, {"metric": "CLIP", "samples_count": 2}),
                ]
            )
        ]
    )
    assert rules_by_line(log, round_name="4.0") == []


def test_rules_of_the_house(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text(
        "title: House rules\n"
        "common:\n"
        '  "1.0":\n'
        "    both:\n"
        "      submission_platform: {one_of: [rack2]}\n"
        "      cluster_id: exactly_one\n"
    )
    log = make_log()
    told = rules_by_line(log, overlay=check_overlay(file))
    assert told == [f"house.submission_platform.value@{log.at('submission_platform')}"]


def test_asking_changes_nothing() -> None:
    log = make_log()
    log.put("lars_epsilon", value=0.1)
    task = LogTask("-", "-", "training", "1.0")
    asked = GrowingLog(task, get_round("training", "1.0"), lambda _: None)
    left = GrowingLog(task, get_round("training", "1.0"), lambda _: None)
    lines = log.text().encode().splitlines(keepends=True)
    assert at(lines, "run_stop") == len(lines) - 1
    for line in lines:
        asked.feed(line)
        left.feed(line)
        assert asked.findings() == asked.findings()
    assert asked.report() == left.report()
