"""``mlsub schema``: the schema of every answer and every document, and one line for what has none."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from mlsub.commands.answers import commands, schema
from mlsub.commands.schema.run import documents
from tests.commands.tree import leaves
from tools.support.runner import run

NAMES = (*documents(), *commands())


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_a_schema(name: str) -> None:
    outcome = run("schema", *name.split())
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.isascii()
    Draft202012Validator.check_schema(outcome.document)
    if name in commands():
        assert outcome.document == json.loads(json.dumps(schema(name)))
    else:
        assert outcome.document["title"]


def test_without_a_name_it_lists_the_names() -> None:
    lines = run("schema").stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == list(NAMES)


@pytest.mark.parametrize("name", commands())
def test_the_command_that_writes_an_answer_exists_with_the_options_that_are_named(name: str) -> None:
    line = next(line for line in run("schema").stdout.splitlines() if line.startswith(f"{name}  "))
    words = line.partition("what mlsub ")[2].removesuffix(" writes").split()
    command = leaves()[max((leaf for leaf in leaves() if " ".join(words).startswith(leaf)), key=len)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert "--format" in words and {word for word in words if word.startswith("-")} <= known
    assert run("schema", *name.split()).document["title"] == f"What mlsub {' '.join(words)} writes"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("manifset",), "mlsub schema: no schema 'manifset'. Did you mean manifest?"),
        (("no" * 5000,), "mlsub schema: no schema 'nonono"),
        (("\x1b[31m",), "mlsub schema: no schema '\\x1b[31m'"),
        (("system", "--round", "9.9"), "mlsub schema: no training round '9.9'"),
        (("system", "--usage", "traning"), "mlsub schema: no usage 'traning'"),
    ],
)
def test_an_unknown_name_is_one_line(words: tuple[str, ...], message: str) -> None:
    outcome = run("schema", *words)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(message)
    assert outcome.stderr.count("\n") == 1
    assert len(outcome.stderr) < 600


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (("--round", "5.1"), "System description, MLPerf Training v5.1"),
        (("--usage", "hpc"), "System description, MLPerf HPC v3.0"),
    ],
)
def test_a_system_description_has_the_schema_of_its_round(words: tuple[str, ...], title: str) -> None:
    outcome = run("schema", "system", *words)
    Draft202012Validator.check_schema(outcome.document)
    assert outcome.document["title"] == title


def test_rounds_go_with_system_descriptions_alone() -> None:
    outcome = run("schema", "manifest", "--round", "5.1")
    assert outcome.status == 2
    assert "--round and --usage go with system" in outcome.stderr
