"""Tables keep to their width and show every name whole, and names get a did-you-mean."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from mlsub.commands.rules.diff import round_diff
from mlsub.commands.rules.document import ids_document, keys_document, overview_document, round_document, table_document
from mlsub.commands.rules.keys import key_list
from mlsub.commands.rules.table import Overview, overview, rule_ids_of, rule_table
from mlsub.divisions import DIVISIONS
from mlsub.io.errors import MlsubError
from mlsub.present import markdown, text
from mlsub.present.document import Document
from mlsub.rounds import all_rounds, find_benchmark, find_round, find_usage, known_name, usages
from tests.effort import effort


@pytest.mark.parametrize("usage", usages())
def test_every_table_is_readable_at_each_width(usage: str) -> None:
    for round_ in all_rounds(usage)[:: effort(4, 1)]:
        for name in round_.benchmarks:
            for division in DIVISIONS:
                table, keys = rule_table(round_, division, name), key_list(round_, division, name)
                readable(table_document(table), [row.key for row in table.rows])
                readable(keys_document(keys), [line.key for line in keys.keys])


@pytest.mark.parametrize("usage", usages())
def test_rounds_rule_ids_and_changes_are_readable_at_each_width(usage: str) -> None:
    rounds = all_rounds(usage)
    answer = overview("closed", None, None, usage, None)
    lines = answer.rounds
    readable(overview_document(answer), [], quoted=True)
    for line in lines:
        names = [of.name for of in line.benchmarks]
        readable(overview_document(Overview(view="round", division="open", rounds=(line,))), names, quoted=True)
    for name in rounds[-1].benchmarks:
        ids = rule_ids_of(rounds[-1], "closed", name)
        readable(ids_document(ids), [line.id for line in (*ids.rules, *ids.general)])
    for old, new in pairwise(rounds):
        changes = round_diff(old, new)
        keys = [key.key for of in changes.benchmarks for key in of.keys]
        readable(round_document(changes), [*keys, *(key.key for key in changes.common)], quoted=None)


def readable(document: Document, names: Sequence[str], *, quoted: bool | None = True) -> None:
    """No line is longer than the terminal, and every name stands whole on a line."""
    for width in (60, 80, 120):
        shown = text.render(document, width)
        assert max(map(len, shown.splitlines())) <= width
        assert "None" not in shown and "=[" not in shown and "…" not in shown
        assert [name for name in names if name not in shown] == []
    assert quoted is None or ("`" in markdown.render(document)) == quoted


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_usage("hcp"), "no usage 'hcp'; there are training, hpc, rehearsal. Did you mean hpc?"),
        (
            lambda: known_name("division", "opne", ("closed", "open")),
            "no division 'opne'; there are closed, open. Did you mean open?",
        ),
        (lambda: find_round("hpc", "9"), "no hpc round '9'; there are 1.0, 2.0, 3.0"),
        (lambda: find_benchmark("dlrm", "4.0", None), "training 4.0 has no dlrm; it was in 0.7 to 2.1"),
        (lambda: find_benchmark("resnt", None, None), "no benchmark 'resnt'. Did you mean resnet or rnnt?"),
        (lambda: find_benchmark("llama", None, None), "no benchmark 'llama'. Did you mean llama31_8b?"),
        (lambda: find_benchmark("resnet", "7.7", None), "no training round '7.7'; there are 0.6, 0.7, "),
    ],
)
def test_an_unknown_name_gets_one_line_with_what_was_meant(call: object, message: str) -> None:
    with pytest.raises(MlsubError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
