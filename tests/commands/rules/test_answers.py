"""The answers on every benchmark and every step from round to round keep their schemas, widths and names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest

from mlsub.commands.rules.diff import round_diff
from mlsub.commands.rules.document import (
    every_document,
    keys_document,
    overview_document,
    round_document,
    table_document,
)
from mlsub.commands.rules.keys import key_list
from mlsub.commands.rules.table import Overview, every_rule, overview, rule_table
from mlsub.divisions import DIVISIONS
from mlsub.present import markdown, text
from mlsub.present.document import Document
from mlsub.present.envelope import Answer, answer
from mlsub.rounds import all_rounds, find_benchmark, usages
from mlsub.rules.explain import rule_ids
from tools.support.effort import effort
from tools.support.runner import answer_schema
from tools.support.sample import rows


def valid(command: str, model: Answer) -> dict[str, object]:
    """The JSON document of an answer, which keeps its schema."""
    written = answer(f"rules {command}", model)
    assert written.isascii() and written.endswith(b"}\n")
    content = json.loads(written)
    answer_schema(f"rules {command}").validate(content)
    assert isinstance(content, dict)
    return content


def readable(document: Document, names: Sequence[str], *, quoted: bool | None = True) -> None:
    """No line is longer than the terminal, and every name stands whole on a line."""
    for width in (60, 80, 120):
        shown = text.render(document, width)
        assert max(map(len, shown.splitlines())) <= width
        assert "None" not in shown and "=[" not in shown and "…" not in shown
        assert [name for name in names if name not in shown] == []
    assert quoted is None or ("`" in markdown.render(document)) == quoted


@pytest.mark.parametrize("usage", usages())
def test_every_benchmark(usage: str) -> None:
    rounds = all_rounds(usage)
    for round_ in dict.fromkeys((*rounds[:: effort(4, 1)], *rounds[-2:])):
        for name in rows(round_.benchmarks):
            for division in DIVISIONS:
                table, keys = rule_table(round_, division, name), key_list(round_, division, name)
                valid("show", table)
                valid("keys", keys)
                readable(table_document(table), [row.key for row in table.rows])
                readable(keys_document(keys), [line.key for line in keys.keys])


@pytest.mark.parametrize("usage", usages())
def test_rounds_and_changes(usage: str) -> None:
    rounds, every = all_rounds(usage), overview("closed", None, None, usage, None)
    valid("list", every)
    readable(overview_document(every), [], quoted=True)
    for line in every.rounds:
        names = [of.name for of in line.benchmarks]
        readable(overview_document(Overview(view="round", division="open", rounds=(line,))), names, quoted=True)
    for old, new in pairwise(rounds):
        changes = round_diff(old, new)
        valid("diff", changes)
        keys = [key.key for of in changes.benchmarks for key in of.keys]
        readable(round_document(changes), [*keys, *(key.key for key in changes.common)], quoted=None)


def test_every_rule_has_a_line() -> None:
    every = every_rule()
    valid("list every", every)
    readable(every_document(every), [of.rule for of in every.rules])
    lines = {of.rule: (of.kind, of.severity, of.rounds) for of in every.rules}
    assert set(lines) == set(rule_ids())
    assert lines["run.event-type"] == ("review", "note", None)
    assert all(rounds for rule, (_, _, rounds) in lines.items() if rule.startswith("key."))


def test_a_document_of_another_command_does_not_pass() -> None:
    content = valid("show", rule_table(all_rounds("training")[0], "closed", "resnet"))
    schema = answer_schema("rules show")
    assert not schema.is_valid({**content, "command": "rules keys"})
    assert not schema.is_valid({**content, "schema": 1})
    assert not answer_schema("rules keys").is_valid(content)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("resnet", None, None), ("training", "4.0")),
        (("ResNet", "v2.1", None), ("training", "2.1")),
        (("cosmoflow", None, None), ("hpc", "3.0")),
        (("digits", "1.0", None), ("rehearsal", "1.0")),
        (("llama31-8b", "6.0.0", "training"), ("training", "6.0")),
    ],
)
def test_a_benchmark_is_found_with_its_newest_round(asked: tuple[str, str | None, str | None], found: object) -> None:
    round_, _ = find_benchmark(*asked)
    assert (round_.usage, round_.name) == found
