"""Documents as Markdown and HTML: hostile text stays text."""

from __future__ import annotations

import io
import os
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mlsub.io.show import plain
from mlsub.present import FORMATS, html, markdown, terminal
from mlsub.present.document import (
    Chart,
    Code,
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Section,
    Share,
    Span,
    Table,
    Tally,
    Text,
    document,
)
from mlsub.present.text import render
from tests.conftest import ExpectedText
from tests.present.test_text import DOCUMENTS, example, squeezed
from tools.support.runner import Stream

SIGNS = "ab1 \\`*_{}[]<>()#+-=.!|~$&;:/\"'\n\x1b\t^%@"
MARKUP = ("<script>alert(1)</script>", "[a](http://b)", "a_b_c", "_a_", "&lt;b&gt;", "1. a", "- a", "# a", "a #", "```")
HOSTILE = st.text(SIGNS, max_size=20).filter(str.strip) | st.sampled_from(MARKUP)
PARSER = MarkdownIt("commonmark").enable("table")
ALLOWED = {"text", "softbreak", "code_inline", "html_inline"}


def _everything(text: str) -> Document:
    column = Column(text)
    code = Span(text, "code")
    return document(
        text, Text(text), Items((text,)), Facts(((text, text),)), Table((column, column), ((text, code),)),
        Section(text, (Text((text, "x", text)),)), Text(code), Code(text)
    )  # fmt: skip


def _inline(tokens: list[Token]) -> list[Token]:
    return [inner for token in tokens if token.type == "inline" for inner in token.children or ()]


@given(HOSTILE)
def test_markdown_shows_text_as_it_is(text: str) -> None:
    tokens = PARSER.parse(markdown.render(_everything(text)))
    kinds = {token.type for token in tokens}
    assert not kinds & {"html_block", "blockquote_open", "ordered_list_open", "hr", "code_block"}
    assert [token.type for token in tokens].count("heading_open") == 2
    assert [token.type for token in tokens].count("table_open") == 1
    for token in _inline(tokens):
        assert token.type in ALLOWED
        assert token.type != "html_inline" or token.content == "<br>"
    shown = [token.content for token in tokens if token.type == "inline"]
    assert len(shown) == 11
    words = ["".join(token.content for token in inline.children or ()) for inline in tokens if inline.type == "inline"]
    clean = plain(text)
    assert squeezed(words[1]) == squeezed(clean)
    assert squeezed(words[3]) == squeezed(f"{clean}: {clean}")
    assert all(squeezed(clean) in squeezed(one) for one in words)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.data: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.data.append(data)


@given(HOSTILE)
def test_html_shows_text_as_it_is(text: str) -> None:
    page, harmless = Page(), Page()
    page.feed(html.render(_everything(text)))
    harmless.feed(html.render(_everything("x")))
    assert page.tags == harmless.tags
    assert page.attributes == harmless.attributes
    assert plain(text) in page.data or not plain(text).strip()


@pytest.mark.slow
@given(DOCUMENTS)
def test_every_document_has_every_format(found: Document) -> None:
    for text in (terminal.render(found, format_) for format_ in FORMATS if format_ != "json"):
        assert text.endswith("\n")
        assert all(character.isprintable() or character == "\n" for character in text)


def test_a_page_loads_nothing() -> None:
    text = html.render(example())
    page = Page()
    page.feed(text)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "style", "onload"}
    assert text.endswith("</html>\n")


def test_what_people_read_as_markdown(expected_text: ExpectedText) -> None:
    expected_text("example.md", markdown.render(example()))


def test_an_anchor_that_is_no_name_is_left_out() -> None:
    assert 'id="a-1"' in html.render(document("t", Section("s", (Text("x"),), anchor="a-1")))
    assert "id=" not in html.render(document("t", Section("s", (Text("x"),), anchor='"><b>')))


@pytest.mark.parametrize("columns", [20, 60, 300])
def test_text_is_made_for_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.render(example(), "text", Stream(terminal=True)) == render(example(), columns, colour=True)
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as here:
            here.setenv(name, value)
            assert terminal.render(example(), "text", Stream(terminal=True)) == render(example(), columns)
    assert terminal.render(example(), "text", io.StringIO()) == render(example(), 120)
    assert terminal.render(example(), "html", Stream(terminal=True)) == html.render(example())


def _tallied(kind: str) -> Document:
    claim = Section("one", (Text("a"),), kind=kind)
    return document(
        "title", claim, Tally("2 claims: 1 a, 1 b", (Share(kind, 1, 0), Share("b", 1, 99), Share("c", 3, 7)))
    )


def test_a_tally_is_a_bar_by_which_a_page_shows_one_kind_alone() -> None:
    page = html.render(_tallied("fails"))
    assert page.index("<legend>2 claims: 1 a, 1 b</legend>") < page.index("<section")
    assert '<rect class="kind-fails" x="0.0" width="250.0" height="10"/>' in page
    assert '<input type="radio" name="only" id="only-fails"><i class="kind-fails"></i>fails (1)</label>' in page
    assert "main:has(#only-fails:checked) section[data-kind]:not([data-kind=fails]) { display: none; }" in page
    assert '<section data-kind="fails">' in page
    assert "only-b" not in page, "there is no such colour"
    assert render(_tallied("fails")).endswith("\n2 claims: 1 a, 1 b\n")
    assert markdown.render(_tallied("fails")).endswith("\n2 claims: 1 a, 1 b\n")


@pytest.mark.parametrize("kind", ["", 'a"]', "a b", "A", "</style>", "a\n", "é"])
def test_a_kind_that_is_not_a_plain_word_is_neither_style_nor_markup(kind: str) -> None:
    page = html.render(_tallied(kind))
    assert 'data-kind="' not in page
    assert page.count("only-") == page.count("only-c")


def test_a_chart_is_said_where_no_script_draws_it() -> None:
    found = document("t", Chart(kind="dots", title="BERT: 2 minutes", about="Record: 2 minutes (v5.1).", data={}))
    said = "BERT: 2 minutes. Record: 2 minutes (v5.1)."
    assert f"<p>{said}</p>" in html.render(found)
    assert said in render(found) and said in markdown.render(found)
    assert Chart(kind="dots", title="Over rounds", data={}).words == "Over rounds."


def test_code_beside_code_is_one_piece_of_code() -> None:
    """The backticks between two would be read as one run, which ends neither."""
    words = (Span("a", "code"), Span(""), Span("b|", "name"), Span("c"), Span("", "code"), Span("d", "code"))
    table = Table((Column("t"),), ((words,),))
    assert markdown.render(document("t", Text(words), table)).splitlines()[2:] == [
        "`ab|`c`d`", "", "| t |", "| --- |", "| `ab\\|`c`d` |",
    ]  # fmt: skip


LINKS = Table(
    (Column("rule"), Column("a long name", number=True)),
    (
        ("run.placeholder", Span("10", link="#ACME.q1")),
        ("log", Span("result_0.txt:7", "path", "../v1.0/result_0.txt#L7")),
    ),
    upright=True,
)


def test_links_lead_to_anchors_and_to_files_beside_the_document() -> None:
    found = document("t", LINKS, Section("ACME", (Text("x"),), anchor="ACME.q1"))
    page, text = html.render(found), markdown.render(found)
    assert '<table class="upright">' in page and '<section id="ACME.q1">' in page
    assert '<a href="#ACME.q1">10</a>' in page and "[10](#ACME.q1)" in text
    assert '<code><a href="../v1.0/result_0.txt#L7">result_0.txt:7</a></code>' in page
    assert "[result_0.txt:7](../v1.0/result_0.txt#L7)" in text
    assert '## <a name="ACME.q1"></a>ACME\n' in text
    assert "<a" not in markdown.render(document("t", Section("s", (Text("x"),), anchor='"><b>')))


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "#a b", "//evil", "/etc/passwd", "./a)b", '#"><b>', "./a#b", "http://a", "data:x", "#"],
)
def test_a_link_that_is_none_of_ours_is_no_link(link: str) -> None:
    found = document("t", Text(Span("x", link=link)))
    assert "<a" not in html.render(found) and "](" not in markdown.render(found)


def test_what_is_folded_is_hidden_on_a_page_alone() -> None:
    found = document("t", Section("Notes: 1", (Text("x"),), folded=True))
    assert (
        "<section>\n<details>\n<summary><h2>Notes: 1</h2></summary>\n<p>x</p>\n</details>\n</section>"
        in html.render(found)
    )
    assert markdown.render(found) == "# t\n\n## Notes: 1\n\nx\n"


def _long(rows: int) -> Document:
    table = Table((Column("a"), Column("b")), tuple((str(row), "x" * 40) for row in range(rows)))
    facts = Facts((("in", Lines(tuple(f"result_{row}.txt" for row in range(rows)))), ("why", "because")))
    sections = (
        Section(name, (Section("q", (facts,), anchor=f"{name}.q1"), table), anchor=name) for name in ("A", "B", "C")
    )
    return document("Review", Text((Span("A", link="#A"), Span("C", link="#C.q1"))), *sections)


def test_a_long_document_is_several_files_of_markdown() -> None:
    assert list(markdown.render_parts(_long(3), "r.md", 3000)) == ["r.md"]
    parts = markdown.render_parts(_long(60), "a b.md", 3000)
    assert list(parts)[:2] == ["a b.md", "a b-1.md"]
    assert max(map(len, parts.values())) <= 3000
    whole = "\n".join(parts.values())
    for row in range(60):
        assert whole.count(f"| {row} | xxx") == 3 == len(re.findall(rf"result_{row}\.txt", whole))
    first, second, *_ = parts.values()
    assert first.startswith("# Review\n\n- [a b-1.md](./a%20b-1.md): ")
    assert re.search(r"\[A\]\(#A\)\[C\]\(\./a%20b-\d+\.md#C\.q1\)|\[A\]\(\./a%20b-1\.md#A\)", first)
    assert second.startswith(f"# Review, part 1 of {len(parts) - 1}\n\n[all parts](./a%20b.md)\n")
    assert re.search(r"^#+ .*A \(continued\)$", whole, re.MULTILINE)
    for anchor in ("A", "B", "C", "A.q1", "B.q1", "C.q1"):
        assert whole.count(f'<a name="{anchor}"></a>') == 1


def test_a_line_that_has_no_room_says_so() -> None:
    parts = markdown.render_parts(document("t", Text("x" * 5000), Items(("y" * 5000, "z"))), "t.md", 3000)
    assert max(map(len, parts.values())) <= 3000
    assert "\n".join(parts.values()).count("One line is too long for this part: HTML and JSON have it.") == 2


@given(st.lists(HOSTILE, min_size=1, max_size=60))
def test_parts_are_as_harmless_as_the_whole(texts: list[str]) -> None:
    parts = markdown.render_parts(document("t", *(Section(text, (Text(text),)) for text in texts)), "t.md", 1000)
    assert max(map(len, parts.values())) <= 1000
    for part in parts.values():
        kinds = {token.type for token in PARSER.parse(part)}
        assert not kinds & {"html_block", "blockquote_open", "ordered_list_open", "hr", "code_block"}


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("300", 200), ("x", 120), ("", 120), ("0", 120)])
def test_columns_say_how_wide_a_file_is(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError))
    for stream in (None, io.StringIO()):
        assert terminal.render(example(), "text", stream) == render(example(), width)
