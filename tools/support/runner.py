"""Runs ``mlsub`` in this process and holds every JSON document against the published schema."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner
from jsonschema import Draft202012Validator

import mlsub
from mlsub.cli import main

REPOSITORY = Path(mlsub.__file__).parents[1]


class Stream(io.StringIO):
    """A stream that says it is a terminal, or that it is not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Outcome(NamedTuple):
    """What a call of ``mlsub`` came to."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    @property
    def report(self) -> dict[str, Any]:
        """The only report of an answer of ``check`` or ``score``."""
        [report] = self.reports
        return report

    @property
    def official(self) -> str:
        return str(self.report["official"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        return [finding for report in self.reports for finding in report["findings"]]

    @property
    def reports(self) -> list[dict[str, Any]]:
        return list(self.document["reports"])

    def errors(self) -> set[str]:
        """The ids of the rules that can reject: official errors."""
        return {f["rule"] for f in self.findings if f["kind"] == "official" and f["severity"] == "error"}

    def rules(self) -> set[str]:
        return {f["rule"] for f in self.findings}

    def of(self, rule: str) -> list[dict[str, Any]]:
        """The findings of one rule."""
        return [f for f in self.findings if f["rule"] == rule]


@lru_cache(maxsize=16)
def answer_schema(command: str) -> Draft202012Validator:
    """The schema of a command's answer, as it is made of types."""
    from mlsub.commands.answers import schema as of

    return Draft202012Validator(of(command))


def run(*args: object, **env: str) -> Outcome:
    """Call ``mlsub``; anything but an orderly exit is a failure of the test."""
    result = CliRunner().invoke(main, [str(arg) for arg in args], env={"NO_COLOR": "1", **env})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"traceback instead of a verdict: {result.exception!r}") from result.exception
    if result.exception is not None and result.exception.__cause__ is not None:
        raise AssertionError("a defect of mlsub instead of a verdict") from result.exception.__cause__
    return Outcome(result.exit_code, result.stdout, result.stderr)


def call(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Call ``mlsub`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mlsub", *map(str, args)],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, "NO_COLOR": "1", **env},
    )


def python(program: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the text of a program in a process of its own, which can import the tests and the tools."""
    command = [sys.executable, "-c", program, *map(str, args)]
    environment = {**os.environ, **env}
    return subprocess.run(command, capture_output=True, check=False, cwd=REPOSITORY, text=True, env=environment)


def check(*args: object) -> Outcome:
    """``mlsub check --format json``; the document must keep the contract."""
    outcome = run("check", "--format", "json", *args)
    answer_schema("check").validate(outcome.document)
    if not {"--select", "--ignore", "--only"} & set(args):
        # Whatever is not accepted says why.
        for report in outcome.reports:
            assert report["official"] == "accepted" or any(f["severity"] == "error" for f in report["findings"])
    return outcome
