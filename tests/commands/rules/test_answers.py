"""The answers on every benchmark and every step from round to round, and what a step of each kind changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from msgspec import structs

from mlsub.commands.rules.diff import KeyChange, RoundDiff, key_changes, round_diff
from mlsub.commands.rules.document import (
    every_document,
    keys_document,
    overview_document,
    round_document,
    table_document,
)
from mlsub.commands.rules.keys import key_list
from mlsub.commands.rules.table import Overview, every_rule, overview, rule_table
from mlsub.convergence.curves import reference_table
from mlsub.divisions import DIVISIONS
from mlsub.io import MlsubError
from mlsub.present import markdown, text
from mlsub.present.document import Document
from mlsub.present.envelope import Answer, answer
from mlsub.rounds import all_rounds, find_benchmark, get_round, usages
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


@pytest.mark.slow
def test_every_rule_has_a_line() -> None:
    every = every_rule()
    valid("list every", every)
    readable(every_document(every), [of.rule for of in every.rules])
    lines = {of.rule: (of.kind, of.severity, of.rounds) for of in every.rules}
    assert set(lines) == set(rule_ids())
    assert {of.room for of in every.rules if of.rule.startswith("key.")} == {"rules"}
    assert {of.room for of in every.rules if of.rule.startswith("inspect.")} == {"review"}
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
        *((("resnet", None, None), ("training", "4.0")), (("ResNet", "v2.1", None), ("training", "2.1"))),
        *((("cosmoflow", None, None), ("hpc", "3.0")), (("digits", "1.0", None), ("rehearsal", "1.0"))),
        (("llama31-8b", "6.0.0", "training"), ("training", "6.0")),
    ],
)
def test_a_benchmark_is_found_with_its_newest_round(asked: tuple[str, str | None, str | None], found: object) -> None:
    round_, _ = find_benchmark(*asked)
    assert (round_.usage, round_.name) == found


def diff(old: str, new: str, benchmark: str | None = None, usage: str = "training") -> RoundDiff:
    return round_diff(get_round(usage, old), get_round(usage, new), benchmark)


def of(changes: tuple[KeyChange, ...], key: str) -> KeyChange:
    [change] = [change for change in changes if change.key == key]
    return change


@pytest.mark.parametrize("usage", usages())
def test_a_round_does_not_differ_from_itself(usage: str) -> None:
    for round_ in all_rounds(usage):
        found = round_diff(round_, round_)
        assert found.empty
        assert set(found.unchanged) == set(round_.benchmarks)


@pytest.mark.parametrize("usage", usages())
def test_the_way_back_is_the_way_there_the_other_way_round(usage: str) -> None:
    rounds = all_rounds(usage)
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    for old, new in pairwise(rounds):
        there, back = round_diff(old, new), round_diff(new, old)
        assert {(c.key, c.where, turned[c.change], c.new, c.old) for c in there.common} == {
            (c.key, c.where, c.change, c.old, c.new) for c in back.common
        }
        assert {line.name for line in there.benchmarks_added} == set(back.benchmarks_removed)
        assert {one.name for one in there.benchmarks} == {one.name for one in back.benchmarks}


def test_every_change_says_something() -> None:
    for usage in usages():
        rounds = all_rounds(usage)
        for old, new in pairwise(rounds):
            found = round_diff(old, new)
            for change in (*found.common, *(key for one in found.benchmarks for key in one.keys)):
                assert change.lines and all(change.lines), (old.name, new.name, change)
                assert change.divisions
                assert (change.old is None, change.new is None) != (True, True)


def test_a_warning_becomes_an_error() -> None:
    [one] = diff("1.1", "2.0", "resnet").benchmarks
    change = of(one.keys, "weights_initialization")
    assert change.lines == tuple(f"{of}: an error, no longer a mere warning" for of in ("count", "tensors"))


def test_a_target_is_told_of_the_benchmark_and_not_again_of_the_key() -> None:
    [one] = diff("0.7", "1.0", "ssd").benchmarks
    assert [fact.name for fact in one.facts if "reference" not in fact.name] == ["quality target (open)"]
    assert one.keys == ()


def facts(old: str, new: str, benchmark: str, usage: str = "training") -> dict[str, tuple[str, str]]:
    """What is said of a benchmark besides its keys: the name of the fact, before and after."""
    found = diff(old, new, benchmark, usage=usage).benchmarks
    return {fact.name: (fact.old, fact.new) for one in found for fact in one.facts}


def test_changed_reference_points_are_part_of_the_difference() -> None:
    found = facts("5.1", "6.0", "flux1")
    before, after = (reference_table(get_round("training", name), "flux1") for name in ("5.1", "6.0"))
    changed = {row.batch_size for row in (*before.rows, *after.rows)} - {
        row.batch_size for row in before.rows if row in after.rows
    }
    assert set(found) == {f"reference point at batch size {size:,.10g}" for size in changed} != set()
    assert all(("accepted from" in was) or was == "none" for was, _ in found.values())
    assert diff("5.1", "6.0", "flux1").unchanged == ()


@pytest.mark.parametrize("usage", usages())
def test_no_benchmark_is_said_to_be_unchanged_whose_limit_changed(usage: str) -> None:
    for old, new in pairwise(all_rounds(usage)):
        for name in round_diff(old, new).unchanged:
            tables = []
            for round_ in (old, new):
                try:
                    table = reference_table(round_, name)
                except MlsubError:
                    tables.append(None)
                else:
                    tables.append((table.unit, table.runs, [structs.replace(row, on_hull=True) for row in table.rows]))
            assert tables[0] == tables[1], (old.name, new.name, name)


def test_open_results_have_no_reference() -> None:
    found = round_diff(get_round("training", "5.1"), get_round("training", "6.0"), "flux1", "open")
    assert found.unchanged == ("flux1",)


@pytest.mark.parametrize(
    ("old", "new", "name", "was", "now"),
    [
        ("0.7", "1.0", "another number of results", "reported", "rejected"),
        ("0.7", "1.0", "required in system descriptions", "nothing", "submitter, division, "),
        ("0.7", "1.0", "convergence test", "none", "points pruned by: none; "),
        ("2.0", "2.1", "convergence test", "faster results are not scaled", "faster results are scaled"),
        ("1.1", "2.0", "read by the result summarizer", "sorted: division; ", "joined: hw_notes, sw_notes; "),
        ("4.1", "5.0", "power measurements", "not checked", "names and numbers of files"),
        ("3.1", "4.0", "package_checker_params", "", "rcp-bypass"),
    ],
)
def test_what_a_round_asks_of_packages_and_descriptions_is_part_of_the_difference(
    old: str, new: str, name: str, was: str, now: str
) -> None:
    [fact] = [fact for fact in diff(old, new).facts if fact.name == name]
    assert (was in fact.old, now in fact.new) == (True, True), fact


def test_benchmarks_that_come_and_go() -> None:
    found = diff("4.0", "4.1")
    assert set(found.benchmarks_removed) == {"resnet", "unet3d"}
    assert found.benchmarks_added == ()
    assert "seeds of Closed entries" in [fact.name for fact in found.facts]


def test_nothing_and_nothing_is_no_change() -> None:
    assert key_changes({}, {}, "closed") == []
