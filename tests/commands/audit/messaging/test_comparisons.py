"""Rules on comparisons and on metrics: each on a sentence it passes and on one it does not."""

from __future__ import annotations

import msgspec
import pytest

from tests.commands.audit.messaging.made import (
    NOTE_2021,
    PRICE,
    document,
    figure,
    found,
    judged,
    message,
    operand,
    rules,
    theirs,
)

# R09, R11, R12: comparisons


def test_r09_incompatible_rounds() -> None:
    pair = (operand(round="1.0", benchmark="rnnt"), theirs(benchmark="rnnt"))
    assert ("R09", "rnnt of v1.0 and of v1.1 are not compatible") in found(message(*pair))
    assert "R09" not in rules(message(operand(round="1.0"), theirs()))
    assert ("R09", "results of two benchmarks are compared") in found(message(operand(), theirs(benchmark="bert")))


def test_r09_a_benchmark_the_table_lacks_is_unknown() -> None:
    pair = (operand(usage="hpc", round="2.0", benchmark="oc20"), theirs(usage="hpc", round="3.0", benchmark="oc20"))
    what = judged(message(*pair))
    assert "claim.r09" not in {remark.rule for remark in what.findings}
    assert "whether oc20 of v2.0 and of v3.0 are compatible: not in the table" in {
        one.reason for one in what.not_looked_at
    }


@pytest.mark.parametrize(
    ("change", "says", "told"),
    [
        ({"chips": 16}, {}, "chip count (8 and 16)"),
        ({"chips": 16}, {"discloses": ["chips"]}, None),
        ({"chips": 16}, {"chips": [8, 16]}, None),
        ({"category": "Preview"}, {}, "category (Available on-premise and Preview)"),
        ({"category": "Preview"}, {"category": ["Preview", "Available on-premise"]}, None),
        ({"round": "1.0"}, {}, "version (v1.1 and v1.0)"),
        ({"round": "1.0"}, {"round": "v1.1"}, "version (v1.1 and v1.0)"),
        ({"round": "1.0"}, {"discloses": ["version"]}, None),
        ({"reviewed": False}, {}, "review (verified and unverified)"),
        ({"division": "open", "chips": 4}, {}, "division (closed and open) and chip count (8 and 4)"),
    ],
)
def test_r11_what_differs_is_told(change: dict[str, object], says: dict[str, object], told: str | None) -> None:
    hits = [text for rule, text in found(message(operand(), theirs(**change), says=says)) if rule == "R11"]
    assert hits == ([] if told is None else [f"the comparison does not say that the results differ in {told}"])


def test_r11_other_fields_of_one_submitters_systems_are_information() -> None:
    old = operand(framework="A 1", accelerator_model_name="Chip")
    new = operand("new", framework="A 2", accelerator_model_name="Chip")
    what = judged(message(old, new))
    assert [(one.severity, one.message) for one in what.findings] == [
        ("note", "the systems also differ in framework (A 1 and A 2)")
    ]
    assert rules(message(old, new, says={"discloses": ["framework"]})) == []
    assert rules(message(old, theirs(framework="A 2", accelerator_model_name="Chip"))) == []
    assert rules(message(old, operand("new"))) == []


def test_r11_sentence_itself_may_tell() -> None:
    said = "Acme's acme8 (8 chips, v1.1) and Ucme's ucme8 (16 chips, v1.0) train ResNet-50"
    assert "R11" not in rules(message(operand(), theirs(chips=16, round="1.0"), text=said))
    gain = "Acme's acme8 gained 24% on ResNet-50 since MLPerf Training v1.0"
    assert "R11" not in rules(message(operand(), operand("old", round="1.0"), text=gain))
    assert "R11" in rules(message(operand(), operand("old", round="1.0"), text=gain.replace("v1.0", "last year")))


def test_r11_both_divisions_in_one_document() -> None:
    note = document(footnote=NOTE_2021.replace("Closed", "Closed and Open"))
    closed = message(document=note, says={"division": None})
    is_open = message(operand("o", division="open"), id="two", document=note, text="Acme's acme8: image classification")
    assert [(one.claim, one.reason) for one in judged(closed, is_open).not_looked_at if one.claim] == [
        ("two", "whether the division is said: note it under says: division")
    ]
    is_open = msgspec.structs.replace(is_open, says={"division": None})
    assert found(closed, is_open) == [
        ("R11", "the division is not said (closed), and the same document has results of the other"),
        ("R11", "the division is not said (open), and the same document has results of the other"),
    ]
    labelled = message(document=note, text="In the Closed division acme8 of Acme trains ResNet-50")
    assert len([rule for rule in rules(labelled, is_open) if rule == "R11"]) == 1


def test_r12_why_open_is_not_closed() -> None:
    pair = (operand(), theirs(division="open", notes="TBD"))
    said = {"division": "Closed and Open", "benchmark": "image classification"}
    assert (
        "R12",
        "the text does not say why the Open result would not qualify as Closed; "
        "nor does the system description of theirs",
    ) in found(message(*pair, says=said))
    assert "R12" not in rules(message(*pair, says={**said, "open_difference": "another optimizer"}))
    assert "R12" not in rules(message(operand(), theirs()))


# R10, R14, R16, R17: metrics


def test_comparisons_of_one_sentence_are_looked_at_one_by_one() -> None:
    bert = (operand("our_bert", benchmark="bert"), theirs(benchmark="bert", chips=16))
    pair = (operand(), theirs(), bert[0], msgspec.structs.replace(bert[1], name="their_bert"))
    ids = NOTE_2021.replace("2002", "2002, 1.1-2003, 1.1-2004")
    note = document(footnote=ids.replace("ResNet-50", "ResNet-50 and BERT"))
    both = message(*pair, document=note, together=(("ours", "theirs"), ("our_bert", "their_bert")))
    assert found(both) == [("R11", "the comparison does not say that the results differ in chip count (8 and 16)")]
    assert "R16" in rules(message(*pair, document=note))


def test_r10_nothing_beside_mlperf_results_that_is_none() -> None:
    mixed = message(figures=(figure("images", "throughput", "images/s"),))
    assert found(mixed) == [("R10", "MLPerf results are compared with figures from elsewhere: images (throughput)")]
    published = message(figures=(figure("other_minutes", "time", "min", "an MLPerf table"),))
    assert rules(published) == []
    alone = message(figures=(figure("images", "throughput", "images/s"),), operands=(), scored=())
    assert rules(alone) == []
    chart = document(text=f"MLPerf™ training: AlexNet (non-MLPerf)\n{NOTE_2021}")
    assert (
        "R10",
        "something that is not MLPerf is called MLPerf: “MLPerf™ training: AlexNet (non-MLPerf)”",
    ) in found(message(document=chart))


def test_r14_power_is_measured_power_since_2025() -> None:
    watts = message(figures=(figure("tdp", "power", "W"),), says={"derived_metric_basis": "TDP"})
    assert ("R14", "tdp is power from elsewhere; none was measured for ours") in found(watts, wanted="2025-07")
    assert "R14" not in rules(watts, wanted="2021-06")
    measured = judged(message(operand(power=True), figures=(figure("watts", "power", "W"),)), wanted="2025-07")
    assert "whether watts is the power that was measured with the result" in {
        one.reason for one in measured.not_looked_at
    }


def test_r16_a_composite_says_how_it_is_made() -> None:
    note = document(footnote=NOTE_2021.replace("ResNet-50", "ResNet-50 and BERT"))
    pair = (operand(), operand("bert", benchmark="bert"))
    said = "The official mean of ResNet-50 and BERT on Acme's acme8"
    assert found(message(*pair, text=said, document=note)) == [
        (
            "R16",
            "a composite of several benchmarks: it is not described how the benchmarks are combined and it is called "
            "official or verified",
        )
    ]
    told = {"composite_method": "geometric mean of the minutes"}
    plain = message(*pair, text="ResNet-50 and BERT on Acme's acme8", document=note, says=told)
    assert rules(plain) == []
    assert ("R16", "a composite of several benchmarks: it is not called unverified") in found(plain, wanted="2025-07")


@pytest.mark.parametrize(
    ("says", "note", "text", "told"),
    [
        ({}, "", "", "the text does not say what it rests on and the footnote does not say what it rests on"),
        ({"derived_metric_basis": "list price"}, "", "", "the footnote does not say what it rests on"),
        ({"derived_metric_basis": "list price"}, "By list price.", "", None),
        ({"derived_metric_basis": "list price"}, "By list price.", "official", "it is called official"),
        ({"derived_metric_basis": "list price"}, "By list price.", "unofficial", None),
    ],
)
def test_r17_what_a_derived_metric_rests_on(says: dict[str, str], note: str, text: str, told: str | None) -> None:
    said = message(
        operand(),
        theirs(),
        derived=True,
        figures=(PRICE,),
        says=says,
        document=document(footnote=f"{NOTE_2021} {note}"),
        text=f"Acme's acme8 beats ucme8 of Ucme by an {text} 1.6 per dollar on ResNet-50",
    )
    assert found(said) == ([] if told is None else [("R17", f"a derived metric: {told}")])
    today = [message for rule, message in found(said, wanted="2025-07") if rule == "R17"]
    assert len(today) == 1 and today[0].endswith("it is not called unverified")
