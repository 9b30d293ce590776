"""Sentences about published results: no false or untested claim holds, and what is not the results is named."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from mlsub.commands.audit.sentence import read_sentence
from mlsub.commands.audit.verdict import JudgedClaim
from tests.commands.audit.claims import audited, table
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")

#: A text, and its figures: as written, of which kind, and how much; times are in minutes.
FIGURES = {
    "in 1,234.5 seconds": [("1,234.5 seconds", "time", "2469/120")],
    "in half an hour": [("half an hour", "time", "30")],
    "in twenty-one minutes": [("twenty-one minutes", "time", "21")],
    "thirty-one percent less": [("thirty-one percent", "%", "31")],
    "three times as fast": [("three times", "x", "3")],
    "twice, double and thrice": [("twice", "x", "2"), ("double", "x", "2"), ("thrice", "x", "3")],
    "tripled the speed": [("tripled", "x", "3")],
    "halves the time": [("halves", "part", "1/2")],
    "half the time": [("half the", "part", "1/2")],
    "half as long": [("half as", "part", "1/2")],
    "a third of the time": [("a third of the", "part", "1/3")],
    "two thirds of its price": [("two thirds of its", "part", "2/3")],
    "three-quarters the power": [("three-quarters the", "part", "3/4")],
    "in the first half of the year, one system, a third company on 8x H100": [],
}
#: A text, and who has less and who more of what.
DIRECTIONS = {
    "faster, quicker, less time, fewer minutes": [("less", "minutes")] * 4,
    "slower, later, longer, more time": [("more", "minutes")] * 4,
    "fewer GPUs and more nodes": [("less", "chips"), ("more", "nodes")],
}


@pytest.mark.parametrize(("text", "expected"), FIGURES.items())
def test_figures_are_read_in_digits_and_in_words(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(one.written, one.kind, str(one.value)) for one in read_sentence(text).figures] == [
        (written, kind, str(Fraction(value))) for written, kind, value in expected
    ]


@pytest.mark.parametrize(("text", "expected"), DIRECTIONS.items())
def test_directions_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.kind, *one.values) for one in read_sentence(text).of("less", "more")] == expected


DECIDED, WORDS = table("decided.yaml"), table("words.yaml")
DECIDED_IDS = [f"{case[3]}: {case[0][:50]}" for case in DECIDED["cases"]]
WORDS_IDS = [f"{case['of']}: {case['says'][:60]}" for case in WORDS["cases"]]


#: Made results of ResNet on rack1 -> round, organisation, division, minutes, nodes. The last organisation
#: has BERT besides, in 14.5 minutes.
MADE = {
    "older": ("v0.7", "ACME", "closed", 20, 1),
    "old": ("v1.0", "ACME", "closed", 16, 1),
    "new": ("v1.1", "ACME", "closed", 12, 1),
    "other": ("v1.1", "BETA", "closed", 24, 2),
    "third": ("v1.1", "GAMMA", "closed", 18, 1),
    "open": ("v1.1", "DELTA", "open", 30, 1),
    "slow": ("v1.1", "OMEGA", "open", 40, 1),
}


def stated(text: Any) -> dict[str, Any]:
    """Return what a case states: true, a number, or a number with a wording, a unit and a reading."""
    if text is True:
        return {"value": True}
    *wording, number, unit = str(text).removesuffix(" reduction").split() if " " in str(text) else (text, None)
    found = {"value": str(number), "unit": unit, "wording": " ".join(wording) or None}
    found["reading"] = "reduction" if str(text).endswith("reduction") else None
    return {name: value for name, value in found.items() if value is not None}


def claims_of(cases: list[Any]) -> list[dict[str, Any]]:
    return [
        {"id": f"c{at}", "text": text, "expr": expr, "stated": stated(value)}
        for at, (text, expr, value, _) in enumerate(cases)
    ]


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> tuple[JudgedClaim, ...]:
    """All cases of decided.yaml, judged at once."""
    claims = claims_of(DECIDED["cases"])
    return audited(tmp_path_factory.mktemp("decided"), CORPUS, results=DECIDED["results"], claims=claims)


@pytest.fixture(scope="module")
def decided_made(tmp_path_factory: pytest.TempPathFactory) -> tuple[JudgedClaim, ...]:
    """All cases of decided.yaml on results that are made, judged at once."""
    folder = tmp_path_factory.mktemp("made")
    for round_, org, division, minutes, nodes in MADE.values():
        tree = make_tree(folder, round_, org, division=division)
        tree.describe(accelerator_model_name="NVIDIA H100", number_of_nodes=str(nodes))
        tree.edit(lambda log, minutes=minutes: log.last(minutes), *range(5))  # type: ignore[misc]
    tree.add_entry("bert", division=division)
    results = {
        name: {"round": round_, "submitter": org, "system": "rack1", "benchmark": "resnet"}
        for name, (round_, org, *_) in MADE.items()
    }
    results["bert"] = results["slow"] | {"benchmark": "bert"}
    source = {"title": "A post", "publisher": "ACME"}
    made = DECIDED["made"]
    return audited(folder, results=results, values=made["values"], source=source, claims=claims_of(made["cases"]))


@needs_corpus
@pytest.mark.parametrize("at", range(len(DECIDED_IDS)), ids=DECIDED_IDS)
def test_a_word_is_decided_or_named(at: int, decided: tuple[JudgedClaim, ...]) -> None:
    one = decided[at]
    assert one.verdict == DECIDED["cases"][at][3], (one.claim.text, one.reason, one.differences, one.notes)


@pytest.mark.parametrize("at", range(len(DECIDED["made"]["cases"])))
def test_a_word_is_decided_among_made_results(at: int, decided_made: tuple[JudgedClaim, ...]) -> None:
    one = decided_made[at]
    assert one.verdict == DECIDED["made"]["cases"][at][3], (one.claim.text, one.reason, one.differences, one.notes)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[JudgedClaim, ...]:
    """All cases of words.yaml, judged at once."""
    least = {"value": 1, "unit": "min", "wording": "at least"}
    claims = [
        {"id": f"c{at}", "text": case["says"], "expr": f"minutes({case['of']})", "stated": dict(least)}
        for at, case in enumerate(WORDS["cases"])
    ]
    return audited(tmp_path_factory.mktemp("words"), CORPUS, results=WORDS["results"], claims=claims)


@needs_corpus
@pytest.mark.parametrize("at", range(len(WORDS_IDS)), ids=WORDS_IDS)
def test_a_sentence_differs_in_what_is_not_the_results(at: int, compared: tuple[JudgedClaim, ...]) -> None:
    expected = WORDS["cases"][at].get("differs", {})
    found = compared[at]
    assert {one.said: one.what for one in found.differences} == expected
    assert found.verdict == ("fails" if expected else "holds")
    assert all(one.results for one in found.differences)
