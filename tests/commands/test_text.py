"""What people read, to the letter: the reports of check and score, and the explanations of rules.

ROOT stands for the folder that was checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest

from mlsub.cli import main
from mlsub.present.terminal import colours, console
from mlsub.rules.explain import rule_ids
from tests.commands.tree import every
from tests.conftest import ExpectedText
from tools.support.make_tree import make_tree, spoil
from tools.support.runner import Stream, run


def _accepted(tmp_path: Path) -> Path:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    tree.add_system("rack1-open", "open")
    tree.add_entry("resnet", "rack1-open", "open")
    return tree.folder


def _ten_logs_one_defect(tmp_path: Path) -> Path:
    tree = make_tree(tmp_path, benchmarks=["bert"])
    tree.edit(lambda log: log.put("opt_lamb_beta_1", key="opt_lamb_beta1"), *range(10), benchmark="bert")
    return tree.folder


def _eleven_places(tmp_path: Path) -> Path:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    spoil(tree, *range(5))
    spoil(tree, *range(10), benchmark="bert")
    tree.edit(lambda log: log.drop("cache_clear"), *range(5))
    tree.edit(lambda log: log.drop("cache_clear"), *range(10), benchmark="bert")
    return tree.folder


def _many_defects(tmp_path: Path) -> Path:
    tree = make_tree(tmp_path)
    spoil(tree, 0)
    tree.log(1).write_text("")
    tree.describe(acceleratr_frequency="1 GHz", accelerator_frequency=None, cooling="TODO", framework=15)
    tree.entry("resnet50").mkdir()
    (tree.entry() / "notes.md").write_text("")
    return tree.folder


def _organisations(tmp_path: Path) -> Path:
    make_tree(tmp_path)
    make_tree(tmp_path, org="Zeta").log(4).unlink()
    return tmp_path / "v1.0"


def _spoiled(tmp_path: Path) -> Path:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    return tree.folder


def _converging(tmp_path: Path) -> Path:
    """One entry too fast, one scaled by the test, one by the committee, one let pass."""
    tree = make_tree(tmp_path, "v4.0")
    tree.describe(status="onprem")
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 30}), *range(5))
    for system, epochs in (("rack2", 35), ("rack3", 40), ("rack4", 30)):
        tree.add_system(system)
        tree.add_entry(system=system)
        tree.edit(lambda log, e=epochs: log.put("eval_accuracy", metadata={"epoch_num": e}), *range(5), system=system)  # type: ignore[misc]
    (tree.entry(system="rack3") / "scaling.json").write_text('{"scaling_factor": 1.05}')
    (tree.entry(system="rack4") / "package_checker_params").write_text("rcp_bypass\nrcp-bypass")
    return tree.folder


# Name of the expected text: command, what is checked, exit status.
TEXTS: dict[str, tuple[list[str], Callable[[Path], Path], int]] = {
    "accepted": (["check"], _accepted, 0),
    "ten-logs-one-defect": (["check"], _ten_logs_one_defect, 1),
    "more-than-ten-places": (["check"], _eleven_places, 1),
    "many-defects": (["check"], _many_defects, 1),
    "selected": (["check", "--select", "system.placeholder"], _many_defects, 1),
    "organisations": (["check"], _organisations, 1),
    "rehearsal": (["check"], lambda tmp: make_tree(tmp, "rehearsal-v1.0", benchmarks=["digits"]).folder, 0),
    "converging": (["check"], _converging, 1),
    "single-log": (["check"], lambda tmp: make_tree(tmp).log(2), 0),
    "no-such-path": (["check"], lambda tmp: make_tree(tmp).folder.with_name("ACMF"), 2),
    "no-round": (["check"], lambda tmp: make_tree(tmp, "somewhere").folder, 2),
    "score": (["score"], _accepted, 0),
    "score-none": (["score"], _spoiled, 1),
    "score-single-log": (["score"], lambda tmp: make_tree(tmp).log(2), 0),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_report_reads_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    arguments, make, status = TEXTS[name]
    with TemporaryDirectory() as folder:  # The path of tmp_path is long, and would break lines elsewhere.
        outcome = run(*arguments, make(Path(folder)))
    expected_text(f"{name}.txt", outcome.stdout.replace(folder, "ROOT"))
    assert outcome.stderr == ""
    assert outcome.status == status


@pytest.mark.parametrize("rule", ["seed.shared", "run.clock-backwards", "key.lars_epsilon.value", "key.init_stop.time"])
def test_an_explanation_reads_to_the_letter(rule: str, expected_text: ExpectedText) -> None:
    outcome = run("explain", rule)
    expected_text(f"explain-{re.sub('[._]', '-', rule)}.txt", outcome.stdout)
    assert (outcome.status, outcome.stderr) == (0, "")


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("seed.shard", "Error: no rule 'seed.shard'. Did you mean seed.shared, seed.reused, seed.unusable?"),
        ("key.lars_epsilon", "Error: no rule 'key.lars_epsilon'. Did you mean key.lars_epsilon.value, "),
        ("quite something else", "Error: no rule 'quite something else'. mlsub explain log.empty shows one."),
    ],
)
def test_an_unknown_rule_gets_a_did_you_mean(rule: str, line: str) -> None:
    outcome = run("explain", rule)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.splitlines()[-1].startswith(line)


@pytest.mark.slow
def test_every_rule_can_be_explained() -> None:
    for rule in rule_ids():
        outcome = run("explain", rule)
        assert outcome.status == 0
        assert outcome.stdout.splitlines()[0] == rule


def test_several_rounds_are_parted_by_an_empty_line(tmp_path: Path) -> None:
    old, new = make_tree(tmp_path, division="open"), make_tree(tmp_path, "v1.1", division="open")
    outcome = run("check", old.folder, new.folder)
    first, second = run("check", old.folder).stdout, run("check", new.folder).stdout
    assert outcome.stdout == f"{first}\n{second}"


@pytest.mark.parametrize("below", ["nowhere", "", "somewhere/ACME"])
def test_score_says_why_nothing_could_be_scored(below: str, tmp_path: Path) -> None:
    make_tree(tmp_path, "somewhere")
    scored, checked = run("score", tmp_path / below), run("check", tmp_path / below)
    assert (scored.status, checked.status) == (2, 2)
    (reason,) = (line.strip() for line in checked.stdout.splitlines() if line.startswith("  error: "))
    assert reason in " ".join(scored.stdout.split())


def test_help_names_every_command_and_the_exit_status() -> None:
    text = run("--help").stdout
    assert all(name in text for name in main.list_commands(None))  # type: ignore[arg-type]
    assert "0 clean, 1 findings, 2 could not check" in text


def test_an_unknown_command_gets_a_did_you_mean() -> None:
    outcome = run("chek")
    assert outcome.status == 2
    assert "Did you mean check?" in outcome.stderr


# --color, NO_COLOR and FORCE_COLOR: one mechanism for every command.

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
