"""Completion: what click's protocol answers, and the scripts in the shells that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.shell_completion import ShellComplete

from mlsub.cli import main
from tools.support.runner import REPOSITORY, run

CASES: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("completion.yaml").read_text())


def completed(line: str) -> list[tuple[str, str]]:
    *before, last = line.split(" ")[1:]
    found = ShellComplete(main, {}, "mlsub", "_MLSUB_COMPLETE").get_completions(before, last)
    return [(item.type, item.value) for item in found]


@pytest.mark.parametrize("line", CASES)
def test_values_are_what_mlsub_knows(line: str) -> None:
    values = [value for kind, value in completed(line) if kind == "plain"]
    expected = [value for value in CASES[line] if value]
    if expected[:1] == ["..."]:
        assert values and set(expected[1:]) <= set(values)
    else:
        assert values == expected


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("mlsub check v", "file"),
        ("mlsub check --rules ", "file"),
        ("mlsub site x --output ", "file"),
        ("mlsub audit claims.yaml --results ", "dir"),
        ("mlsub system new --from my", "file"),
    ],
)
def test_files_and_folders_complete_as_such(line: str, kind: str) -> None:
    assert completed(line)[0][0] == kind


def test_a_command_that_does_not_exist_says_nothing_while_a_line_is_completed() -> None:
    environment = {"_MLSUB_COMPLETE": "bash_complete", "COMP_WORDS": "mlsub nonsense ", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", "from mlsub.cli import main; main(prog_name='mlsub')"],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


#: Reads the script as a start-up file would, completes a line, and prints what it found.
SHELLS = {
    "bash": """
        eval "$(mlsub completion bash)"
        complete -p mlsub > /dev/null || exit 9
        COMP_WORDS=(mlsub rules show lla); COMP_CWORD=3
        _mlsub_completion mlsub; printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { :; }
        compadd() { printf '%s\\n' $completions; }
        eval "$(mlsub completion zsh)"
        words=(mlsub rules show lla); CURRENT=4
        _mlsub_completion
    """,
    "fish": """
        mlsub completion fish | source
        complete --do-complete 'mlsub rules show lla'
    """,
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_in_a_real_shell(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        # Where the shell is not here, its script at least asks for its own answers.
        script = run("completion", shell).stdout
        assert f"_MLSUB_COMPLETE={shell}_complete" in script and "mlsub" in script
        pytest.skip(f"{shell} is not installed: only its script was looked at")
    mlsub = tmp_path / "mlsub"
    mlsub.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(REPOSITORY)!r})\n"
        "from mlsub.cli import main\nmain(prog_name='mlsub')\n"
    )
    mlsub.chmod(0o755)
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [program, *quiet, "-c", SHELLS[shell]], env=environment, capture_output=True, text=True, check=False
    )
    assert sorted(done.stdout.split()) == ["llama2_70b_lora", "llama31_405b", "llama31_8b"], done.stderr
    assert done.stderr == ""
