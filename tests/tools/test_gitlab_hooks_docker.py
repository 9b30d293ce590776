"""What CI systems read of this repository: hooks of pre-commit, the job for GitLab, the container."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci_formats import gitlab, junit
from tests.tools.test_github_action import validate
from tools.support.make_tree import Tree, make_tree, spoil
from tools.support.runner import REPOSITORY

HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
NO_PRE_COMMIT = "pre-commit is not installed: the extra hooks, make test-all"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")


def called(*words: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A program, called in a repository below a folder.

    It finds this repository's mlsub as a program, and not the settings of whoever runs the tests.
    """
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, line in (("mlsub", f'{sys.executable} -m mlsub "$@"'), ("pip", ":")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    environment["PATH"] = f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment |= {"PYTHONPATH": str(REPOSITORY), "PRE_COMMIT_HOME": str(folder / "store"), **more}
    return subprocess.run(
        words, cwd=folder / "repository", env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with a package that is accepted."""
    made = make_tree(tmp_path / "repository")
    called(*GIT, "init", "--quiet", folder=tmp_path)
    called("git", "add", ".", folder=tmp_path)
    return made


def test_pre_commit_can_read_the_hooks() -> None:
    load_manifest = pytest.importorskip("pre_commit.clientlib", reason=NO_PRE_COMMIT).load_manifest
    assert [hook["id"] for hook in load_manifest(str(REPOSITORY / ".pre-commit-hooks.yaml"))] == [
        "mlsub-check", "mlsub-system-check"
    ]  # fmt: skip
    assert all(hook["language"] == "python" for hook in HOOKS)


def pre_commit(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the hooks on all files, as programs that are installed."""
    pytest.importorskip("pre_commit", reason=NO_PRE_COMMIT)
    hooks = [{**hook, "language": "system"} for hook in HOOKS]
    config: dict[str, Any] = {"repos": [{"repo": "local", "hooks": hooks}]}
    (folder / "repository" / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    called("git", "add", ".", folder=folder)
    return called(sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose", folder=folder)


@pytest.mark.slow
def test_a_hook_passes_on_what_is_accepted_and_fails_on_what_is_not(tree: Tree, tmp_path: Path) -> None:
    spoil(tree, 0, 1)
    done = pre_commit(tmp_path)
    assert done.returncode == 1
    assert re.search(r"mlsub check\.+Failed", done.stdout)
    assert re.search(r"mlsub system check\.+Passed", done.stdout)
    assert "\nrejected: " in done.stdout
    assert "accepted: 1 of 1 system descriptions accepted" in done.stdout


@pytest.mark.long
def test_pre_commit_try_repo(tree: Tree, tmp_path: Path) -> None:
    """As a user would try the hooks: pre-commit clones this repository and installs it."""
    done = called(
        sys.executable, "-m", "pre_commit", "try-repo", str(REPOSITORY), "--all-files", "--verbose",
        folder=tmp_path, PYTHONPATH="",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"mlsub check\.+Passed", done.stdout)
    assert re.search(r"mlsub system check\.+Passed", done.stdout)


GITLAB = yaml.safe_load((REPOSITORY / "examples" / "ci" / "gitlab.yml").read_text())


def test_gitlab_can_read_the_job() -> None:
    validate(GITLAB, "gitlab-ci")


def test_the_lines_of_the_job_for_gitlab_run(tree: Tree, tmp_path: Path) -> None:
    job = GITLAB["mlsub"]
    spoil(tree, 0, 1)
    folder = tmp_path / "repository"
    variables = {"SUBMISSION": ".", "PACKAGE": "mlsub", "CI_PROJECT_DIR": str(folder)}
    for line in (*job["before_script"], *job["script"]):
        done = called("bash", "-c", line, folder=tmp_path, **variables)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nrejected: " in done.stdout
    reports = job["artifacts"]["reports"]
    assert all(
        one["location"]["path"].startswith("v1.0/") for one in gitlab((folder / reports["codequality"]).read_text())
    )
    junit((folder / reports["junit"]).read_text())


DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


def copied() -> list[str]:
    """What the Dockerfile copies out of this repository."""
    lines = re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE)
    return [name for line in lines if "--from" not in line for name in line.split()[:-1]]


def test_the_dockerfile_is_in_order() -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if hadolint is None:
        pytest.skip("hadolint is not installed: the extra hooks, make test-all")
    done = subprocess.run(
        [hadolint, "--format", "json", str(REPOSITORY / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (json.loads(done.stdout), done.returncode) == ([], 0)


def test_the_container_gets_all_that_an_installation_needs_and_nothing_else() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert set(copied()) == kept
    assert all((REPOSITORY / name).exists() for name in kept)
    config = (REPOSITORY / "setup.cfg").read_text()
    needed = {name for name in ("README.md", "LICENSE") if name in config}
    assert {"mlsub", "setup.cfg", "pyproject.toml", *needed} <= kept
    assert fnmatch.fnmatch("mlsub/io/__pycache__", "**/__pycache__")


@pytest.mark.long
def test_what_the_container_gets_makes_a_wheel(tmp_path: Path) -> None:
    """The build stage without a container: what it copies, and what it runs without dependencies."""
    source = tmp_path / "src"
    source.mkdir()
    for name in copied():
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(REPOSITORY / name, source)
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path / "wheels"), "."]
    subprocess.run(words, cwd=source, check=True, capture_output=True)
    assert len(list((tmp_path / "wheels").glob("mlsub-*.whl"))) == 1
