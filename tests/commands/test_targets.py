"""--format and -o of commands that check: which belong together, what stays on the screen, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from mlsub.commands.output import targets
from tests.ci_formats import sarif
from tools.support.make_tree import Tree, make_tree, snapshot, spoil
from tools.support.runner import run

#: What is given, what standard output gets, and what each file gets.
GIVEN = [
    ("", "text", {}),
    ("--format json", "json", {}),
    ("--format sarif -o x.sarif", "text", {"x.sarif": "sarif"}),
    ("-o x.sarif --format sarif", "text", {"x.sarif": "sarif"}),
    ("-o x.sarif", "text", {"x.sarif": "sarif"}),
    ("-o x.sarif --format github", "github", {"x.sarif": "sarif"}),
    ("--format github --format sarif -o x", "github", {"x": "sarif"}),
    ("--format sarif -o x --format github", "github", {"x": "sarif"}),
    ("--format sarif -o x --format junit -o y", "text", {"x": "sarif", "y": "junit"}),
    ("-o x.json -o x.md -o x.HTML -o x.xml -o x.log", "text",
     {"x.json": "json", "x.md": "markdown", "x.HTML": "html", "x.xml": "junit", "x.log": "text"}),
    ("--format gitlab -o gl.json --format sarif -o s.json -o r.json", "text",
     {"gl.json": "gitlab", "s.json": "sarif", "r.json": "json"}),
    ("-o gl.json --format gitlab", "text", {"gl.json": "gitlab"}),
    ("-o gl.json --format github", "github", {"gl.json": "json"}),
    ("--format sarif -o -", "sarif", {}),
    ("-o - --format json", "json", {}),
    ("-o -", "text", {}),
    ("--format github -o - --format sarif -o x", "github", {"x": "sarif"}),
]  # fmt: skip
TWO_FORMATS = "Standard output has one format, and json and text would go there. Give one an -o FILE."
REFUSED = {
    "--format json --format text": TWO_FORMATS,
    "--format json -o - --format text": TWO_FORMATS,
    "--format github -o x.sarif": "Write --format sarif -o x.sarif, and last --format github for standard output.",
    "-o x -o x": "-o x is given twice.",
}


def given(words: str) -> list[str | Path]:
    """As the command line has it: formats as text, files as paths."""
    found = words.split()
    return [value if option == "--format" else Path(value) for option, value in zip(*[iter(found)] * 2, strict=True)]


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.chdir(tmp_path)
    made = make_tree(tmp_path)
    spoil(made, 0, 1)
    return made


@pytest.mark.parametrize(("words", "screen", "files"), GIVEN, ids=[words for words, *_ in GIVEN])
def test_a_format_goes_with_the_file_that_follows(words: str, screen: str, files: dict[str, str]) -> None:
    target = targets("check", given(words), force=False)
    assert (target.format, target.file) == (screen, None)
    assert {str(one.file): one.format for one in target.also} == files


@pytest.mark.parametrize("words", REFUSED)
def test_what_contradicts_itself_is_refused(words: str) -> None:
    with pytest.raises(click.UsageError, match=r"\S") as refused:
        targets("check", given(words), force=False)
    assert refused.value.message.endswith(REFUSED[words])


def test_the_order_of_the_command_line_counts(tree: Tree) -> None:
    words = ("--format", "gitlab", "-o", "a", "--strict", "--format", "github", "--format", "sarif", "-o", "b")
    outcome = run("check", *words, tree.folder)
    assert (outcome.status, outcome.stderr) == (1, "")
    assert outcome.stdout.startswith("::error ")
    assert isinstance(json.loads(Path("a").read_text()), list)
    sarif(Path("b").read_text())


def test_text_stays_on_the_screen(tree: Tree) -> None:
    shown = run("check", tree.folder)
    beside = run("check", tree.folder, "--format", "sarif", "-o", "x.sarif", "-o", "x.html")
    assert beside == shown
    assert Path("x.html").read_text() == run("check", tree.folder, "--format", "html").stdout
    assert Path("x.sarif").read_text() == run("check", tree.folder, "--format", "sarif").stdout


def test_no_file_is_written_where_one_cannot_be(tree: Tree, tmp_path: Path) -> None:
    Path("mine.xml").write_text("mine\n")
    before = snapshot(tmp_path)
    for words in (("-o", "a.sarif", "-o", "mine.xml"), ("-o", "a.sarif", "-o", "gone/b.xml")):
        refused = run("check", tree.folder, *words)
        assert (refused.status, refused.stdout) == (2, "")
        assert refused.stderr.startswith("mlsub check: ")
    assert snapshot(tmp_path) == before
    assert run("check", tree.folder, "-o", "a.sarif", "-o", "mine.xml", "--force").status == 1
    assert Path("mine.xml.~1~").read_text() == "mine\n"


def test_an_unknown_format_names_those_there_are(tree: Tree) -> None:
    refused = run("check", tree.folder, "--format", "sarf")
    assert refused.status == 2
    assert "'sarf' is not one of 'text', 'json', 'markdown', 'html', 'sarif', 'junit', 'github', 'gitlab'" in (
        " ".join(refused.stderr.split())
    )
