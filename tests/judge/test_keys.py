"""Keys of a log that are nearly those of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.judge.keys import audit_keys, known_keys
from mlsub.log.event import Event
from mlsub.rounds import get_round
from tests.review.folding import fold, report_of
from tools.support.make_tree import make_tree
from tools.support.runner import check


@pytest.mark.parametrize(
    ("logged", "meant"),
    [
        ("lowest_numerical_precision_linear", "lowest_numerical_precision_in_linear"),
        ("lowest_numerical_precision_in_attention", "lowest_numerical_precision_in_attn"),
        ("tensor_paralelism", "tensor_parallelism"),
        ("Micro-Batch-Size", "micro_batch_size"),
        ("config_file", None),
        ("precision", None),
        ("opt_adamw_beta_3", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_a_key_that_is_nearly_an_optional_one_is_one_finding(logged: str, meant: str | None) -> None:
    run = fold([Event(line=7, time_ms=0.0, key=logged, value=1, metadata={})])
    logs = [report_of(run, path) for path in ("result_0.txt", "result_1.txt")]
    found = [(one.path, one.line, one.expected) for one in audit_keys(logs, get_round("training", "6.0"), "llama31_8b")]
    assert found == ([("result_0.txt", 7, meant)] if meant else [])


@pytest.mark.parametrize(("division", "severity"), [("closed", "warning"), ("open", "note")])
def test_open_may_log_other_keys(division: str, severity: str) -> None:
    keys = {"submission_division": division, "lowest_numerical_precision_linear": "fp8"}
    run = fold([Event(line=1, time_ms=0.0, key=key, value=value, metadata={}) for key, value in keys.items()])
    (found,) = audit_keys([report_of(run)], get_round("training", "6.0"), "llama31_8b")
    assert found.severity == severity


def test_the_keys_of_own_rules_are_known_beside_the_official_ones(tmp_path: Path) -> None:
    house = tmp_path / "house.yaml"
    house.write_text('title: ours\ncommon: {"1.0": {both: {acme_ticket: any}}}')
    official, both = (known_keys(get_round("training", "1.0", own), "resnet") for own in (None, str(house)))
    assert both == official | {"acme_ticket"} > official


def test_where_a_required_key_is_missing_the_misspelt_record_is_named(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("lars_opt_end_learning_rate", key="lars_opt_end_learning_rates"), 2)
    outcome = check(tree.folder)
    (found,) = outcome.of("key.lars_opt_end_learning_rate.count")
    assert found["actual"] == '"lars_opt_end_learning_rates"'
    assert found["fix"] == "Did you mean lars_opt_end_learning_rate? Rename the key."
    assert '"lars_opt_end_learning_rates"' in tree.log(2).read_text().splitlines()[found["line"] - 1]
    assert outcome.of("run.misspelt-key") == []
