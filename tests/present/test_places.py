"""Places in few lines: they stand for every place of a defect, and for no other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.data import load_yaml
from mlsub.present import html, markdown, text
from mlsub.present.document import Document, Findings, Span, text_of
from mlsub.present.findings import MAX_DEFECTS, MAX_PLACES, facts_of
from mlsub.present.places import MAX_FILES, MAX_LINES, MAX_PARTS, PlaceRow, patterns, rows

Place = tuple[str, int | None, str | None]


def finding(path: str, line: int | None = None, actual: str | None = None, message: str = "seed is missing") -> Finding:
    return Finding(
        rule="key.seed.count", severity=Severity.ERROR, kind=Kind.OFFICIAL, blocks=Blocks.BOTH, path=path, line=line,
        message=message, expected="one", actual=actual, fix="Log it.", source="a test",
    )  # fmt: skip


def shown(places: Sequence[Place]) -> list[str]:
    found = {actual for _, _, actual in places}
    return [text_of(row.words) for row in rows((finding(*place) for place in places), own=len(found) > 1)]


def test_what_two_rules_demand_in_the_same_words_has_a_source_each() -> None:
    alike = (finding("dlrm/result_0.txt"), msgspec.structs.replace(finding("rgat/result_0.txt"), source="another test"))
    shown = text.render(Document("t", (Findings(alike),)))
    assert re.findall(r"(?:in|source): +(\S.*)", shown) == [
        "dlrm/result_0.txt",
        "a test",
        "rgat/result_0.txt",
        "another test",
    ]


CASES = load_yaml(Path(__file__).with_name("places.yaml"))


@pytest.mark.parametrize("name", CASES)
def test_places_read_to_the_letter(name: str) -> None:
    places, expected = CASES[name]
    assert shown([(path, line, actual) for path, line, actual in places]) == expected


def expanded(pattern: str) -> list[str]:
    """All that a pattern stands for."""
    begin, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    depth, end, cuts = 1, 0, [-1]
    while depth:
        depth += {"{": 1, "}": -1}.get(rest[end], 0)
        if depth == 0 or (depth == 1 and rest[end] == ","):
            cuts.append(end)
        end += 1
    parts = [rest[first + 1 : last] for first, last in pairwise(cuts)]
    return [f"{begin}{one}{more}" for part in parts for one, more in product(_numbers(part), expanded(rest[end:]))]


def _numbers(part: str) -> list[str]:
    if counted := re.fullmatch(r"(\d+)\.\.(\d+)", part):
        first, last = counted.groups()
        return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return expanded(part)


def claimed(row: PlaceRow) -> Iterator[Place]:
    """The places that a row stands for."""
    words = [word if isinstance(word, Span) else Span(word) for word in row.words]
    folder, items = "", words
    if len(words) > 1 and words[1].text == ": ":
        folder, items = f"{words[0].text}/", words[2:]
    each = re.fullmatch(r" \(each: (.*)\)", items[-1].text)
    for at, item in enumerate(items):
        if item.meaning == "path":
            after = items[at + 1].text if at + 1 < len(items) else ""
            own = re.fullmatch(r" \((?!each: )(.*)\)", after)
            found = each[1] if each else own[1] if own else None
            path, _, lines = item.text.partition(":")
            for one in expanded(folder + path):
                yield from ((one, int(line) if line else None, found) for line in lines.split(","))


PARTS = st.sampled_from(["a", "b1", "b2", "b03", "c4d4"])
NAMES = st.one_of(
    st.integers(0, 12).map("result_{}.txt".format), st.integers(0, 12).map("r{:02}".format), st.sampled_from(["x", "y"])
)
PATHS = st.builds(lambda folders, name: "/".join((*folders, name)), st.lists(PARTS, max_size=3), NAMES)
PLACES = st.tuples(
    PATHS, st.none() | st.integers(1, 3), st.sampled_from([None, "1", "2", "a longer value, with words"])
)


@given(st.lists(PLACES, unique=True, min_size=1, max_size=30))
def test_every_place_is_claimed_and_no_other(places: list[Place]) -> None:
    own = len({actual for _, _, actual in places}) > 1
    wanted = {(path, line, actual if own else None) for path, line, actual in places}
    made = list(rows((finding(*place) for place in places), own=own))
    told = [place for row in made for place in claimed(row)]
    if not any(row.left_out for row in made):
        assert len(told) == len(set(told))
        assert set(told) == wanted
    assert sum(row.findings for row in made) == len(wanted)


@given(st.lists(st.text("r_019{},.-/ ", min_size=1, max_size=8), unique=True, max_size=12))
def test_patterns_stand_for_all_names(names: list[str]) -> None:
    found = list(patterns(names))
    assert sum(count for _, count in found) == len(names)
    told = [one for name, _ in found for one in ([name[1:-1]] if name.startswith('"') else expanded(name))]
    assert sorted(told) == sorted(names)


@pytest.mark.parametrize("more", [0, 1])
def test_as_much_is_shown_as_there_is_room_for(more: int) -> None:
    for number, made in (
        (MAX_FILES, [finding(f"x/file{chr(97 + n)}", n + 1) for n in range(MAX_FILES + more)]),
        (MAX_LINES, [finding("x/a", line + 1) for line in range(MAX_LINES + more)]),
    ):
        [row] = rows(made, own=False)
        assert (row.findings, row.left_out) == (number + more, more)
    places = [finding(f"{chr(97 + n)}/{n}/{chr(98 + n)}", n + 1) for n in range(MAX_PLACES + more)]
    assert ("and 1 more place" in text.render(Document("t", (Findings(tuple(places)),)))) == bool(more)
    numbers = [finding(f"x/result_{2 * n}.txt", 1) for n in range(MAX_PARTS + more)]
    [row] = rows(numbers, own=False)
    assert (", " in text_of(row.words)) == bool(more)


def test_the_first_lines_of_a_file_are_shown() -> None:
    [row] = rows([finding("x/a", line + 1) for line in range(MAX_LINES + 90)], own=False)
    assert (text_of(row.words), row.left_out) == ("x/a:1,2,3,4,5,6,7,8,9,10", 90)


def test_a_terminal_has_some_places_and_a_page_all() -> None:
    many = tuple(finding(f"{'/'.join('ab'[: n % 2 + 1])}{n}/f{chr(97 + n)}", n + 1) for n in range(MAX_PLACES + 4))
    document = Document("t", (Findings(many),))
    last = dict(facts_of(many))["in"].lines[-1]  # type: ignore[union-attr]
    assert last == "and 4 more places"
    assert "and 4 more places" in text.render(document)
    for page in (markdown, html):
        assert "more place" not in page.render(document)
        assert all(f"f{chr(97 + n)}:{n + 1}" in page.render(document) for n in range(MAX_PLACES + 4))


def test_a_page_has_all_files_and_lines_of_a_row() -> None:
    files = [finding(f"x/file{chr(97 + n)}", n + 1) for n in range(MAX_FILES + 5)]
    lines = [finding("x/a", line + 1) for line in range(MAX_LINES + 90)]
    for every in (files, lines):
        [row] = rows(every, own=False, whole=True)
        assert (row.findings, row.left_out) == (len(every), 0)
        assert len(list(claimed(row))) == len(every)


def test_names_that_are_endless_take_no_time() -> None:
    many = [finding(f"{'/'.join(['d'] * 500)}{n}/{'1_' * 100}{n}", 1) for n in range(200)]
    assert sum(row.findings for row in rows(many, own=False)) == 200


@pytest.mark.parametrize(
    "place",
    ["r/{}/resnet/result_0.txt", "r/rack{}/resnet/result_0.txt", "r/s/result_{}.txt", "r/s/{}.txt", "{}/{}/a.txt"],
)
@pytest.mark.parametrize("names", ["numbers", "words"])
def test_places_that_no_pattern_makes_short_are_few_on_a_terminal(place: str, names: str) -> None:
    """Every second number, and words without one: brackets do not hold thousands of them, and all are counted."""
    named = [2 * n if names == "numbers" else chr(97 + n % 26) * (n // 26 + 1) for n in range(5 * MAX_PARTS)]
    every = [finding(place.format(*[name] * place.count("{}")), 1) for name in named]
    made = list(rows(every, own=False))
    assert sum(row.findings for row in made) == len(every)
    assert all(text_of(row.words).count(",") <= MAX_FILES * MAX_PARTS for row in made)
    told = [place for row in made for place in claimed(row)]
    assert len(set(told)) == len(told) == len(every) - sum(row.left_out for row in made)
    page = rows(every, own=False, whole=True)
    assert {one for row in page for one in claimed(row)} == {(one.path, 1, None) for one in every}


def test_of_one_rule_a_terminal_has_some_defects_and_a_page_all() -> None:
    def defects(number: int) -> Document:
        return Document("t", (Findings(tuple(finding("a", n + 1, None, f"defect {n}") for n in range(number))),))

    assert "more finding" not in text.render(defects(MAX_DEFECTS))
    shown = text.render(defects(MAX_DEFECTS + 2))
    assert "and 2 more findings of this rule; --format json lists all [key.seed.count]\n" in shown
    assert shown.count("error: ") == MAX_DEFECTS
    assert "and 1 more finding of this rule" in text.render(defects(MAX_DEFECTS + 1))
    for page in (markdown, html):
        assert "more finding" not in page.render(defects(MAX_DEFECTS + 2))
        assert f"defect {MAX_DEFECTS + 1}" in page.render(defects(MAX_DEFECTS + 2))
