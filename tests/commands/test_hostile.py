"""Names and values made to break a terminal, a JSON stream or the program itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import mlsub
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import call, check, run

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "bell": "bell\x07\x08\x7f",
    "line feed": "two\nlines",
    "tab and return": "tab\tcr\r",
    "undecodable bytes": "\udcff\udcfe",
    "markup": "[red]markup[bold]",
    "right to left": "\u202eevil",
    "C1 control": "\x9b31m",
}


def _put_benchmark(tree: Tree, name: str) -> Path:
    tree.add_entry().rename(tree.entry(name))
    tree.add_entry()
    return tree.folder


def _put_values(tree: Tree, name: str) -> Path:
    for key in ("submission_org", "submission_platform", "submission_benchmark", "opt_name", "eval_accuracy"):
        tree.edit(lambda log, key=key: log.put(key, value=name))  # type: ignore[misc]
    tree.edit(lambda log: log.put("run_stop", metadata={"status": name}, event_type=name), 1)
    tree.edit(lambda log: log.put("seed", metadata={"file": name}), 2, 3)
    tree.edit(lambda log: log.put("seed", value=7, metadata={"lineno": name}), 2, 3)
    return tree.folder


def _put_fields(tree: Tree, name: str) -> Path:
    tree.describe(division=name, submitter=name, system_name=name, framework=[name], **{name: "TODO"})
    return tree.folder


#: What has a hostile name, and the path that is checked then.
PLACES: dict[str, Callable[[Tree, str], Path]] = {
    "organisation": lambda tree, name: tree.folder.rename(tree.folder.with_name(name)),
    # The round is then not known: the name appears in the answer to that.
    "round": lambda tree, name: tree.folder.rename(tree.folder.parents[1] / name),
    "system": lambda tree, name: tree.entry().parent.rename(tree.folder / "results" / name).parents[1],
    "description": lambda tree, name: _with(tree, tree.description(name), "[]"),
    "benchmark": _put_benchmark,
    "log": lambda tree, name: _with(tree, tree.entry() / f"result_{name}.txt"),
    "stray": lambda tree, name: _with(tree, tree.entry() / name),
    "values": _put_values,
    "fields": _put_fields,
    "missing path": lambda tree, name: tree.folder / name,
}


def _with(tree: Tree, file: Path, content: str = "") -> Path:
    file.write_text(content)
    return tree.folder


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_names_neither_steer_the_terminal_nor_break_the_json(place: str, name: str, tmp_path: Path) -> None:
    path = PLACES[place](make_tree(tmp_path), HOSTILE[name])
    for arguments in (["check", path], ["score", path]):
        outcome = run(*arguments)
        assert all(character.isprintable() or character == "\n" for character in outcome.stdout + outcome.stderr)
    assert check(path).status == outcome.status


def test_markup_in_a_value_is_shown_as_it_stands(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("run_stop", metadata={"status": "[red]done[/red]"}))
    assert "[red]done[/red]" in run("check", "-v", tree.folder).stdout


@pytest.mark.parametrize("option", ["--round", "--usage", "--select"])
def test_a_hostile_option_does_not_steer_the_terminal(option: str, tmp_path: Path) -> None:
    outcome = run("check", option, "\x1b[31m\udcff\n", make_tree(tmp_path).folder)
    assert outcome.status == 2
    assert all(character.isprintable() or character == "\n" for character in outcome.stdout + outcome.stderr)


@pytest.mark.parametrize(
    "words", [("cache", "clear", "{}"), ("cache", "--{}"), ("check", ".", "--jobs", "{}"), ("{}",), ("rcp", "{}")]
)
def test_a_hostile_command_line_is_said_in_safe_text(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What click says of it, too; GitHub's runner finds no command in it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    outcome = run(*(word.format("\x1b[31m\r\x9b\n::error::##[b]") for word in words))
    assert outcome.status == 2 and outcome.stdout == ""
    assert all(character.isprintable() or character == "\n" for character in outcome.stderr)
    last = outcome.stderr.splitlines()[-1]
    assert last.startswith(("Error: ", "mlsub ")) and "::error::" in last and "##[" not in last


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_narrow_output_encoding_costs_characters_never_the_answer(encoding: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, org="Øresund→GPU")
    tree.describe(cooling="TODO")
    outcome = call("check", tree.folder, PYTHONIOENCODING=encoding)
    assert outcome.stderr == ""
    assert outcome.returncode == 0


def test_bytes_that_are_no_text_pass_through_the_command_line(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, org="ACME\udcff")
    outcome = call("check", "--format", "json", tree.folder)
    assert outcome.returncode == 1, "the result summarizer cannot write such a submitter"
    assert json.loads(outcome.stdout)["reports"][0]["entries"][0]["organisation"] == "ACME\udcff"


@pytest.mark.parametrize("path", ["a\0b", "/nowhere\0/b", "x" * 300, "", "/dev/null"])
def test_a_path_that_cannot_be_one_is_an_answer_and_no_traceback(path: str) -> None:
    assert mlsub.check(path, round="1.0").official in ("not-checked", "rejected")
