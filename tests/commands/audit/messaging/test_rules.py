"""Rules on names, footnotes, review, dates and truth: each on a sentence it passes and on one it does not."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands.audit.messaging.made import (
    DAY_2025,
    LEGEND_2025,
    NOTE_2021,
    document,
    found,
    judged,
    message,
    operand,
    rules,
    theirs,
)


def test_a_sentence_with_everything_passes() -> None:
    assert found(message()) == []
    assert found(message(operand(), theirs())) == []


# R01, R02: names


def test_r01_names_who_what_and_on_what() -> None:
    says = {"submitter": None, "benchmark": None, "system": None}
    other = document(publisher="Gazette", date=date(2022, 1, 1))
    assert found(message(text="9 minutes, a record", document=other, says=says)) == [
        ("R01", "the text does not name the submitter Acme, the benchmark resnet or the system acme8")
    ]
    nothing = document(text=f"A record\n{NOTE_2021.replace('ResNet-50', 'BERT')}", footnote=NOTE_2021)
    assert found(message(operand(), theirs(), text="9 minutes", document=nothing, says={"system": "acme8"}))[:1] == [
        ("R01", "the text does not name the benchmark resnet or the submitter Ucme")
    ]
    around = document(text=f"Acme ResNet-50 acme8 MLPerf™ Training\n{NOTE_2021}")
    assert rules(message(text="9 minutes, a record", document=around)) == []
    assert (
        rules(message(text="9 minutes", says={"submitter": "Acme", "benchmark": "ResNet-50", "system": "acme8"})) == []
    )


def test_r01_wants_the_version_since_2025_only() -> None:
    unsaid = message(says={"round": None})
    assert ("R01", "the text does not name the version v1.1") in found(unsaid, wanted="2025-07")
    assert "R01" not in rules(unsaid, wanted="2021-06")
    assert "R01" not in rules(message(says={"round": "v1.1"}), wanted="2025-07")


def test_r01_leaves_what_it_cannot_see_to_people() -> None:
    what = judged(message(operand(), theirs(), text="9 minutes, a record"))
    assert what.findings == ()
    assert [(one.rule, one.claim, one.reason) for one in what.not_looked_at if one.claim] == [
        ("R01", "one", "whether the benchmark is named: note it under says: benchmark"),
        ("R01", "one", "whether the system is named: note it under says: system"),
        ("R01", "one", "whether the submitter is named: note it under says: submitter"),
    ]


def test_r02_a_model_names_a_benchmark_in_closed_alone() -> None:
    note = document(footnote=NOTE_2021.replace("Closed", "Open"))
    is_open = operand(division="open")
    assert found(message(is_open, document=note)) == [
        ("R02", "the model's name “ResNet-50” stands for the benchmark's, and the result is Open")
    ]
    said = "Acme's acme8 trains image classification (ResNet-50)"
    assert rules(message(is_open, document=note, text=said)) == []


# R03 to R06: footnotes


@pytest.mark.parametrize(
    ("old", "new", "rule", "told"),
    [
        ("v1.1 ", "", "R03", "the footnote lacks the version"),
        ("v1.1 ", "v1.0 ", "R03", "the footnote lacks the version v1.1"),
        ("Closed ", "", "R03", "the footnote lacks the division"),
        ("Closed ", "Open ", "R03", "the footnote lacks the division closed"),
        ("ResNet-50", "", "R03", "the footnote lacks the benchmark"),
        (
            "Training Closed ResNet-50",
            "",
            "R03",
            "the footnote lacks the suite, the division and the benchmark",
        ),
        ("1 December 2021", "the day", "R04", "the footnote does not say when the results were retrieved"),
        ("from mlcommons.org ", "", "R04", "the footnote does not say from where the results were retrieved"),
        ("Retrieved", "Taken", "R04", "the footnote does not say when and from where the results were retrieved"),
        ("entries 1.1-2001, 1.1-2002", "", "R05", "the footnote has no ID of a result"),
        ("1.1-2001, 1.1-2002", "1.0-2001", "R05", "the IDs in the footnote are of v1.0, and a result is of v1.1"),
        ("1.1-2001, 1.1-2002", "1.1-abc", "R05", "“1.1-abc” is not the ID of a result"),
        ("trademarks of", "things of", "R06", "MLPerf is nowhere called a trademark"),
    ],
)
def test_each_part_of_a_footnote(old: str, new: str, rule: str, told: str) -> None:
    assert old in NOTE_2021
    assert found(message(document=document(footnote=NOTE_2021.replace(old, new)))) == [(rule, told)]


def test_r05_wants_the_ids_of_both_sides() -> None:
    both = (operand(), theirs())
    one = NOTE_2021.replace("entries 1.1-2001, 1.1-2002", "Acme entry 1.1-2001")
    assert found(message(*both, document=document(footnote=one))) == [
        ("R05", "the footnote has no ID for the results of Ucme: ucme8 resnet")
    ]
    known = (operand(id="1.1-2001"), theirs(id="1.1-2003"))
    assert found(message(*known)) == [("R05", "the footnote lacks the ID 1.1-2003 of ucme8 resnet")]
    two = (operand(), operand("more", system="acme16"), operand("most", system="acme32"))
    assert found(message(*two)) == [
        ("R05", "the footnote has too few IDs for the results of Acme: acme8 resnet, acme16 resnet and acme32 resnet")
    ]


def test_r06_today_wants_its_own_words() -> None:
    today = document(footnote=NOTE_2021, date=DAY_2025)
    assert ("R06", "the trademark is attributed in other words than the text's") in found(message(document=today))
    right = document(footnote=f"{NOTE_2021} {LEGEND_2025}", date=DAY_2025)
    assert "R06" not in rules(message(document=right))


def test_a_footnote_serves_all_its_sentences_and_is_told_once() -> None:
    note = document(footnote=NOTE_2021.replace("Closed ", ""))
    what = judged(message(document=note), message(id="two", document=note))
    assert [(r.claim, r.document, r.rule, r.path) for r in what.findings] == [
        (None, "post.txt", "claim.r03", "post.txt")
    ]
    own = message(document=document(), footnote="[2] nothing")
    assert [(r.claim, r.path, r.line) for r in judged(own).findings] == []


def test_without_document_and_footnote_nothing_is_said_of_footnotes() -> None:
    what = judged(message(document=document(footnote=None)))
    assert what.findings == ()
    assert [one.reason for one in what.not_looked_at] == [
        "in post.txt: neither its text nor a footnote is given",
        "in post.txt: its text is not given",
    ]


def test_a_document_without_any_footnote_is_one_finding() -> None:
    bare = document(footnote=None, text="Acme's acme8 trains MLPerf™ Training ResNet-50.")
    assert found(message(document=bare)) == [("R03", "there is no footnote on the results")]


def test_what_the_file_notes_of_a_footnote() -> None:
    noted = document(footnote=None)
    assert found(message(document=noted, says={"retrieved": None, "ids": ["1.1-x"]})) == [
        ("R04", "the footnote does not say when and from where the results were retrieved"),
        ("R05", "“1.1-x” is not the ID of a result"),
    ]
    assert found(message(document=noted, says={"retrieved": "2021-12-01, mlcommons.org", "ids": ["1.1-2001"]})) == []


# R07, R13: reviewed or not


def test_r07_an_unreviewed_result_says_so_twice() -> None:
    ours = operand(reviewed=False)
    note = "[1] Unverified MLPerf™ v1.1 Training Closed ResNet-50. {} " + NOTE_2021.split("2002. ")[1]
    bare = document(footnote=note.format(""))
    assert found(message(ours, document=bare)) == [
        (
            "R07",
            "an unreviewed result (ours): the sentence does not call it unverified and the footnote does not say so",
        )
    ]
    right = document(footnote=note.format("Result not verified by the MLCommons™ Association."))
    assert found(message(ours, document=right, text="Acme's acme8 trains ResNet-50 in an unverified 9 minutes")) == []


def test_r13_beside_a_verified_one_there_is_a_sentence_more() -> None:
    pair = (operand(reviewed=False), theirs())
    said = message(
        *pair,
        text="unverified v1.1 of Acme's acme8 beside verified ucme8 of Ucme, ResNet-50",
        says={"division": "closed"},
    )
    assert "R13" in rules(said, wanted="2025-07")
    assert "R13" not in rules(said, wanted="2021-06")
    note = "Unverified results have not been through an MLPerf® review and may use other methods."
    assert "R13" not in rules(message(*pair, document=document(footnote=f"{NOTE_2021} {note}")), wanted="2025-07")


# R15, R18


@pytest.mark.parametrize(
    ("publisher", "day", "verified", "wanted", "told"),
    [
        ("Acme Ltd.", date(2021, 11, 30), True, "2021-06", "it may be quoted from 2021-12-01 on"),
        ("Acme Ltd.", date(2021, 12, 1), True, "2021-06", None),
        ("Acme Ltd.", date(2021, 12, 1), True, "2025-07", None),
        ("Icme", date(2021, 12, 1), True, "2025-07", None),
        ("Gazette", date(2021, 12, 1), True, "2025-07", "who did not submit may quote it from 2021-12-15 on"),
        ("Gazette", date(2021, 12, 15), True, "2025-07", None),
        ("Gazette", date(2021, 11, 30), True, "2021-06", "it may be quoted from 2021-12-01 on"),
        ("Gazette", date(2021, 12, 1), True, "2021-06", None),
        ("Gazette", date(2021, 12, 1), False, "2021-06", "who did not submit may quote it from 2021-12-15 on"),
    ],
)
def test_r15_not_before_publication(publisher: str, day: date, verified: bool, wanted: str, told: str | None) -> None:
    around = document(publisher=publisher, date=day)
    said = message(operand(reviewed=verified), document=around, submitters=("Icme", "Acme"))
    hits = [text for rule, text in found(said, wanted=wanted) if rule == "R15"]
    day_of = "v1.1 was published on 2021-12-01 (posts of submitters of that day), and "
    assert hits == ([] if told is None else [day_of + told])


def test_r15_says_what_it_does_not_know() -> None:
    unknown = judged(message(operand(round="2.1"), document=document(date=date(2022, 1, 1))))
    assert "on which day of November 2022 training v2.1 was published" in {one.reason for one in unknown.not_looked_at}
    later = judged(message(operand(round="6.1"), document=document(date=date(2022, 1, 1))))
    assert "when training v6.1 was published" in {one.reason for one in later.not_looked_at}
    undated = judged(message(document=document(date=None)))
    assert "whether post.txt came before its rounds: it has no date" in {one.reason for one in undated.not_looked_at}


def test_r18_the_numbers_decide() -> None:
    assert found(message(untrue="5.88, not 5.78")) == [("R18", "the numbers do not bear it out: 5.88, not 5.78")]
    assert rules(message(untrue="5.88, not 5.78", operands=(), scored=())) == ["R18"]


def test_a_sentence_that_uses_no_score_is_left_alone() -> None:
    assert rules(message(theirs(chips=64), operand(), scored=(), text="Two systems")) == []


def test_findings_name_text_and_section() -> None:
    finding = judged(message(document=document(footnote="[1] MLPerf™")), wanted="2025-07").findings[0]
    assert finding.source == (
        "MLPerf Results Messaging Guidelines, 3.2 "
        "(mlcommons/policies MLPerf_Results_Messaging_Guidelines.adoc at a4520be)"
    )
    assert (finding.path, finding.line, finding.severity, finding.kind) == ("post.txt", None, "warning", "review")


_SAID = st.none() | st.booleans() | st.text(max_size=20) | st.lists(st.text(max_size=10), max_size=3)
_KEYS = st.sampled_from(
    ["division", "round", "benchmark", "system", "submitter", "ids", "retrieved", "derived_metric_basis", "discloses"]
)


@given(
    text=st.text(),
    note=st.none() | st.text(),
    around=st.none() | st.text(),
    says=st.dictionaries(_KEYS, _SAID),
    notes=st.none() | st.text(),
    derived=st.booleans(),
    wanted=st.sampled_from(["auto", "2021-06", "2025-07"]),
)
def test_nothing_that_is_said_breaks_a_rule(
    text: str,
    note: str | None,
    around: str | None,
    says: dict[str, object],
    notes: str | None,
    derived: bool,
    wanted: str,
) -> None:
    said = message(
        operand(division="open", notes=notes),
        theirs(round="9.9", benchmark=None, chips=None),
        text=text,
        says=says,
        derived=derived,
        footnote=note,
        document=document(text=around, footnote=None, date=None),
    )
    what = judged(said, wanted=wanted)
    assert len(what.findings) == len(set(what.findings))
    assert all(remark.rule.startswith("claim.r") for remark in what.findings)
