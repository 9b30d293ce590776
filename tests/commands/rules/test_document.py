"""The JSON documents keep the published schema, and the schema is that of the types."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import pairwise

import pytest
from jsonschema import Draft202012Validator

from mlsub.commands.rules.diff import round_diff
from mlsub.commands.rules.document import Answer, render_json
from mlsub.commands.rules.keys import key_list
from mlsub.commands.rules.overview import Overview, round_lines, rule_ids_of
from mlsub.commands.rules.schema import FILE, schema_text
from mlsub.commands.rules.table import rule_table
from mlsub.divisions import DIVISIONS
from mlsub.rounds import usages
from mlsub.rounds.names import all_rounds


@lru_cache(maxsize=1)
def schema() -> Draft202012Validator:
    content = json.loads(FILE.read_text())
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def document(answer: Answer) -> dict[str, object]:
    text = render_json(answer)
    assert text.isascii() and text.endswith("}\n")
    content = json.loads(text)
    schema().validate(content)
    assert isinstance(content, dict)
    return content


def test_the_schema_is_that_of_the_types() -> None:
    assert FILE.read_text() == schema_text(), "run `python -m mlsub.commands.rules.schema`"


@pytest.mark.parametrize("usage", usages())
def test_every_benchmark_has_documents_that_keep_the_schema(usage: str) -> None:
    document(Overview("rounds", "closed", round_lines((usage,))))
    for round_ in all_rounds(usage)[-2:]:
        for name in round_.benchmarks:
            for division in DIVISIONS:
                assert document(rule_table(round_, division, name))["kind"] == "rules"
                assert document(key_list(round_, division, name))["kind"] == "keys"
            assert document(rule_ids_of(round_, "closed", name))["kind"] == "rule-ids"


@pytest.mark.parametrize("usage", usages())
def test_every_step_from_round_to_round_keeps_the_schema(usage: str) -> None:
    rounds = all_rounds(usage)
    for old, new in pairwise(rounds):
        assert document(round_diff(old, new))["kind"] == "diff"


def test_a_document_of_another_kind_does_not_pass() -> None:
    content = document(rule_table(all_rounds("training")[0], "closed", "resnet"))
    assert not schema().is_valid({**content, "kind": "keys"})
    assert not schema().is_valid({**content, "schema": 2})
