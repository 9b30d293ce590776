"""``mlsub rules keys``: the list of a benchmark, and all that is wrong with a file of hyperparameters at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.reference import keys_with_pages
from mlsub.commands.rules.keys import KeyLine, key_list
from mlsub.divisions import DIVISIONS
from mlsub.log.event import STEPS, event_type, step_of
from mlsub.present import CI_FORMATS, FORMATS
from mlsub.rounds import all_rounds, get_round, usages
from mlsub.rules.load import key_descriptions
from tests.conftest import ExpectedText
from tools.oracle.generate import Combination, combinations, compliant_log, usage_and_round
from tools.support.digits import HYPERPARAMETERS
from tools.support.runner import answer_schema, run
from tools.support.sample import rows


def line(benchmark: str, round_: str, key: str, division: str = "closed", usage: str = "training") -> KeyLine:
    keys = key_list(get_round(usage, round_), division, benchmark).keys
    return next(line for line in keys if line.key == key)


def test_every_key_is_described_in_one_line() -> None:
    about = key_descriptions()
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


BATCHES = [(512, None), (768, None), (4096, None), (8192, "rcp.missing"), (16, None)]


@pytest.mark.parametrize(("size", "rule"), BATCHES)
@pytest.mark.parametrize("division", DIVISIONS)
def test_a_batch_size_that_no_reference_point_covers_is_rejected_in_closed_as_rcp_plan_says(
    size: int, rule: str | None, division: str, tmp_path: Path
) -> None:
    file = tmp_path / "hyperparameters.json"
    file.write_text(json.dumps({**filled("6.0", "flux1"), "global_batch_size": size}, indent=1))
    planned = run("rcp", "plan", "flux1", "--round", "6.0", "--batch-size", str(size))
    assert planned.status == (1 if rule else 0)
    of = ("rules", "keys", "flux1", "--round", "6.0", "--division", division, "--check", str(file))
    outcome = run(*of, "--format", "json")
    rejected = [one for one in outcome.document["findings"] if one["severity"] == "error"]
    found = [rule] if rule and division == "closed" else []
    assert ([one["rule"] for one in rejected], outcome.status) == (found, len(found))
    for one in rejected:
        line = next(at for at, text in enumerate(file.read_text().splitlines(), 1) if "global_batch_size" in text)
        assert (one["line"], one["actual"]) == (line, f"global_batch_size {size}")
        assert "rcp build" in one["fix"]


@pytest.mark.parametrize("size", ["true", "null", "-5", ".nan", "'8192'", "[8192]"])
def test_what_is_no_batch_size_needs_no_reference_point(size: str, tmp_path: Path) -> None:
    file = tmp_path / "hyperparameters.yaml"
    file.write_text(f"global_batch_size: {size}\n")
    outcome = run("rules", "keys", "flux1", "--round", "6.0", "--check", str(file))
    assert (outcome.status, "rcp.missing" in outcome.stdout, outcome.stderr) == (1, False, "")


def test_a_benchmark_without_a_reference_needs_no_reference_point(tmp_path: Path) -> None:
    file = tmp_path / "hyperparameters.yaml"
    file.write_text("global_batch_size: 1000000\n")
    outcome = run("rules", "keys", "minigo", "--round", "1.0", "--check", str(file))
    assert (outcome.status, "rcp.missing" in outcome.stdout) == (1, False)


def test_a_round_of_ones_own_has_no_reference_point_to_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("next.yaml").write_text("title: Next\nrounds:\n  '7.0':\n    benchmarks: [flux1]\n")
    Path("hp.json").write_text(json.dumps({**filled("6.0", "flux1"), "global_batch_size": 8192}))
    outcomes = {
        name: run("rules", "keys", "flux1", "--round", name, "--rules", "next.yaml", "--check", "hp.json").stdout
        for name in ("6.0", "7.0")
    }
    assert {name: "rcp.missing" in text for name, text in outcomes.items()} == {"6.0": True, "7.0": False}
    # Nor is it said to have those of the round before.
    changed = run("rules", "diff", "6.1", "7.0", "--benchmark", "flux1", "--rules", "next.yaml").stdout
    assert "reference point at batch size 512" in changed


def filled(round_name: str, benchmark: str, division: str = "closed", choice: str | None = None) -> dict[str, Any]:
    """The hyperparameters of a log that the rules accept."""
    log = compliant_log(Combination(round_name, benchmark, division, choice))
    return {one["key"]: one["value"] for one in log if step_of(one["key"]) == "hyperparameters"}


END = "...\n"


def fill(template: str, values: dict[str, Any]) -> str:
    """A template with a value behind each key that has none, and those of commented keys that the values have."""
    lines = []
    for text in template.splitlines():
        found = re.match(r"(# )?(\w+):(?:\s+(\S.*?))?\s+# ", text)
        key = found[2] if found else None
        if found and key in values and (found[1] or not found[3]):
            text = f"{key}: {yaml.safe_dump(values.pop(key), default_flow_style=True).removesuffix(END).strip()}"
        elif found and key in values and not found[1]:
            values.pop(key)
        lines.append(text)
    return "\n".join(lines)


@pytest.mark.parametrize(
    "combination",
    rows([one for one in combinations() if usage_and_round(one.round)[1] >= "1.0" and one.benchmark != "minigo"]),
    ids=str,
)
def test_a_template_is_accepted_when_it_is_filled_and_not_before(combination: Combination, tmp_path: Path) -> None:
    usage, round_name = usage_and_round(combination.round)
    of = [combination.benchmark, "--usage", usage, "--round", round_name, "--division", combination.division]
    file = tmp_path / "hyperparameters.yaml"
    template = run("rules", "keys", *of, "--template", "-o", str(file)).stdout
    assert file.read_text() == template
    values = filled(*combination)
    empty = re.findall(r"^(\w+): +# ", template, re.MULTILINE)
    if empty:
        before = run("rules", "keys", *of, "--check", str(file), "--format", "json")
        assert before.status == 1
        assert {f"key.{key}.count" for key in empty} <= {one["rule"] for one in before.document["findings"]}
    file.write_text(f"a_key_of_ones_own: 1\n{fill(template, values)}")
    after = run("rules", "keys", *of, "--check", str(file))
    assert (after.status, after.stderr) == (0, ""), (file.read_text(), after.stdout)


def test_a_template_has_the_values_of_the_rules_and_those_of_the_reference_as_comments(
    expected_text: ExpectedText,
) -> None:
    outcome = run("rules", "keys", "flux1", "--round", "6.0", "--template")
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text("template-flux1.yaml", outcome.stdout)


def test_a_template_is_yaml_and_shows_no_other_format(tmp_path: Path) -> None:
    for more in (["--format", "json"], ["-o", str(tmp_path / "hp.json")], ["--check", "hp.yaml"]):
        outcome = run("rules", "keys", "digits", "--template", *more)
        assert (outcome.status, outcome.stdout) == (2, "")
        assert "--template" in outcome.stderr
    assert list(tmp_path.iterdir()) == []
