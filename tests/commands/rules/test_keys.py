"""``mlsub rules keys``: the list of a benchmark, and all that is wrong with a file of hyperparameters at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docs.reference import keys_with_pages
from mlsub.commands.rules.keys import KeyLine, descriptions, key_list
from mlsub.divisions import DIVISIONS
from mlsub.log.event import STEPS, event_type
from mlsub.present import CI_FORMATS, FORMATS
from mlsub.rounds import all_rounds, get_round, usages
from tests.conftest import ExpectedText
from tools.support.digits import HYPERPARAMETERS
from tools.support.runner import answer_schema, run


def line(benchmark: str, round_: str, key: str, division: str = "closed", usage: str = "training") -> KeyLine:
    keys = key_list(get_round(usage, round_), division, benchmark).keys
    return next(line for line in keys if line.key == key)


def test_every_key_is_described_in_one_line() -> None:
    about = descriptions()
    assert keys_with_pages().keys() == about.keys()
    for key, text in about.items():
        assert 5 <= len(text) <= 120 and "\n" not in text and not text.endswith("."), key


@pytest.mark.parametrize("usage", usages())
def test_the_list_is_in_the_order_of_a_run(usage: str) -> None:
    for round_ in all_rounds(usage):
        for name in round_.benchmarks:
            for division in DIVISIONS:
                keys = key_list(round_, division, name).keys
                steps = [line.step for line in keys]
                assert steps == sorted(steps, key=list(STEPS).index)
                names = [line.key for line in keys]
                assert names.index("init_start") < names.index("init_stop") < names.index("run_start")
                assert names[-1] == "run_stop"
                assert all(line.description for line in keys)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        *(("run_start", "INTERVAL_START"), ("block_stop", "INTERVAL_END"), ("staging_stop", "INTERVAL_END")),
        *(("eval_accuracy", "POINT_IN_TIME"), ("opt_learning_rate_decay_start_step", "POINT_IN_TIME")),
    ],
)
def test_the_type_of_an_event(key: str, kind: str) -> None:
    assert event_type(key) == kind


@pytest.mark.parametrize(
    ("round_", "division", "need"),
    [("1.0", "closed", "may"), ("4.1", "closed", "must"), ("4.1", "open", None), ("0.7", "closed", None)],
)
def test_the_seed_is_told_although_no_rule_of_one_log_names_it(round_: str, division: str, need: str | None) -> None:
    keys = key_list(get_round("training", round_), division, "bert").keys
    assert [line.need for line in keys if line.key == "seed"] == ([need] if need else [])


@pytest.mark.parametrize("round_", ["0.6", "2.1"])
def test_a_key_that_hangs_on_another_says_so(round_: str) -> None:
    found = line("resnet", round_, "lars_epsilon")
    assert (found.need, found.where, found.when) == ("must", "where opt_name is lars", "exactly once")


SLIPS = """\
# What a first attempt looks like.
global_batch_size: 48
gradient_accumulation_steps: 1
opt_name: sgd
learning_rate: 5e-2
opt_momentun: 0.9
opt_weight_decay: "0.0001"
dropout: 0.1
"""


@pytest.fixture
def slips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("hyperparameters.yaml").write_text(SLIPS)
    return "hyperparameters.yaml"


def test_everything_is_said_at_once_to_the_letter(slips: str, expected_text: ExpectedText) -> None:
    outcome = run("rules", "keys", "digits", "--check", slips)
    assert (outcome.status, outcome.stderr) == (1, "")
    expected_text("keys-check.txt", outcome.stdout)


def test_every_format_has_every_finding(slips: str) -> None:
    outcome = run("rules", "keys", "digits", "--check", slips, "--format", "json")
    answer_schema("rules keys check").validate(outcome.document)
    found = outcome.document["findings"]
    assert [(one["line"], one["rule"]) for one in found] == [
        (2, "key.global_batch_size.value"),
        (5, "key.opt_base_learning_rate.count"),
        (5, "key.opt_base_learning_rate.value"),
        (6, "key.opt_momentum.count"),
        (7, "key.opt_weight_decay.value"),
        (8, "preflight.unknown-key"),
        (None, "key.model_hidden_units.count"),
    ]
    assert outcome.document["keys"] == 7
    for format_ in (*FORMATS, *CI_FORMATS):
        written = run("rules", "keys", "digits", "--check", slips, "--format", format_)
        assert written.status == 1
        assert all(one["rule"] in written.stdout for one in found), format_
        refused = run("rules", "keys", "digits", "--check", "gone.yaml", "--format", format_)
        assert (refused.status, "No such file" in refused.stdout) == (2, format_ in CI_FORMATS)


@pytest.mark.parametrize("name", ["good.yaml", "good.json"])
def test_what_is_in_order_is_accepted(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(HYPERPARAMETERS, indent=1))
    outcome = run("rules", "keys", "digits", "--check", str(file))
    assert (outcome.status, outcome.stderr) == (0, "")
    assert f"accepted: {file} has 7 keys" in outcome.stdout
    assert "seed, train_samples" in " ".join(outcome.stdout.split())


def test_open_and_other_rounds_have_rules_of_their_own(slips: str) -> None:
    assert run("rules", "keys", "digits", "--check", slips, "--division", "open").status == 0
    resnet = run("rules", "keys", "resnet", "--round", "2.1", "--check", slips)
    assert (resnet.status, "sgd_opt_base_learning_rate is missing" in resnet.stdout) == (1, True)


def test_rules_of_ones_own_count(slips: str) -> None:
    Path("house.yaml").write_text(
        "title: House\nusage: rehearsal\n"
        "common:\n  '1.0':\n    both:\n      dropout: {occurs: exactly_one, equals: 0}\n"
    )
    outcome = run("rules", "keys", "digits", "--division", "open", "--check", slips, "--rules", "house.yaml")
    assert (outcome.status, "[house.dropout.value]" in outcome.stdout) == (1, True)
    assert "dropout" not in outcome.stdout.partition("preflight.unknown-key")[2]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("gone.yaml", None, "mlsub rules keys: gone.yaml:1: cannot be read: No such file or directory\n"),
        ("hp.yaml", "a: 1\n[", "mlsub rules keys: hp.yaml:2: not YAML: "),
        ("hp.json", "{,}", "mlsub rules keys: hp.json:1: not JSON: "),
        ("hp.yaml", "a\x1b[2J: 1\na: *b", "mlsub rules keys: hp.yaml:"),
        (".", None, "mlsub rules keys: .:1: cannot be read: "),
    ],
)
def test_what_cannot_be_read_is_status_2(
    name: str, text: str | None, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text)
    outcome = run("rules", "keys", "digits", "--check", name)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(line)
    assert "\x1b" not in outcome.stderr


def test_keys_and_values_do_not_steer_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "hp.json"
    file.write_text(json.dumps({"a\x1b[2J\n": 1, "opt_name": "\x1b]0;x\x07", "x" * 100_000: 1}))
    outcome = run("rules", "keys", "digits", "--check", str(file))
    assert outcome.status == 1
    assert "\x1b" not in outcome.stdout
    assert len(outcome.stdout) < 10_000
