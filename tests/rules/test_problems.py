"""Broken rule data: the file, the line, and what was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.io.data import load_yaml
from mlsub.io.problems import MAX_BYTES, FileProblemsError
from mlsub.rounds import known_rounds, usages
from mlsub.rules import load
from mlsub.rules.engine import compiled_rules
from mlsub.rules.problems import rule_file_problems

ROUNDS = known_rounds("training")
HEAD = 'title: x\nrounds:\n  "1.0":\n    closed:\n'
#: What stands under the head, and where and what the problem is: in line 5, of a demand of 1.0, or anywhere.
OF_DEMANDS = load_yaml(Path(__file__).with_name("flaws.yaml"))
CASES = [
    *((f"      {lines}", f"file.yaml:5: rounds.1.0.closed.{message}") for lines, message in OF_DEMANDS),
    ("      a: any\n      a: any", "file.yaml:6: 'a' is given twice, first on line 5"),
    ("      a: {equals: 1, equals: 2}", "file.yaml:5: 'equals' is given twice, first on line 5"),
    ('      a: any\n  "1.7": {}', "file.yaml:6: rounds.1.7: unknown round. Did you mean 1.1?"),
    ("      a: any\n    closd: {}", "file.yaml:6: rounds.1.0.closd: unknown word. Did you mean closed?"),
    ("      a: any\nbench: x", "file.yaml:6: bench: unknown word. Did you mean benchmark?"),
    ("      a: [", "file.yaml:6: not YAML: "),
    ("      a: &x {equals: 1}\n      b: *x", "file.yaml:6: aliases (*name) are not allowed in rule files"),
]


@pytest.mark.parametrize(("lines", "message"), CASES)
def test_a_flaw_is_named_with_its_line(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(HEAD + lines + "\n")
    problems = rule_file_problems(path, ROUNDS, "file.yaml")
    assert len(problems) == 1
    assert str(problems[0]).startswith(message)


def test_every_flaw_is_told_in_the_order_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(HEAD + "      a: twice\n      b: {bigger: 1}\n      b: any\n")
    assert [problem.line for problem in rule_file_problems(path, ROUNDS)] == [5, 6, 7]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a mapping"),
        (b"- 1\n", "expected a mapping"),
        (b"\xff\xfe", "not UTF-8"),
        (b"a: " + b"[" * 5000, "not YAML"),
        (b"title: x\n", "rounds is missing"),
        (b"#" * (MAX_BYTES + 1), "larger than 4 MiB"),
    ],
)
def test_what_is_no_rule_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(content)
    problems = rule_file_problems(path, ROUNDS, "file.yaml")
    assert len(problems) == 1
    assert message in problems[0].message


def test_a_missing_file_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    assert "cannot be read" in rule_file_problems(tmp_path / "none.yaml", ROUNDS)[0].message


SHIPPED = sorted(path for path in load.FOLDER.glob("*.yaml") if path.stem not in ("rules", "keys", "clauses"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_files_that_ship_have_no_problem(path: Path) -> None:
    rounds = {name for usage in usages() for name in known_rounds(usage)}
    assert rule_file_problems(path, rounds) == ()


@pytest.mark.parametrize(
    ("usage", "file", "text", "wrong", "place"),
    [
        (
            "training",
            "resnet",
            "one_of: [sgd, lars]",
            "one_off: [sgd, lars]",
            "rounds.0.6.both.opt_name.one_off: unknown word. Did you mean one_of?",
        ),
        (
            "rehearsal",
            "digits",
            "occurs: exactly_one, equals: sgd",
            "occurs: exactly_onee, equals: sgd",
            "rounds.1.0.closed.opt_name.occurs: unknown value 'exactly_onee'. Did you mean exactly_one?",
        ),
    ],
)
def test_a_broken_shipped_file_is_reported_by_line_alone(
    usage: str, file: str, text: str, wrong: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for shipped in load.FOLDER.glob("*.yaml"):
        (tmp_path / shipped.name).write_text(shipped.read_text())
    broken = tmp_path / f"{file}.yaml"
    content = broken.read_text().replace(text, wrong)
    broken.write_text(content)
    line = next(n for n, row in enumerate(content.splitlines(), 1) if wrong in row)
    caches = (load._rule_file, load._rules_for, compiled_rules)
    monkeypatch.setattr(load, "FOLDER", tmp_path)
    for cache in caches:
        cache.cache_clear()
    try:
        with pytest.raises(FileProblemsError) as error:
            compiled_rules(usage, "1.0", "closed", file)
        assert error.value.lines[0] == f"{file}.yaml:{line}: {place}"
        assert all(reported.startswith(f"{file}.yaml:") for reported in error.value.lines)
    finally:
        for cache in caches:
            cache.cache_clear()
