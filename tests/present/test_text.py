"""Documents as text: whatever is in them, at every width from 40 to 200."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.show import breaks, cells, flat, plain, shorten, spaced
from mlsub.present.document import (
    Block,
    Chart,
    Code,
    Column,
    Document,
    Facts,
    Findings,
    Items,
    Lines,
    Section,
    Span,
    Table,
    Text,
    document,
    section,
)
from mlsub.present.text import LEAST, LEAST_NAME, layout, render
from tests.conftest import ExpectedText
from tests.counted import growth

WIDTHS = st.integers(40, 200)
#: Letters, wide ones, marks that combine with the one before, and what steers a terminal.
ALPHABET = "ab -/_.漢字ｶﾅ한\u0301\u0323é€🚀\x1b\n\r\t\x9b\u202e\u200d\udcff"
WORDS = st.text(ALPHABET, max_size=30) | st.sampled_from(["ipu-pod16-TF1-closed", "ipu-pod64-TF1-closed", "", "x" * 90])
CELLS = st.one_of(
    WORDS,
    st.builds(Span, WORDS, st.sampled_from(["good", "bad", "code", "path"])),
    st.lists(st.builds(Span, WORDS), min_size=1, max_size=3).map(tuple),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda lines: Lines(tuple(lines))),
)
COLUMNS = st.builds(
    Column,
    name=st.text("abc 漢", max_size=12),
    number=st.booleans(),
    when_narrow=st.sampled_from(["fold", "parts", "shorten", "keep"]),
    leave_out=st.integers(0, 2),
    note=st.sampled_from(["", "@1", "@2"]),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=8))
    rows = draw(st.lists(st.tuples(*[CELLS] * len(columns)), max_size=5))
    return Table(tuple(columns), tuple(rows), draw(st.integers(0, len(columns) - 1)))


def finding(message: str = "seed is missing", path: str = "result_0.txt", **more: str) -> Finding:
    return Finding(
        rule="key.seed.count",
        severity=Severity.ERROR,
        kind=Kind.OFFICIAL,
        blocks=Blocks.BOTH,
        path=path,
        line=12,
        message=message,
        source="closed_1.0.0.yaml",
        **more,
    )


BLOCKS: st.SearchStrategy[Block] = st.recursive(
    st.one_of(
        st.builds(Text, WORDS),
        st.builds(Chart, kind=st.just("dots"), title=WORDS, about=WORDS, data=st.just({})),
        st.builds(Items, st.lists(WORDS, max_size=3).map(tuple)),
        st.builds(Facts, st.lists(st.tuples(WORDS, CELLS), min_size=1, max_size=4).map(tuple)),
        st.builds(Code, WORDS),
        st.builds(Findings, st.lists(st.builds(finding, WORDS, WORDS), max_size=2).map(tuple)),
        tables(),
    ),
    lambda inner: st.builds(Section, WORDS, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=5,
)
DOCUMENTS = st.builds(Document, WORDS, st.lists(BLOCKS, max_size=4).map(tuple))


def widest(text: str) -> int:
    """The longest line in the reckoning of rich, which is not our own."""
    return max(max(cell_len(line), cells(line)) for line in text.split("\n"))


@given(DOCUMENTS, WIDTHS)
def test_no_line_is_longer_than_the_terminal(found: Document, width: int) -> None:
    text = render(found, width)
    assert widest(text) <= width
    assert text.endswith("\n")
    assert all(character.isprintable() or character == "\n" for character in text)


@given(DOCUMENTS, WIDTHS)
def test_colours_change_no_text(found: Document, width: int) -> None:
    coloured = render(found, width, colour=True)
    for code in ("0", "1", "2", "32", "33", "36", "1;31"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert [line.rstrip() for line in coloured.split("\n")] == render(found, width).split("\n")


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(tables(), WIDTHS)
def test_a_table_loses_nothing_silently(table: Table, width: int) -> None:
    heads = [plain(column.name) for column in table.columns]
    texts = [[head, *_texts(table, at)] for at, head in enumerate(heads)]
    text = render(document("t", table), width)
    fits = layout(table.columns, texts, table.key, width)
    if not table.rows:
        assert text == "t\n"
    elif fits is None:
        for at, column in enumerate(texts):
            prefix = f"{squeezed(heads[at])}:" if heads[at] and at != table.key else ""
            for cell in (row[at] for row in table.rows):
                first, *rest = [squeezed(plain(line)) for line in _lines(cell)]
                assert not first or prefix + first in squeezed(text)
                assert all(line in squeezed(text) for line in rest)
            assert column
        assert text.count("@") == sum(column.note != "" for column in table.columns)
    else:
        assert text.count("@") == sum(table.columns[at].note != "" for at in fits.shown)
        assert list(fits.shown) == sorted(set(fits.shown)) and set(fits.shown) <= set(range(len(heads)))
        assert table.key in fits.shown
        left_out = [head for at, head in enumerate(heads) if at not in fits.shown]
        assert not left_out or f"Noroomfor:{squeezed(', '.join(left_out))}." in squeezed(text)
        for at, given_ in zip(fits.shown, fits.widths, strict=True):
            column, natural = table.columns[at], max(map(cells, texts[at]))
            assert given_ >= (natural if column.keeps else min(natural, LEAST))
            if column.when_narrow == "shorten" and not column.number:
                assert given_ >= min(natural, LEAST_NAME)
                shown = {shorten(one, given_) for one in texts[at]}
                assert len(shown) == len(set(texts[at]))


def _lines(cell: object) -> list[str]:
    if isinstance(cell, Lines):
        return [str(line) for line in cell.lines]
    if isinstance(cell, Span):
        return [cell.text]
    return ["".join(span.text for span in cell)] if isinstance(cell, tuple) else [str(cell)]


def _texts(table: Table, at: int) -> list[str]:
    return [plain(line) for row in table.rows for line in _lines(row[at])]


@given(st.text(ALPHABET.replace("\n", ""), max_size=60).map(plain), st.integers(2, 30), st.integers(2, 30))
def test_wrapping_loses_blanks_alone(text: str, first: int, later: int) -> None:
    lines = [text[start:end] for start, end in breaks(text, first, later)]
    assert squeezed("".join(lines)) == squeezed(text)
    assert [cells(line) <= (later if number else first) for number, line in enumerate(lines)].count(False) == 0


@given(st.text(ALPHABET, max_size=60).map(plain), st.integers(8, 60))
def test_a_text_is_shortened_in_its_middle(text: str, width: int) -> None:
    short = shorten(text, width)
    assert cells(short) <= width
    assert short == text or (text.startswith(short.split("…")[0]) and text.endswith(short.split("…")[1]))


def test_shortened_names_stay_distinct_or_else_are_not_shortened() -> None:
    names = ["ipu-pod16-TF1-closed", "ipu-pod64-TF1-closed", "ipu-pod4-TF1-closed"]
    columns = (Column("system", when_narrow="shorten"), Column("x" * 30, when_narrow="keep"))
    texts = [["system", *names], ["x" * 30]]
    fits = layout(columns, texts, 0, 48)
    assert fits is not None
    assert [shorten(name, fits.widths[0]) for name in names] == [f"ipu-pod{digit}…-closed" for digit in (1, 6, 4)]
    alike = [f"{'a' * 20}{letter}{'b' * 20}" for letter in "xyz"]
    assert layout(columns, [alike, ["x" * 30]], 0, 48) is None


@pytest.mark.parametrize(
    ("width", "row", "left_out"),
    [
        (49, ["rack-of-eight-nodes-   IPU          pass   12.000", "  with-ipu-pod64"], None),
        (44, ["rack-of-eight-nodes-    IPU           12.000", "  with-ipu-pod64"], "RCP"),
        (40, ["rack-of-eight-nodes-with-  pass   12.000", "  ipu-pod64"], "accelerator"),
    ],
)
def test_columns_go_before_a_name_takes_three_lines(width: int, row: list[str], left_out: str | None) -> None:
    columns = (
        Column("system", when_narrow="parts"),
        Column("accelerator", when_narrow="keep", leave_out=1),
        Column("RCP", when_narrow="keep", leave_out=2, note="a verdict"),
        Column("minutes", number=True),
    )
    table = Table(columns, (("rack-of-eight-nodes-with-ipu-pod64", "IPU", "pass", "12.000"),))
    gone = [f"No room for: {left_out}."] if left_out else []
    notes = ["RCP: a verdict"] if left_out != "RCP" else []
    assert render(document("t", table), width).splitlines()[4:] == [*row, *gone, *notes]


def example() -> Document:
    columns = (
        Column(""),
        Column("entry", when_narrow="shorten"),
        Column("runs", number=True, leave_out=1),
        Column("minutes", number=True),
        Column("what was found", leave_out=2),
    )
    bad = Span("one \x1b[31m of them", "bad")
    rows = tuple(
        ("changed", f"ipu-pod{size}-TF1-closed resnet", str(size), f"{size * 1.5:.6f}", bad) for size in (4, 16, 64)
    )
    return document(
        "An example",
        Facts((("old", Span("/a/b", "path")), ("new", Lines(("/c", "/d"))))),
        section("Entries", Table(columns, rows, key=1), Items(("The first is gone.",))),
        section("Nothing", Table(columns, ())),
        Findings((finding(expected="one seed"), finding(path="result_1.txt", expected="one seed"))),
        Code("mlsub check .\nmlsub score ."),
    )


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_what_people_read(width: int, expected_text: ExpectedText) -> None:
    expected_text(f"example-{width}.txt", render(example(), width))


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("when_narrow", ["shorten", "parts"])
def test_a_row_costs_the_same_in_a_long_table(when_narrow: Literal["shorten", "parts"], width: int) -> None:
    columns = (Column("entry", when_narrow=when_narrow), Column("minutes", number=True), Column("remarks"))

    def table(rows: int) -> None:
        cells = tuple((f"system-of-a-long-name-{n}", f"{n:.6f}", "some words of remark " * 4) for n in range(rows))
        render(document("Many", Table(columns, cells)), width)

    assert growth(table, 100, 1_000) < 20


@given(st.text(st.sampled_from("İIßŉaZ Ⅷ™-_’") | st.characters()))
def test_small_letters_stay_in_their_places(text: str) -> None:
    kept = spaced(text)
    small = flat(text)
    assert len(small) == len(kept)
    for one, other in zip(small, kept, strict=True):
        assert one.upper() == other.upper() or one == other.lower() or (one, other) == ("i", "İ")
