"""action.yml: its form as GitHub sees it, and each of its steps run with bash as the runner would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from jsonschema.validators import validator_for

import mlsub.cli
from tests.ci_formats import github, sarif
from tools.support.make_tree import make_tree, spoil
from tools.support.runner import REPOSITORY

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
#: Does what the real one does as far as the steps can see, without an installation: ``-m venv DIR`` makes its programs.
PYTHON = f"""#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 9
mkdir -p "$3/bin"
printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@" > "%s/pip.txt"\\n' "$RUNNER_TEMP" > "$3/bin/pip"
printf '#!/bin/sh\\nexec {sys.executable} -m mlsub "$@"\\n' > "$3/bin/mlsub"
chmod +x "$3/bin/pip" "$3/bin/mlsub"
"""


def validate(document: object, name: str) -> None:
    """Fail where a document does not keep a schema of GitHub or GitLab, which check-jsonschema ships."""
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed: the extra hooks, make test-all")
    vendored = files("check_jsonschema").joinpath("builtin_schemas", "vendor", f"{name}.json")
    schema = json.loads(vendored.read_text("utf-8"))
    validator_for(schema)(schema).validate(document)


class Runner:
    """Runs the steps of the action in a folder, with its inputs; steps that use other actions are noted."""

    def __init__(self, workspace: Path, temp: Path, inputs: dict[str, str], python: str) -> None:
        self.workspace, self.temp = workspace, temp
        self.inputs = {name: given.get("default", "") for name, given in ACTION["inputs"].items()} | inputs
        self.outputs: dict[str, dict[str, str]] = {"python": {"python-version": "3.12.1", "python-path": python}}
        self.used: list[tuple[str, dict[str, str]]] = []
        self.status = 0
        self.stdout = self.stderr = ""

    def value(self, text: object) -> str:
        """Text with its expressions replaced."""
        return EXPRESSION.sub(lambda found: self._of(found[1]), str(text))

    def _of(self, expression: str) -> str:
        match expression.split("."):
            case ["inputs", name]:
                return self.inputs[name]
            case ["steps", step, "outputs", name]:
                return self.outputs.get(step, {}).get(name, "")
            case ["runner", name]:
                return {"temp": str(self.temp), "os": "Linux", "arch": "X64"}[name]
        raise AssertionError(expression)

    def wanted(self, step: dict[str, Any]) -> bool:
        """Whether a step runs; the one condition there is, is read part by part."""
        if "if" not in step:
            return self.status == 0
        [inner] = EXPRESSION.findall(step["if"])
        always, *comparisons = inner.split(" && ")
        assert always == "always()"
        parts = [comparison.split() for comparison in comparisons]
        return all((self._of(left) == right.strip("'")) == (operator == "==") for left, operator, right in parts)

    def run(self) -> Runner:
        """Run every step."""
        for step in filter(self.wanted, ACTION["runs"]["steps"]):
            if "uses" in step:
                self.used.append((step["uses"], {name: self.value(text) for name, text in step["with"].items()}))
            else:
                self._bash(step)
        return self

    def _bash(self, step: dict[str, Any]) -> None:
        assert step["shell"] == "bash"
        output, script = self.temp / "output.txt", self.temp / "step.sh"
        output.write_text("")
        script.write_text(step["run"])
        environment = {"GITHUB_ACTION_PATH": str(REPOSITORY), "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output)}
        environment |= {"GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"), "GITHUB_WORKSPACE": str(self.workspace)}
        environment |= {"PYTHONPATH": str(REPOSITORY), "RUNNER_TEMP": str(self.temp)}
        environment |= {name: self.value(text) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.workspace, env=os.environ | environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        lines = [line.partition("=") for line in output.read_text().splitlines()]
        self.outputs[step.get("id", "")] = {name: value for name, _, value in lines}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    workspace = tmp_path / "a workspace"
    workspace.mkdir()
    (tmp_path / "temp").mkdir()
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    spoil(make_tree(workspace), 0, 1)
    return tmp_path


def ran(place: Path, python: str = "", **inputs: str) -> Runner:
    return Runner(place / "a workspace", place / "temp", inputs, python or str(place / "python")).run()


def test_github_can_read_it() -> None:
    validate(ACTION, "github-actions")
    assert all(text["description"].endswith(".") for text in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


def test_no_script_has_text_of_an_expression() -> None:
    assert not [step["run"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]


@pytest.mark.slow
def test_a_rejected_package_is_reported_and_uploaded(place: Path) -> None:
    runner = ran(place, paths="v1.0/ACME\n")
    assert (runner.status, runner.outputs["check"]["status"]) == (1, "1")
    assert all(one["file"].startswith("v1.0/ACME/") for _, one, _ in github(runner.stdout) if "file" in one)
    assert (place / "temp" / "summary.md").read_text().startswith("# Official verdict\n")
    assert [name.split("@")[0] for name, _ in runner.used] == [
        "actions/setup-python", "actions/cache", "github/codeql-action/upload-sarif"
    ]  # fmt: skip
    upload = runner.used[-1][1]
    assert upload["category"] == "mlsub"
    assert sarif(Path(upload["sarif_file"]).read_text())["results"]
    pip = (place / "temp" / "pip.txt").read_text().splitlines()
    assert pip == ["install", "--quiet", "--cache-dir", f"{place}/temp/mlsub-pip", str(REPOSITORY)]
    assert re.fullmatch(r"mlsub-Linux-X64-3\.12\.1-\d+", runner.used[1][1]["key"])


HOSTILE = ("$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "x && touch pwned", "-o")


@pytest.mark.slow
def test_options_reach_the_command_as_they_are(place: Path) -> None:
    runner = ran(
        place, paths="v1.0/ACME", args="--ignore\nkey\n\n--strict\n--format\njunit\n-o\n$(touch pwned).xml",
        **{"sarif-file": "; touch pwned", "upload-sarif": "false"},
    )  # fmt: skip
    assert (place / "a workspace" / "$(touch pwned).xml").exists()
    assert not (place / "a workspace" / "pwned").exists()
    assert runner.outputs["check"] == {"status": "1", "sarif-file": "; touch pwned"}
    assert len(runner.used) == 2


@pytest.mark.slow
def test_what_could_not_be_checked_fails_and_is_uploaded(place: Path) -> None:
    runner = ran(place, command="system check", paths="\n".join(HOSTILE))
    assert (runner.status, runner.outputs["check"]["status"]) == (2, "2")
    assert "$(touch pwned)" in runner.stdout
    assert runner.used[-1][0].startswith("github/codeql-action/upload-sarif@")
    sarif(Path(runner.used[-1][1]["sarif_file"]).read_text())
    assert not list(place.rglob("pwned"))


def commands_of(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its name, such as ``system check``."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{above}{name} ")
        elif command is not None:
            yield f"{above}{name}", command


def takes_what_the_action_gives(command: click.Command) -> bool:
    """Whether a command takes paths, and writes SARIF and annotations."""
    paths = any(isinstance(one, click.Argument) and isinstance(one.type, click.Path) for one in command.params)
    formats = {form for one in command.params if isinstance(one.type, click.Choice) for form in one.type.choices}
    return paths and {"sarif", "github"} <= formats


#: What each command is given: its paths, further options, and the exit status.
COMMANDS = {
    "check": ("v1.0/ACME", "", "1"),
    "review": ("v1.0/ACME", "", "1"),
    "system check": ("v1.0/ACME/systems/rack1.json", "", "0"),
    "audit": ("claims.yaml", "--results=.", "0"),
}
CLAIMS = """\
claims_version: 1
source: {title: Press, publisher: ACME, date: 2021-07-01}
results:
  it: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
claims:
  - id: twice
    text: rack1 trains ResNet in 2 minutes
    expr: minutes(it)
    stated: {value: "2", unit: min}
"""


def test_the_commands_offered_are_those_that_mlsub_has() -> None:
    own = {name for name, command in commands_of(mlsub.cli.main) if takes_what_the_action_gives(command)}
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    cases = re.findall(r'^  ([a-z" |]+)\) words=', step["run"], re.MULTILINE)
    accepted = {word.strip().strip('"') for case in cases for word in case.split("|")}
    said = re.split(
        r", | or ", ACTION["inputs"]["command"]["description"].removesuffix(".").partition("What to run, ")[2]
    )
    [refusal] = re.findall(r"The command is (.*)\.", step["run"])
    assert own == accepted == set(said) == set(re.split(r", | or ", refusal)) == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs(command: str, place: Path) -> None:
    paths, args, status = COMMANDS[command]
    (place / "a workspace" / "claims.yaml").write_text(CLAIMS)
    runner = ran(place, command=command, paths=paths, args=args)
    assert (runner.outputs["check"]["status"], runner.stderr) == (status, "")
    sarif(Path(runner.outputs["check"]["sarif-file"]).read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("paths", "v1.0/ACME\n\nv1.0/ACME/systems/rack1.json\n"),
        ("args", "--round=1.0\n--strict\n"),
        ("sarif-file", "a folder/x.sarif"),
        ("upload-sarif", "false"),
        ("category", "other"),
        ("python-version", "3.13"),
    ],
)
def test_each_input_of_the_page_reaches_the_step(name: str, value: str, place: Path) -> None:
    (place / "a workspace" / "a folder").mkdir()
    inputs = {"paths": "v1.0/ACME", name: value}
    runner = ran(place, **inputs)
    assert (runner.status, runner.outputs["check"]["status"]) == (1, "1")
    uses = {used.split("@")[0].rpartition("/")[2]: given for used, given in runner.used}
    found = Path(runner.outputs["check"]["sarif-file"])
    assert sarif((place / "a workspace" / found).read_text())["results"]
    assert (str(found) == value) is (name == "sarif-file")
    assert ("upload-sarif" in uses) is (name != "upload-sarif")
    assert "upload-sarif" not in uses or uses["upload-sarif"]["category"] == (
        "other" if name == "category" else "mlsub"
    )
    assert uses["setup-python"]["python-version"] == ("3.13" if name == "python-version" else "3.12")


def test_an_unknown_command_is_refused(place: Path) -> None:
    for one in ("rm", "inspect", *HOSTILE):
        runner = ran(place, command=one)
        assert (runner.status, runner.outputs["check"]) == (2, {})
        assert runner.stdout.startswith("::error title=mlsub::The command is ")
    assert not list(place.rglob("pwned"))


@pytest.mark.long
def test_the_action_installs_this_project(place: Path) -> None:
    runner = ran(place, sys.executable, paths="v1.0/ACME")
    assert (runner.status, runner.outputs["check"]["status"]) == (1, "1")
    installed = place / "temp" / "mlsub" / "bin" / "mlsub"
    assert subprocess.run([installed, "--version"], capture_output=True, check=True).stdout.startswith(b"mlsub, ")
