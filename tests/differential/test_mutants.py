"""mlsub and the official checker give one verdict on changed logs, and every demand is tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.rounds import known_rounds
from mlsub.rules.explain import rule_ids
from mlsub.rules.load import rules_for
from tools.oracle.compare import assert_alike, assert_none, both_on, disagrees, judge_both
from tools.oracle.coverage import NO_CONTENT, WITHOUT_OFFICIAL_TWIN, cover, demands, demands_of_key, log_rules
from tools.oracle.generate import DIVISIONS, NO_OPEN, Combination, combinations, usage_and_round
from tools.oracle.log import ChangedLog, generated
from tools.oracle.phases import Source, generated_sources, published_sources
from tools.oracle.random_changes import mutants
from tools.oracle.shared import ABSENT
from tools.support.effort import LONG, effort
from tools.support.judging import report_on

SEED = "ci-1"
NEWEST = known_rounds("training")[-1]
GENERATED = effort(6, 40)
PUBLISHED = effort(4, 30)
#: Aimed mutants of each demand, in every second combination; ``make parity`` tries all.
AIMED = None if LONG else 2

Record = Callable[[str, object], None]


@pytest.mark.product
@pytest.mark.parametrize("combination", combinations(), ids=str)
def test_the_generated_log_is_compliant_for_both(combination: Combination, tmp_path: Path):
    both = judge_both(
        ChangedLog("unchanged", generated(combination).content()), combination.round, tmp_path / "log.txt"
    )
    assert both.ours.compliant, both.describe()
    assert both.theirs.compliant, both.describe()
    assert both.warning == []


@pytest.mark.parametrize(("round_name", "benchmark"), NO_OPEN, ids="-".join)
def test_an_open_log_that_cannot_pass_is_refused_for_that_by_both(round_name: str, benchmark: str, tmp_path: Path):
    log = generated(Combination(round_name, benchmark, "open", None)).content()
    both = judge_both(ChangedLog("unchanged", log), round_name, tmp_path / "log.txt")
    assert both.rejecting == ["key.submission_benchmark.value"], both.describe()
    assert not both.theirs.compliant
    assert len(both.theirs.messages) == 1
    assert NO_OPEN[round_name, benchmark] in both.theirs.messages[0]
    assert "-" * 30 not in both.theirs.messages[0]


def _assert_alike(source: Source, wanted: int, file: Path) -> int:
    changed = mutants(source.log(), source.combination, f"{SEED}/{source.name}", source.number(wanted))
    return assert_alike(changed, source.combination.round, file)


@pytest.mark.product
@pytest.mark.parametrize("source", generated_sources(), ids=lambda source: source.name)
def test_random_changes_get_one_verdict(source: Source, tmp_path: Path, record_property: Record):
    record_property("mutants", _assert_alike(source, GENERATED, tmp_path / "log.txt"))


@pytest.mark.product
@pytest.mark.parametrize(
    "source",
    published_sources() or [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))],
    ids=lambda source: source.name.replace("/", ".") if source else "absent",
)
def test_random_changes_to_a_published_log_get_one_verdict(source: Source, tmp_path: Path, record_property: Record):
    record_property("published mutants", _assert_alike(source, PUBLISHED, tmp_path / "log.txt"))


@pytest.mark.product
@pytest.mark.parametrize(
    "combination",
    [
        pytest.param(c, marks=() if number % 8 < 2 or c.round == NEWEST else pytest.mark.long)
        for number, c in enumerate(combinations())
        if c.division == "closed" or LONG
    ],
    ids=str,
)
def test_every_demand_is_hit_by_a_mutant_and_one_defect_is_one_finding(
    combination: Combination, tmp_path: Path, record_property: Record
):
    covered = cover(combination, tmp_path / "log.txt", AIMED)
    record_property("mutants", covered.mutants)
    record_property("demands", len(covered.demanded))
    record_property("demands hit", len(covered.demanded & covered.hit))
    assert_none(covered.problems)
    assert covered.missed == []
    assert_none(covered.scattered)


def test_the_demands_tried_are_all_that_mlsub_knows():
    tried = {demand.rule for combination in combinations() for demand in demands(combination)}
    rehearsal = {
        demand.rule
        for division in DIVISIONS
        for rule in rules_for("rehearsal", "1.0", division, "digits").rules
        for demand in demands_of_key(rule)
    }
    known = {rule for rule in rule_ids() if rule.startswith("key.")}
    assert tried <= known
    assert known - tried <= rehearsal


def test_the_rules_on_files_that_no_content_breaks_exist():
    assert log_rules() >= NO_CONTENT | WITHOUT_OFFICIAL_TWIN


@pytest.mark.parametrize("round_name", ["1.0", "1.1"])
@pytest.mark.parametrize("what", ["nothing", "folder", "dangling link"])
def test_a_log_that_cannot_be_opened_is_unreadable_for_both(round_name: str, what: str, tmp_path: Path):
    file = tmp_path / "result_0.txt"
    if what == "folder":
        file.mkdir()
    elif what == "dangling link":
        file.symlink_to(tmp_path / "nowhere")
    both = both_on(file, round_name, ChangedLog(what, b""))
    assert not disagrees(both), both.describe()
    assert both.rejecting == ["log.unreadable"]


def test_the_same_seed_gives_the_same_mutants():
    combination = combinations()[0]
    log = generated(combination)
    assert list(mutants(log, combination, "a", 20)) == list(mutants(log, combination, "a", 20))
    assert list(mutants(log, combination, "a", 20)) != list(mutants(log, combination, "b", 20))


def test_both_verdicts_are_common_among_the_mutants(tmp_path: Path):
    combination, file = combinations()[0], tmp_path / "log.txt"
    compliant = 0
    for mutant in mutants(generated(combination), combination, SEED, 100):
        file.write_bytes(mutant.content)
        compliant += report_on(file, *usage_and_round(combination.round)).compliant
    assert 20 < compliant < 80
