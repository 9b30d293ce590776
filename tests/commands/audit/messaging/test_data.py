"""The tables: texts, rules, rounds that may be compared, days of publication, names."""

from __future__ import annotations

from datetime import date

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.command import command
from mlsub.commands.audit.quoting import (
    AUTO,
    by_hand,
    guidelines,
    names,
    text_for,
)
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.rounds.benchmarks import Compatible, compatible, group_of, published
from mlsub.rules.catalogue import catalogue


def test_every_rule_is_explained_and_stands_in_a_text() -> None:
    rules = guidelines().rules
    assert list(rules) == [f"R{number:02}" for number in range(1, 23)]
    assert {rule.rule for rule in rules.values()} == {name for name in catalogue() if name.startswith("claim.r")}
    for rule in rules.values():
        assert rule.sections and set(rule.sections) <= set(guidelines().texts)
        assert rule.how in ("mechanical", "annotation", "human")


def test_what_only_a_person_can_look_at() -> None:
    assert [rule.number for rule in by_hand(guidelines().texts["2025-07"])] == ["R08", "R21", "R22"]
    assert by_hand(guidelines().texts["2021-06"]) == ()


@pytest.mark.parametrize(
    ("day", "wanted", "text"),
    [
        (date(2020, 12, 9), "auto", "2021-06"),  # older than the oldest
        (date(2021, 6, 30), "auto", "2021-06"),
        (date(2025, 7, 10), "auto", "2021-06"),
        (date(2025, 7, 11), "auto", "2025-07"),
        (None, "auto", "2025-07"),
        (date(2021, 6, 30), "2025-07", "2025-07"),
        (date(2025, 7, 11), "2021-06", "2021-06"),
    ],
)
def test_which_text_binds(day: date | None, wanted: str, text: str) -> None:
    assert text_for(day, wanted).name == text


def test_what_guidelines_takes() -> None:
    [option] = [one for one in command.params if one.name == "rules"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == (AUTO, *guidelines().texts) == ("auto", "2021-06", "2025-07")


_ROUNDS = [(usage, name) for usage in ("training", "hpc") for name in known_rounds(usage)]


@given(st.sampled_from(_ROUNDS), st.sampled_from(_ROUNDS), st.data())
def test_compatible_is_symmetric_and_reflexive(
    one: tuple[str, str], other: tuple[str, str], data: st.DataObject
) -> None:
    usage, name = one
    benchmark = data.draw(st.sampled_from(get_round(usage, name).benchmarks))
    assert compatible(usage, benchmark, name, name) is Compatible.YES
    assert compatible(usage, benchmark, name, other[1]) is compatible(usage, benchmark, other[1], name)


def test_every_benchmark_of_a_round_the_table_reaches_stands_in_it() -> None:
    lacking = {
        (usage, name, benchmark)
        for usage, name in _ROUNDS
        if not (usage == "hpc" and name == "3.0")
        for benchmark in get_round(usage, name).benchmarks
        if name not in group_of(usage, benchmark, name)
    }
    # The table has BERT from v1.0 on, though v0.7 had a benchmark of that name.
    assert lacking == {("training", "0.7", "bert")}


def test_days_of_publication() -> None:
    known = {name: published("training", name) for name in known_rounds("training")}
    days = {name: str(out.date or out.month) for name, out in known.items() if out is not None}
    assert days == {
        "0.6": "2019-07-10",
        "0.7": "2020-07-29",
        "1.0": "2021-06-30",
        "1.1": "2021-12-01",
        "2.0": "2022-06-29",
        "2.1": "2022-11",
        "3.0": "2023-06-27",
        "3.1": "2023-11-08",
        "4.0": "2024-06",
        "4.1": "2024-11",
        "5.0": "2025-06-04",
        "5.1": "2025-11-12",
        "6.0": "2026-06-16",
    }
    assert list(days.values()) == sorted(days.values())
    assert known["2.1"] is not None and known["2.1"].shown == "November 2022"
    assert known["1.0"] is not None and known["1.0"].shown == "30 June 2021"
    assert published("training", "6.1") is None


def test_every_benchmark_has_a_name() -> None:
    everything = {b for usage in usages() for name in known_rounds(usage) for b in get_round(usage, name).benchmarks}
    assert set(names()) == everything
    assert all(known.task for known in names().values())
