"""A remedy leads to a clean result, and a command that it names exists, with the options that it names."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import mlsub
from mlsub.cli import main
from mlsub.io.data import shipped
from mlsub.rules import catalogue as rules
from mlsub.rules.catalogue import catalogue
from mlsub.systems.fields import fields
from tests.everyday.test_broken import CASES
from tools.support.make_tree import Tree
from tools.support.runner import run

PACKAGE = Path(mlsub.__file__).parent
_NAMED = re.compile(r"\bmlsub [a-z]+[^;:.,)`\"']*")
#: What follows a command in a sentence, and is no part of it.
_PROSE = re.compile(r"\s(?:does|writes?|shows?|shortens|picks|puts|removes|lists|do|reports|and|where|on|from|-> )\b.*")


def _remedies() -> Iterator[str]:
    """Each remedy that findings, the catalogue and the aspects have, and each that a module writes."""
    for info in catalogue().values():
        yield info.fix
    for texts in shipped(rules.__file__, "aspects/aspects.yaml", dict[str, dict[str, str]]).values():
        yield texts["fix"]
    for folder in ("submission", "review", "systems", "workspace", "judge", "convergence", "score", "rules"):
        for file in (PACKAGE / folder).rglob("*.py"):
            source = re.sub(r'"\s*\n\s*f?"', "", file.read_text())
            yield from re.findall(r'f?"((?:[^"\\\n]|\\.)*mlsub [a-z](?:[^"\\\n]|\\.)*)"', source)


def commands() -> list[str]:
    named = (match[0].strip() for text in _remedies() for match in _NAMED.finditer(text))
    return sorted({_PROSE.sub("", name) for name in named})


def _command(words: list[str]) -> tuple[click.Command, list[str]] | None:
    command: click.Command = main
    while isinstance(command, click.Group) and words:
        inner = command.get_command(click.Context(command), words[0])
        if inner is None:
            return None
        command, words = inner, words[1:]
    return command, words


def test_commands_that_remedies_name_exist() -> None:
    named = commands()
    assert {"mlsub fix PATH --write", "mlsub score PATH --write-scaling"} <= set(named)
    for name in named:
        words = shlex.split(name)[1:]
        if not words or words[0] in ("is", "runs", "uses", "reads"):
            continue  # a sentence about the program
        found = _command(words)
        assert found is not None, name
        command, rest = found
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in rest if word.startswith("-")} <= known, name


#: Commands with options that remedies name, and where a test runs them; broken.yaml runs its own as they are printed.
RUN = {
    "mlsub compare OLD NEW --resubmit": "commands/compare/test_resubmit.py",
    "mlsub fix PATH --truncate --write": "commands/fix/test_truncate.py",
    "mlsub pack MANIFEST --scaffold --write": "commands/test_status.py",
    "mlsub rcp plan BENCHMARK --batch-size N": "commands/rcp/test_show.py",
    "mlsub system capture --format json": "commands/test_system.py",
}


def test_each_command_of_a_remedy_is_run_by_a_test() -> None:
    tests = Path(__file__).parents[1]
    done = [step for case in CASES.values() for step in case.get("do", ()) if isinstance(step, str)]
    for command in (name for name in commands() if " -" in name):
        if not any(step.startswith(command) for step in done):
            text = (tests / RUN[command]).read_text()
            assert all(word in text for word in command.split() if word.startswith("--")), command


#: Fields whose values the result summarizer has to read as numbers.
_COUNTS = ("number_of_nodes", "host_processors_per_node", "accelerators_per_node")
#: How a description is broken, and what its remedy asks for.
DESCRIPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    **{
        f"{name} holds TODO": ({name: "TODO"}, "official.crash" if name in _COUNTS else "system.placeholder")
        for name in fields().required
    },
    **{
        f"{name} is empty": ({name: ""}, "official.crash" if name in _COUNTS else "system.empty-value")
        for name in fields().required
        if not fields().fields[name].may_be_empty and name not in ("status", "division")
    },
    **{f"{name} is missing": ({name: None}, "system.field-missing") for name in fields().required},
}
#: What a submitter writes where a remedy says what a field has to hold.
_SAYS = {
    "a whole number": "1",
    "closed or open": "closed",
    "Available on-premise": "Available on-premise",
    "the name of the organisation": "ACME",
    "the model": "NVIDIA H100-SXM5-80GB",
}


def _answer(fix: str, name: str) -> str:
    said = fix.partition(f"{name}: ")[2] or fix.removeprefix("Add the field: ").removeprefix("Write ")
    return next((value for words, value in _SAYS.items() if said.startswith(words)), "N/A")


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A system without results: what is said of it is about its description."""
    tree = Tree(tmp_path_factory.mktemp("described") / "v5.1" / "ACME")
    tree.add_system(status="Available on-premise", accelerator_model_name="NVIDIA H100-SXM5-80GB")
    return tree


def _findings(tree: Tree) -> dict[str, str]:
    """Rule and remedy of what is said of the description."""
    outcome = run("system", "check", tree.description(), "--round", "5.1", "--format", "json")
    found = [f for one in json.loads(outcome.stdout)["systems"] for f in one["findings"]]
    return {f["rule"]: f["fix"] for f in found}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_who_does_what_the_remedy_says_has_no_finding(name: str, described: Tree) -> None:
    changes, rule = DESCRIPTIONS[name]
    kept = described.description().read_text()
    try:
        described.describe(**changes)
        found = _findings(described)
        assert rule in found
        [field] = changes
        described.describe(**{field: _answer(found[rule], field)})
        assert _findings(described) == {}
    finally:
        described.description().write_text(kept)
