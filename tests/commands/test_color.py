"""--color, NO_COLOR and FORCE_COLOR: one mechanism for every command."""

from __future__ import annotations

from typing import Any

import click
import pytest

from mlsub.cli import main
from mlsub.present.terminal import colours, console
from tests.commands.tree import every
from tools.support.runner import Stream, run

LIST = ("rules", "list", "--round", "5.1")


#: NO_COLOR, FORCE_COLOR, TERM, --color; on a terminal and to a pipe.
CASES: list[tuple[dict[str, str], bool | None, tuple[bool, bool]]] = [
    ({}, None, (True, False)),
    ({"TERM": "dumb"}, None, (False, False)),
    ({"NO_COLOR": "1"}, None, (False, False)),
    ({"NO_COLOR": ""}, None, (True, False)),
    ({"FORCE_COLOR": "1"}, None, (True, True)),
    ({"FORCE_COLOR": ""}, None, (True, False)),
    ({"FORCE_COLOR": "1", "TERM": "dumb"}, None, (True, True)),
    ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, None, (False, False)),
    ({"NO_COLOR": "1"}, True, (True, True)),
    ({"FORCE_COLOR": "1"}, False, (False, False)),
]


@pytest.mark.parametrize(("variables", "color", "expected"), CASES)
def test_who_decides(
    variables: dict[str, str], color: bool | None, expected: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with click.Context(main, color=color):
        for terminal, wanted in zip((True, False), expected, strict=True):
            stream = Stream(terminal)
            assert colours(stream) is wanted
            shown = console(stream)
            assert (shown.is_terminal, shown.no_color) == (terminal, not wanted)


@pytest.mark.parametrize("words", sorted(words for words, _ in every()), ids=" ".join)
def test_every_command_and_group_takes_it(words: tuple[str, ...]) -> None:
    done = run(*words, "--color", "sometimes")
    assert done.status == 2 and "'--color': 'sometimes' is not one of 'auto', 'always', 'never'" in done.stderr


@pytest.mark.parametrize(
    ("words", "coloured"),
    [
        (("--color", "always", *LIST), True),
        ((*LIST, "--color", "always"), True),
        (("rules", "--color=always", *LIST[1:]), True),
        (("--color", "never", *LIST, "--color", "always"), True),
        (("--color", "always", *LIST, "--color", "never"), False),
        (("--color", "always", *LIST, "--color", "auto"), False),
        (LIST, False),
        (("--color", "always", *LIST, "--format", "json"), False),
        (("--color", "always", *LIST, "--format", "markdown"), False),
    ],
)
def test_before_and_after_the_command(words: tuple[Any, ...], coloured: bool) -> None:
    done = run(*words)  # Where NO_COLOR is set, and nothing is a terminal.
    assert done.status == 0
    assert ("\x1b[" in done.stdout) is coloured


def test_a_file_that_is_named_has_no_colours(tmp_path: Any) -> None:
    assert run("--color", "always", *LIST, "-o", tmp_path / "answer.txt").status == 0
    assert "\x1b" not in (tmp_path / "answer.txt").read_text()
