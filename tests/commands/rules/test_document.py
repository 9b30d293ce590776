"""The JSON documents of every benchmark and of every step from round to round keep their schemas."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from mlsub.commands.rules.diff import round_diff
from mlsub.commands.rules.keys import key_list
from mlsub.commands.rules.table import overview, rule_ids_of, rule_table
from mlsub.divisions import DIVISIONS
from mlsub.present.envelope import Answer, answer
from mlsub.rounds import all_rounds, usages
from tests.commands.runner import answer_schema


def document(command: str, model: Answer) -> dict[str, object]:
    text = answer(f"rules {command}", model)
    assert text.isascii() and text.endswith(b"}\n")
    content = json.loads(text)
    answer_schema(f"rules {command}").validate(content)
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize("usage", usages())
def test_every_benchmark_has_documents_that_keep_the_schema(usage: str) -> None:
    document("list", overview("closed", None, None, usage, None))
    for round_ in all_rounds(usage)[-2:]:
        for name in round_.benchmarks:
            for division in DIVISIONS:
                document("show", rule_table(round_, division, name))
                document("keys", key_list(round_, division, name))
            document("list ids", rule_ids_of(round_, "closed", name))


@pytest.mark.parametrize("usage", usages())
def test_every_step_from_round_to_round_keeps_the_schema(usage: str) -> None:
    rounds = all_rounds(usage)
    for old, new in pairwise(rounds):
        document("diff", round_diff(old, new))


def test_a_document_of_another_command_does_not_pass() -> None:
    content = document("show", rule_table(all_rounds("training")[0], "closed", "resnet"))
    schema = answer_schema("rules show")
    assert not schema.is_valid({**content, "command": "rules keys"})
    assert not schema.is_valid({**content, "schema": 1})
    assert not answer_schema("rules keys").is_valid(content)
