"""Clauses of the written rules: their rules exist, official rules have one, and all stand in the documents."""

from __future__ import annotations

import subprocess
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.clauses import OWNERS, owner_of
from mlsub.convergence.reference import history_of
from mlsub.findings import Kind
from mlsub.rounds import all_rounds, rounds_with, usages
from mlsub.rules.catalogue import catalogue
from mlsub.rules.clauses import (
    DOCUMENTS,
    changes_between,
    clauses,
    clauses_of,
    every_clause,
    questions_on,
)
from mlsub.rules.explain import all_demands, rule_ids
from tools.clause_history import rounds_of, texts_at
from tools.clauses import compare, known_demands, units
from tools.support.corpus import SHARED

UPSTREAM = SHARED / "upstream"
#: The round before the first that mlsub knows, whose text is the oldest.
ROUNDS = ("0.5", *(round_.name for round_ in all_rounds("training")))
upstream = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the texts of the rules are not beside the repository")


def test_each_rule_that_checks_a_clause_exists() -> None:
    known = set(rule_ids())
    for place in every_clause():
        for rule in place.clause.rules():
            assert rule in known or ("*" in rule and matching(known, rule)), (place.section, rule)
    for pattern in clauses().without:
        assert matching(known, pattern), pattern


def official_rules_of_the_current_round() -> list[str]:
    """Those of the catalogue, and the demands of the newest round on the keys of logs."""
    newest = all_rounds("training")[-1]
    demands = (rule for rule, of in all_demands().items() if any(newest in demand.logs for demand in of.demands))
    return [*(rule for rule, info in catalogue().items() if info.kind is Kind.OFFICIAL), *demands]


def test_each_official_rule_has_a_clause_or_says_why_not() -> None:
    without = [
        rule
        for rule in official_rules_of_the_current_round()
        if not clauses_of(rule) and not any(fnmatchcase(rule, pattern) for pattern in clauses().without)
    ]
    assert without == []


def test_what_has_no_clause_has_none() -> None:
    for pattern in clauses().without:
        assert not any(clauses_of(rule) for rule in matching(rule_ids(), pattern)), pattern


@upstream
@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_clause_is_in_the_document_and_each_demand_has_one(document: str) -> None:
    text = list(units((UPSTREAM / f"{document}.adoc").read_text("utf-8")))
    assert list(compare(known_demands(document), text)) == []


@upstream
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_words_of_each_clause_begin_a_sentence_of_its_section(document: str) -> None:
    text = list(units((UPSTREAM / f"{document}.adoc").read_text("utf-8")))
    for section, some in getattr(clauses(), document).items():
        path = tuple(section.split(" / "))
        inside = [unit for unit in text if unit.section[-len(path) :] == path]
        assert inside, section
        sentences = [f"{unit.words} " for unit in inside if not unit.row]
        rows = {unit.row for unit in inside if unit.row}
        for clause in some:
            assert {f"{clause.words} {row}".strip() for row in clause.rows} <= rows
            assert clause.rows or any(words.startswith(f"{clause.words} ".lstrip()) for words in sentences)


def test_no_more_than_ten_words_of_a_sentence_are_kept() -> None:
    for place in every_clause():
        if place.document in DOCUMENTS.values():
            names = place.clause.rows or [""]
            assert all(len(f"{place.clause.words} {name}".split()) <= 12 for name in names)
            assert len(place.clause.words.split()) <= 10


def test_each_clause_has_an_owner_and_rounds_in_their_order() -> None:
    for place in every_clause():
        clause = place.clause
        assert owner_of(clause) in OWNERS
        for row in ("", *clause.rows):
            stated = clause.rounds(row)
            rounds = [*stated, *([clause.until] if clause.until else [])]
            assert rounds == sorted(rounds, key=ROUNDS.index), (place.section, clause.words)
            assert len(set(stated)) == len(stated)
        assert sum(map(bool, (clause.mark, clause.whole, clause.rows))) == (place.document in DOCUMENTS.values())


def test_a_person_has_a_question_unless_the_clause_is_of_past_rounds() -> None:
    asked = {place.clause.ask for place in every_clause()} - {None}
    assert asked == clauses().questions.keys()
    for place in every_clause():
        clause = place.clause
        assert clause.ask is None or "person" in clause.by, place.section
        assert "person" not in clause.by or clause.ask or clause.until, (place.section, clause.words)


def test_questions_are_on_benchmarks_that_exist() -> None:
    known = {name for usage in usages() for round_ in all_rounds(usage) for name in round_.benchmarks}
    for texts in clauses().questions.values():
        for names, text in texts.items():
            assert text.endswith("?")
            assert names == "every" or set(names.split()) <= known


def test_each_benchmark_of_the_current_round_has_questions_of_its_own() -> None:
    common = set(questions_on("", ("closed", "open")))
    for name in all_rounds("training")[-1].benchmarks:
        assert rounds_with("training", name)
        assert [text for text in questions_on(name, ("closed",)) if text not in common], name


def test_questions_of_one_division_are_asked_of_it_only() -> None:
    closed, open_, both = (questions_on("bert", of) for of in (("closed",), ("open",), ("closed", "open")))
    assert not any(text.startswith("Open:") for text in closed)
    assert not any(text.startswith("Closed:") for text in open_)
    assert set(closed) | set(open_) == set(both)
    assert questions_on("bert", ("",)) == both
    assert closed[0] == "are checkpoint and vocabulary those of the reference?"


#: The last days to submit of rounds before those whose reference points are known, or later ones than that.
EARLIER = {"0.5": "2018-11-15", "0.6": "2019-05-31", "0.7": "2020-06-30"}
#: The repository of each document.
HISTORIES = {"training_rules": "training_policies", "submission_rules": "policies"}
#: Of clauses that the history shows in other rounds: those that they are in, and why.
JUDGED = {
    # In v5.0 the row "Large language model" was that of Llama 3.1 405B, before of GPT-3.
    ("Benchmarks", "LLM pretraining"): ("5.0", "5.1"),
    ("Benchmark Results", "LLM pretraining"): ("5.0", "5.1"),
    # Sentences that stand a second time where deprecated benchmarks are.
    ("Epoch reporting for deprecated benchmarks", "To extract submission convergence points logs should report"): (
        "1.0",
    ),
    ("Benchmark specific rules for deprecated benchmarks", "The RCP requests should be handled in FCFS"): ("3.0",),
    ("Appendix v0.7 Specific Rules", "For benchmarks which are defined as starting from"): ("0.7",),
    # Written after the round that it is about.
    ("Large Language Model Llama 3.1 405B", "Evaluation In v5.0 we did few sparse evaluation"): ("5.0",),
}


@upstream
@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_rounds_of_clauses_are_those_of_the_texts_at_the_deadlines(document: str, tmp_path: Path) -> None:
    bundle = UPSTREAM / f"{HISTORIES[document]}.bundle"
    subprocess.run(["git", "clone", "--quiet", "--bare", bundle, tmp_path / "history"], check=True)
    known = {name: history.deadline for name in ROUNDS if (history := history_of("training", name))}
    deadlines = EARLIER | {name: of.last.isoformat() for name, of in known.items() if of is not None}
    found = iter(rounds_of(known_demands(document), texts_at(tmp_path / "history", document, deadlines)))
    for section, some in getattr(clauses(), document).items():
        for clause in some:
            last = ROUNDS.index(clause.until or ROUNDS[-1])
            for row in clause.rows or ("",):
                rounds = tuple(name for name in next(found) if ROUNDS.index(name) <= last)
                expected = JUDGED.get((section, row or clause.words), rounds)
                assert clause.rounds(row) == expected, (section, clause.words, row)


class Case(NamedTuple):
    """Two rounds, and how a clause with these first words is told."""

    old: str
    new: str
    words: str
    change: str | None


@pytest.mark.parametrize(
    "case",
    [
        Case("4.0", "4.1", "The only way to log seeds", "new"),
        Case("4.1", "4.0", "The only way to log seeds", "gone"),
        Case("4.1", "5.0", "The only way to log seeds", None),
        Case("4.1", "5.0", "For v5.0's Llama 3.1 405B benchmark only the", "new"),
        Case("5.0", "5.1", "For v5.0's Llama 3.1 405B benchmark only the", "gone"),
        Case("4.1", "5.1", "For v5.0's Llama 3.1 405B benchmark only the", None),
        Case("5.0", "5.1", "Reference Convergence Points must be obtained", "changed"),
        Case("5.1", "5.0", "Reference Convergence Points must be obtained", "changed"),
        Case("5.1", "6.0", "Reference Convergence Points must be obtained", None),
        Case("6.0", "6.1", "mxfp6", "new"),
        Case("3.1", "4.0", "Node Classification Feature precision", "new"),
        Case("4.0", "5.1", "Node Classification Feature precision", None),
    ],
)
def test_what_changes_between_two_rounds(case: Case) -> None:
    found = {how for how, of in changes_between(case.old, case.new) if of.clause.words.startswith(case.words)}
    assert found == ({case.change} if case.change else set())
    assert not list(changes_between(case.old, case.old))


@pytest.mark.parametrize(
    ("old", "new", "come", "changed"),
    [
        ("5.1", "6.0", {"GPT_OSS_20B", "deepseekv3_671b"}, set()),
        ("5.0", "5.1", {"FLUX.1", "Llama31_8b"}, set()),
        ("3.1", "4.0", {"Llama2_70B_LoRA"}, set()),
        ("4.0", "4.1", set(), set()),
    ],
)
def test_rows_of_a_table_have_rounds_of_their_own(old: str, new: str, come: set[str], changed: set[str]) -> None:
    rows: dict[str, set[str]] = {"new": set(), "changed": set()}
    for how, of in changes_between(old, new):
        if of.section == "RCP Rules and Guidelines" and of.clause.rows:
            rows[how] |= {*of.clause.rows}
    assert rows == {"new": come, "changed": changed}


def test_a_rule_of_a_key_has_the_rows_of_that_key() -> None:
    places = clauses_of("key.max_steps.value")
    titles = [of.clause.title("key.max_steps.value") for of in places if of.clause.rows]
    assert titles == ["gpt_oss_20b adamw: max_steps", "llama31_8b adamw: max_steps"]


def test_items_of_several_benchmarks_are_clauses_of_their_own() -> None:
    appendix = {
        rule: [of.clause.title() for of in clauses_of(rule) if of.section == "Appendix Benchmark Specific Rules"]
        for rule in ("entry.run-count", "run.eval-cadence")
    }
    assert appendix == {
        "entry.run-count": ["Flux.1 10 runs per submission ..."],
        "run.eval-cadence": ["Evaluation must be run every 262,144 samples ..."],
    }


def test_a_rule_without_a_clause_of_its_own_has_that_on_logs() -> None:
    assert [of.section for of in clauses_of("log.empty")] == ["Logging requirements"]
    assert clauses_of("house.anything") == []
