"""The comparison of what is known of the rules with a text: small texts, and what changed in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mlsub.rules.clauses import DOCUMENTS
from tools.clause_history import rounds_of
from tools.clauses import Change, Known, Unit, compare, demands_of, digest, main, plain, units

OLD = """= Rules
== Seeds
CLOSED: All seeds must be valid. Seeds are numbers. No run may not
log one.

Seeds must come from the following sources:

* Clock
* Another generator

== Targets
|===
|Area |Problem |Target |Latest version available

|Vision |Image |0.7 |v1.0
| |Text |0.5 |v1.0
|===

== Layout
* <org>/
** systems/

----
This must not be read.
----
"""
#: A change of the text, and what is said of it.
CHANGES = [
    ("nothing", "", "", []),
    ("a word", "must be valid", "must be *valid* integers", [("changed", "Seeds", "CLOSED All seeds must be")]),
    (
        "a new demand",
        "Seeds are numbers.",
        "Seeds are numbers. All runs should log.",
        [("new", "Seeds", "All runs should log")],
    ),
    ("a new sentence", "Seeds are numbers.", "Seeds are numbers. They are nice.", []),
    ("a sentence goes", " No run may not\nlog one.", "", [("gone", "Seeds", "No run may not log")]),
    ("an item", "* Clock\n", "* Clock\n* Radio\n", [("changed", "Seeds", "Seeds must come from the")]),
    ("another layout of lines", "may not\nlog one", "may not log\none", []),
    ("markup and links", "Seeds must come", "_Seeds_ https://a.b/c[must] come", []),
    ("a cell", "|0.7 |", "|0.8 |", [("changed", "Targets", "Image")]),
    ("a cell that demands nothing", "|0.7 |v1.0", "|0.7 |v2.0", []),
    ("a new row", "| |Text |", "| |Sound |1 |v1.0\n| |Text |", [("new", "Targets", "Sound")]),
    ("a row goes", "| |Text |0.5 |v1.0\n", "", [("gone", "Targets", "Text")]),
    ("a folder", "** systems/", "** systems/\n** results/", [("changed", "Layout", "<org>/ systems/")]),
    ("code", "not be read", "not be seen", []),
    (
        "another title",
        "== Seeds",
        "== Random numbers",
        [
            ("moved", "Random numbers", words)
            for words in ("CLOSED All seeds must be", "No run may not log", "Seeds must come from the")
        ],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_what_differs_is_named(old: str, new: str, expected: list[tuple[str, str, str]]) -> None:
    assert not old or OLD.count(old) == 1
    found = compare(demands_of(list(units(OLD))), list(units(OLD.replace(old, new, 1))))
    assert [(one.change, one.section.rpartition(" / ")[2], one.words) for one in found] == expected


def test_sentences_rows_and_lists() -> None:
    rules = ("Rules",)
    assert list(units(OLD)) == [
        Unit((*rules, "Seeds"), "CLOSED All seeds must be valid"),
        Unit((*rules, "Seeds"), "Seeds are numbers", demands=False),
        Unit((*rules, "Seeds"), "No run may not log one"),
        Unit((*rules, "Seeds"), "Seeds must come from the following sources Clock Another generator"),
        Unit((*rules, "Targets"), "Image | 0.7", "Image"),
        Unit((*rules, "Targets"), "Text | 0.5", "Text"),
        Unit((*rules, "Layout"), "<org>/ systems/"),
    ]


def test_a_row_goes_on_in_the_next_line_and_two_of_one_name_are_told_apart() -> None:
    text = "|===\n|Day |Event |Note |Until\n|Monday |must\n|so\n|===\n|===\n|Day |Event\n|Monday |a\n|Monday |b\n|==="
    assert [(unit.row, unit.words) for unit in units(text)] == [
        *(("Monday", "Monday | must | so | "), ("Monday", "Monday | a"), ("Monday (2)", "Monday | b")),
    ]


def test_a_section_that_is_known_as_a_whole_is_named_when_any_sentence_changes() -> None:
    text = "== Examples\nOne is nice. Two must be.\n"
    known = [Known(("Examples",), "", digest("One is nice Two must be")[:6], "section")]
    assert list(compare(known, list(units(text)))) == []
    [changed] = compare(known, list(units(text.replace("nice", "good"))))
    assert changed == Change("changed", "Examples", "(the section)", digest("One is good Two must be")[:6])
    assert [one.change for one in compare(known, [])] == ["gone"]


def test_each_outermost_item_without_a_sentence_above_is_a_demand() -> None:
    text = "== Benchmarks\n* Flux\n** 10 runs\n* Bert\n** Logs must name it. Not more.\n* 5 runs\n"
    assert [(unit.words, unit.demands) for unit in units(text)] == [
        *(("Flux 10 runs", True), ("Bert Not more", True), ("Logs must name it", True), ("5 runs", True)),
    ]


def test_the_rounds_of_a_demand_follow_it_through_the_texts() -> None:
    texts = {
        "1.0": "== Seeds\nAll seeds are to be numbers.\n",
        "2.0": "== Seeds\nNo seed shall be other than a number.\n\nSeeds must be logged in each run.\n",
        "3.0": "== Seeds\nAll seeds must be logged in each run.\n|===\n|Problem |Runs\n|FLUX.1 |5\n|===\n",
        "4.0": "== Seeds\nAll seeds must be logged in each run.\n|===\n|Problem |Runs\n|Text to Image |5\n|===\n",
    }
    read = {name: list(units(text)) for name, text in texts.items()}
    assert rounds_of(demands_of(read["4.0"]), read) == [("2.0", "3.0"), ("3.0", "4.0")]


def test_the_same_sentence_of_two_sections_stays_where_it_is() -> None:
    text = "== A\nAll must.\n== B\nAll must.\n"
    assert list(compare(demands_of(list(units(text))), list(units(text)))) == []
    [gone] = compare(demands_of(list(units(text))), list(units("== B\nAll must.\n")))
    assert (gone.change, gone.section) == ("gone", "A")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`CEIL(12 / batch) * batch` steps, if *not*.", "CEIL(12 / batch batch steps if not"),
        ("see link:https://a.b/c[the code], or <<here>>", "see the code or"),
        ("the global_batch_size (in samples) is >=15360", "the global_batch_size in samples is >=15360"),
    ],
)
def test_words_are_kept_without_markup(text: str, words: str) -> None:
    assert plain(text) == words


def test_the_tool_says_what_differs_and_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "neither training_rules.adoc nor submission_rules.adoc is there" in capsys.readouterr().err
    (tmp_path / "training_rules.adoc").write_text(OLD)
    assert main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("training_rules.adoc: ")
    mark = next(unit.mark for unit in units(OLD) if unit.words.startswith("CLOSED All"))
    assert f"  new: Rules / Seeds: CLOSED All seeds must be {mark}" in lines


def test_a_history_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init")
    for number, text in enumerate((OLD, OLD.replace("0.7", "0.8"), OLD.replace("0.7", "0.8").replace("v1.0", "v2.0"))):
        (tmp_path / f"{next(iter(DOCUMENTS))}.adoc").write_text(text)
        git("add", ".")
        git("commit", "--message", f"text {number}", "--date", f"202{number + 4}-01-01T00:00:00Z")
    assert main([str(tmp_path), "--history", "2025-01-01"]) == 1
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert [line.rpartition(" ")[0] if "Targets" in line else line for line in lines] == [
        "2025-01-01 text 1: 1 changed",
        " changed: Targets: Image",
        "2026-01-01 text 2: nothing differs",
    ]
